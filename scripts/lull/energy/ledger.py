# SPDX-License-Identifier: BSD-3-Clause
"""The ledger: joules by CPU, window, state, component and cause. All sums are checked.

A ClosureError says where a check fails. Windows must cover the run without gap. On every CPU, gem5's power states must
sum to each window, and so must the spans of the trace. The parts of each account must sum to its whole, and none may be
negative (`account.closed`). The rows of the file must sum to the accounts.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from lull.energy import rows, source, transitions, untraced
from lull.energy.account import Account, Label, Place, closed
from lull.energy.backend import Backend, OfCpu, OfL2, OfMemory
from lull.energy.occupancy import ClosureError, Occupancy, Stay
from lull.energy.residency import Residency, residency
from lull.energy.source import Evidence
from lull.energy.states import ACTIVE, IDLE, OFF, UNTRACED
from lull.energy.uncore import Uncore
from lull.energy.windows import Window
from lull.engines import gem5_names
from lull.files import whole
from lull.platform.schema import Opp

TOLERANCE = 1e-9


@dataclass
class Totals:
    """Sums over the whole ledger."""

    windows: int = 0
    seconds: float = 0.0
    joules: dict[tuple[str, str], float] = field(default_factory=dict)
    """Joules by backend and band."""
    cpu_s: float = 0.0
    """The sum of all CPUs' time."""
    disagreement_s: float = 0.0
    """Time in which the trace and gem5 disagree on whether a CPU was awake."""
    residency_s: dict[tuple[int, str], float] = field(default_factory=dict)

    def add(self, backend: str, account: Account) -> None:
        for band, joules in ((rows.RAW, account.raw), (rows.CALIBRATED, account.calibrated)):
            self.joules[backend, band] = self.joules.get((backend, band), 0.0) + float(joules.sum())


