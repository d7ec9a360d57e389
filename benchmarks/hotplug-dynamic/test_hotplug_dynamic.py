# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of jobs and windows: what counts, and when a rate was not reached."""

from typing import Any

import pyarrow as pa
import pytest

from lull.results.drawing import Stored
from lull.results.result import Check
from lull.rundir.origin import Origin
from lull_experiments.hotplug_dynamic import analysis

PLACE = {
    "point": "toggles/pseudo-100", "group": "toggles", "way": "pseudo", "toggles_hz": 100, "threads": 4,
    "period_us": 8000, "steps": 1000, "cpufreq": "performance", "idle_governor": "menu", "boot": 0,
}  # fmt: skip


def points(toggled_hz: float, jobs: list[tuple[float, float]], **also: Any) -> list[dict[str, Any]]:
    """One point of two windows of 0.1 s, with jobs that began and were done so late, in µs."""
    windows = [
        {**PLACE, "window": number, "seconds": 0.1, "begin_ns": 0, "toggled_hz": toggled_hz, "toggle_us": 5.0,
         "toggle_most_us": 9.0, **{name: values[number] for name, values in also.items()}}
        for number in range(2)
    ]  # fmt: skip
    rows = [{"point": PLACE["point"], "thread": 0, "due_us": 0.0, "begun_us": a, "done_us": b} for a, b in jobs]
    found: list[dict[str, Any]] = analysis.df_points(
        pa.Table.from_pylist(windows), pa.Table.from_pylist(rows)
    ).to_pylist()
    return found


def test_rate_and_lateness_of_jobs() -> None:
    (row,) = points(
        100.0, [(10.0, 100.0), (20.0, 200.0), (30.0, 300.0)], power_w=[1.0, 3.0], em_w=[1.0, 1.0], cpus_w=[1.0, 1.0]
    )
    assert row["jobs_hz"] == pytest.approx(15)
    assert (row["begun_median_us"], row["done_median_us"], row["took_median_us"]) == (20.0, 200.0, 180.0)
    assert row["power_w"] == 2.0
    assert row["power_w_pm"] > 1.0


def windows_of(settle_us: int, count: int) -> list[dict[str, int]]:
    """As the guest program writes them: `settle_us` is the time from the order to the begin of the window."""
    return [{"settle_us": settle_us + 100_000 * number, "window": number} for number in range(count)]


@pytest.mark.parametrize(
    ("settle_us", "count", "left"),
    [(50_000, 5, [1, 2, 3, 4]), (150_000, 2, [0, 1]), (1_000, 3, [2]), (50_000, 1, [0]), (1_000, 2, [0, 1])],
)
def test_windows_begin_when_the_load_of_new_threads_is_known(settle_us: int, count: int, left: list[int]) -> None:
    assert [line["window"] for line in analysis.settled(windows_of(settle_us, count))] == left


def test_points_are_drawn_with_and_without_jobs() -> None:
    watts = {name: [1.0, 3.0] for name in ("power_w", "em_w", "cpus_w")}
    for jobs in ([(10.0, 100.0)], []):
        table = pa.Table.from_pylist(points(100.0, jobs, **watts))
        (drawing,) = analysis.draw(Stored(Origin("gem5", "24", "detailed", "exynos7420"), {"points": table}))
        assert [len(axis.lines) for axis in drawing.figure.axes] == [1, 1]


@pytest.mark.parametrize(("toggled_hz", "passed"), [(99.0, True), (90.0, True), (89.0, False)])
def test_a_rate_that_was_not_reached_is_told(toggled_hz: float, passed: bool) -> None:
    (check,) = analysis.checks(pa.Table.from_pylist(points(toggled_hz, [(1.0, 2.0)])))
    assert check.passed == passed
    assert f"{toggled_hz:.4g} took place" in check.says


def test_jobs_that_are_dropped_are_missed() -> None:
    """In 100 ms, with a period of 8 ms: due at 2, 10, … 98 ms, of which those at 18, 26 and 98 ms were not done."""
    place = {"threads": 1, "period_us": 8000}
    due = [2000.0 + 8000 * number for number in range(13)]
    jobs = [{"thread": 0, "due_us": each} for each in due]
    assert analysis._dropped(jobs, place, 100000.0) == 0
    assert analysis._dropped([job for job in jobs if job["due_us"] not in (18000, 26000, 98000)], place, 100000.0) == 3
    assert analysis._dropped(jobs[1:], place, 100000.0) == 1
    assert analysis._dropped([], place, 100000.0) == 13


def test_a_row_of_the_ledger_counts_once_in_each_sum() -> None:
    row = {"band": "calibrated", "backend": "mcpat", "cluster": "a57", "cpu": None}
    assert analysis._names(row) == ("power", "cpus")
    assert analysis._names({**row, "cluster": None}) == ("power",)
    assert analysis._names({**row, "backend": "em"}) == ("em",)
    assert analysis._names({**row, "band": "raw"}) == ()


