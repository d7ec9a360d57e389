# SPDX-License-Identifier: BSD-3-Clause
"""Packets and load of made intervals: they are of the same time, and several frequencies make a line."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from lull.platform.load import load_platform
from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull.rundir.run import Run, Values
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, resolve
from lull_experiments.eanem_packets import analysis

NS = 10_000_000
SIZE = 1000


def run(
    folder: Path, mhz: int, packets: Sequence[int], alpha: float = 50000.0, phase_of: int = 4, together: int = 1
) -> Run:
    """A run whose packets take their time, and whose monitor closes its interval a little before each of ours.

    So what the monitor tells is of the interval before. A load is what the packets take, and 1 % of 1 GHz, which is
    100000 cycles of each of 100 wake-ups a second. If packets come `together`, so many share a wake-up.
    """
    lines = []
    for number, (now, before) in enumerate(zip(packets, (packets[0], *packets), strict=False)):
        wakes = 1 + (now // together if together > 1 else 0)
        load = (0.01 * wakes + now / (NS / 1e9) / alpha) / (mhz / 1e3)
        lines.append(
            {
                "phase": number // phase_of, "rate_kbit_s": 1, "settled": True, "ns": NS, "bytes": SIZE * now,
                "slept_ns": round((1 - load) * NS), "wakes": wakes,
                "monitor": {"ns": NS, "packets": before, "bytes": SIZE * before, "mean": SIZE * 1000},
            }
        )  # fmt: skip
    (folder / "files").mkdir(parents=True)
    (folder / "files" / analysis.LOAD).write_text("\n".join(map(json.dumps, lines)))
    values = Values({"cpu": 0, "mhz": mhz, "mss": SIZE, "interval_us": 10000}, folder)
    point: Any = Run(f"little/{mhz}-{SIZE}", "little", values, folder, Any, Any)  # type: ignore[arg-type]
    made: Run = point
    return made


PACKETS = (10, 40, 0, 30, 90, 120, 80, 110, 200, 170, 210, 140, 4, 0, 2, 1)


@pytest.fixture
def intervals(tmp_path: Path) -> Any:
    runs: Any = SimpleNamespace(runs=[run(tmp_path / str(mhz), mhz, PACKETS) for mhz in (800, 1400)])
    return analysis.df_intervals(runs)


def test_packets_and_load_are_of_the_same_time(intervals: Any) -> None:
    (row,) = analysis.df_coefficients(intervals).to_pylist()
    assert row["alpha"] == pytest.approx(50000, rel=0.02), "although the monitor's counts are an interval late"
    assert row["r2_intervals"] > 0.98
    assert (row["frequencies"], row["phases"], row["intervals"], row["full"]) == (2, 8, 32, 0)
    assert row["alpha_pm"] > 0


def test_the_line_of_one_frequency_shows_nothing_about_frequencies(intervals: Any) -> None:
    both = analysis.df_coefficients(intervals)
    one = analysis.df_coefficients(intervals.filter([row["mhz"] == 800 for row in intervals.to_pylist()]))
    assert [check.passed for check in analysis.checks(both)] == [True]
    assert [check.passed for check in analysis.checks(one)] == [False]
    lines = analysis.df_lines(intervals).to_pylist()
    assert [row["mhz"] for row in lines] == [800, 1400]
    assert [row["packet_us"] for row in lines] == pytest.approx([25, 14.3], rel=0.03), "20000 cycles"
    assert all(row["alpha_pm"] > 0 and row["r2_intervals"] > 0.98 for row in lines)


def test_a_line_of_one_frequency_goes_through_phases(tmp_path: Path) -> None:
    """Its intervals are no measurements of their own. Two phases make no line with intervals."""
    runs: Any = SimpleNamespace(runs=[run(tmp_path, 800, PACKETS[:8])])
    assert analysis.df_lines(analysis.df_intervals(runs)).num_rows == 0


def test_what_does_not_go_with_the_clock_is_told_apart(tmp_path: Path) -> None:
    """Packets of 20000 cycles: at 800 MHz 25 µs, and at 1400 MHz 14.3."""
    alpha = 1e9 / 20000
    runs: Any = SimpleNamespace(runs=[run(tmp_path / str(mhz), mhz, PACKETS, alpha) for mhz in (800, 1400)])
    (price,) = analysis.df_coefficients(analysis.df_intervals(runs)).to_pylist()
    assert price["cycles"] == pytest.approx(20000, rel=0.03)
    assert price["tau_us"] == pytest.approx(0, abs=0.5)
    slow = [run(tmp_path / f"{mhz}-slow", mhz, PACKETS, alpha / (1 + mhz / 1e3)) for mhz in (800, 1400)]
    runs = SimpleNamespace(runs=slow)
    (price,) = analysis.df_coefficients(analysis.df_intervals(runs)).to_pylist()
    assert price["tau_us"] == pytest.approx(20, rel=0.03), "20000 cycles at each frequency, and 20 µs besides"
    assert price["r2_t_intervals"] > 0.98 > price["r2_intervals"], "the packets of intervals, by one fit and the other"
    assert price["alpha_t"] == pytest.approx(alpha, rel=0.03)
    assert price["beta_t"] == pytest.approx(-0.01 * alpha, rel=0.1), "1 % of 1 GHz without packets"
    assert price["alpha"] < 0.8 * price["alpha_t"], "equation 1 has other coefficients"


def test_a_time_that_one_point_alone_decides_is_told_of(tmp_path: Path) -> None:
    """At 1400 MHz a packet takes as long as at 800, and at 400 MHz as many cycles as at 800."""
    rates = ((400, 50000.0), (800, 50000.0), (1400, 50000.0 * 800 / 1400))
    runs: Any = SimpleNamespace(runs=[run(tmp_path / str(mhz), mhz, PACKETS, alpha) for mhz, alpha in rates])
    tables = analysis.conclude({"intervals": analysis.df_intervals(runs)}, ["little/800-1000"])
    (price,) = tables.tables["coefficients"].to_pylist()
    assert price["tau_us_least"] == pytest.approx(0, abs=0.5), "without 1400 MHz"
    assert price["tau_us_most"] == pytest.approx(25, rel=0.05), "without 400 MHz"
    assert price["tau_us_least"] < price["tau_us"] - price["tau_us_pm"], "the interval takes phases to be independent"
    assert f"{price['tau_us_least']:.3g} to {price['tau_us_most']:.3g}" in tables.summary
    two: Any = SimpleNamespace(runs=runs.runs[:2])
    (price,) = analysis.df_coefficients(analysis.df_intervals(two)).to_pylist()
    assert price["tau_us_least"] is None, "no fit is left without one of two"


def test_one_frequency_cannot_tell_cycles_from_time(tmp_path: Path) -> None:
    runs: Any = SimpleNamespace(runs=[run(tmp_path, 800, PACKETS)])
    intervals = analysis.df_intervals(runs)
    (price,) = analysis.df_coefficients(intervals).to_pylist()
    assert all(price[name] is None for name in ("cycles", "tau_us", "alpha_t", "beta_t", "beta_t_pm", "r2_t"))
    assert "nan" not in analysis.conclude({"intervals": intervals}, ["little/800-1000"]).summary


def test_packets_that_come_together_share_a_wake_up(tmp_path: Path) -> None:
    """20000 cycles a packet, 100000 a wake-up. At 400 MHz four packets share a wake-up, and 30 at 1400 MHz."""
    few = run(tmp_path / "400", 400, (2, 4, 6, 8), 1e9 / 20000, 1, 4)
    many = run(tmp_path / "1400", 1400, PACKETS, 1e9 / 20000, 4, 30)
    runs: Any = SimpleNamespace(runs=[few, many])
    intervals = analysis.df_intervals(runs)
    (told,) = analysis.df_wakes(intervals).to_pylist()
    assert told["cycles_w"] == pytest.approx(20000, rel=0.01)
    assert told["wake_cycles"] == pytest.approx(100000, rel=0.01)
    assert told["tau_w_us"] == pytest.approx(0, abs=0.1)
    assert told["r2_w_intervals"] > 0.999
    assert "What a wake-up costs" in analysis.conclude({"intervals": intervals}, ["little/800-1000"]).summary
    older = intervals.drop_columns(["wakes_s"])
    assert "What a wake-up costs" not in analysis.conclude({"intervals": older}, ["little/800-1000"]).summary
    some = pa.concat_tables(
        [intervals.slice(0, 3).drop_columns(["wakes_s"]), intervals.slice(3)], promote_options="default"
    )
    assert "What a wake-up costs" not in analysis.conclude({"intervals": some}, ["little/800-1000"]).summary


def test_groups_of_one_kind_of_core_belong_together(tmp_path: Path) -> None:
    first, second = (run(tmp_path / str(mhz), mhz, PACKETS) for mhz in (800, 1400))
    runs: Any = SimpleNamespace(runs=[first, replace(second, name="little-busy-1400/1000", group="little-busy-1400")])
    (row,) = analysis.df_coefficients(analysis.df_intervals(runs)).to_pylist()
    assert (row["group"], row["frequencies"]) == ("little", 2)


def test_both_are_drawn(intervals: Any) -> None:
    tables = {"intervals": intervals, "coefficients": analysis.df_coefficients(intervals)}
    stored = Stored(Origin("gem5", "24", "detailed", "exynos5422"), tables)
    (drawing,) = analysis.draw(stored)
    assert [axis.get_title() for axis in drawing.figure.axes] == ["little", "big"]
    (said,) = analysis.against(stored)
    assert said.published == "linear"


def test_a_cpu_that_was_busy_all_the_time_is_on_no_line(tmp_path: Path) -> None:
    runs: Any = SimpleNamespace(runs=[run(tmp_path, 400, [*PACKETS, 300, 300, 300, 300])])
    (row,) = analysis.df_coefficients(analysis.df_intervals(runs)).to_pylist()
    assert row["full"] >= 4
    assert row["intervals"] + row["full"] == 20


@pytest.mark.parametrize("file", ["scenario.yaml", "rk3399.yaml"])
def test_each_clock_is_an_operating_point_of_its_cluster(file: str) -> None:
    """The guest program refuses any other."""
    points = resolve(load_scenario(str(Path(__file__).with_name(file))), Wishes("qemu"))
    for point in points:
        (cluster,) = [own for cpus, own in load_platform(point.spec.platform.name).cpu_ranges()
                      if point.values["cpu"] in cpus]  # fmt: skip
        assert point.values["mhz"] in [opp.mhz for opp in cluster.opps.table], point.name
