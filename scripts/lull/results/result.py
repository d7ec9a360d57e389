# SPDX-License-Identifier: BSD-3-Clause
"""The result that an analysis returns, and the folder that it becomes.

An analysis is the `analysis.py` of an experiment. It has a function `analyse(runs) -> Result`. It may also have a
function that draws stored tables (`drawing`), and one that concludes from stored tables (`judging`, `pieces`). This
module writes the files, and lets only numbers of gem5 into `results/`.
"""

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lull.energy import validation
from lull.errors import UserError
from lull.files import columns, paths, whole
from lull.plotting.markdown import markdown_table
from lull.results import conditions, drawing, index, mixed, pieces, quotes, reasons, tree
from lull.results.drawing import MANIFEST, SUMMARY
from lull.rundir.origin import Origin
from lull.scenario import experiments, load
from lull.scenario.runs import Runs

RESULTS = paths.RESULTS
CHECKS = "checks.json"

_OF_A_RESULT = re.compile(r"\d<!--= [\w-]+/")


class CheckFailed(UserError):
    """A check of a result failed, although its data is complete."""

    exit_status = 1


class TooOld(UserError):
    """A published table lacks a column that today's analysis needs."""


@dataclass(frozen=True)
class Check:
    """One condition that a result must meet. `says` gives the numbers, passed or not."""

    name: str
    passed: bool
    says: str


@dataclass
class Result:
    summary: str
    """The most important tables, as Markdown."""
    tables: dict[str, pa.Table] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)


def need(tables: Mapping[str, pa.Table], name: str, *columns: str) -> pa.Table:
    """Return a table; raise TooOld if it lacks one of the columns, as tables published earlier may."""
    table = tables[name]
    if missing := [column for column in columns if column not in table.column_names and table.num_rows]:
        raise TooOld(f"no column `{missing[0]}` in the table `{name}`; make the result again")
    return table


def write(result: Result, runs: Runs, folder: Path) -> None:
    """Write all files of a result of these runs. They replace an earlier result's files."""
    save(result, runs.title, {**runs.manifest(), "pieces": tree.with_code(runs.pieces, runs.analysis)}, folder)


def save(result: Result, title: str, about: Mapping[str, Any], folder: Path, keep: Sequence[str] = ()) -> list[Path]:
    """Write a result and its manifest, draw its figures from the stored tables, and return their paths. `keep` are
    names of files of the earlier result that stay as they are."""
    with whole.replaced(folder) as place:
        for name, table in result.tables.items():
            pq.write_table(
                columns.complete(table, {}), place / f"{name}.parquet", compression="zstd", compression_level=19
            )
        (place / CHECKS).write_text(json.dumps([vars(check) for check in result.checks], indent=1) + "\n")
        (place / SUMMARY).write_text(_page(result, title, about))
        (place / MANIFEST).write_text(json.dumps(about, indent=1, sort_keys=True) + "\n")
        for name in keep:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, place / name)
        figures = drawing.draw(place)
    return [folder / figure.name for figure in figures]


def with_conditions(result: Result, table: pa.Table | None) -> Result:
    """Return the result with its table of clocks, voltages and temperatures added, if there is one."""
    if table is not None and table.num_rows:
        result.tables[conditions.NAME] = table
    return result


def publish(runs: Runs, made: Path) -> Path:
    """Copy a written result into `results/`, and return its folder. The result must be from gem5, and complete. A
    result that comes in pieces need not be complete: its points are added to the published ones."""
    if runs.engine != "gem5":
        raise UserError(f"{runs.path}: made by QEMU, which has no timing; only gem5's results enter {RESULTS.name}/")
    if runs.scenario not in experiments.names():
        raise UserError(f"{runs.path}: `{runs.scenario}` is no scenario of the project; put its file into benchmarks/")
    target = RESULTS / _published_as(runs)
    if load.load_scenario(runs.scenario).in_pieces:
        tables, about = pieces.joined(made, target)
        found: Result = runs.analysis.conclude(tables, runs.names)
        save(with_conditions(found, tables.get(conditions.NAME)), runs.title, about, target)
    else:
        if missing := runs.missing:
            raise UserError(f"{runs.path}: {len(missing)} points are missing, such as {missing[0]}; run them first")
        with whole.replaced(target) as place:
            shutil.copytree(made, place, dirs_exist_ok=True)
    requote(RESULTS.parent / experiments.BENCHMARKS.name / runs.scenario / "README.md", drawing.tables_of(target))
    requote_docs()
    index.write(RESULTS)
    return target


def _published_as(runs: Runs) -> str:
    """Return the folder's name: the scenario, then platform and CPU models if they are not the scenario's own."""
    own = load.load_scenario(runs.scenario)
    others = [runs.platform] if runs.platform != own.platform and "," not in runs.platform else []
    others += [runs.cpu] if runs.cpu and runs.cpu != own.cpu else []
    return "-".join([runs.scenario, *others])


def must_hold(checks: Sequence[Check]) -> None:
    """Raise CheckFailed with the numbers of the first failed check, if there is one."""
    failed = [check for check in checks if not check.passed]
    if failed:
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        raise CheckFailed(f"check failed: {failed[0].name}: {failed[0].says}{more}")


def _page(result: Result, title: str, about: Mapping[str, Any]) -> str:
    origin = Origin.of_manifest(about)
    why = reasons.shown(about["scenario"], result.tables) if origin.timed else ""
    found = result.tables.get(conditions.NAME)
    under = conditions.text(found, about["points"]) if found is not None else ""
    parts = [
        f"# {title}\n",
        f"{origin.label}. Made by `{about['command']}`.\n",
        result.summary,
        mixed.text(result.tables, about),
        under,
        why,
    ]
    if result.checks:
        rows = [("holds" if check.passed else "**fails**", check.name, check.says) for check in result.checks]
        parts.append("## Checks\n\n" + markdown_table(("", "check", "numbers"), rows))
    return "\n".join(part for part in parts if part) + "\n"


def requote(page: Path, tables: Mapping[str, pa.Table]) -> bool:
    """Update the quoted numbers of a page from published tables. Return true if the page has changed."""
    if not page.is_file():
        return False
    before = page.read_text()
    after = quotes.fill(before, tables, unknown=None, page=page)
    if after != before:
        with whole.written(page) as place:
            place.write_text(after)
    return after != before


def requote_docs() -> None:
    """Update the quoted numbers of README.md and docs/, which may quote any result. These pages name a table with its
    result, such as `esm-idle/points`."""
    for page in quoting_docs():
        requote(page, quoted_tables(page.read_text()))


def quoting_docs() -> list[Path]:
    """Return the pages among README.md and docs/ that quote results."""
    pages = [*sorted((RESULTS.parent / "docs").glob("*.md")), RESULTS.parent / "README.md"]
    return [page for page in pages if page.is_file() and _OF_A_RESULT.search(page.read_text())]


def quoted_tables(text: str) -> dict[str, pa.Table]:
    """Return the tables that a page of docs/ quotes, by the page's names for them, such as `esm-idle/points`.

    Besides tables of `results/`, there are comparisons of the power models with published figures, such as
    `power-models/left-out`.
    """
    models = validation.quotable() if "<!--= power-models/" in text else {}
    return {f"power-models/{name}": table for name, table in models.items()} | {
        f"{folder.name}/{name}": table
        for folder in sorted(path.parent for path in RESULTS.glob(f"*/{MANIFEST}"))
        if f"<!--= {folder.name}/" in text
        for name, table in drawing.tables_of(folder).items()
    }
