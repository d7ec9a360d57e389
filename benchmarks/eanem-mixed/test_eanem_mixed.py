# SPDX-License-Identifier: BSD-3-Clause
"""Figure 5 from made points: performance per watt by that of EAS, of the ledger's power and of equation 3's."""

from types import ModuleType

import pyarrow as pa
import pytest

from lull.figures import eanem
from lull.files.paths import ROOT
from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull.scenario import experiments


@pytest.fixture
def mixed() -> ModuleType:
    return experiments.analysis_in(ROOT / "benchmarks/eanem-mixed")


def row(kernel: str, way: str, percent: int, per_s: float, watts: float, group: str = "half") -> dict[str, object]:
    goal = 10.0 * percent
    return {
        "point": f"{group}/{kernel}-{way}", "group": group, "way": way, "kernel": kernel, "percent": percent,
        "threads": 8, "governor": "menu", "goal": goal, "alone": 1000.0, "per_s": per_s, "per_s_pm": 1.0,
        "mbit_s": 300.0, "mbit_s_pm": 1.0, "least_mbit_s": 145.0, "asked_mbit_s": 150.0,
        "power_w": watts + 1, "power_w_pm": 0.1, "cpus_w": watts, "cpus_w_pm": 0.1,
        "model_w": watts / 2, "model_w_pm": 0.1, "performance": min(goal, per_s) / goal,
    }  # fmt: skip


POINTS = pa.Table.from_pylist(
    [
        row("susan", "eas", 50, 900, 4.0), row("susan", "eanem", 50, 505, 1.0), row("susan", "control", 50, 950, 2.0),
        row("sha1", "eas", 50, 800, 4.0), row("sha1", "eanem", 50, 250, 1.0),
        row("susan", "eas", 75, 900, 4.0, "most"), row("susan", "eanem", 75, 760, 2.0, "most"),
        row("dijkstra", "eanem", 75, 760, 2.0, "most"), row("susan", "paced", 50, 900, 1.0, "today"),
        row("susan", "uclamp-50", 50, 900, 1.0, "caps"), row("susan", "uclamp-35", 50, 505, 0.8, "caps"),
    ]
)  # fmt: skip


def test_gains_are_by_the_same_application_with_the_same_goal(mixed: ModuleType) -> None:
    gains = {each["point"]: each["gain"] for each in eanem.per_watt(POINTS, mixed.SAME)}
    assert gains["half/susan-eanem"] == pytest.approx(4)
    assert gains["half/susan-control"] == pytest.approx(2)
    assert gains["half/sha1-eanem"] == pytest.approx(2), "half as fast as it has to be, with a quarter of the power"
    assert gains["most/susan-eanem"] == pytest.approx(2)
    assert gains["most/dijkstra-eanem"] is None, "whose EAS has not run"


def test_the_paper_s_figure_is_the_mean_over_applications(mixed: ModuleType) -> None:
    said = mixed.against(Stored(Origin("gem5", "24", "detailed", "exynos5422"), {"points": POINTS}))
    assert [(each.here, each.published) for each in said] == [("3", "3.11"), ("2", "2.35")]


def verdicts(mixed: ModuleType, points: pa.Table) -> dict[str, bool]:
    return {check.name.split(":")[0]: check.passed for check in mixed.checks(points)}


def test_the_paper_is_reached_by_the_whole_interval_of_the_mean(mixed: ModuleType) -> None:
    found = verdicts(mixed, POINTS)
    assert not found["goal of 50 %"], "gains of 4 and 2 are 3 ± 13"
    assert not found["goal of 75 %"], "of one application there is no interval"
    alike = [row(kernel, way, 50, rate, watts) for kernel in ("susan", "sha1", "patricia")
             for way, rate, watts in (("eas", 900, 4.0), ("eanem", 505, 1.0 + 0.01 * len(kernel)))]  # fmt: skip
    assert verdicts(mixed, pa.Table.from_pylist(alike))["goal of 50 %"]


def test_a_transfer_that_starves_is_told_of(mixed: ModuleType) -> None:
    rows = [row("susan", "eas", 50, 900, 4.0), row("susan", "eanem", 50, 505, 1.0)]
    assert verdicts(mixed, pa.Table.from_pylist(rows))["half/susan-eanem"]
    for each in rows:
        each["least_mbit_s"] = 140.0
    found = verdicts(mixed, pa.Table.from_pylist(rows))
    assert not found["half/susan-eanem"]
    assert "half/susan-eas" not in found, "whose transfers nobody holds to anything"


def test_an_easier_goal_is_told_of(mixed: ModuleType) -> None:
    rows = [row("susan", "eas", 50, 900, 4.0), row("susan", "eanem", 50, 505, 1.0)]
    assert verdicts(mixed, pa.Table.from_pylist(rows))["goals that are compared are alike"]
    rows[1]["goal"] = 485.0
    assert not verdicts(mixed, pa.Table.from_pylist(rows))["goals that are compared are alike"]


def test_a_rate_alone_that_is_not_the_fastest_is_told_of(mixed: ModuleType) -> None:
    rows = [row("susan", "eas", 50, 1010, 4.0), row("susan", "eanem", 50, 505, 1.0)]
    name = "no application is faster beside transfers than alone"
    assert verdicts(mixed, pa.Table.from_pylist(rows))[name]
    rows[0]["per_s"] = 1390.0
    assert not verdicts(mixed, pa.Table.from_pylist(rows))[name]


def test_the_summary_has_every_point_and_both_powers(mixed: ModuleType) -> None:
    points = [str(name) for name in POINTS["point"].to_pylist()]
    summary = mixed.conclude({"points": POINTS}, [*points, "half/patricia-eas"]).summary
    assert "11 of 12 points have run so far." in summary
    assert "4000 ± 100 | 2000 ± 100" in summary
    assert "| 50 | eanem | 2 | 3 ± 13 | 3 ± 13 | 3.11 |" in summary
    assert "| 50 | uclamp-50 | 1 | 4 | 4 | - |\n| 50 | uclamp-35 | 1 | 5 | 5 | - |" in summary, "each cap by itself"


def test_performance_and_power_are_drawn(mixed: ModuleType) -> None:
    (drawing,) = mixed.draw(Stored(Origin("gem5", "24", "detailed", "exynos5422"), {"points": POINTS}))
    assert [axis.get_xlabel() for axis in drawing.figure.axes] == [
        "performance, min(g, h) / g", "power of CPUs and L2s (mW)",
    ]  # fmt: skip
