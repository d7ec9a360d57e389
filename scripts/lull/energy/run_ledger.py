# SPDX-License-Identifier: BSD-3-Clause
"""Makes the ledger of a run, its figure, and notes about both."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull import __version__
from lull.energy import causes, ledger, rows, source, states, technology, windows
from lull.energy.backend import Backend
from lull.energy.em import EnergyModel
from lull.energy.ledger import Totals
from lull.energy.mcpat import McPat
from lull.energy.occupancy import Occupancy
from lull.energy.source import Evidence
from lull.energy.uncore import Uncore
from lull.files import digest
from lull.platform.schema import Platform
from lull.rundir.folder import LEDGER, STATS_TABLE, TRACE, RunDir
from lull.trace import recording, spans, wakes

FIGURE = "power"
AGREEMENT = 0.02
"""If trace and statistics disagree on more than this share of CPU time, the summary says so."""


@dataclass(frozen=True)
class Options:
    backends: Sequence[str] = ("mcpat", "em")
    rest_w: float | None = None
    given_transitions: bool = False
    allow_lost: bool = False
    temperature_k: float | None = None
    """None: the platform's temperature in power-models/technology.yaml."""


@dataclass(frozen=True)
class Accounted:
    ledger: Path
    platform: Platform
    totals: Totals
    notes: list[str]


@dataclass(frozen=True)
class Traced:
    occupancy: Occupancy
    lost: int
    """The number of lost events."""
    told: int
    """The number of changes of CPUs' activity that the trace has."""


def make_ledger(rundir: RunDir, options: Options) -> Accounted:
    """Write the ledger into the run's folder, and return it with notes."""
    run = source.open_run(rundir)
    traced = _traced(run, options.allow_lost)
    backends = [_backend(name, run, options) for name in options.backends]
    path = rundir / LEDGER
    found = windows.read(rundir / STATS_TABLE)
    occupancy = traced.occupancy if traced else None
    totals = ledger.write(run, found, backends, Uncore(options.rest_w), occupancy, path, _about(run, options))
    first = backends[0].name
    notes = [_mixed()] if traced is None else [*_disagreement(totals), *_lost(traced, path, first)]
    if kelvin := _temperature_k(run, options):
        notes.append(f"leakage at {kelvin:g} K, {kelvin - 273.15:.0f} °C")
    return Accounted(path, run.platform, totals, notes)


def draw(found: Accounted, backend: str) -> None:
    """Draw the ledger's figure, and save it beside the ledger."""
    # matplotlib takes a second to load, which the runs of a sweep do not pay.
    from lull.energy import view
    from lull.plotting import style

    figure = view.plot_power(view.df_power(found.ledger, backend), f"{found.platform.name}, {backend}")
    style.save(figure, found.ledger.parent, FIGURE)


def _about(run: Evidence, options: Options) -> dict[str, object]:
    """Return all that is needed to make the same ledger again."""
    models = (file for file in states.FOLDER.rglob("*") if file.suffix in (".yaml", ".json"))
    return {
        "version": __version__,
        "run": run.spec.hash(),
        "statistics": digest.of_file(run.rundir / STATS_TABLE),
        "options": {**dataclasses.asdict(options), "temperature_k": _temperature_k(run, options)},
        "power-models": digest.of_files(states.FOLDER, models),
    }


def _temperature_k(run: Evidence, options: Options) -> float | None:
    """Return the temperature of the run; None if no backend needs it."""
    if "mcpat" not in options.backends:
        return None
    return technology.running_k(run.platform) if options.temperature_k is None else options.temperature_k


def _backend(name: str, run: Evidence, options: Options) -> Backend:
    if name == "em":
        return EnergyModel(run.platform)
    return McPat.of(run.platform, run.gem5, options.given_transitions, options.temperature_k)


def _traced(run: Evidence, allow_lost: bool) -> Traced | None:
    if not (run.rundir / TRACE).is_file():
        return None
    record = recording.load(run.rundir)
    found = spans.by_cpu(record, run.platform, allow_lost)
    woken = wakes.of_recording(record, run.platform)
    occupancy = causes.occupancy(found, woken, run.platform, run.deepest, run.time, allow_lost)
    return Traced(occupancy, record.lost, sum(changes.time.size for changes in record.changes.values()))


def _mixed() -> str:
    return "no trace: idle states are in the run's mixture in every window, and causes are not known"


def _disagreement(totals: Totals) -> list[str]:
    share = totals.disagreement_s / totals.cpu_s
    if share <= AGREEMENT:
        return []
    return [f"trace and gem5 disagree about {share:.1%} of the CPUs' time, asleep or awake"]


def _lost(traced: Traced, path: Path, backend: str) -> list[str]:
    """Return notes on the effect of lost events. Assumed: each would have changed the cause of a CPU's work, for the
    mean time between events."""
    if not traced.lost:
        return []
    share = traced.lost / (traced.lost + traced.told)
    active = rows.grouped(path, ["cpu", "state"], ["joules"], backend, rows.CALIBRATED).to_pylist()
    joules = sum(row["joules"] for row in active if row["cpu"] is not None and row["state"] == states.ACTIVE)
    return [
        f"the trace lost {traced.lost} events beside {traced.told} that tell what CPUs do: about {share:.1%} of their "
        f"active energy, {share * joules:.3g} J, may have another cause; sums do not depend on it"
    ]
