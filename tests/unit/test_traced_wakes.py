# SPDX-License-Identifier: BSD-3-Clause
"""Wake-ups of a run, by its trace or as wake-latency measured them, and what a page takes for latency and energy."""

from pathlib import Path

import pyarrow.compute as pc
import pytest

from lull import measures, samples
from lull.figures import time_asleep, traced_wakes
from lull.page import of_sweep
from lull.rundir import RunDir
from lull.trace import wakes
from tests import sweeps

RECORDED = Path(__file__).parent / "data" / "trace" / "tiny-gem5"


def test_every_wake_up_of_a_trace_that_ends_a_known_sleep_has_its_way_out() -> None:
    rundir = RunDir.open(RECORDED)
    table = traced_wakes.df_wake_ups(rundir)
    counted = wakes.wakes(rundir)
    assert 0.8 * len(counted) < table.num_rows <= len(counted), "the others were given up, or began before the trace"
    assert set(table["state"].to_pylist()) <= {wake.state for wake in counted}
    assert pc.min(table["out_us"]).as_py() > 0
    deep = table.filter(pc.equal(table["state"], "C4"))
    shallow = table.filter(pc.equal(table["state"], "C1"))
    assert pc.mean(deep["out_us"]).as_py() > 10 * pc.mean(shallow["out_us"]).as_py()
    assert sum(row["count_all"] for row in traced_wakes.df_sources(rundir).to_pylist()) == len(counted)


def test_what_was_measured_is_taken_before_the_trace(tmp_path: Path) -> None:
    found = samples.read(sweeps.make(tmp_path / "s", {"menu": [(100, 1.0)], "teo": [(200, 1.0)]}, [1]))
    table = traced_wakes.df_by_point(found.points)
    rows = table.group_by(["point", "state"]).aggregate([("out_us", "mean"), ("to_task_us", "mean")]).to_pylist()
    assert [(row["state"], row["out_us_mean"], row["to_task_us_mean"]) for row in rows] == [
        ("C3", pytest.approx(58, abs=0.1), pytest.approx(10, abs=0.1)),
        ("C3", pytest.approx(58, abs=0.1), pytest.approx(20, abs=0.1)),
    ]


def test_measures_carry_their_unit_and_settings_are_none(tmp_path: Path) -> None:
    (point,) = samples.read(sweeps.make(tmp_path / "s", {"menu": [(100, 2.5)]}, [1])).points
    found = measures.of_point(point)
    assert found["guest:power_w"] == 2.5
    assert found["residency:little:C1"] == 0.5
    assert found["wake:total_us:p99"] == pytest.approx(68, abs=0.1)
    assert "governor" not in found
    assert "seed" not in found
    units = {"guest:latency_us": "µs", "joules:em:raw": "J", "residency:big:C1": "share", "guest:constant": ""}
    assert {name: measures.unit_of(name) for name in units} == units


def test_a_page_begins_with_energy_over_latency() -> None:
    names = ["simulated_s", "joules:em:calibrated", "joules:mcpat:calibrated", "guest:latency_us:p99", "x:y:p99"]
    assert of_sweep.axes(names) == ("guest:latency_us:p99", "joules:mcpat:calibrated")
    assert of_sweep.axes([*names, "wake:total_us:p99"])[0] == "wake:total_us:p99"


def test_time_that_is_in_no_idle_state_is_awake(tmp_path: Path) -> None:
    found = samples.read(sweeps.make(tmp_path / "s", {"menu": [(100, 1.0)]}, [1]))
    table = time_asleep.df_residency(found.points).to_pylist()
    assert [(row["cpu"], row["state"], row["share"]) for row in table] == [(0, "C1", 0.5), (0, "awake", 0.5)]
