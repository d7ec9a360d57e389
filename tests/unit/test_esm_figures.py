# SPDX-License-Identifier: BSD-3-Clause
"""The analyses of the ESM experiments, on runs whose every number is known."""

import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.errors import UserError
from lull.figures.esm import checks as esm_checks
from lull.figures.esm import points as esm_points
from lull.figures.esm import runs as esm_figures_runs
from lull.figures.esm import two_methods
from lull.page import chart
from lull.results import judging, result
from lull.results.drawing import Stored
from lull.results.result import Result, must_hold
from lull.scenario.points import Point
from lull.statistics import student
from lull_experiments.esm_gesture import analysis as esm_gesture
from lull_experiments.esm_idle import analysis as esm_idle
from lull_experiments.esm_keyboard import analysis as esm_keyboard
from tests import drawn, energy_runs, esm_runs, steady_runs
from tests import wakes as made_runs
from tests.esm_runs import LENGTH, Made

US_PER_S = 1_000_000


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    steady_runs.pretend(monkeypatch)
    monkeypatch.setattr(esm_checks, "BEYOND", 0)


def _ideal(point: Point) -> Made:
    """A poll answers late and wakes often, epoll sooner, ESM soonest; the spread over windows is known."""
    mode = str(point.values["mode"])
    base = {"pull": 8000.0, "epoll": 60.0, "esm": 50.0}[mode]
    count = min(3, int(point.values.get("rate", point.values.get("moves", 0))))
    latencies = [[base + window] * count for window in (-1, 0, 1)]
    return Made(latencies, polls=3 if mode == "pull" else 0, work_us={"pull": 50, "epoll": 60, "esm": 50}[mode])


def _keyboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: object = _ideal, **how: object) -> Result:
    runs = esm_runs.runs(tmp_path, "esm-keyboard", make, monkeypatch, **{"patterns": ["models/*-60", "*/60"], **how})  # type: ignore[arg-type]
    return esm_keyboard.analyse(runs)


def test_students_quantiles_are_the_published_ones() -> None:
    published = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 10: 2.228, 29: 2.045, 30: 2.042, 120: 1.980}
    assert {degrees: round(student.quantile(degrees), 3) for degrees in published} == published
    assert student.quantile(7, 0.99) == pytest.approx(3.499, abs=5e-4)


def test_a_mean_of_one_has_no_interval() -> None:
    assert student.mean([3.0]) == (3.0, None)
    middle, half = student.mean([1.0, 2.0, 3.0])
    assert middle == 2.0
    assert half == pytest.approx(4.3027 / 3**0.5, rel=1e-4)


def test_points_have_what_their_repetitions_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _keyboard(tmp_path, monkeypatch)
    rows = {row["point"]: row for row in found.tables["points"].to_pylist()}
    assert [row["series"] for row in rows.values()] == [
        "pull 16 ms", "epoll", "ESM", "pull 100 ms", "ESM, shadow", "ESM, slow shadow",
    ]  # fmt: skip
    seconds = LENGTH / energy_runs.HZ
    pull, esm = rows["models/pull-60"], rows["models/esm-60"]
    assert (pull["events"], pull["repetitions"]) == (9, 3)
    assert pull["latency_us"] == pytest.approx(8000)
    assert pull["latency_us_pm"] == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert pull["wall_us"] == pytest.approx(8000)
    assert (esm["median_us"], esm["p99_us"]) == (pytest.approx(50), pytest.approx(51))
    assert pull["cpu_share"] == pytest.approx((3 * 50 + 3 * esm_runs.POLL_US) / US_PER_S / seconds, rel=1e-3)
    assert (pull["own_wakes_hz"], pull["device_wakes_hz"], pull["main_wakes_hz"]) == (300, 300, 600)
    assert (esm["own_wakes_hz"], esm["device_wakes_hz"], esm["shadow_wakes_hz"]) == (0, 300, 0)
    assert esm["clock_cpu_share"] == 0.25
    assert esm["cpus_w"] == pytest.approx(esm["main_w"] + esm["shadow_w"])
    assert esm["power_w"] > esm["cpus_w"] > esm["shadow_w"] > 0
    # The backend `em` knows of busy CPUs alone, and of what clusters share.
    assert pull["em_cores_w"] / esm["em_cores_w"] == pytest.approx(pull["cpu_share"] / esm["cpu_share"])
    assert esm["em_w"] > esm["em_cores_w"] > 0
    figures = drawn.figures("esm-keyboard", found)
    assert list(figures) == ["power", "latency", "gain"]
    assert "paper: mean" in chart.of_figure("gain", figures["gain"]).legend
    beside = esm_keyboard.against(Stored(drawn.GEM5, found.tables))
    assert [(one.unit, one.published) for one in beside] == [("ms", "13.6")], "no point says what idle is"
    assert all(one.baseline.startswith("epoll: mean ") for one in beside)
    repetitions = found.tables["repetitions"].to_pylist()
    assert len(repetitions) == 3 * len(rows)
    assert [row["latency_us"] for row in repetitions[:3]] == [7999, 8000, 8001]


