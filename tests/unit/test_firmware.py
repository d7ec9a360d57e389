# SPDX-License-Identifier: BSD-3-Clause
"""The firmware's series, options and build steps, without a compiler."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from lull.artifacts import firmware
from lull.engines import gem5
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform.devicetree import SUSPEND_PARAMS

PATCHES = sorted((ROOT / firmware.FOLDER).glob("*.patch"))
PATCH = re.compile(
    r"From: [^\n]+\nSubject: [^\n]{1,72}\nSPDX-License-Identifier: BSD-3-Clause\n\n"
    r"(?P<body>.+?)\n---\n(?P<diff>.+)",
    re.DOTALL,
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / firmware.FOLDER, tmp_path / firmware.FOLDER)
    return tmp_path


def test_series_lists_every_patch_in_the_order_of_its_number() -> None:
    assert PATCHES
    assert firmware.series(ROOT) == PATCHES
    assert [int(path.name[:4]) for path in PATCHES] == list(range(1, len(PATCHES) + 1))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.name)
def test_patch_says_what_and_why(patch: Path) -> None:
    match = PATCH.fullmatch(patch.read_text(encoding="utf-8"))
    assert match is not None
    assert len(match["body"].split()) >= 20
    assert "\ndiff --git a/" in match["diff"]


def test_inputs_follow_every_file_that_decides_the_result(copy: Path) -> None:
    before = firmware.inputs(copy)
    for path in sorted((copy / firmware.FOLDER).iterdir()):
        path.write_bytes(path.read_bytes() + b"\n")
        after = firmware.inputs(copy)
        changed = {name for name in after if after[name] != before[name]}
        assert changed == (set() if path.name == "README.md" else {f"{firmware.FOLDER}/{path.name}"})
        before = after


def test_missing_patch_is_named(copy: Path) -> None:
    patch = firmware.series(copy)[0]
    patch.unlink()
    with pytest.raises(UserError, match=patch.name):
        firmware.inputs(copy)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A := 1\n", "1: A has no reason"),
        ("# why\n\nA := 1\n", "3: A has no reason"),
        ("# why\nA = 1\n", "2: 'A = 1' is no 'NAME := value'"),
        ("# why\nA := 1\nA := 2\n", "3: A is already set above"),
    ],
)
def test_malformed_repeated_or_unexplained_option_is_refused(copy: Path, text: str, message: str) -> None:
    (copy / firmware.FOLDER / "options.mk").write_text(text)
    with pytest.raises(UserError, match=f"options.mk:{message}"):
        firmware.options(copy)


def test_addresses_are_those_of_the_options() -> None:
    options = firmware.options(ROOT)
    assert int(options["PRELOADED_BL33_BASE"], 16) == firmware.KERNEL_ADDRESS
    assert int(options["ARM_PRELOADED_DTB_BASE"], 16) == firmware.DTB_ADDRESS


def test_gem5_loads_what_the_firmware_was_told_to_find() -> None:
    options = firmware.options(ROOT)
    assert gem5.ADDRESSES["firmware"] == firmware.LOAD_ADDRESS
    assert gem5.ADDRESSES["kernel"] == int(options["PRELOADED_BL33_BASE"], 16)
    assert gem5.ADDRESSES["dtb"] == int(options["ARM_PRELOADED_DTB_BASE"], 16)


def test_readme_names_addresses_and_power_states() -> None:
    text = (ROOT / firmware.FOLDER / "README.md").read_text(encoding="utf-8").lower()
    for address in (firmware.LOAD_ADDRESS, firmware.KERNEL_ADDRESS, firmware.DTB_ADDRESS):
        assert f"{address:#010x}" in text
    for state in SUSPEND_PARAMS.values():
        assert f"{state:#09x}" in text


def test_build_patches_then_makes_in_an_environment_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "DEBUG=1")
    tree, out = tmp_path / "tree", tmp_path / "out"
    calls: list[list[str]] = []

    def run(argv: Sequence[str], cwd: Path) -> None:
        assert cwd == tree
        calls.append(list(argv))
        if "make" in argv:
            for product in firmware.PRODUCTS:
                path = tree / "build" / "fvp" / "release" / product
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{tree.resolve()}/bl31.o {product}")

    firmware.build(ROOT, tree, out, run)

    *patches, make = calls
    assert [Path(argv[-1]) for argv in patches] == PATCHES
    assert make[:2] == ["env", "-i"]
    assert not any(word.startswith("MAKEFLAGS") for word in make)
    assert {f"{name}={value}" for name, value in firmware.options(ROOT).items()} <= set(make)
    assert sorted(path.name for path in out.iterdir()) == ["bl31.bin", "bl31.elf", "bl31.map"]
    assert (out / "bl31.map").read_text() == "bl31.o bl31/bl31.map"
