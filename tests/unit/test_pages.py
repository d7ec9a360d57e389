# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages as a database: what is text in them, which of them are in, and which words may be asked for."""

import gzip
import sqlite3
from pathlib import Path

import pytest

from lull.artifacts import pages
from lull.errors import UserError

LONG = " ".join(f"filler{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60))


def manual(packages: Path, name: str, text: str) -> Path:
    path = packages / pages.MANUALS / f"man{name[-1]}" / f"{name}.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def made(packages: Path) -> sqlite3.Connection:
    pages.make(packages, packages / pages.PLACE)
    return sqlite3.connect(packages / pages.PLACE)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (".SH NAME", "NAME"),
        (".PP", ""),
        ('.\\" a comment', None),
        ("'\\\" t", None),
        ("\\fBsleep\\fP(3)", "sleep(3)"),
        ("\\f[B]sleep\\f[R] \\(en \\*(aq \\[bu] 1\\-2", "sleep    12"),
        ("plain text", "plain text"),
    ],
)
def test_what_is_text(source: str, text: str | None) -> None:
    assert pages.plain(f"{source}\nend") == ("end" if text is None else f"{text}\nend")


def test_a_page_is_found_by_its_words(tmp_path: Path) -> None:
    manual(tmp_path, "alarm.2", f".TH alarm 2\nclock {LONG}")
    manual(tmp_path, "sleep.3", f".TH sleep 3\npause {LONG}")
    database = made(tmp_path)
    find = "SELECT rowid FROM page WHERE page MATCH ? ORDER BY rank"
    assert database.execute(find, ("clock",)).fetchall() == [(1,)]
    assert database.execute(find, ("pause OR alarm OR sleep",)).fetchall() == [(2,), (1,)]


def test_other_names_of_a_page_and_short_pages_are_not_in(tmp_path: Path) -> None:
    page = manual(tmp_path, "sleep.3", LONG)
    page.with_name("link.3.gz").symlink_to(page)
    manual(tmp_path, "include.3", f".so man3/sleep.3\n{LONG}")
    manual(tmp_path, "short.3", "x" * (pages.SHORTEST - 1))
    assert made(tmp_path).execute("SELECT count(*) FROM asked").fetchall() == [(1,)]


def test_only_the_begin_of_a_long_page_is_in(tmp_path: Path) -> None:
    manual(tmp_path, "long.3", "x " * pages.LETTERS + "last")
    assert made(tmp_path).execute("SELECT rowid FROM page WHERE page MATCH 'last'").fetchall() == []


def test_words_to_ask_for_are_the_pages_own_and_not_common(tmp_path: Path) -> None:
    for number in range(40):
        own = chr(97 + number // 26) + chr(97 + number % 26)
        manual(tmp_path, f"page{own}.3", f"own{own} 7 common {'some' if number < 2 else 'others'} {LONG}")
    asked = dict(made(tmp_path).execute("SELECT page, words FROM asked").fetchall())
    assert sorted(asked[1].split()) == ["ownaa", "some"]
    assert asked[40].split() == ["ownbn"]


def test_the_same_pages_make_the_same_database(tmp_path: Path) -> None:
    for place in ("one", "other"):
        manual(tmp_path / place, "sleep.3", LONG)
        made(tmp_path / place).close()
    one, other = ((tmp_path / place / pages.PLACE).read_bytes() for place in ("one", "other"))
    assert one == other


def test_packages_without_pages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"usr/share/man: no manual page of 400 letters"):
        pages.make(tmp_path, tmp_path / pages.PLACE)
