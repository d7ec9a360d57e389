# SPDX-License-Identifier: BSD-3-Clause
"""The guide to a new mechanism shows the files that tests/guest/test_guide_to_a_mechanism.py builds and boots."""

from tests.guides import mechanism


def test_the_page_shows_every_file_as_it_is() -> None:
    page = mechanism.PAGE.read_text(encoding="utf-8")
    assert mechanism.written(page) == page, "run `python -m tests.guides.mechanism`"
    files = [str(path.relative_to(mechanism.SYSTEM)) for path in mechanism.SYSTEM.rglob("*") if path.is_file()]
    assert sorted(mechanism.included(page)) == sorted([*files, "commands"])
    assert page.count("```") == 2 * len(mechanism.included(page)), "a block that is no file is followed by nobody"


def test_a_file_that_changed_is_noticed() -> None:
    page = mechanism.PAGE.read_text(encoding="utf-8")
    stale = page.replace("obj-y\t+= nap.o", "obj-y += nap.o")
    assert stale != page
    assert mechanism.written(stale) == page
