# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if` from Python."""

from collections.abc import Sequence
from pathlib import Path

from lull.errors import UserError
from lull.notebook.frame import Frame, Kind, frame_of
from lull.notebook.source import Source
from lull.whatif import grid as points
from lull.whatif import source as replaying
from lull.whatif.several import Question, answers
from lull.whatif.source import Replay


def question(settings: Sequence[str], grid: Sequence[str]) -> Question:
    if not settings and not grid:
        raise UserError("what_if: nothing asked; name a setting, such as what_if('cstates.C3.exit_us=15')")
    return Question(settings, grid)


def replay(source: Source) -> Replay:
    source.ledger_made()
    return replaying.load(source.sample.run.path)


def asked_of(sources: Sequence[Source], asked: Question, kind: Kind | None) -> Frame:
    """Each run's rows, and those of the mean of its repetitions. No run stays in memory."""
    by_path: dict[Path, Source] = {source.sample.run.path: source for source in sources}
    paths = [source.sample.run.path for source in sources]
    found = answers(paths, asked, lambda path: replay(by_path[path]))
    return frame_of(points.together([one.table for one in found]), kind)