def beside_nobody(
    watts: list[float], nobody: list[float], late: float = 100.0, dropped: int = 0, **place: Any
) -> list[dict[str, Any]]:
    """The differences of one load and clock: watts of windows of the governor, or of the way that `place` names, and of
    nobody; and how late the former's jobs are done, in µs."""
    windows, jobs = [], []
    one = {"way": "governor", "toggles_hz": 0, **place}
    for way, power, done, less in ((one, watts, late, dropped), ({"way": "none", "toggles_hz": 0}, nobody, 100.0, 0)):
        own = {**PLACE, "point": way["way"], "group": way["way"], "threads": 1, **way}
        windows += [
            {**own, "window": number, "seconds": 0.1, "begin_ns": 0, "toggled_hz": 0.0, "toggle_us": 0.0,
             "toggle_most_us": 0.0, "power_w": value, "em_w": value, "cpus_w": value}
            for number, value in enumerate(power)
        ]  # fmt: skip
        jobs += [
            {"point": way["way"], "thread": 0, "due_us": 8000.0 * number, "begun_us": 1.0, "done_us": done + number}
            for number in range(12 - less)
        ]
    table = pa.Table.from_pylist(windows)
    found = analysis.df_differences(table, analysis.df_points(table, pa.Table.from_pylist(jobs)))
    return [] if found is None else found.to_pylist()


def compared(governor: list[float], nobody: list[float], late: float, dropped: int = 0) -> Check:
    (check,) = analysis.checks_of_governor(pa.Table.from_pylist(beside_nobody(governor, nobody, late, dropped)))
    return check


def test_cpus_that_stay_out_are_compared_and_not_judged() -> None:
    rows = beside_nobody([1.0, 1.01, 0.99], [2.0, 2.02, 1.98], way="affinity", toggles_hz=analysis.ONCE)
    assert [(row["way"], round(row["power_w"], 6)) for row in rows] == [("affinity", -1.0)]
    assert analysis.checks_of_governor(pa.Table.from_pylist(rows)) == []
    assert beside_nobody([1.0, 1.0], [2.0, 2.0], way="pseudo", toggles_hz=10) == []


@pytest.mark.parametrize(
    ("governor", "late", "passed"),
    [
        ([1.0, 1.01, 0.99], 100.0, True),
        ([1.0, 1.01, 0.99], 150.0, False),
        ([2.0, 2.01, 1.99], 100.0, False),
        ([1.0, 3.0, 1.4], 100.0, False),
        ([1.0], 100.0, False),
    ],
    ids=["less power", "less power, later jobs", "the same power", "nothing shown", "one window"],
)
def test_the_governor_wins_by_power_and_not_at_the_price_of_lateness(
    governor: list[float], late: float, passed: bool
) -> None:
    assert compared(governor, [2.0, 2.02, 1.98], late).passed == passed


def test_the_governor_that_drops_jobs_does_not_win() -> None:
    assert not compared([1.0, 1.01, 0.99], [2.0, 2.02, 1.98], 100.0, dropped=1).passed


def test_qemu_has_no_power_to_compare() -> None:
    assert analysis.df_differences(pa.table({"way": ["none"]}), pa.table({"way": ["none"]})) is None


@pytest.mark.parametrize(
    ("saved", "later", "passed"),
    [
        ([0.10, 0.11, 0.12], [0.0, 0.01, -0.01], True),
        ([0.10, 0.01, 0.30], [0.0, 0.01, -0.01], False),
        ([0.10, 0.11, 0.12], [0.10, 0.11, 0.12], False),
        ([0.10, 0.11, 0.12], [0.01, 0.01, 0.90], False),
    ],
    ids=["saves in each boot", "boots differ by more", "later", "later in each boot, and nobody knows by how much"],
)
def test_a_saving_over_boots_is_judged_by_the_interval_over_boots(
    saved: list[float], later: list[float], passed: bool
) -> None:
    rows = saved_in_boots(5000, saved, later)
    (check,) = analysis.boots_checks(analysis.df_boots(pa.Table.from_pylist(rows)))
    assert check.passed == passed
    assert "over 3 boots" in check.name


def saved_in_boots(latency_us: int, saved: list[float], later: list[float]) -> list[dict[str, Any]]:
    """A row of differences per boot: what the governor saves with this bound, and by how much its jobs are later."""
    place = {name: PLACE[name] for name in ("threads", "period_us", "steps", "cpufreq")}
    return [
        {
            **place, "way": "governor", "idle_governor": "menu", "latency_us": latency_us, "boot": boot,
            "power_w": -less, "other_power_w": 1.0, "cpus_w": -less, "other_cpus_w": 1.0,
            "median_us": 50.0, "other_median_us": 50.0, "late_us": 100 * (1 + late), "other_late_us": 100.0,
        }
        for boot, (less, late) in enumerate(zip(saved, later, strict=True))
    ]  # fmt: skip


def test_each_bound_of_the_governor_is_judged_by_itself() -> None:
    rows = saved_in_boots(5000, [0.10, 0.11], [0.5, 0.51]) + saved_in_boots(1000, [0.05, 0.06], [0.0, 0.0])
    table = analysis.df_boots(pa.Table.from_pylist(rows))
    assert table is not None
    assert [(row["latency_us"], row["boots"], row["saved"]) for row in table.to_pylist()] == [
        (5000, 2, pytest.approx(0.105)),
        (1000, 2, pytest.approx(0.055)),
    ]


def test_points_that_ran_without_a_bound_had_that_of_today() -> None:
    (row,) = points(0.0, [(10.0, 100.0)])
    assert (row["latency_us"], row["boot"]) == (5000, 0)


def test_a_single_boot_is_not_judged_over_boots() -> None:
    assert analysis.boots_checks(None) == []
