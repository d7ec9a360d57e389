# SPDX-License-Identifier: BSD-3-Clause
"""One run."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from lull.compare import compare as comparing
from lull.compare import measures
from lull.compare.samples import Samples
from lull.errors import UserError
from lull.figures.sample import SUFFIX, Sample
from lull.notebook import asking
from lull.notebook.energy import Energy
from lull.notebook.frame import Frame, Kind, frame_of
from lull.notebook.idle import Idle
from lull.notebook.source import Source
from lull.notebook.stats import Stats
from lull.notebook.trace import Trace
from lull.notebook.wakes import Wakes
from lull.platform.schema import Platform
from lull.rundir.folder import FILES, STDOUT
from lull.runspec.spec import RunSpec
from lull.runspec.values import Value
from lull.sweep.table import column_of
from lull.whatif import tune as tuning
from lull.whatif.several import Question, notes
from lull.whatif.source import Replay

_DIFFERENCE = (*(field.name for field in fields(comparing.Difference)), "change", "significant")


class Opened:
    """The views, which one run and several have in common."""

    def __init__(self, samples: Samples, sources: list[Source], kind: Kind | None) -> None:
        self._samples, self._sources, self._kind = samples, sources, kind
        single = samples.kind == "run"
        self.idle = Idle(sources, kind, single)
        self.wakes = Wakes(sources, kind, single)
        self.energy = Energy(sources, kind, single)
        self.trace = Trace(sources, kind, single)
        self.stats = Stats(sources, kind, single)

    @property
    def path(self) -> Path:
        return self._samples.path

    @property
    def title(self) -> str:
        return self._samples.title

    @property
    def command(self) -> str:
        """The engine, CPU model and platform that made it."""
        return self._samples.command

    def compare(self, other: "Opened") -> Frame:
        """The differences of results from `other`, measure by measure, as `lull compare` has them. `n` counts seeds.

        With two seeds on each side, `low` and `high` are the 95 % interval of the difference, `p` the probability of
        one so large by chance.
        """
        found = comparing.compare(self._samples, other._samples)
        rows = [{**vars(one), "change": one.change, "significant": one.significant} for one in found.differences]
        return frame_of(_rows(rows, _DIFFERENCE), self._kind)

    def compare_settings(self, other: "Opened") -> Frame:
        """The differences of settings, engine and artifacts from those of `other`."""
        found = comparing.compare(self._samples, other._samples).settings
        rows = [{"setting": one.key, "first": str(one.first), "second": str(one.second)} for one in found]
        return frame_of(_rows(rows, ("setting", "first", "second")), self._kind)


class RunView(Opened):
    """A run's folder, opened: `lull.open("runs/mine")`, `lull.boot(…)`, or a point of a sweep."""

    def __init__(self, samples: Samples, source: Source, kind: Kind | None = None) -> None:
        super().__init__(samples, [source], kind)
        self._source = source

    def __repr__(self) -> str:
        spec = self.spec
        return f"<lull run {self._source.shown}: {spec.platform.name} on {spec.engine}, {spec.command!r}>"

    @property
    def sample(self) -> Sample:
        """The run as analyses take it."""
        return self._source.sample

    @property
    def name(self) -> str:
        return self.sample.run.name

    @property
    def settings(self) -> Mapping[str, Value]:
        """The settings that tell a point from the others."""
        return self.sample.settings

    @property
    def seed(self) -> int:
        return self.sample.seed

    @property
    def spec(self) -> RunSpec:
        """The RunSpec: what was asked, resolved."""
        return self.sample.run.spec

    @property
    def platform(self) -> Platform:
        return self.spec.platform

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest: what made the run, and how it ended."""
        return self.sample.run.manifest

    @property
    def status(self) -> int:
        """The command's exit status in the guest."""
        return int(self.manifest["status"])

    @property
    def stdout(self) -> str:
        """All that the command printed."""
        path = self.path / STDOUT
        return path.read_text(errors="replace") if path.is_file() else ""

    @property
    def files(self) -> dict[str, Path]:
        """The path of a file that the guest left in /out, by its name there."""
        folder = self.path / FILES
        return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}

    @cached_property
    def measures(self) -> dict[str, float]:
        """Every number that may be set beside another run's: energy, residency, latency, what the guest reported."""
        return measures.of_point(self.sample)

    def what_if(self, *settings: str, grid: Sequence[str] = (), reasons: bool = False) -> Frame:
        """The run's tables with other idle states or another governor, as `lull what-if` has them.

        `run.what_if("cstates.C3.exit_us=15")` has each number as recorded and as predicted, with its error bar. With
        `grid`, for example `grid=["cstates.C3.exit_us=5,10,20"]`, there is a row for each point. With `reasons`, the
        table also has a row `choice` for each recorded choice that does not come out again, as `--out` writes it. To
        find the reasons takes many replays.
        """
        return frame_of(asking.question(settings, grid).asked_of(self._replay, reasons), self._kind)

    def what_if_notes(self, *settings: str, grid: Sequence[str] = ()) -> Frame:
        """What `lull what-if` says beside its table, a row for each sentence: how many recorded choices come out again,
        what is left out or stays as it was, why choices do not come out again, and which of the settings change
        nothing. `lull tune` says the first two."""
        question = Question(settings, grid)
        replay = self._replay
        said = [(str(replay.path), replay.again.share(), notes(replay, question))]
        return asking.notes_frame(said, self._kind)

    def tune(self, p99_us: float, top: int = 5, tunable: Sequence[str] | None = None) -> Frame:
        """The settings that spend the least energy within a bound of the p99 wake-up latency, as `lull tune` finds
        them: a row for each, the best first, with the error bars of both numbers. `sure` is whether the p99 is within
        the bound even with the error bar added.

        `tunable` has values of haltpoll's parameters, as after `--tunable`:
        `tunable=["haltpoll.guest_halt_poll_ns=0,50000"]`. Without `tunable`, the longest and the first poll are varied.
        With an empty list, haltpoll keeps its parameters, as with `--verify`.
        """
        found = tuning.searched(self._replay, p99_us, top, of_haltpoll=tuning.tunables(tunable)).answers
        rows = [
            {**one._asdict(), "settings": " ".join(one.settings), "sure": one.surely_within(p99_us)} for one in found
        ]
        return frame_of(_rows(rows), self._kind)

    def tune_numbers(self, p99_us: float, tunable: Sequence[str] | None = None) -> Frame:
        """How much each number of the best answer of `tune` matters, if all others stay: a row for each. `energy_j` and
        `latency_p99_us` are with this number as recorded, and the columns `least` and `most` are over all values that
        were tried. The search is made again."""
        found = tuning.searched(self._replay, p99_us, 1, of_haltpoll=tuning.tunables(tunable)).matters
        return frame_of(_rows([one.row() for one in found]), self._kind)

    @cached_property
    def _replay(self) -> Replay:
        return asking.replay(self._source)

    def jsonl(self, name: str) -> Frame:
        """A file of JSON lines that the guest left, a row for each: "wakes" or "wakes.jsonl"; or "stdout"."""
        known = self.sample.files()
        found = next((one for one in (name, name + SUFFIX) if one in known), None)
        if found is None:
            there = f"; it left {', '.join(known)}" if known else ", nor any other"
            raise UserError(f"{self._source.shown}: the guest left no JSON lines named {name}{there}")
        return frame_of(_rows(self.sample.lines(found)), self._kind)


def _rows(rows: list[dict[str, Any]], columns: Sequence[str] = ()) -> pa.Table:
    """A column for each key; one with values of several types is of text."""
    names = columns or dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: column_of([row.get(name) for row in rows]) for name in names})
