# SPDX-License-Identifier: BSD-3-Clause
"""Core descriptions: those of the project are valid, and a broken one is refused with the key to mend."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from lull.errors import UserError
from lull.platform import cores
from lull.platform.cores import InOrderCore, OutOfOrderCore, load_core
from tests import nested

NAMES = sorted(path.stem for path in cores.CORES.glob("*.yaml"))


@pytest.fixture
def edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a changed copy of a core, in a folder that holds copies of all."""
    for name in NAMES:
        (tmp_path / f"{name}.yaml").write_text((cores.CORES / f"{name}.yaml").read_text())
    monkeypatch.setattr(cores, "CORES", tmp_path)

    def change(name: str, *path: str | int, value: Any = None) -> None:
        file = tmp_path / f"{name}.yaml"
        data = yaml.safe_load(file.read_text())
        if value is None:
            nested.drop(data, path)
        else:
            nested.put(data, path, value)
        file.write_text(yaml.safe_dump(data))

    return change


def test_the_cores_of_the_platforms_are_there() -> None:
    assert set(NAMES) == {"a7", "a15", "a15-shadow", "a53", "a57", "a72"}


@pytest.mark.parametrize("name", NAMES)
def test_core_is_valid_and_goes_to_json_whole(name: str) -> None:
    core = load_core(name)
    data = core.model_dump(mode="json")
    assert data["name"] == name
    kind = InOrderCore if data["pipeline"] == "in-order" else OutOfOrderCore
    assert kind.model_validate(data) == core
    assert data["stages"]["issue_width"] >= 2


@pytest.mark.parametrize("name", NAMES)
def test_every_assumption_has_a_reason(name: str) -> None:
    text = " ".join((cores.CORES / f"{name}.yaml").read_text().split())
    for match in re.finditer(r"assumed", text):
        assert text[match.end()] == ":", f"{name}: {text[match.start() - 30 : match.end() + 20]}"


def test_little_and_big_cores_differ_as_they_should() -> None:
    assert {name for name in NAMES if load_core(name).pipeline == "in-order"} == {"a7", "a53"}
    a57, a72 = load_core("a57"), load_core("a72")
    assert isinstance(a57, OutOfOrderCore)
    assert isinstance(a72, OutOfOrderCore)
    assert a57.stages.dispatch_width < a72.stages.dispatch_width


def test_the_companion_core_is_the_main_core() -> None:
    main, shadow = load_core("a15"), load_core("a15-shadow")
    differing = {"name", "title", "same_as"}
    assert shadow.model_dump(exclude=differing) == main.model_dump(exclude=differing)
    assert shadow.same_as == "a15"


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("a53", ("tlb", "data"), "ten", r"a53\.yaml: tlb\.data: 'ten' is not a whole number"),
        ("a53", ("tlb", "date"), 10, r"tlb\.date: unknown key; remove it or use `data`"),
        ("a53", ("tlb", "source"), None, r"tlb\.source: missing"),
        ("a53", ("tlb", "source"), "assumed", r"tlb\.source: `assumed` without a reason"),
        ("a53", ("pipeline",), "sideways", r"pipeline: 'sideways' is not known; use `in-order`"),
        ("a53", ("pipeline",), "out-of-order", r"stages\.\w+"),
        ("a53", ("l1d", "ways"), 3, r"l1d\.ways: 32 KiB in 3 ways"),
        ("a53", ("branch", "btb_entries"), 300, r"branch\.btb_entries: 300 is not a power of two; use 256 or 512"),
        ("a53", ("branch", "local_entries"), None, r"branch\.local_entries: .* add it"),
        ("a15", ("branch", "local_entries"), 64, r"branch\.local_entries: .* remove it"),
        ("a53", ("units", "table", 1, "name"), "integer", r"units\.table\[1\]\.name: a second unit `integer`"),
        ("a53", ("units", "table", 3, "latency", "crypto"), None, r"units\.table: no unit does `crypto`"),
        ("a53", ("units", "table", 0, "latency", "int-alu"), 0, r"units\.table\[0\]\.latency\.int-alu: 0 is too small"),
        ("a53", ("units", "table", 0, "latency", "jump"), 1, r"units\.table\[0\]\.latency\.jump"),
        ("a53", ("name",), "a55", r"name: `a55` is not the name of the file; write `a53`"),
        ("a15-shadow", ("same_as",), "a16", r"unknown core `a16`; use one of `a15`"),
        ("a15-shadow", ("same_as",), "a15-shadow", r"same_as: `a15-shadow` is itself like another"),
        ("a15-shadow", ("source",), "", r"source: empty"),
    ],
)
def test_a_broken_core_is_refused_with_its_key(
    edit: Any, name: str, path: tuple[str | int, ...], value: object, message: str
) -> None:
    edit(name, *path, value=value)
    with pytest.raises(UserError, match=message) as caught:
        load_core(name)
    assert "\n" not in str(caught.value)


def test_unreadable_files(edit: Any) -> None:
    (cores.CORES / "a53.yaml").write_text("name: a53\n  pipeline: [\n")
    with pytest.raises(UserError, match=r"a53\.yaml: line 2: not valid YAML"):
        load_core("a53")
    (cores.CORES / "a53.yaml").write_text("- a53\n")
    with pytest.raises(UserError, match="not a block of keys"):
        load_core("a53")
    with pytest.raises(UserError, match="unknown core `z80`; use one of `a15`"):
        load_core("z80")
