# SPDX-License-Identifier: BSD-3-Clause
"""Which gem5 is taken and which refused, shown on programs that answer as gem5 does."""

import json
from pathlib import Path

import pytest

from lull.engines import gem5_binary
from lull.engines.choose import choose
from lull.errors import UserError


@pytest.fixture(autouse=True)
def no_gem5(empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEM5", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def _binary(
    tmp_path: Path, version: str = "24.0.0.1", isas: tuple[str, ...] = ("ARM",), name: str = "gem5.opt"
) -> Path:
    """Called as `gem5.opt -d DIR PROBE ANSWER`."""
    path = tmp_path / name
    answer = json.dumps({"version": version, "isas": isas})
    path.write_text(f"#!/bin/sh\necho asked >> {tmp_path}/asked\ncat > \"$4\" <<'E'\n{answer}\nE\n")
    path.chmod(0o755)
    return path


def test_the_option_beats_the_variable_beats_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = _binary(tmp_path)
    assert gem5_binary.find().path == str(on_path)
    monkeypatch.setenv("GEM5", str(_binary(tmp_path, "24.1.0.0", name="by-variable")))
    assert gem5_binary.find().version == "24.1.0.0"
    assert gem5_binary.find(str(_binary(tmp_path, "25.0.0.0", name="by-option"))).version == "25.0.0.0"


def test_a_binary_is_asked_once_until_it_changes(tmp_path: Path) -> None:
    _binary(tmp_path)
    for _ in range(3):
        gem5_binary.find()
    assert (tmp_path / "asked").read_text().count("asked") == 1
    _binary(tmp_path, "24.1.0.99")
    assert gem5_binary.find().version == "24.1.0.99"


def test_no_gem5(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gem5: no binary found .* use --engine qemu"):
        gem5_binary.find()
    with pytest.raises(UserError, match="--gem5=/nowhere: no executable there"):
        gem5_binary.find("/nowhere")


def test_a_gem5_without_arm(tmp_path: Path) -> None:
    path = _binary(tmp_path, isas=("X86",))
    with pytest.raises(UserError, match=f"{path}: this gem5 was built without ARM"):
        gem5_binary.find()


@pytest.mark.parametrize("version", ["23.1.0.0", "9.0", "unknown"])
def test_a_gem5_too_old(tmp_path: Path, version: str) -> None:
    path = _binary(tmp_path, version)
    with pytest.raises(UserError, match=rf"{path}: gem5 {version} is too old; lull needs 24\.0 or newer"):
        gem5_binary.find()


def test_something_else_by_that_name(tmp_path: Path) -> None:
    path = tmp_path / "gem5.opt"
    path.write_text("#!/bin/sh\necho what do you want >&2\nexit 1\n")
    path.chmod(0o755)
    with pytest.raises(UserError, match=rf"{path}: does not answer as gem5 does \(what do you want\)"):
        gem5_binary.find()


def test_the_engine_follows_what_is_found(tmp_path: Path) -> None:
    _binary(tmp_path)
    assert choose(None).name == "gem5"
