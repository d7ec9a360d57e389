# SPDX-License-Identifier: BSD-3-Clause
"""The hash of Python files: what a file does counts, and what it says to its reader does not."""

from pathlib import Path

import pytest

from lull.files import digest

SOURCE = '''"""What it is for."""

X = "a # no comment"  # a comment


def twice(x: int) -> int:
    """Return it twice."""
    return 2 * x


def most(x: int) -> int:
    if x > 1:
        x = 1
    x += 1
    return x
'''


def hashed(tmp_path: Path, source: str, name: str = "a.py") -> str:
    (tmp_path / name).write_text(source, encoding="utf-8")
    return digest.of_python(tmp_path, [tmp_path / name])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("What it is for.", "What it ist für: two\nlines."),
        ("  # a comment", ""),
        ("    return 2 * x", "    # Twice.\n    return 2*x"),
        ("def twice(x: int) -> int:", "def twice(\n    x: int\n) -> int:"),
        ('    """Return it twice."""\n', ""),
    ],
)
def test_remarks_and_spaces_do_not_count(tmp_path: Path, old: str, new: str) -> None:
    assert old in SOURCE
    assert hashed(tmp_path, SOURCE.replace(old, new)) == hashed(tmp_path, SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2 * x", "3 * x"),
        ("a # no comment", "a # other text"),
        ("twice(x", "thrice(x"),
        ("    x += 1", "        x += 1"),
    ],
)
def test_what_a_file_does_counts(tmp_path: Path, old: str, new: str) -> None:
    assert old in SOURCE
    assert hashed(tmp_path, SOURCE.replace(old, new)) != hashed(tmp_path, SOURCE)


def test_names_of_files_count(tmp_path: Path) -> None:
    assert hashed(tmp_path, SOURCE, "b.py") != hashed(tmp_path, SOURCE)
