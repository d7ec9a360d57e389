# SPDX-License-Identifier: BSD-3-Clause
"""Debian's manual pages as an SQLite database that a guest program can search.

The database has two tables. `page` is a full-text index (FTS5) of the pages. `asked` has words of each page in random
order, from which a program makes its queries.
"""

import gzip
import random
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from lull.errors import UserError

PLACE = "usr/share/lull/pages.db"
MANUALS = "usr/share/man"
SECTIONS = ("man2", "man3", "man4", "man5", "man7", "man8")

LETTERS = 2000
"""Of each page, so that the image stays small: its name, its synopsis, and the begin of its description."""
SHORTEST = 400
"""A page of fewer letters is not in the index."""
WORDS = 24
"""For queries, of each page."""
COMMON = 0.05
"""No query asks for a word that a larger share of all pages has: those are words like `the`."""

_FONTS = re.compile(r"\\f(\[[^]]*\]|\(..|.)")
_SPECIAL = re.compile(r"\\[*]?(\(..|\[[^]]*\]|.)")
_WORD = re.compile(r"[a-z]{2,}")


def make(packages: Path, database: Path) -> None:
    """Index the manual pages of unpacked packages. The same pages make the same tables."""
    texts = list(_texts(packages / MANUALS))
    if not texts:
        raise UserError(f"{packages / MANUALS}: no manual page of {SHORTEST} letters; adapt MATERIAL in rootfs.py")
    database.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(database)
    connection.execute("CREATE VIRTUAL TABLE page USING fts5(text, content='')")
    connection.execute("CREATE TABLE asked (page INTEGER PRIMARY KEY, words TEXT)")
    connection.executemany("INSERT INTO page (rowid, text) VALUES (?, ?)", enumerate(texts, 1))
    connection.executemany("INSERT INTO asked VALUES (?, ?)", enumerate(_asked(texts), 1))
    connection.execute("INSERT INTO page (page) VALUES ('optimize')")
    connection.commit()
    connection.execute("VACUUM")
    connection.close()


def _texts(manuals: Path) -> Iterator[str]:
    for section in SECTIONS:
        for path in sorted((manuals / section).glob("*.gz")):
            source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
            # Another name of a page is a link, or a page that only includes the page.
            if path.is_symlink() or source.startswith(".so "):
                continue
            text = plain(source)
            if len(text) >= SHORTEST:
                yield text[:LETTERS]


def plain(source: str) -> str:
    """Return the text of a manual page, without comments, names of macros, and escapes."""
    lines = []
    for line in source.splitlines():
        if line.startswith(('.\\"', "'\\\"")):
            continue
        lines.append(line.partition(" ")[2] if line.startswith((".", "'")) else line)
    return _SPECIAL.sub("", _FONTS.sub("", "\n".join(lines)))


def _asked(texts: list[str]) -> Iterator[str]:
    """Words of each page that at least this page has, and not too many others."""
    words = [_WORD.findall(text.lower()) for text in texts]
    having: dict[str, int] = {}
    for own in words:
        for word in set(own):
            having[word] = having.get(word, 0) + 1
    draw = random.Random(1)
    for own in words:
        rare = [word for word in dict.fromkeys(own) if having[word] <= max(1, COMMON * len(texts))]
        draw.shuffle(rare)
        yield " ".join(rare[:WORDS])
