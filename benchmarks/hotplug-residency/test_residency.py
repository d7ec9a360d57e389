# SPDX-License-Identifier: BSD-3-Clause
"""Shares of the time by state from made sleeps, and what decides that CPUs that are out sleep."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.patches import Rectangle

from lull.figures.time_asleep import AWAKE
from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull_experiments.hotplug_residency import analysis

STATES = ("C1", "C2", "C3")
WINDOW = analysis._Window(0, 100, 200, 0, 0, 0)


def shares(way: str, times: list[int], states: list[int]) -> dict[str, float]:
    """Of CPU 4, which is out, and whose idle states change at these ticks; -1 is awake."""
    changes = SimpleNamespace(time=np.array(times, np.int64), state=np.array(states, np.int64))
    cluster = SimpleNamespace(cstates=[SimpleNamespace(name=name) for name in STATES])
    run: Any = SimpleNamespace(values={"way": way, "cpus": "4-5"}, cluster=lambda _: cluster)
    record: Any = SimpleNamespace(changes={4: changes})
    found: dict[str, float] = analysis._shares(run, record, 4, WINDOW)
    assert analysis._deep_share(run, record, 4, WINDOW) == found.get("off", found.get("C3"))
    return found


def test_shares_are_of_the_window() -> None:
    found = shares("pseudo", [50, 110, 120, 150, 160], [2, -1, 0, -1, 2])
    assert found == pytest.approx({AWAKE: 0.2, "C1": 0.3, "C2": 0.0, "C3": 0.5})
    assert sum(found.values()) == pytest.approx(1)


def test_a_cpu_that_is_off_is_in_no_state_of_linux() -> None:
    assert shares("conventional", [50], [-1]) == {AWAKE: 0.0, "off": 1.0}
    assert shares("conventional", [50, 150], [-1, 0]) == {AWAKE: 1.0, "off": 0.0}


def point(way: str = "pseudo", share: float = 0.995, half: float | None = 0.001, **also: Any) -> dict[str, Any]:
    return {
        "point": f"ways/{way}", "group": "ways", "way": way, "cpus": "4-7", "rt_threads": 0,
        "cpufreq": "performance", "out_share": share, "out_share_pm": half, "least_share": share, **also,
    }  # fmt: skip


def verdicts(row: dict[str, Any], **awake: float) -> dict[str, bool]:
    """Of a point, by the share of the time that its CPUs are awake for each cause."""
    causes = [{"point": row["point"], "cause": cause, "awake_share": share} for cause, share in awake.items()]
    schema = pa.schema([("point", pa.string()), ("cause", pa.string()), ("awake_share", pa.float64())])
    found = analysis.checks(pa.Table.from_pylist([row]), pa.Table.from_pylist(causes, schema=schema))
    return {check.name.split(":")[0].split(" ")[-1]: check.passed for check in found}


SLEEP, CAUSES = "state", "causes"


def test_the_goal_is_reached_by_the_whole_interval() -> None:
    assert verdicts(point(), timer=0.005) == {SLEEP: True, CAUSES: True}
    assert verdicts(point(half=0.006), timer=0.005) == {SLEEP: False, CAUSES: True}
    assert verdicts(point(half=None), timer=0.005) == {SLEEP: False, CAUSES: True}, "of one repetition"


def test_what_is_missing_needs_causes_with_a_name() -> None:
    assert verdicts(point(), timer=0.003) == {SLEEP: True, CAUSES: False}
    assert verdicts(point(), timer=0.003, none=0.002) == {SLEEP: True, CAUSES: False}
    assert verdicts(point(rt_threads=1, share=0.9), task=0.1) == {CAUSES: True}, "a real-time task may run there"


def test_both_of_the_paper_s_shares_have_ours_beside_them() -> None:
    rows = [point("none", 0.7), point(), point("partition"), {**point("none", 0.9), "cpufreq": "schedutil"}]
    said = analysis.against(
        Stored(Origin("gem5", "24", "detailed", "exynos7420"), {"points": pa.Table.from_pylist(rows)})
    )
    assert [(each.here, each.published) for each in said] == [("70", "63"), ("99.5", "95.62")]


def test_states_are_drawn_and_told_of() -> None:
    rows = [
        {"point": "ways/pseudo", "cpu": cpu, "out": cpu > 0, "state": state, "share": share}
        for cpu in range(3)
        for state, share in ((AWAKE, 0.25 * cpu), ("C4", 1 - 0.25 * cpu))
    ]
    table = pa.Table.from_pylist(rows)
    assert "| ways/pseudo | out | 37.5 | 62.5 |" in analysis._residency_text(table)
    assert "| ways/pseudo | others | 0 | 100 |" in analysis._residency_text(table)
    bars = analysis.plot_residency(table, "made").axes[0].patches
    assert sorted(bar.get_width() for bar in bars if isinstance(bar, Rectangle)) == pytest.approx([37.5, 62.5])
