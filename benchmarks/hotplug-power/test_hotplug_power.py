# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of windows: what is compared with what, and when a difference is too large."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lull.energy.windows import read
from lull_experiments.hotplug_power import analysis
from tests import energy_runs

OF_THE_MACHINE = {"cpus": 0.5, "out": 0.1}
"""The share of the machine's power that these burn."""


def windows(boot: int = 0, **watts: list[float]) -> pa.Table:
    """Windows of points under one load, by way."""
    rows: list[dict[str, Any]] = [
        {
            "point": f"{boot}/cpu-{way}", "group": "ways", "way": way, "load": "cpu", "threads": 4, "cpus": "4-7",
            "cpufreq": "performance", "boot": boot, "switch": 0, "window": number, "seconds": 0.012,
            "units_hz": 1000.0 + number, "unit_insts": 5000.0, "unit_reads": 10.0,
            **{f"{name}_w": power * OF_THE_MACHINE.get(name, 1) for name in analysis.POWERS},
        }
        for way, powers in watts.items()
        for number, power in enumerate(powers)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize(
    ("pseudo", "holds"),
    [
        ([2.001, 2.002, 2.003], True),
        ([2.1, 2.1, 2.1], False),
        ([1.9, 1.9, 1.9], False),
        ([1.9, 2.0, 2.1], False),
    ],
    ids=["as much", "more", "less", "as much in the mean, and nobody knows"],
)
def test_the_whole_interval_has_to_be_within_a_percent(pseudo: list[float], holds: bool) -> None:
    table = analysis.df_differences(windows(conventional=[1.999, 2.0, 2.001], pseudo=pseudo))
    (check,) = analysis.checks(table)
    assert check.passed == holds


def test_a_difference_without_any_spread_is_what_it_is() -> None:
    table = analysis.df_differences(windows(conventional=[2.0, 2.0], none=[3.0, 3.0]))
    assert table is not None
    (row,) = table.to_pylist()
    assert (row["share"], row["share_low"], row["share_high"]) == (0.5, 0.5, 0.5)


def test_more_power_for_as_much_more_work_is_no_more_energy_of_a_unit() -> None:
    rows = windows(conventional=[2.0, 2.002, 2.004], pseudo=[2.0, 2.002, 2.004]).to_pylist()
    for row in rows:
        row |= {"units_hz": 1100.0 + row["window"], "power_w": 2.2} if row["way"] == "pseudo" else {}
    table = analysis.df_differences(pa.Table.from_pylist(rows))
    assert table is not None
    (row,) = table.to_pylist()
    assert row["share"] > 0.09
    assert row["units_share"] == pytest.approx(0.1, abs=1e-3)
    assert row["unit_j_share"] == pytest.approx(0, abs=2e-3)


def test_one_window_or_no_baseline_is_not_compared() -> None:
    assert analysis.df_differences(windows(conventional=[2.0], pseudo=[2.0])) is None
    assert analysis.df_differences(windows(partition=[2.0, 2.0], pseudo=[2.0, 2.0])) is None


def test_boots_are_compared_with_their_own_baseline_and_judged_by_their_spread() -> None:
    def judged(*ratios: float) -> list[bool]:
        made = [windows(boot, conventional=[2.0 + boot] * 3, pseudo=[(2.0 + boot) * ratio] * 3)
                for boot, ratio in enumerate(ratios)]  # fmt: skip
        found = analysis.conclude({"windows": pa.concat_tables(made)}, [])
        return [check.passed for check in found.checks if "boots" in check.name]

    assert judged(1.001, 1.002, 1.0) == [True]
    assert judged(1.001, 1.02, 1.0) == [False], "the mean is within a percent, and the interval is not"
    assert judged(1.001) == []


def test_power_of_cpus_that_are_out_and_of_all_others_are_told_apart() -> None:
    made = []
    for boot in range(2):
        rows = windows(boot, conventional=[2.0] * 4, pseudo=[2.0] * 4).to_pylist()
        for row in rows:
            more = 0.1 if row["way"] == "pseudo" else 0.0
            row |= {name: row[name] + more for name in ("power_w", "cpus_w", "out_w")}
        made.append(pa.Table.from_pylist(rows))
    tables = analysis.conclude({"windows": pa.concat_tables(made)}, []).tables
    (over_boots,) = tables["boots"].to_pylist()
    assert (over_boots["share"], over_boots["in_share"]) == (pytest.approx(0.05), pytest.approx(0))
    assert (over_boots["cpus_share"], over_boots["rest_share"]) == (pytest.approx(0.1), pytest.approx(0))


def test_the_switch_is_compared_with_the_same_way_without_it() -> None:
    off = windows(conventional=[2.0, 2.0, 2.0])
    on = [{**row, "point": "0/on", "switch": 1, "power_w": 2.1} for row in off.to_pylist()]
    table = pa.concat_tables([off, pa.Table.from_pylist(on)])
    (row,) = analysis.conclude({"windows": table}, []).tables["differences"].to_pylist()
    assert (row["way"], row["switch"], row["share"]) == ("conventional", 1, pytest.approx(0.05))


def test_instructions_and_reads_are_those_of_all_cpus_and_controllers_in_a_window(tmp_path: Path) -> None:
    cpus = {"system.cluster0.cpu1.commitStats0.numInsts": 3.0, "system.cluster1.cpu0.commitStats0.numInsts": 4.0}
    energy_runs.statistics(
        tmp_path / "stats.parquet",
        [
            {"finalTick": 10.0, "simTicks": 10.0, **cpus},
            {"finalTick": 15.0, "simTicks": 5.0, **cpus, "system.mem_ctrls0.readReqs": 5.0,
             "system.mem_ctrls0.writeReqs": 9.0},
            {"finalTick": 20.0, "simTicks": 5.0, **cpus, "system.mem_ctrls3.readReqs": 2.0},
            {"finalTick": 30.0, "simTicks": 10.0},
        ],
    )  # fmt: skip
    found = analysis.counted(read(tmp_path / "stats.parquet"), np.array([10, 20, 30]))
    assert found == [{"unit_insts": 14.0, "unit_reads": 7.0}, {"unit_insts": 0.0, "unit_reads": 0.0}]


def test_energy_of_a_unit_is_power_over_rate() -> None:
    (row,) = analysis.df_points(windows(conventional=[2.002, 2.002, 2.002])).to_pylist()
    assert row["unit_j"] == pytest.approx(0.002)


def test_a_row_of_a_cpu_that_is_out_counts_in_all_sums_that_hold_it() -> None:
    row = {"band": "calibrated", "backend": "mcpat", "cluster": "a57", "cpu": 5}
    assert analysis._names(row, frozenset({4, 5})) == ("power", "cpus", "out")
    assert analysis._names(row, frozenset({4})) == ("power", "cpus")
    assert analysis._names({**row, "cluster": None, "cpu": None}, frozenset({4})) == ("power",)
    assert analysis._names({**row, "backend": "em"}, frozenset({5})) == ("em",)
