# SPDX-License-Identifier: BSD-3-Clause
"""One question asked of several runs, of which only one at a time is in memory; and of the mean of repetitions."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from lull.errors import UserError
from lull.host.progress import report
from lull.whatif import differ, grid, pooled, prediction, repetitions, source
from lull.whatif.settings import Setup, idle_words
from lull.whatif.settings import grid as points_of
from lull.whatif.source import Replay


class Question(NamedTuple):
    settings: Sequence[str]
    grid: Sequence[str] = ()

    def check(self, machine: Setup) -> None:
        """Refuse a wrong setting. Each point of a grid is looked at by the grid."""
        if self.grid:
            machine.check_others(self.settings)
        else:
            machine.changed(self.settings)
        points_of(self.grid, self.settings)

    def asked_of(self, replay: Replay, reasons: bool = False) -> pa.Table:
        """The table of a run. `reasons`: also of each choice that does not come out again, which takes many replays."""
        if self.grid:
            return grid.table(replay, self.settings, self.grid)
        found = prediction.rows(replay, replay.machine.changed(self.settings))
        return prediction.table(found, replay.path, replay.differences if reasons else ())


def notes(replay: Replay, question: Question) -> tuple[str, ...]:
    """What is left out or stays as it was, why recorded choices do not come out again, unless a grid is asked for, and
    settings that change nothing."""
    reasons = [] if question.grid else differ.notes(replay.differences)
    return (*replay.notes, *reasons, *idle_words(replay.machine, [*question.settings, *question.grid]))


def told_of_share(share: float) -> str:
    return f"{share:.1%} of its recorded choices come out again"


def askable(paths: Sequence[Path]) -> list[Path]:
    """Of the runs of a sweep those that can be asked about. Each other one is told of with the reason; if there is no
    other, the first reason is the error."""
    found, reasons = [], []
    for path in paths:
        try:
            source.check(path)
        except UserError as error:
            reasons.append(error)
        else:
            found.append(path)
    if reasons and not found:
        raise reasons[0]
    for reason in reasons:
        report(f"left out: {reason}")
    return found


class Answer(NamedTuple):
    """What is kept of a run when the next one is read, or the mean of such."""

    run: str
    table: pa.Table
    cpus: tuple[int, ...]
    share: float | None = None
    """Of the recorded choices that come out again; None of a mean."""
    notes: tuple[str, ...] = ()


def answers(
    paths: Sequence[Path], question: Question, load: Callable[[Path], Replay], reasons: bool = False
) -> Iterator[Answer]:
    """Of each run, and after the last of its repetitions that of their mean."""
    pools, apart = repetitions.of(paths)
    for sentence in apart:
        report(sentence)
    found: dict[Path, Answer] = {}
    for path in paths:
        answer = _of_run(load(path), question, reasons)
        yield answer
        for pool in pools:
            if path in pool.paths and path not in found:
                found[path] = answer
                if all(one in found for one in pool.paths):
                    yield from _of_mean(pool, [found[one] for one in pool.paths])


def _of_run(replay: Replay, question: Question, reasons: bool) -> Answer:
    table = question.asked_of(replay, reasons)
    said = notes(replay, question) if reasons else ()
    return Answer(str(replay.path), table, tuple(replay.cpus), replay.again.share(), said)


def _of_mean(pool: repetitions.Repetitions, own: Sequence[Answer]) -> Iterator[Answer]:
    if len({one.cpus for one in own}) > 1:
        report(f"{pool.name}: not made, because a CPU is left out of some of these runs, and not of the others")
        return
    table = pooled.table([one.table for one in own], pool.boots, pool.name)
    yield Answer(pool.name, table, own[0].cpus, notes=(pool.note,))