class Ledger:
    def __init__(
        self,
        run: Evidence,
        backends: Sequence[Backend],
        uncore: Uncore,
        occupancy: Occupancy | None,
        writer: rows.Writer,
    ) -> None:
        self.run, self.backends, self.uncore, self.occupancy, self.writer = run, backends, uncore, occupancy, writer
        self.totals = Totals()
        self._ranges = run.platform.cpu_ranges()
        self._mixtures = [
            untraced.mixture(run.idle, cpu, cluster, run.hz / 1e6, occupancy.slept(cpu) if occupancy else {})
            for cpus, cluster in self._ranges
            for cpu in cpus
        ]
        self._last_opps: list[Opp] | None = None

    def add(self, window: Window) -> None:
        """Write the joules of one window."""
        hz = self.run.hz
        seconds = window.ticks / hz
        everyone: dict[str, float] = {}
        opps = [source.opp_of(window, number, cluster, hz) for number, (_, cluster) in enumerate(self._ranges)]
        for number, (cpus, cluster) in enumerate(self._ranges):
            users: dict[str, float] = {}
            off_ticks = []
            for index, cpu in enumerate(cpus):
                place = Place(cpu, cluster.name, window.number, window.start, window.end)
                path = gem5_names.cpu(number, index)
                own, guessed = self._of_cpu(place, cpu, window, path, number, opps[number])
                off_ticks.append(sum(stay.ticks for stay in guessed if stay.who.state in ("C4", OFF)))
                for backend in self.backends:
                    self._put(backend, backend.core(own))
                for stay in own.stays:
                    if stay.who.state == ACTIVE:
                        users[stay.who.cause] = users.get(stay.who.cause, 0.0) + stay.ticks / hz
            # If no trace says when CPUs slept together, the cluster was off for the shortest C4 time of its CPUs.
            known_off = self.occupancy.off_ticks(number, window.start, window.end) if self.occupancy else 0
            off_s = (known_off + min(off_ticks)) / hz
            place = Place(None, cluster.name, window.number, window.start, window.end)
            path = gem5_names.l2(number)
            cache = OfL2(place, window, path, number, opps[number], users, off_s, seconds)
            for backend in self.backends:
                self._put(backend, backend.l2(cache))
            for cause, used_s in users.items():
                everyone[cause] = everyone.get(cause, 0.0) + used_s
            if self._last_opps is not None:
                self._put_all(_step(place, self._last_opps[number], opps[number]))
        place = Place(None, None, window.number, window.start, window.end)
        self._put_all(self.uncore.account(place, window, everyone, seconds))
        for backend in self.backends:
            self._put(backend, backend.memory(OfMemory(place, window, everyone, seconds)))
        self._last_opps = opps
        self.totals.windows += 1
        self.totals.seconds += seconds

    def _put(self, backend: Backend, account: Account) -> None:
        self.writer.add(backend.name, account)
        self.totals.add(backend.name, account)

    def _put_all(self, account: Account) -> None:
        for backend in self.backends:
            self._put(backend, account)

    def _of_cpu(
        self, place: Place, cpu: int, window: Window, path: str, cluster: int, opp: Opp
    ) -> tuple[OfCpu, list[Stay]]:
        """Return the CPU in the window, and those of its stays that no trace tells."""
        hz, period = self.run.hz, source.period(window, cluster)
        found = residency(window, path, period, window.start == self.run.time.start)
        known: list[Stay] = []
        unknown: float = window.ticks
        if self.occupancy is not None:
            told = self.occupancy.stays(cpu, window.start, window.end)
            known = [stay for stay in told if stay.who.state != UNTRACED]
            unknown = sum(stay.ticks for stay in told if stay.who.state == UNTRACED)
        known, guessed = untraced.turned_off(known, found)
        if unknown:
            rest = replace(found, off=found.off - sum(stay.ticks for stay in guessed))
            guessed += self._mixtures[cpu].split(cpu, unknown, rest, known)
        stays = known + guessed
        self._compare(stays, found)
        for stay in stays:
            key = (cpu, stay.who.state)
            self.totals.residency_s[key] = self.totals.residency_s.get(key, 0.0) + stay.ticks / hz
        self.totals.cpu_s += window.ticks / hz
        return OfCpu(place, window, path, cluster, opp, period, stays, found, hz), guessed

    def _compare(self, stays: Sequence[Stay], found: Residency) -> None:
        asleep = sum(stay.ticks for stay in stays if stay.who.state in (*IDLE, OFF))
        self.totals.disagreement_s += abs(asleep - found.gated - found.off) / self.run.hz


def _step(place: Place, before: Opp, after: Opp) -> Account:
    """Return the account of a cluster's change of operating point, at the start of the next window."""
    joules = transitions.regulator_joules(before, after)
    labels = [Label("dvfs", "transition", 0.0)]
    return closed(place, labels, [transitions.REGULATOR], np.array([[joules]]), np.ones(1), joules)


def write(
    run: Evidence,
    windows: Iterable[Window],
    backends: Sequence[Backend],
    uncore: Uncore,
    occupancy: Occupancy | None,
    path: Path,
    about: Mapping[str, object],
) -> Totals:
    """Write the ledger of a run, and return its sums. If this fails, no file is left."""
    first: int | None = None
    last = 0
    numbers = 0
    with whole.written(path) as partial:
        with rows.Writer(partial, about) as writer:
            ledger = Ledger(run, backends, uncore, occupancy, writer)
            for window in windows:
                first = window.start if first is None else first
                last, numbers = window.end, window.number + 1
                ledger.add(window)
            run.refuse_if_short(range(first or 0, last), numbers)
        _check_file(partial, path, ledger.totals)
    return ledger.totals


def _check_file(partial: Path, path: Path, totals: Totals) -> None:
    found = rows.grouped(partial, ["backend", "band"], ["joules"]).to_pylist()
    written = {(row["backend"], row["band"]): row["joules"] for row in found}
    for (backend, band), joules in totals.joules.items():
        if not math.isclose(written.get((backend, band), 0.0), joules, rel_tol=TOLERANCE, abs_tol=1e-15):
            raise ClosureError(
                f"{path}: {backend}, {band}: rows sum to {written.get((backend, band), 0.0):.9g} J, accounts to "
                f"{joules:.9g} J; the file was changed or cut while it was written"
            )
