# SPDX-License-Identifier: BSD-3-Clause
"""Windows of the guest program `steady-power`, each with its joules from the ledger.

The guest records when it ordered the dumps that begin and end a window. Its clock, the architected counter, is gem5's
own time. So a window is the window of statistics with the middle of the ordered time. The lengths are compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lull.energy import rows, run_ledger
from lull.energy.run_ledger import Options
from lull.energy.windows import lasts
from lull.errors import UserError
from lull.platform.schema import Opp
from lull.results.result import Check
from lull.rundir.folder import LEDGER
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.trace import recording, spans
from lull.trace.clock import TICK_HZ, TICKS_PER_US
from lull.trace.origins import TASK
from lull.trace.spans import ACTIVE, Span

FILE = "windows.jsonl"
ENOUGH = 0.95
"""The share of a window in which every CPU must be busy or asleep as ordered. Interrupts may take the rest."""
_KEYS = ("window", "start", "end", "cluster", "cpu", "component", "kind", "backend", "band")


@dataclass(frozen=True)
class Steady:
    """A window in which some CPUs were busy and all others slept in one state."""

    run: Run
    state: str
    busy: tuple[int, ...]
    loop: str | None
    mhz: float
    """Frequency of the first busy CPU; 0 if no CPU is busy."""
    seconds: float
    as_asked: float
    """The share of the window in which a CPU was busy or asleep as ordered: the smallest share of all CPUs."""
    joules: Sequence[Mapping[str, Any]]
    """The ledger's rows, summed over states and causes."""

    @property
    def platform(self) -> str:
        return self.run.spec.platform.name

    def watts(self, band: str = rows.CALIBRATED, backend: str = "mcpat", **where: object) -> float:
        """Return the mean power of the rows that match, such as `kind="static"`. `cpu=None`: parts that CPUs share."""
        wanted = {**where, "band": band, "backend": backend}
        found = [row["joules"] for row in self.joules if all(row[key] == value for key, value in wanted.items())]
        return float(sum(found)) / self.seconds

    def opp(self) -> Opp:
        """Return the operating point of the first busy CPU."""
        cluster = self.run.cluster(self.busy[0])
        for opp in cluster.opps.table:
            if abs(opp.mhz - self.mhz) < 0.5:
                return opp
        raise UserError(f"{self.run.path}: {self.mhz:g} MHz is no operating point of {cluster.name}; run it again")


def read(runs: Runs, *groups: str) -> list[Steady]:
    """Return the windows of all finished points of these groups. Write each point's ledger again."""
    return [window for run in runs.group(*groups) for window in _read(run)]


def df_windows(windows: Sequence[Steady]) -> pa.Table:
    """Return a row per window: the ordered state, the share of time in it, and the mean power of the platform."""
    return pa.Table.from_pylist(
        [
            {
                "point": window.run.name,
                "platform": window.platform,
                "loop": window.loop,
                "busy": list(window.busy),
                "mhz": window.mhz,
                "others_in": window.state,
                "seconds": window.seconds,
                "as_asked": window.as_asked,
                **{f"{band}_w": window.watts(band) for band in rows.BANDS},
                "em_w": window.watts(backend="em"),
            }
            for window in windows
        ]
    )


def check(windows: pa.Table) -> Check:
    worst = min(windows.to_pylist(), key=lambda row: float(row["as_asked"]))
    doing = f"CPUs {worst['busy']} busy at {worst['mhz']:g} MHz, others" if worst["busy"] else "all"
    says = (
        f"least in {worst['point']}, {doing} in {worst['others_in']}: {worst['as_asked']:.1%} of the time on some CPU, "
        f"has to be {ENOUGH:.0%}"
    )
    return Check("CPUs do what was asked", worst["as_asked"] >= ENOUGH, says)


def _read(run: Run) -> list[Steady]:
    rundir = run.rundir()
    run_ledger.make_ledger(rundir, Options())
    by_window: dict[int, list[dict[str, Any]]] = {}
    for row in rows.grouped(rundir / LEDGER, _KEYS, ["joules"]).to_pylist():
        by_window.setdefault(row["window"], []).append(row)
    times = [(own[0]["start"], own[0]["end"], number) for number, own in by_window.items()]
    record = recording.load(rundir)
    traced = spans.of_recording(record, run.spec.platform)
    found = []
    for line in run.lines(FILE):
        try:
            begin = int(line["ordered"]) * record.clock.period + int(line["settle_us"]) * TICKS_PER_US
            length = int(line["window_us"]) * TICKS_PER_US
            state, busy = str(line["state"]), tuple(map(int, line["busy"]))
            loop, mhz = line["loop"], int(line["khz"]) / 1000
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{run.file(FILE)}: not the lines of steady-power ({error!r}); run it again") from None
        start, end, number = _window(run, times, begin, length)
        as_asked = _as_asked(traced, start, end, state, busy)
        seconds = (end - start) / TICK_HZ
        found.append(Steady(run, state, busy, loop, mhz, seconds, as_asked, by_window[number]))
    return found


def _window(run: Run, times: Sequence[tuple[int, int, int]], begin: int, length: int) -> tuple[int, int, int]:
    middle = begin + length // 2
    for start, end, number in times:
        if start <= middle < end and lasts(end - start, length):
            return start, end, number
    raise UserError(
        f"{run.path}: no window of statistics is the one that the guest opened at tick {begin}, so something else "
        "dumped statistics meanwhile, such as a change of frequency or --stats-period; run it without"
    )


def _as_asked(traced: Sequence[Span], start: int, end: int, state: str, busy: Sequence[int]) -> float:
    """Return the share of time as ordered, the smallest of all CPUs. Interrupts of a busy CPU do not count."""
    held: dict[int, int] = {}
    for span in traced:
        is_busy = span.state == ACTIVE and span.cause.startswith(TASK)
        wanted = is_busy if span.cpu in busy else span.state == state
        overlap = min(span.end, end) - max(span.start, start)
        if overlap > 0:
            held[span.cpu] = held.get(span.cpu, 0) + overlap * wanted
    return min(held.values(), default=0) / (end - start)
