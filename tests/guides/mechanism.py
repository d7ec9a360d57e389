# SPDX-License-Identifier: BSD-3-Clause
"""The guide to a new mechanism: its code blocks are files, which a test follows.

`python -m tests.guides.mechanism` writes them into the page again.
"""

import re

from lull.files.paths import ROOT

PAGE = ROOT / "docs" / "adding-a-mechanism.md"
FOLDER = ROOT / "tests" / "guides" / "adding-a-mechanism"
SYSTEM = FOLDER / "nap"
COMMANDS = FOLDER / "commands"

_LANGUAGES = {".yaml": "yaml", ".c": "c", "Kconfig": "kconfig", "Makefile": "make", "config": "sh", "nap": "sh"}
_BLOCK = re.compile(r"^<!-- ([\w./-]+) -->\n(?:```[a-z]*\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


def written(page: str) -> str:
    """The page with each block as its file is."""
    return _BLOCK.sub(lambda match: _block(match[1]), page)


def included(page: str) -> list[str]:
    return [match[1] for match in _BLOCK.finditer(page)]


def _block(name: str) -> str:
    file = COMMANDS if name == "commands" else SYSTEM / name
    language = _LANGUAGES.get(file.suffix) or _LANGUAGES.get(file.name, "")
    return f"<!-- {name} -->\n```{language}\n{file.read_text(encoding='utf-8')}```\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