def test_two_methods_are_compared_by_a_line_through_the_points() -> None:
    rows = [{"em_cores_w": watts, "cores_w": 1.0 + 2 * watts} for watts in (0.1, 0.2, 0.4)]
    straight = two_methods.agreement(rows)
    assert straight is not None
    assert straight.points == 3
    assert [straight.slope, straight.constant, straight.correlation] == pytest.approx([2, 1, 1])
    assert straight.worst == pytest.approx(0, abs=1e-12)
    bent = two_methods.agreement([*rows, {"em_cores_w": 0.3, "cores_w": 2.0}])
    assert bent is not None
    assert bent.worst > 0.1
    assert two_methods.agreement(rows[:2]) is None
    assert two_methods.agreement([rows[0]] * 3) is None


def test_variants_are_series_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _keyboard(tmp_path, monkeypatch, patterns=["models/esm-300", "*/300"])
    series = {row["series"] for row in found.tables["points"].to_pylist()}
    assert series == {"ESM", "ESM, shadow", "ESM, slow shadow", "epoll, shadow", "ESM, thread"}


def test_power_of_a_repetition_is_that_of_its_own_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the second window has work, so only its joules are above those of sleep; and they sum to the ledger's."""
    found = _keyboard(tmp_path, monkeypatch, lambda _: Made([[], [50.0] * 5, []]), patterns=["models/esm-60"])
    repetitions = found.tables["repetitions"].to_pylist()
    watts = [row["power_w"] for row in repetitions]
    assert watts[1] > 1.01 * max(watts[0], watts[2])
    begin = esm_runs.begin() + LENGTH
    seconds = LENGTH / energy_runs.HZ
    ledger, mine = tmp_path / "models/esm-60/energy.parquet", {"backend": "mcpat", "band": "calibrated"}
    assert repetitions[1]["power_w"] * seconds == pytest.approx(energy_runs.total(ledger, start=begin, **mine))
    l2_w = repetitions[1]["cpus_w"] - repetitions[1]["cores_w"]
    l2_j = energy_runs.total(ledger, start=begin, component="l2", **mine)
    assert l2_j > 0
    assert l2_w * seconds == pytest.approx(l2_j)


def test_what_must_hold_holds_where_esm_is_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = {check.name: check for check in _keyboard(tmp_path, monkeypatch).checks}
    assert all(check.passed for check in checks.values()), [check.says for check in checks.values() if not check.passed]
    assert list(checks) == [
        "every event comes once and in order",
        "both clocks tell the same latency",
        "ESM answers sooner than a 16 ms poll",
        "ESM burns less than a 16 ms poll, by McPAT",
        "ESM burns less than a 16 ms poll, by `em`",
        "ESM is no slower than epoll: median",
        "ESM is no slower than epoll: 99th percentile",
        "ESM with the shadow core burns less than epoll",
        "ESM with the shadow core at a slow clock burns less than epoll",
    ]
    assert "at 60 keys a minute: ESM -7950 ± 0 µs against pull 16 ms; shown at 1 of 1 places" in checks[
        "ESM answers sooner than a 16 ms poll"
    ].says  # fmt: skip
    assert "ESM 50 [49, 51], epoll 60 [59, 61] µs; sooner at 1, slower at 0 of 1 places" in checks[
        "ESM is no slower than epoll: median"
    ].says  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (Made([[50.0]] * 3, missing=1), "every event comes once and in order"),
        (Made([[50.0]] * 3, wall_gap_us=5), "both clocks tell the same latency"),
        (Made([[9000.0]] * 3), "ESM answers sooner than a 16 ms poll"),
        (Made([[50.0] * 3] * 3, work_us=400), "ESM burns less than a 16 ms poll, by McPAT"),
        (Made([[50.0] * 3] * 3, work_us=400), "ESM burns less than a 16 ms poll, by `em`"),
        (Made([[61.5] * 3] * 3), "ESM is no slower than epoll: 99th percentile"),
    ],
)
def test_an_esm_that_is_worse_fails_with_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Made, name: str
) -> None:
    found = _keyboard(tmp_path, monkeypatch, lambda point: wrong if point.values["mode"] == "esm" else _ideal(point))
    assert name in [check.name for check in found.checks if not check.passed]
    with pytest.raises(UserError, match="check failed"):
        must_hold(found.checks)


