# SPDX-License-Identifier: BSD-3-Clause
"""Confirms a published result: runs the few points that its scenario names, and compares them with the published ones.

A mistake in the scenario or in the published files raises an error before the first point runs.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lull.engines import gem5_binary
from lull.engines.base import Engine
from lull.engines.gem5 import Gem5
from lull.errors import UserError
from lull.files import columns, digest, yaml_file
from lull.host.progress import Progress, report
from lull.results import confirmed, drawing, manifest
from lull.results.comparing import PublishedRows
from lull.results.confirmed import Confirmed
from lull.results.manifest import FILE as MANIFEST
from lull.results.manifest import MadePoint, ResultManifest
from lull.runspec.values import text_of
from lull.scenario import asked, experiments, points, runs
from lull.scenario.asked import Asked
from lull.scenario.folder import FAILED, HUNG, Done, ScenarioFolder, run_points
from lull.scenario.load import file_of, load_scenario
from lull.scenario.points import Point
from lull.scenario.schema import Scenario

LOG = "confirm.log"


class Unsaid(UserError):
    """The scenario does not say which points confirm its result."""


class Unfinished(UserError):
    """A point failed or hung, so there is nothing to compare."""

    exit_status = 1


@dataclass(frozen=True)
class PreparedConfirm:
    """A confirmation after all checks, before any run starts."""

    folder: Path
    manifest: str
    """The hash of the result's manifest."""
    command: str
    """The command that makes the whole result again."""
    scenario: Scenario
    asked: Asked
    points: list[Point]
    published: PublishedRows

    @property
    def rules(self) -> str:
        return digest.of_json(self.published.confirm.model_dump(mode="json"))

    @property
    def hashes(self) -> dict[str, str]:
        return {point.name: point.spec.hash() for point in self.points}


def prepare(folder: Path) -> PreparedConfirm:
    """Return the points that confirm a published result, and their published rows."""
    about, wanted = manifest_of(folder)
    scenario = load_scenario(wanted.name)
    place = yaml_file.shown(Path(file_of(wanted.name) or experiments.folder_of(wanted.name) / experiments.FILE))
    if scenario.confirm is None:
        raise Unsaid(f"{place}: confirm: missing, so nothing says which points confirm {folder.name}; add it")
    settings = tuple(f"{key}={text_of(value)}" for key, value in scenario.confirm.settings.items())
    wishes = asked.wishes_of(wanted, "gem5", settings)
    try:
        chosen = points.resolve(scenario, wishes, scenario.confirm.points)
    except UserError as error:
        raise UserError(f"{place}: confirm.points: {str(error).removeprefix('--points ')}") from error
    for point in chosen:
        if complaint := _differs(point, about["points"].get(point.name), scenario.confirm.settings.keys()):
            raise UserError(f"{place}: confirm: {point.name} {complaint}; choose another point, or {manifest.REMEDY}")
    names = [point.name for point in chosen]
    tables = drawing.tables_of(folder)
    published = PublishedRows(scenario.confirm, tables, names, f"{place}: confirm", yaml_file.shown(folder))
    return PreparedConfirm(
        folder, digest.of_file(folder / MANIFEST), about["command"], scenario, wanted, chosen, published
    )


def engine(chosen: str | None) -> Engine:
    """Return gem5, with the artifacts of its runs built."""
    if not chosen and not gem5_binary.is_there():
        raise UserError(
            "gem5: no binary found (looked at --gem5, GEM5 and PATH), and published values are gem5's, so QEMU cannot "
            "confirm them; build gem5 24.0 or newer for ARM by its own documentation"
        )
    found = Gem5(chosen)
    found.artifacts("default")
    return found


def confirm(prepared: PreparedConfirm, engine: Engine, out: Path, again: bool = False) -> Confirmed:
    """Run the points that have not finished, compare, and write the record beside the manifest."""
    name, command = prepared.folder.name, f"./lull confirm {prepared.folder.name}"
    file = file_of(prepared.asked.name)
    sweep = ScenarioFolder.create(out / name, prepared.scenario.name, command, prepared.points, file)
    log = sweep.path / LOG

    def say(text: str) -> None:
        report(text)
        _keep(log, text)

    say(f"{name}: {', '.join(point.name for point in prepared.points)}; in {sweep.path}")
    done = run_points(sweep, prepared.points, engine, again, say, renew=True)
    if bad := [item for item in done if item.how in (FAILED, HUNG)]:
        raise _unfinished(sweep, bad, len(done))
    found = runs.read(sweep, prepared.scenario)
    with Progress(f"analyse {len(found.runs)} points"):
        tables = found.analysis.analyse(found).tables
    values = prepared.published.beside({key: columns.complete(table, {}) for key, table in tables.items()})
    for value in values:
        say(
            f"{name}: {value.table}: {value.cell}: {value.column}: {'holds' if value.held else 'REFUTED'}: {value.says}"
        )
    return confirmed.write(prepared.folder, prepared.manifest, prepared.rules, found, values)


def manifest_of(folder: Path) -> tuple[ResultManifest, Asked]:
    """Return a published manifest, and the options of its command."""
    about = manifest.read(folder)
    try:
        return about, asked.of_command(about["command"])
    except (KeyError, StopIteration, ValueError):
        raise UserError(f"{folder / MANIFEST}: `command`: not one of `lull run`; {manifest.REMEDY}") from None


def _differs(point: Point, published: MadePoint | None, changed: Collection[str]) -> str | None:
    """Return how a point differs from the published point of the same name, or None if it does not."""
    if published is None or "hung" in published:
        return "is not published"
    for key, value in published["values"].items():
        if key not in changed and point.values.get(key) != value:
            return f"has {key}={point.values.get(key, '')} today and {value} in its published result"
    return None


def _unfinished(sweep: ScenarioFolder, bad: list[Done], total: int) -> Unfinished:
    first = bad[0]
    remedy = "--again runs it again" if first.how == HUNG else "mend that and run the command again"
    return Unfinished(
        f"{sweep.path}: {len(bad)} of {total} points failed or hung, such as {first.name} ({first.note}); "
        f"nothing was compared, {remedy}"
    )


def _keep(log: Path, text: str) -> None:
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {text}\n")
