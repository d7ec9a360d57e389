# SPDX-License-Identifier: BSD-3-Clause
"""The analysis on losses whose costs are known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lull.errors import UserError
from lull.results.drawing import Stored
from lull.results.result import Result
from lull.rundir.folder import FILES
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, resolve, select
from lull.scenario.runs import read
from lull_experiments.cold_caches import analysis
from tests import drawn, wakes

HZ = 100_000_000
COUNT = 1000
COSTS = {
    ("first level", "in order"): 10,
    ("first level", "along a chain"): 20,
    ("all levels", "in order"): 20,
    ("all levels", "along a chain"): 90,
    ("dirty lines", "by address"): 5,
    ("predictions", "trained otherwise"): 12,
}
"""Nanoseconds for each line or branch; the A53 of `tiny` is charged 15.6 and 70."""


def _made(
    path: Path, costs: Mapping[tuple[str, str], int], engine: str = "gem5", junk: bool = False, before: int = 400
) -> Result:
    scenario = load_scenario("cold-caches")
    points = select(resolve(scenario, Wishes("gem5" if engine == "gem5" else "qemu")), ["cores"])
    folder = ScenarioFolder.create(path, scenario.name, "./lull run", points)
    (point,) = points
    rundir = wakes.finish(folder.folder(point.name), point, {**wakes.ENGINE, "name": engine})
    lines: list[dict[str, Any]] = [
        {
            "cpu": 0, "lost": lost, "way": way, "count": COUNT, "hz": HZ, "before": before + noise,
            "after": before + noise + ns * COUNT // 10 + step,
        }
        for (lost, way), ns in costs.items()
        for noise, step in ((0, -10), (50, 0), (100, 10))
    ]  # fmt: skip
    wakes.dump(rundir / FILES / analysis.FILE, [{"cpu": 0}] if junk else lines)
    return analysis.analyse(read(folder, scenario))


def test_a_loss_costs_what_a_pass_takes_longer(tmp_path: Path) -> None:
    """Ticks of 10 ns over 1000 lines: the step of 10 ticks is 0.1 ns a line."""
    found = _made(tmp_path, COSTS)
    rows = {(row["lost"], row["way"]): row for row in found.tables["costs"].to_pylist()}
    assert {place: row["extra_ns"] for place, row in rows.items()} == {
        place: pytest.approx(ns) for place, ns in COSTS.items()
    }
    first = rows["first level", "in order"]
    assert first["extra_ns_pm"] == pytest.approx(0.1 * 4.3027 / 3**0.5, rel=1e-4)
    assert first["before_ns"] == pytest.approx(4.5)
    assert (first["core"], first["cluster"], first["repetitions"]) == ("a53", "little", 3)
    assert first["charged_ns"] == pytest.approx(16000 / 1024)
    assert rows["all levels", "in order"]["charged_ns"] == pytest.approx(1_147_000 / 16384)
    assert rows["dirty lines", "by address"]["charged_ns"] == pytest.approx(94_000 / 16384)
    assert rows["predictions", "trained otherwise"]["charged_ns"] is None
    assert [check.passed for check in found.checks] == [True] * 5
    assert first["whole"] == 1024
    assert rows["predictions", "trained otherwise"]["most_ns"] == pytest.approx(9e3 / 850)
    bounds = found.summary.partition("## Bounds of a wake-up")[2]
    assert "| tiny | a53 | first level | C3 | 1024 | 16 | 10.2 to 20.5 |" in bounds
    assert "| tiny | a53 | dirty lines | C4 | 16384 | 94 | 81.9 |" in bounds
    assert "| tiny | a53 | predictions | C3, C4 | 1000 | 0 | 12 to 10.6 |" in bounds
    assert list(drawn.figures("cold-caches", found)) == ["lines"]


@pytest.mark.parametrize(("way", "ns"), [("in order", 16), ("along a chain", 15)])
def test_a_charge_outside_what_lines_cost_is_found_out(tmp_path: Path, way: str, ns: int) -> None:
    found = _made(tmp_path, {**COSTS, ("first level", way): ns})
    assert [check.passed for check in found.checks] == [False, True, True, True, True]
    assert "a53 of tiny: 15.6 ns, measured" in found.checks[0].says


@pytest.mark.parametrize(
    ("lost", "way", "ns", "passed"),
    [
        ("first level", "along a chain", 25, [True, True, False, True, True]),
        ("dirty lines", "by address", 0, [True, True, True, False, True]),
        ("dirty lines", "by address", 8, [True, True, True, False, True]),
    ],
)
def test_a_charge_that_stands_for_one_way_has_to_be_near_it(
    tmp_path: Path, lost: str, way: str, ns: int, passed: list[bool]
) -> None:
    """The range between the two ways would let 25 pass."""
    found = _made(tmp_path, {**COSTS, (lost, way): ns})
    assert [check.passed for check in found.checks] == passed


def test_lines_that_were_lost_before_are_found_out(tmp_path: Path) -> None:
    found = _made(tmp_path, COSTS, before=1500)
    assert [check.passed for check in found.checks] == [True, True, True, True, False]
    assert found.checks[-1].says == "a53 of tiny: 13.2 cycles each"


def test_qemu_judges_nothing(tmp_path: Path) -> None:
    found = _made(tmp_path, COSTS, engine="qemu")
    assert found.checks == []
    assert analysis.draw(Stored(drawn.QEMU, found.tables)) == []


def test_lines_of_another_program_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"losses\.jsonl: not what this scenario writes"):
        _made(tmp_path, COSTS, junk=True)
