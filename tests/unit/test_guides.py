# SPDX-License-Identifier: BSD-3-Clause
"""The guides in docs/ show the files of tests/guides/ as they are; tests/guest follows them."""

import pytest

from tests.guides.pages import GUIDES, Guide, included


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_the_page_shows_every_file_as_it_is(guide: Guide) -> None:
    page = guide.page.read_text(encoding="utf-8")
    assert guide.written(page) == page, "run `python -m tests.guides.pages`"
    assert included(page) == guide.files()
    assert page.count("```") == 2 * len(included(page)), "a block that is no file is followed by nobody"


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_a_file_that_changed_is_noticed(guide: Guide) -> None:
    page = guide.page.read_text(encoding="utf-8")
    stale = page.replace("SPDX-License-Identifier: ", "SPDX-License-Identifier:  ")
    assert guide.written(stale) != stale


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_its_scripts_can_be_executed(guide: Guide) -> None:
    for path in filter(lambda path: path.is_file(), guide.folder.rglob("*")):
        assert bool(path.stat().st_mode & 0o100) == path.read_bytes().startswith(b"#!"), path.name