def test_a_quantile_of_few_events_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(esm_checks, "BEYOND", 1)
    names = {check.name for check in _keyboard(tmp_path, monkeypatch).checks}
    assert "ESM is no slower than epoll: median" in names, "nine events, of which two lie beyond it"
    assert "ESM is no slower than epoll: 99th percentile" not in names


def test_the_papers_numbers_stand_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _keyboard(tmp_path, monkeypatch)
    assert "| latency saved, ms | mean | 13.6 | mean 7.95, 7.95 to 7.95 |" in found.summary
    assert [line for line in found.summary.splitlines() if "23.8" in line] == [], "no idle machine among the points"


def test_without_a_poll_nothing_stands_beside_the_papers_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _keyboard(tmp_path, monkeypatch, patterns=["models/esm-60"])
    assert found.summary.endswith(
        "## Beside the paper\n\nNothing to compare: the paper's numbers are gains over a 16 ms poll at its rates.\n"
    )


def test_rates_without_events_have_power_and_no_latency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _keyboard(tmp_path, monkeypatch, patterns=["models/*-0", "models/*-60"])
    rows = {row["point"]: row for row in found.tables["points"].to_pylist()}
    assert rows["models/esm-0"]["latency_us"] is None
    assert rows["models/esm-0"]["power_w"] < rows["models/esm-60"]["power_w"]
    assert "| power saved, of what software adds, % | at most | 23.8 | mean " in found.summary
    assert all(check.passed for check in found.checks)


def test_a_window_across_an_edge_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"repetition 0 takes 0\.01 s and its windows of statistics 0\.01333") as said:
        _keyboard(tmp_path, monkeypatch, lambda _: Made([[50.0]] * 3, cut_at=2), patterns=["models/esm-60"])
    assert "\n" not in str(said.value)


def test_lines_of_another_program_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = esm_runs.runs(tmp_path, "esm-keyboard", _ideal, monkeypatch, ["models/esm-60"])
    made_runs.dump(runs.runs[0].file("run.jsonl"), [{"pid": 7}])
    with pytest.raises(UserError, match=r"run\.jsonl: not what this scenario writes"):
        esm_keyboard.analyse(runs)


def test_qemu_has_latencies_in_tables_and_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _keyboard(tmp_path, monkeypatch, engine="qemu")
    assert drawn.figures("esm-keyboard", found, drawn.QEMU) == {}
    assert [check.name for check in found.checks] == ["every event comes once and in order"]
    assert "no joules" in found.summary


