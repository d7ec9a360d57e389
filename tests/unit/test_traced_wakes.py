# SPDX-License-Identifier: BSD-3-Clause
"""Wake-ups of a run, by its trace or as wake-latency measured them, and what a page takes for latency and energy."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pytest

from lull.compare import measures, samples
from lull.figures import time_asleep, traced_wakes
from lull.page import of_sweep
from lull.scenario.points import Point
from lull.trace import wakes
from tests import sweeps
from tests import wakes as made

RECORDED = Path(__file__).parent / "data" / "trace" / "tiny-gem5"


def test_every_wake_up_of_a_trace_that_ends_a_known_sleep_has_its_way_out() -> None:
    (point,) = samples.read(RECORDED).points
    table = traced_wakes.df_wake_ups(point)
    counted = wakes.wakes(point.run.rundir())
    assert 0.8 * len(counted) < table.num_rows <= len(counted), "the others were given up, or began before the trace"
    assert set(table["state"].to_pylist()) <= {wake.state for wake in counted}
    assert pc.min(table["out_us"]).as_py() > 0
    deep = table.filter(pc.equal(table["state"], "C4"))
    shallow = table.filter(pc.equal(table["state"], "C1"))
    assert pc.mean(deep["out_us"]).as_py() > 10 * pc.mean(shallow["out_us"]).as_py()
    assert sum(row["count_all"] for row in traced_wakes.df_sources(point).to_pylist()) == len(counted)


def test_what_was_measured_is_taken_before_the_trace(tmp_path: Path) -> None:
    found = samples.read(sweeps.make(tmp_path / "s", {"menu": [(100, 1.0)], "teo": [(200, 1.0)]}, [1]))
    table = traced_wakes.df_by_point(found.points)
    by_point = table.group_by(["point", "state"], use_threads=False)
    rows = by_point.aggregate([("out_us", "mean"), ("to_task_us", "mean")]).to_pylist()
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


def test_a_scenarios_points_are_told_apart_by_what_varies(tmp_path: Path) -> None:
    def make(point: Point, cpu: int) -> npt.NDArray[np.void]:
        phases = {"entry": 5.0, "hardware": 50.0, "firmware": 5.0, "kernel": 3.0, "interrupt": 4.0, "task": 10.0}
        state = str(point.values["state"])
        return made.good(cpu, state, phases, 5, stamped=state != "C1")

    made.runs(tmp_path / "runs", make, patterns=["states/*"])
    found = samples.read(tmp_path / "runs")
    assert (found.kind, len(found.missing)) == ("scenario", 0)
    assert {point.title: dict(point.settings) for point in found.points} == {
        f"states/{state}": {"state": state} for state in ("C1", "C2", "C3", "C4")
    }
    one = samples.read(tmp_path / "runs" / "states" / "C3").points[0]
    assert one.run.values == {"state": "C3"}
    table = traced_wakes.df_measured(one)
    assert set(table["state"].to_pylist()) == {"C3"}
    assert set(table["cluster"].to_pylist()) == {"little", "big", "shadow"}
