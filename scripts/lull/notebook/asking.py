# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if` from Python."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from lull.errors import UserError
from lull.notebook.frame import Frame, Kind, frame_of
from lull.notebook.source import Source
from lull.whatif import grid as points
from lull.whatif import source as replaying
from lull.whatif.several import Answer, Question, answers, told_of_share
from lull.whatif.source import Replay


def question(settings: Sequence[str], grid: Sequence[str]) -> Question:
    if not settings and not grid:
        raise UserError("what_if: nothing asked; name a setting, such as what_if('cstates.C3.exit_us=15')")
    return Question(settings, grid)


def replay(source: Source) -> Replay:
    source.ledger_made()
    return replaying.load(source.sample.run.path)


def asked_of(sources: Sequence[Source], asked: Question, kind: Kind | None, reasons: bool = False) -> Frame:
    """Return the rows of each run, and of the means of repetitions. No run stays in memory."""
    return frame_of(points.together([one.table for one in _answers(sources, asked, reasons)]), kind)


def notes_of(sources: Sequence[Source], asked: Question, kind: Kind | None) -> Frame:
    """Return the notes that `lull what-if` prints besides the tables of runs, and of the means of repetitions."""
    found = _answers(sources, asked, reasons=True)
    return notes_frame([(one.run, one.share, one.notes) for one in found], kind)


def notes_frame(said: Iterable[tuple[str, float | None, Sequence[str]]], kind: Kind | None) -> Frame:
    """Return a row for each note. For each run, except a mean, the first note is the share of choices as recorded."""
    rows = [
        (run, note)
        for run, share, notes in said
        for note in (*([] if share is None else [told_of_share(share)]), *notes)
    ]
    columns = {name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(("run", "note"))}
    return frame_of(pa.table(columns), kind)


def _answers(sources: Sequence[Source], asked: Question, reasons: bool) -> Iterator[Answer]:
    by_path: dict[Path, Source] = {source.sample.run.path: source for source in sources}
    paths = [source.sample.run.path for source in sources]
    return answers(paths, asked, lambda path: replay(by_path[path]), reasons)
