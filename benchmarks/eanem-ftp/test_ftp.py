# SPDX-License-Identifier: BSD-3-Clause
"""Figure 4 from made points, and when the manager decided what, from a made log."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lull.figures import eanem, repetitions
from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull.rundir.run import Run, Values
from lull.trace import recording
from lull.trace.clock import TICKS_PER_US, Clock
from lull_experiments.eanem_ftp import analysis

DECISIONS = (
    {"ns": 4_000_000, "level": 1, "why": "traffic began", "packets_s": 8000.0, "bytes_s": 1.0, "threads": 1,
     "cluster": "little", "cores": 2, "mhz": 800, "watts": 0.1},
    {"ns": 12_000_000, "level": 2, "why": "too slow", "little": {"cores": 1, "mhz": 900},
     "big": {"cores": 3, "mhz": 1000}, "net_cores": 1, "watts": 0.5, "applications": [{"name": "a", "rate": 7.0}]},
    {"ns": 40_000_000, "level": 1, "why": "traffic ended", "packets_s": 0.0, "bytes_s": 0.0, "threads": 0},
)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Its windows are from 10 to 30 ms of CLOCK_MONOTONIC, which begins at tick 0."""
    clock = Clock(10**9, 1 << 20, 20, 0, 0, 0, 0)
    monkeypatch.setattr(recording, "load", lambda _: type("Record", (), {"clock": clock}))
    edges = np.array([10_000, 30_000], np.int64) * TICKS_PER_US
    monkeypatch.setattr(repetitions, "edges", lambda *_: edges)
    monkeypatch.setattr(Run, "rundir", lambda self: self.path)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / eanem.DECISIONS).write_text("\n".join(map(json.dumps, DECISIONS)))
    made: Any = Run("paper/1-eanem", "paper", Values({"way": "eanem"}, tmp_path), tmp_path, Any, Any)  # type: ignore[arg-type]
    found: Run = made
    return found


def test_decisions_have_their_time_and_their_cores(run: Run) -> None:
    table = eanem.df_decisions([run], lambda run: {"point": run.name})
    assert table is not None
    first, second, last = table.to_pylist()
    assert [each["at_us"] for each in (first, second, last)] == [-6000, 2000, 30000]
    assert [each["during"] for each in (first, second, last)] == [False, True, False]
    assert (first["little"], first["little_mhz"], first["big"]) == (2, 800, None)
    assert (second["little"], second["big"], second["big_mhz"], second["rate"]) == (1, 3, 1000, 7.0)
    assert last["watts"] is None
    assert "| paper/1-eanem | -6 | 1 | traffic began | 8000 | - | 2 at 800 MHz | - | - |" in eanem.decisions_text(table)


def test_a_manager_that_decides_in_the_windows_is_told_of(run: Run) -> None:
    table = eanem.df_decisions([run], lambda run: {"point": run.name})
    assert table is not None
    (check,) = eanem.rest_checks(table)
    assert (check.passed, check.says) == (False, "too slow")
    (check,) = eanem.rest_checks(table.filter([True, False, True]))
    assert check.passed
    assert eanem.rest_checks(None) == []


def point(kbit_s: int, way: str, watts: float, performance: float = 1.0) -> dict[str, Any]:
    return {
        "point": f"paper/{kbit_s}-{way}", "group": "paper", "way": way, "kbit_s": kbit_s, "governor": "menu",
        "performance": performance, "power_w": watts + 1, "cpus_w": watts, "model_w": watts / 2,
    }  # fmt: skip


POINTS = [
    point(kbit_s, way, watts)
    for kbit_s in (100000, 200000)
    for way, watts in (("eas", 5.0), ("eanem", 1.0 + kbit_s / 1e8))
]


@pytest.mark.parametrize(
    ("rows", "passed"),
    [
        (POINTS, True),
        (POINTS[:2], False),
        ([*POINTS[:2], point(200000, "eas", 5.0), point(200000, "eanem", 2.0)], False),
    ],
    ids=["all near 5 times", "one bandwidth", "5 and 2.5 times"],
)
def test_the_paper_s_mean_is_reached_by_the_whole_interval(rows: list[dict[str, Any]], passed: bool) -> None:
    (check,) = analysis.checks(pa.Table.from_pylist(rows))
    assert check.passed == passed


def test_the_best_of_linux_is_beside_the_paper() -> None:
    rows = [*POINTS, point(200000, "napi", 4.0), point(200000, "uclamp", 2.0, 0.5)]
    stored = Stored(Origin("gem5", "24", "detailed", "exynos5422"), {"points": pa.Table.from_pylist(rows)})
    (said,) = analysis.against(stored)
    assert (said.here, said.published, said.baseline) == ("4.99", "4.79", "1.25 (napi, 200 Mbit/s)")
    (drawing,) = analysis.draw(stored)
    assert len(drawing.figure.axes[0].lines) == 4
