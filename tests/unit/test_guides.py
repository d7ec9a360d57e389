# SPDX-License-Identifier: BSD-3-Clause
"""The code of a guide in docs/ is that of the files in tests/guides/, which other tests run."""

import re
from pathlib import Path

import pytest

from lull.files.paths import ROOT

GUIDES = {"adding-an-experiment": "after-sleep"}
"""By page, the folder whose files it shows."""

_BLOCK = re.compile(r"^\*\*`([^`]+)`\*\*.*?^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "folder"), GUIDES.items())
def test_a_guide_shows_every_file_as_it_is(page: str, folder: str) -> None:
    shown = dict(_BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")))
    place = ROOT / "tests" / "guides" / folder
    files = {path.name: path.read_text(encoding="utf-8") for path in place.iterdir() if path.is_file()}
    assert files.pop("README.md"), "which the guide tells the reader to write"
    assert shown == files


@pytest.mark.parametrize("folder", GUIDES.values())
def test_the_programs_of_a_guide_can_be_executed(folder: str) -> None:
    for path in (ROOT / "tests" / "guides" / folder).iterdir():
        assert _is_executable(path) == path.read_bytes().startswith(b"#!"), path.name


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o100)
