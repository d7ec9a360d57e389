# SPDX-License-Identifier: BSD-3-Clause
"""Several runs: the points of a scenario, or of a sweep."""

from collections.abc import Iterator, Sequence

from lull.compare.samples import Samples
from lull.errors import UserError
from lull.figures.sample import Sample
from lull.files.blocks import quoted
from lull.notebook import asking
from lull.notebook.frame import Frame, Kind, frame_of
from lull.notebook.one_run import Opened, RunView
from lull.notebook.published import ResultView, in_folder
from lull.notebook.source import Source
from lull.scenario.folder import FIGURES
from lull.sweep import table
from lull.whatif.several import Question, askable


class SweepView(Opened):
    """The folder of `lull run` or `lull sweep`, opened. Its views have all points, one below the other."""

    def __init__(self, samples: Samples, shown: str, kind: Kind | None = None) -> None:
        sources = [Source(one, f"{shown}/{one.run.path.relative_to(samples.path)}") for one in samples.points]
        super().__init__(samples, sources, kind)
        self._shown = shown

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} not finished" if self.missing else ""
        return f"<lull {self._samples.kind} {self._shown}: {len(self)} points{missing}>"

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[RunView]:
        return (self._view(source) for source in self._sources)

    @property
    def missing(self) -> tuple[str, ...]:
        """Points that have not finished."""
        return self._samples.missing

    @property
    def points(self) -> list[str]:
        """The names that `point()` takes."""
        return list(dict.fromkeys(_name(source.sample) for source in self._sources))

    def point(self, name: str, seed: int | None = None) -> RunView:
        """One point by its name, such as "states/C3"; of several with that name, by title and seed."""
        named = [source for source in self._sources if name in (_name(source.sample), source.sample.run.name)]
        if not named:
            raise UserError(f"{self._shown}: no point {name!r} has finished; there are {quoted(self.points[:8])}")
        found = [source for source in named if seed in (None, source.sample.seed)]
        if len(found) == 1:
            return self._view(found[0])
        titles = list(dict.fromkeys(_name(source.sample) for source in named))
        if len(titles) > 1:
            raise UserError(f"{self._shown}: {len(titles)} points are named {name!r}; choose from {quoted(titles[:8])}")
        seeds = ", ".join(str(source.sample.seed) for source in named)
        raise UserError(f"{self._shown}: {name!r} has the seeds {seeds}; choose one by seed=")

    def df(self) -> Frame:
        """A row for each point: settings, seed, and every number that came out, as in a sweep's `table.parquet`."""
        return frame_of(table.as_arrow(self._samples.points), self._kind)

    def what_if(self, *settings: str, grid: Sequence[str] = (), reasons: bool = False) -> Frame:
        """The tables of each run, as `RunView.what_if` has them, and those of the mean of repetitions.

        Runs that cannot be asked about, for example untraced ones, are left out with a message.
        """
        return asking.asked_of(self._askable, asking.question(settings, grid), self._kind, reasons)

    def what_if_notes(self, *settings: str, grid: Sequence[str] = ()) -> Frame:
        """The notes of each run, as `RunView.what_if_notes` has them, and those of the mean of repetitions."""
        return asking.notes_of(self._askable, Question(settings, grid), self._kind)

    @property
    def result(self) -> ResultView:
        """The result of the scenario's analysis over all points."""
        return in_folder(self.path / FIGURES, self._kind)

    @property
    def _askable(self) -> list[Source]:
        paths = askable([one.sample.run.path for one in self._sources])
        return [one for one in self._sources if one.sample.run.path in paths]

    def _view(self, source: Source) -> RunView:
        alone = Samples(source.sample.run.path, "run", source.sample.run.name, self.command, (source.sample,))
        return RunView(alone, source, self._kind)


def _name(sample: Sample) -> str:
    return sample.title or sample.run.name
