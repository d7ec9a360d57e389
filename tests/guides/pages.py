# SPDX-License-Identifier: BSD-3-Clause
"""The guides of docs/ whose code blocks are files, which tests follow to the letter.

A block stands under a comment with its file's name. `python -m tests.guides.pages` writes all of them again.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from lull.files.paths import ROOT

_LANGUAGES = {".yaml": "yaml", ".c": "c", ".py": "python", ".md": "markdown", "Kconfig": "kconfig", "Makefile": "make"}
_SHELL = "sh"
_BLOCK = re.compile(r"^<!-- ([\w./-]+) -->\n(?:```[a-z]*\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
_COMMANDS = "commands"


@dataclass(frozen=True)
class Guide:
    """`name` is the page's in docs/ and the folder's here; `example` is the folder that the page makes."""

    name: str
    example: str

    @property
    def page(self) -> Path:
        return ROOT / "docs" / f"{self.name}.md"

    @property
    def folder(self) -> Path:
        """The folder of the files that the reader makes."""
        return ROOT / "tests" / "guides" / self.name / self.example

    @property
    def commands(self) -> list[str]:
        """The commands that the reader then types."""
        return (self.folder.parent / _COMMANDS).read_text(encoding="utf-8").splitlines()

    def files(self) -> list[str]:
        found = (path for path in self.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return sorted([*(str(path.relative_to(self.folder)) for path in found), _COMMANDS])

    def written(self, page: str) -> str:
        """Return the page with each block as its file is."""
        return _BLOCK.sub(lambda match: self._block(match[1]), page)

    def _block(self, name: str) -> str:
        file = self.folder.parent / name if name == _COMMANDS else self.folder / name
        language = _LANGUAGES.get(file.suffix) or _LANGUAGES.get(file.name, _SHELL)
        return f"<!-- {name} -->\n```{language}\n{file.read_text(encoding='utf-8')}```\n"


MECHANISM = Guide("adding-a-mechanism", "nap")
EXPERIMENT = Guide("adding-an-experiment", "after-sleep")
GUIDES = (MECHANISM, EXPERIMENT)


def included(page: str) -> list[str]:
    return sorted(match[1] for match in _BLOCK.finditer(page))


if __name__ == "__main__":
    for guide in GUIDES:
        guide.page.write_text(guide.written(guide.page.read_text(encoding="utf-8")), encoding="utf-8")
