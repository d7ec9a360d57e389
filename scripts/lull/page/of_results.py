# SPDX-License-Identifier: BSD-3-Clause
"""The page of results/: every published experiment, compared with other publications."""

import json
import re
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from lull.page import manifest
from lull.page.page import Page, Section
from lull.results import against, drawing
from lull.results import manifest as about_result
from lull.results.drawing import SUMMARY
from lull.results.result import CHECKS
from lull.rundir.origin import Origin
from lull.scenario import experiments
from lull.scenario.load import load_scenario

SENTENCES = 3
"""The number of main sentences."""

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_LINK = re.compile(r'<a href="(?!#)([^"]*)">(.*?)</a>', re.DOTALL)


def page(folders: Sequence[Path]) -> Page:
    made = Page("Published results", ["Each experiment's data, figures and manifest lie in its folder of results/."])
    summary, compared = made.section("Summary"), made.section("Beside papers and baselines", "against")
    overview: list[Sequence[object]] = []
    beside: list[Sequence[object]] = []
    for folder in folders:
        section, checks, about = made.section(folder.name), _checks(folder), about_result.read(folder)
        failed = [check["name"] for check in checks if not check["passed"]]
        overview.append(
            (folder.name, title(folder), Origin.of_manifest(about).label, len(about["points"]),
             f"{len(checks) - len(failed)} of {len(checks)} hold", ", ".join(failed) or "-")
        )  # fmt: skip
        beside += [
            (folder.name, one.what, one.unit, one.here, one.baseline, one.published, one.source)
            for one in against.of_folder(folder)
        ]
        show(section, folder, {one.name for one in folders})
    summary.table(("experiment", "question", "made on", "points", "checks", "fails"), overview)
    compared.text("What others published, for orientation: nothing here is tuned to a paper's result.")
    heads = ("experiment", "what", "unit", "here", "modern baseline", "published", "source")
    compared.table(heads, beside)
    return made


def show(section: Section, folder: Path, beside: Set[str] = frozenset()) -> None:
    """Add one result: figures, checks, all tables, manifest. Links to the page's other results stay inside the page."""
    about = about_result.read(folder)
    section.text(f"{title(folder)}. {Origin.of_manifest(about).label}. Made by {about['command']}.")
    for item in drawing.of_folder(folder):
        section.figure(item.name, item.figure, item.caption)
    rows = [("holds" if check["passed"] else "fails", check["name"], check["says"]) for check in _checks(folder)]
    if rows:
        section.table(("", "check", "numbers"), rows, "Checks")
    text = (folder / SUMMARY).read_text(encoding="utf-8").partition("\n## Checks\n")[0]
    section.folded("All tables", html=_within(_MARKDOWN.render(text.partition("\n")[2]), beside))
    inner = Section("", f"{section.id}-manifest")
    manifest.show(inner, about, without=("points",))
    section.table(**{key: inner.parts[0][key] for key in ("heads", "rows")}, title="Manifest")
    section.folded(f"Manifest of its {len(about['points'])} points", json.dumps(about["points"], indent=1))


def sentences(folders: Sequence[Path]) -> list[str]:
    """Return the main sentences: one check with its numbers, for the experiments that rank first by `headline`."""
    ranked = sorted(
        (headline.rank, folder, headline.check)
        for folder in folders
        if folder.name in experiments.names() and (headline := load_scenario(folder.name).headline)
    )
    found = []
    for _, folder, beginning in ranked:
        for check in _checks(folder):
            if check["name"].startswith(beginning):
                outcome = "holds" if check["passed"] else "FAILS"
                found.append(f"{folder.name}: {check['name']} ({outcome}): {check['says']}")
                break
    return found[:SENTENCES]


def title(folder: Path) -> str:
    return (folder / SUMMARY).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _within(html: str, beside: Set[str]) -> str:
    """Return the HTML with links to results turned into links inside the page. Other links are replaced by their text,
    because the page may be read without the project."""

    def link(match: re.Match[str]) -> str:
        target, text = match.groups()
        name = Path(target).parent.name
        return f'<a href="#{name}">{text}</a>' if target.endswith(f"/{SUMMARY}") and name in beside else text

    return _LINK.sub(link, html)


def _checks(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / CHECKS).read_text(encoding="utf-8"))
    return found
