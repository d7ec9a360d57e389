# SPDX-License-Identifier: BSD-3-Clause
"""Hashes of contents: of files, of folders, and of JSON values."""

import hashlib
import io
import json
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path


def of_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def by_path(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """Return the hash of each file, by its path below `root`."""
    return {str(path.relative_to(root)): of_file(path) for path in files}


def of_files(root: Path, files: Iterable[Path]) -> str:
    """Return one hash of many files' contents and paths below `root`. The order of `files` does not count."""
    return of_json(by_path(root, files))


def of_python(root: Path, files: Iterable[Path]) -> str:
    """Return one hash of the code of many Python files. Comments, docstrings and formatting do not count."""
    return of_json({str(path.relative_to(root)): _done(path.read_text(encoding="utf-8")) for path in files})


def of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def of_text(text: str) -> str:
    return of_bytes(text.encode())


def of_json(value: object) -> str:
    return of_text(json.dumps(value, sort_keys=True, separators=(",", ":")))


def _done(source: str) -> str:
    """Return a Python text without comments, docstrings and spaces, but with marks at the begin and end of blocks."""
    lines = [*source.splitlines(keepends=True), ""]  # blocks end behind the last line
    for (row, column), (end_row, end_column), mark in sorted(_marks(source), reverse=True):
        lines[row - 1 : end_row] = [lines[row - 1][:column] + mark + lines[end_row - 1][end_column:]]
    return "".join("".join(lines).split())


def _marks(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
    """Yield begin, end and replacement of each comment, each string that is a statement (such as a docstring), and each
    change of the indentation."""
    stands = {
        tokenize.COMMENT: "",
        tokenize.INDENT: "\N{SYMBOL FOR SHIFT IN}",
        tokenize.DEDENT: "\N{SYMBOL FOR SHIFT OUT}",
    }
    every = list(tokenize.generate_tokens(io.StringIO(source).readline))
    yield from ((token.start, token.end, stands[token.type]) for token in every if token.type in stands)
    read = [token for token in every if token.type not in (tokenize.COMMENT, tokenize.NL)]
    for before, token, after in zip([None, *read], read, read[1:], strict=False):
        begins = before is None or before.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.STRING and begins and after.type == tokenize.NEWLINE:
            yield token.start, token.end, ""
