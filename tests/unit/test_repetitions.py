# SPDX-License-Identifier: BSD-3-Clause
"""When the windows that a guest program ordered took place."""

from pathlib import Path

import numpy as np
import pytest

from lull.figures import repetitions
from lull.rundir.run import Run

ORDERED = [20_000, 24_000, 28_000]


@pytest.mark.parametrize(
    ("dumps", "edges"),
    [
        ([20_000, 24_000, 28_000, 90_000], ORDERED),
        ([20_004, 24_009, 28_013], ORDERED),
        ([24_370, 28_371, 32_372, 90_000], [24_370, 28_370, 32_370]),
        ([20_900, 22_100, 24_900, 28_900], [20_900, 24_900, 28_900]),
        ([19_000, 23_000, 27_000], ORDERED),
        ([24_370, 29_371, 32_372], ORDERED),
        ([], ORDERED),
    ],
    ids=["in time", "within the tolerance", "late", "late, with others between", "early", "one is missing", "none"],
)
def test_edges_are_where_all_dumps_are(dumps: list[int], edges: list[int]) -> None:
    found = repetitions.as_dumped(np.array(ORDERED, np.int64), np.array(dumps, np.int64))
    assert found.tolist() == edges


def test_windows_that_end_after_the_last_one_should_have_are_known() -> None:
    ordered = np.array([20_000, 24_000, 28_000, 32_000], np.int64)
    assert repetitions.while_ordered(ordered + 12, ordered) == [True, True, True]
    assert repetitions.while_ordered(ordered + 93, ordered) == [True, True, False]
    assert repetitions.while_ordered(ordered + 4_370, ordered) == [True, False, False]


def test_windows_are_as_late_as_their_dumps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program keeps up its load until the last window should have ended."""
    monkeypatch.setattr(repetitions, "_ordered", lambda *_: np.array(ORDERED, np.int64))
    monkeypatch.setattr(repetitions, "_dumps", lambda *_: np.array([20_900, 24_900, 28_900], np.int64))
    run = Run("a", "a", {}, Path("a"), None, None)  # type: ignore[arg-type]
    monkeypatch.setattr(Run, "rundir", lambda self: self.path)
    found = repetitions.windows(run, "windows.jsonl")
    assert found.edges.tolist() == repetitions.edges(run, "windows.jsonl").tolist() == [20_900, 24_900, 28_900]
    assert found.late == 900
    assert found.loaded == [True, False]
