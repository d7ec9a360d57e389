# SPDX-License-Identifier: BSD-3-Clause
"""Answers a question for several runs and for the means of repetitions. Only one run at a time is in memory."""

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
        """Raise a UserError for a wrong setting. The points of a grid are checked by the grid."""
        if self.grid:
            machine.check_others(self.settings)
        else:
            machine.changed(self.settings)
        points_of(self.grid, self.settings)

    def asked_of(self, replay: Replay, reasons: bool = False) -> pa.Table:
        """Return the table of a run. With `reasons`, it has rows for choices whose replay differs; this takes long."""
        if self.grid:
            return grid.table(replay, self.settings, self.grid)
        found = prediction.rows(replay, replay.machine.changed(self.settings))
        return prediction.table(found, replay.path, replay.differences if reasons else ())


def notes(replay: Replay, question: Question) -> tuple[str, ...]:
    """Return notes: parts that are left out or not changed, reasons why choices differ (not for a grid), and settings
    that change nothing."""
    reasons = [] if question.grid else differ.notes(replay.differences)
    return (*replay.notes, *reasons, *idle_words(replay.machine, [*question.settings, *question.grid]))


def told_of_share(share: float) -> str:
    return f"{share:.1%} of its recorded choices come out again"


def askable(paths: Sequence[Path]) -> list[Path]:
    """Return the runs of a sweep that can be asked about. Report the reason for each other run. If no run is left,
    raise the first reason as the error."""
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
    """The answer for one run, or the mean of such answers."""

    run: str
    table: pa.Table
    cpus: tuple[int, ...]
    share: float | None = None
    """The share of choices whose replay is as recorded; None for a mean."""
    notes: tuple[str, ...] = ()


def answers(
    paths: Sequence[Path], question: Question, load: Callable[[Path], Replay], reasons: bool = False
) -> Iterator[Answer]:
    """Yield the answer for each run. After the last of some repetitions, yield their mean."""
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
