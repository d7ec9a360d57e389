# SPDX-License-Identifier: BSD-3-Clause
"""The pages that come with the project: links lead somewhere, and a folder says on one page what lives in it."""

import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from lull.files.paths import ROOT

LINES_OF_A_PAGE = 60
"""The most lines of a folder's page or a guide, without the files that it shows and the tables that `lull` writes."""
_WRITTEN = re.compile(r"^<!-- lull \w+: .*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)
LINES_OF_THE_FRONT_PAGE = 150
WITHOUT_README = {"LICENSES"}
"""Folders that need no README. By the REUSE convention `LICENSES` holds licences and nothing else."""

_PAGE_BY_NAME = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*README\.md|docs/[\w-]+\.md)")
_TEXTS = {".md", ".py", ".c", ".h", ".sh", ".yaml", ".config", ".patch", ""}


def _committed() -> list[Path]:
    """Return the committed files, and those that are about to be."""
    words = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


FILES = _committed()
PAGES = [path for path in FILES if path.suffix == ".md"]


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _targets(text: str) -> list[str]:
    """Return links and images, also those of a table, as a reader's browser sees them."""

    def inside(tokens: list[Token]) -> list[str]:
        found = []
        for token in tokens:
            found += [str(value) for key, value in token.attrs.items() if key in ("href", "src")]
            found += inside(token.children or [])
        return found

    return inside(MarkdownIt("commonmark").enable("table").parse(text))


def _anchors(text: str) -> set[str]:
    """Return the anchors that forges make of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_to_a_committed_file(page: Path) -> None:
    for target in _targets(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = unquote(target).partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there in FILES, f"{_name(page)} links to {target}, which is not committed"
        assert not anchor or anchor in _anchors(there.read_text(encoding="utf-8")), f"{_name(page)}: {target}"


def test_a_page_that_is_named_anywhere_is_there() -> None:
    """In code and messages too, by its place in the checkout or beside the file that names it."""
    named = 0
    for path in FILES:
        if path.suffix not in _TEXTS or path == Path(__file__):
            continue
        for name in _PAGE_BY_NAME.findall(path.read_text(encoding="utf-8")):
            named += 1
            places = ((ROOT / name).resolve(), (path.parent / name).resolve())
            assert any(place in FILES for place in places), f"{_name(path)} names {name}"
    assert named > 20


def test_each_top_level_folder_has_a_page() -> None:
    folders = {path.relative_to(ROOT).parts[0] for path in FILES if len(path.relative_to(ROOT).parts) > 1}
    for folder in {name for name in folders if not name.startswith(".")} - WITHOUT_README:
        lines = _WRITTEN.sub("", (ROOT / folder / "README.md").read_text(encoding="utf-8")).count("\n")
        assert lines <= LINES_OF_A_PAGE, f"{folder}/README.md has {lines} lines; move a part to docs/"


def test_guides_keep_to_a_page_and_the_front_page_stays_short() -> None:
    guides = sorted((ROOT / "docs").glob("adding-*.md"))
    assert len(guides) == 4
    for guide in guides:
        words = _CODE.sub("", guide.read_text(encoding="utf-8"))
        assert words.count("\n") <= LINES_OF_A_PAGE, guide.name
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= LINES_OF_THE_FRONT_PAGE


def test_the_index_names_every_page_of_docs() -> None:
    index = _targets((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} <= set(index)
