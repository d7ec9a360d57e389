# SPDX-License-Identifier: BSD-3-Clause
"""Finds McPAT, runs it, and parses its answer."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from lull.errors import UserError
from lull.files import digest
from lull.host.process import die_with_parent

VERSION = "1.3"
TIMEOUT_S = 600

_BANNER = re.compile(r"McPAT \(version (?P<version>[0-9.]+) ")
_VALUE = re.compile(r"(?P<key>[A-Z][A-Za-z ]*) = (?P<number>[^ ]+) (W|mm\^2)")


@dataclass(frozen=True)
class McPatBinary:
    path: str
    sha256: str


@dataclass
class Heading:
    """One heading of McPAT's answer: its numbers, in W and mm², and the headings below it."""

    name: str
    numbers: dict[str, float] = field(default_factory=dict)
    parts: list["Heading"] = field(default_factory=list)

    def find(self, name: str) -> "Heading":
        """Return the part below with this name. A count may follow the name in the heading, such as `Core (2)`."""
        for part in self._below():
            if part.name == name or part.name.startswith((f"{name} (", f"{name} with ")):
                return part
        raise UserError(f"McPAT's answer has no `{name}` below `{self.name}`; lull reads that of McPAT {VERSION}")

    def all(self, name: str) -> list["Heading"]:
        return [part for part in self.parts if part.name == name]

    def __getitem__(self, key: str) -> float:
        try:
            return self.numbers[key]
        except KeyError:
            raise UserError(
                f"McPAT's answer has no `{key}` for `{self.name}`; lull reads that of McPAT {VERSION}"
            ) from None

    def _below(self) -> list["Heading"]:
        return [found for part in self.parts for found in (part, *part._below())]


def find(chosen: str | None = None) -> McPatBinary:
    """Return the binary of `--mcpat`, `$MCPAT` or `PATH`, in this order."""
    for origin, value in (("--mcpat", chosen), ("MCPAT", os.environ.get("MCPAT"))):
        if value:
            found = shutil.which(value)
            if found is None:
                raise UserError(f"{origin}={value}: no executable there; name a McPAT {VERSION} binary")
            return _checked(Path(found))
    if found := shutil.which("mcpat"):
        return _checked(Path(found))
    raise UserError(
        f"McPAT: no binary found (looked at --mcpat, MCPAT and PATH); build McPAT {VERSION} by its own README. "
        "Only making tables needs it"
    )


def run(mcpat: McPatBinary, xml: str) -> Heading:
    """Return McPAT's answer to an input, as a tree. Its root has no numbers."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(xml)
        file.flush()
        try:
            result = subprocess.run(
                [mcpat.path, "-infile", file.name, "-print_level", "5"],
                capture_output=True, text=True, timeout=TIMEOUT_S, check=False, preexec_fn=die_with_parent,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(f"{mcpat.path}: cannot be run as McPAT ({error}); name another by --mcpat") from error
    answer = result.stdout
    if result.returncode != 0 or "Processor:" not in answer:
        said = (result.stderr.strip() or answer.strip()).splitlines()
        raise UserError(
            f"{mcpat.path}: McPAT gave no answer ({said[-1] if said else f'status {result.returncode}'}); "
            "try the input that `lull energy mcpat-xml` writes"
        )
    banner = _BANNER.search(answer)
    if banner is None or banner["version"] != VERSION:
        version = banner["version"] if banner else "of unknown version"
        raise UserError(f"{mcpat.path}: McPAT {version}; lull reads {VERSION}, name such a binary by --mcpat")
    return parse(answer)


def parse(answer: str) -> Heading:
    """Return an answer as a tree. Headings and their numbers nest by indentation."""
    root = Heading("McPAT")
    open_parts: list[tuple[int, Heading]] = [(-1, root)]
    for line in answer.splitlines():
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if not text or set(text) == {"*"}:
            continue
        if value := _VALUE.fullmatch(text):
            key = value["key"].replace("Area Overhead", "Area")
            open_parts[-1][1].numbers[key] = float(value["number"])
        elif "=" not in text:
            while open_parts[-1][0] >= indent:
                open_parts.pop()
            part = Heading(text.rstrip(": "))
            open_parts[-1][1].parts.append(part)
            open_parts.append((indent, part))
    return root


def _checked(path: Path) -> McPatBinary:
    """Return the binary, after a search for its version in its bytes: McPAT prints a version only with an input."""
    path = path.resolve()
    binary = path.read_bytes()
    if b"is computing the target processor" not in binary:
        raise UserError(f"{path}: not a McPAT binary; name one by --mcpat")
    return McPatBinary(str(path), digest.of_file(path))