def test_events_that_nobody_asked_for_are_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the shadow core ESM sleeps on where epoll wakes for each; without joules between them nothing passes."""

    def make(point: Point) -> Made:
        ignored = point.values["listen"] == "keys" and point.values["mode"] == "esm"
        return Made([[50.0]] * 3, clocked=False) if ignored else Made([[50.0] * 5] * 3)

    patterns = ["models/*-100", "clicks-only*"]
    runs = esm_runs.runs(tmp_path, "esm-gesture", make, monkeypatch, patterns)
    found = esm_gesture.analyse(runs)
    mine = [check for check in found.checks if "not asked for" in check.name]
    who = [
        (name, other)
        for name in ("ESM", "ESM with the shadow core")
        for other in ("epoll", "epoll with a mask")
    ]  # fmt: skip
    who.append(("ESM with the shadow core at a slow clock", "epoll with a mask"))
    assert [check.name.partition(" where ")[0] for check in mine] == [
        f"{name} burns less than {other}" for name, other in who
    ]
    assert [check.passed for check in mine] == [True] * 5
    assert mine[0].says.startswith("least so at 100 motions a second: ESM -")
    assert {row["series"] for row in found.tables["points"].to_pylist() if row["group"] == "models"} == {
        "pull 16 ms", "epoll", "ESM",
    }  # fmt: skip
    rows = {row["point"]: row for row in found.tables["points"].to_pylist()}
    assert (rows["clicks-only/esm-100"]["wall_us"], rows["clicks-only/esm-100"]["latency_us"]) == (None, 50)
    assert "| latency saved, ms | 100 motions/s | 6 | 0 ± 0 |" in found.summary


def _idle(point: Point) -> Made:
    polls = {1: 9, 10: 9, 100: 8, 1000: 7, 10000: 6, 16000: 5, 24000: 4, 48000: 3, 100000: 2, 1000000: 1}
    return Made([[]] * 3, polls=polls[int(point.values["delay_us"])] if point.values["mode"] == "pull" else 0)


def test_an_idle_application_costs_what_its_polls_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = esm_idle.analyse(esm_runs.runs(tmp_path, "esm-idle", _idle, monkeypatch))
    rows = {row["series"]: row for row in found.tables["points"].to_pylist()}
    poll_s = 5 * esm_runs.POLL_US / US_PER_S
    assert rows["pull 16 ms"]["cpu_share"] == pytest.approx(poll_s / (LENGTH / energy_runs.HZ), rel=1e-3)
    assert (rows["ESM"]["cpu_share"], rows["ESM"]["own_wakes_hz"]) == (0, 0)
    assert all(check.passed for check in found.checks), [check.says for check in found.checks if not check.passed]
    assert "| pull 16 ms | 1.2 ± 0 | 30 | 500 ± 0 | 12.14 |" in found.summary
    figures = drawn.figures("esm-idle", found)
    assert list(figures) == ["cpu-time", "power"]
    assert {"pull", "paper, pull"} <= set(chart.of_figure("cpu-time", figures["cpu-time"]).legend)
    (paper,) = esm_idle.against(Stored(drawn.GEM5, found.tables))
    assert (paper.here, paper.published, paper.unit) == ("1.2 ± 0", "12.14", "s")


def test_an_esm_application_that_polls_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = esm_runs.runs(
        tmp_path,
        "esm-idle",
        lambda point: Made([[]] * 3, polls=9) if point.values["mode"] == "esm" else _idle(point),
        monkeypatch,
    )
    assert [check.name for check in esm_idle.analyse(runs).checks if not check.passed] == [
        "an idle ESM application uses no CPU",
        "an idle ESM application burns no more than any poll",
        "ESM burns less than a 16 ms poll in every boot",
    ]


@pytest.mark.parametrize(
    ("name", "patterns"),
    [
        ("esm-keyboard", ["models/*-60", "*/60"]),
        ("esm-gesture", ["models/*-25", "boots/*", "clicks-only/esm-*"]),
        ("esm-looks", ["models/*", "looks-*"]),
        ("esm-idle", []),
    ],
)
def test_the_stored_tables_say_all_that_the_runs_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, patterns: list[str]
) -> None:
    """So a result is judged again without its runs, if its tables are not older than a column that is needed."""
    make = _idle if name == "esm-idle" else _ideal
    runs = esm_runs.runs(tmp_path / "runs", name, make, monkeypatch, patterns)
    found = runs.analysis.analyse(runs)
    result.write(found, runs, tmp_path / "made")
    again = judging.concluded(tmp_path / "made")
    assert again is not None
    assert (again.checks, again.summary) == (found.checks, found.summary)
    last = ("repetitions", "began_s") if name == "esm-idle" else ("points", "lost")
    for table, column in (last, ("differences", "above_percent")):
        older = tmp_path / column
        shutil.copytree(tmp_path / "made", older)
        pq.write_table(pq.read_table(older / f"{table}.parquet").drop_columns([column]), older / f"{table}.parquet")
        assert judging.concluded(older) is None


def test_tables_are_the_same_in_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole columns without a number, of QEMU, are still tables."""
    found = _keyboard(tmp_path / "runs", monkeypatch, engine="qemu")
    for name, table in found.tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
        assert pq.read_table(tmp_path / f"{name}.parquet").num_rows == table.num_rows


@pytest.mark.parametrize(("mhz", "passed"), [(612.0, False), (204.0, True)])
def test_the_wall_clock_may_say_more_where_its_system_call_takes_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mhz: float, passed: bool
) -> None:
    runs = esm_runs.runs(
        tmp_path,
        "esm-keyboard",
        lambda point: Made([[50.0]] * 3, wall_gap_us=5),
        monkeypatch,
        patterns=["models/esm-60"],
    )
    (point,) = esm_figures_runs.read(runs)
    at = [replace(own, clock={"mhz": mhz, "mv": 800.0}) for own in point.repetitions]
    table = esm_points.df_points([replace(point, repetitions=tuple(at))], "rate")
    (check,) = esm_checks.clocks(table.to_pylist())
    assert check.passed == passed
    assert check.says.startswith("most so in models/esm-60: +5")
