# SPDX-License-Identifier: BSD-3-Clause
"""Differences between two ways to get input, on runs whose every number is known."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lull.figures.esm import paired
from lull.figures.esm.runs import Measured
from lull.scenario.points import Point
from lull_experiments.esm_gesture import analysis as esm_gesture
from lull_experiments.esm_keyboard import analysis as esm_keyboard
from lull_experiments.esm_looks import analysis as esm_looks
from tests import esm_runs, steady_runs
from tests.esm_runs import Made

NOISE_US = (0.0, 900.0, 2000.0)
"""Latency that the events of a repetition add to every mode: repetitions differ far more than modes do."""


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    steady_runs.pretend(monkeypatch)


def _noisy(point: Point) -> Made:
    base = {"pull": 400.0, "epoll": 60.0, "masked": 60.0, "esm": 50.0}[str(point.values["mode"])]
    if not point.values.get("rate", point.values.get("moves")):
        return Made([[]] * 3)
    jitter = {"pull": (5, -5, 0), "epoll": (0, 0, 0), "masked": (0, 0, 0), "esm": (1, 0, -1)}[str(point.values["mode"])]
    latencies = [[base + noise + own] for noise, own in zip(NOISE_US, jitter, strict=True)]
    return Made(latencies, polls=3 if point.values["mode"] == "pull" else 0, work_us=int(base))


def _rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, patterns: list[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    analysis = {"esm-keyboard": esm_keyboard, "esm-gesture": esm_gesture, "esm-looks": esm_looks}[name]
    found = analysis.analyse(esm_runs.runs(tmp_path, name, _noisy, monkeypatch, patterns))
    return {(row["one"], row["other"]): row for row in found.tables["differences"].to_pylist()}


def test_repetitions_are_compared_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences of -10 +1, -10 and -10 -1, whatever each repetition's events add to both."""
    rows = _rows(tmp_path, monkeypatch, "esm-keyboard", ["models/*-60"])
    assert set(rows) == {
        ("models/epoll-60", "models/pull-60"),
        ("models/esm-60", "models/pull-60"),
        ("models/esm-60", "models/epoll-60"),
    }
    row = rows["models/esm-60", "models/epoll-60"]
    assert row["paired"]
    assert row["latency_us"] == pytest.approx(-10)
    assert row["latency_us_pm"] == pytest.approx(4.3027 / 3**0.5, rel=1e-4)


def test_other_schedules_are_compared_by_their_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "are_paired", lambda _one, _other: False)
    row = _rows(tmp_path, monkeypatch, "esm-keyboard", ["models/*-60"])["models/esm-60", "models/epoll-60"]
    assert (row["latency_us"], row["paired"]) == (pytest.approx(-10), False)
    assert row["latency_us_pm"] > 1000, "the two means know nothing of each other"


def test_only_what_happens_under_the_same_circumstances_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(tmp_path, monkeypatch, "esm-gesture", ["models/*-100", "clicks-only*", "clocks/powersave-*"])
    against = {other for one, other in rows if one == "clicks-only-shadow/esm-100"}
    assert against == {"clicks-only/epoll-100", "clicks-only/masked-100", "clicks-only/esm-100"}
    assert {other for one, other in rows if one == "clocks/powersave-esm-25"} == {
        "clocks/powersave-pull-25", "clocks/powersave-epoll-25",
    }  # fmt: skip
    assert ("models/pull-100", "models/esm-100") not in rows, "a poll is what others are compared with"


def test_a_saving_is_said_of_the_machine_and_of_what_is_above_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _rows(tmp_path, monkeypatch, "esm-keyboard", ["models/*-0", "models/*-60"])
    row = rows["models/esm-60", "models/pull-60"]
    idle = rows["models/esm-0", "models/pull-0"]
    assert row["idle_power_w"] == pytest.approx(idle["other_power_w"] + idle["power_w"])
    assert row["above_percent"] == pytest.approx(100 * -row["power_w"] / (row["other_power_w"] - row["idle_power_w"]))
    assert idle["above_percent"] is None, "ESM without events is the idle machine, and saves all by definition"
    shares = paired.shares({"power_w": -0.2, "other_power_w": 1.5})
    assert shares == {"machine": pytest.approx(100 * 0.2 / 1.5), "rest": pytest.approx(8)}


def _point(watts: list[float], seed: int = 1, boot: int = 0, seconds: float = 0.5, events: int = 9) -> Measured:
    repetitions = [SimpleNamespace(watts={"power": value}, seconds=seconds) for value in watts]
    run = SimpleNamespace(values={"seed": seed, "boot": boot})
    return cast(Measured, SimpleNamespace(run=run, repetitions=repetitions, windowed=events))


T_2 = 4.3027
"""Student's for three repetitions."""


def test_the_interval_of_a_share_has_that_of_the_idle_machine_in_it() -> None:
    """Poll and ESM differ by 10 in each repetition, so that the saving has no interval. The idle machine has one."""
    poll, esm, idle = [132.0, 132.0, 132.0], [122.0, 122.0, 122.0], [118.0, 120.0, 119.0]
    share = paired.above_idle(_point(esm), _point(poll), _point(idle))
    assert share is not None
    assert share.half is not None
    assert share.value == pytest.approx(100 * 10 / 13)
    assert share.half == pytest.approx(share.value / 13 * T_2 / 3**0.5, rel=1e-4)


def test_what_all_three_have_in_one_repetition_cancels() -> None:
    """Housekeeping adds as much to each. Of other seeds, boots or lengths nobody knows that it does."""
    poll, esm, idle = [132.0, 135.0, 132.0], [122.0, 125.0, 122.0], [119.0, 122.0, 119.0]
    share = paired.above_idle(_point(esm), _point(poll), _point(idle))
    assert share is not None
    assert share.half == pytest.approx(0, abs=1e-9)
    for strange in (_point(idle, seed=2), _point(idle, boot=1), _point(idle, seconds=3.0)):
        apart = paired.above_idle(_point(esm), _point(poll), strange)
        assert apart is not None
        assert apart.half is not None
        assert apart.value == pytest.approx(share.value)
        ratio = share.value / 100
        assert apart.half == pytest.approx(100 / 13 * ratio * 2**0.5 * T_2, rel=1e-4), "ESM and poll go together still"
    apart = paired.above_idle(_point(esm), _point(poll, seed=2), _point(idle))
    assert apart is not None
    spread = (1 + (1 - share.value / 100) ** 2 + (share.value / 100) ** 2) ** 0.5
    assert apart.half == pytest.approx(100 / 13 * spread * T_2, rel=1e-4)


def test_repetitions_that_one_point_lacks_do_not_count() -> None:
    """A third repetition with far more events changes neither the share nor its interval."""
    poll, idle = _point([132.0, 135.0]), _point([119.0, 122.0, 170.0])
    share = paired.above_idle(_point([122.0, 125.0, 180.0]), poll, idle)
    assert share is not None
    assert share.value == pytest.approx(100 * 10 / 13)
    assert share.half == pytest.approx(0, abs=1e-9)
    alone = paired.above_idle(_point([122.0, 125.0, 180.0]), poll, _point([119.0]))
    assert alone is not None
    assert alone.half is None, "an idle machine of one repetition says nothing of its spread"


def test_a_share_without_spread_of_its_own_has_no_interval() -> None:
    share = paired.above_idle(_point([122.0]), _point([132.0, 132.0]), _point([119.0, 119.0]))
    assert share is not None
    assert share.half is None


def test_no_share_is_given_of_nothing() -> None:
    assert paired.above_idle(_point([1.0]), _point([2.0], events=0), _point([1.0])) is None
    assert paired.above_idle(_point([1.0]), _point([2.0]), _point([2.0])) is None
    assert paired.above_idle(_point([]), _point([2.0]), _point([1.0])) is None


def _of_boots(point: Point) -> Made:
    """A boot adds 0, 3 or 6 us to what a poll takes for an event, and nothing to those who wait."""
    extra = 3.0 * int(point.values["boot"]) if point.values["mode"] == "pull" else 0.0
    base = {"pull": 400.0, "epoll": 60.0, "esm": 50.0}[str(point.values["mode"])]
    polls = 3 if point.values["mode"] == "pull" else 0
    return Made([[base + extra + noise] for noise in NOISE_US], polls=polls, work_us=int(base))


def test_the_interval_over_boots_is_not_that_over_repetitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = esm_runs.runs(tmp_path, "esm-gesture", _of_boots, monkeypatch, ["models/*-25", "boots/*"])
    rows = esm_gesture.analyse(runs).tables["boots"].to_pylist()
    found = {(row["series"], row["against"]): row for row in rows}
    assert set(found) == {("ESM", "pull 16 ms"), ("epoll", "pull 16 ms"), ("ESM", "epoll")}
    row = found["ESM", "pull 16 ms"]
    assert row["boots"] == 3
    assert row["latency_us"] == pytest.approx(-353)
    assert row["latency_us_pm"] == pytest.approx(3 * 4.3027 / 3**0.5, rel=1e-4)
    assert row["latency_us_within_pm"] == pytest.approx(0, abs=1e-9), "each boot alone shows nothing of it"
    assert found["ESM", "epoll"]["latency_us_pm"] == pytest.approx(0, abs=1e-9)


def test_what_an_event_costs_is_a_circumstance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _rows(tmp_path, monkeypatch, "esm-looks", ["models/*-25", "untouched/C3", "costly-events*"])
    assert {other for one, other in rows if one == "costly-events/esm"} == {
        "costly-events/pull", "costly-events/epoll", *(f"costly-events-and-looks/{cost}" for cost in COSTS),
    }  # fmt: skip
    assert rows["costly-events/esm", "costly-events/pull"]["series"] == "ESM, events of 1.6 ms"


COSTS = (40000, 160000)


def test_a_share_over_boots_is_of_the_idle_machine_in_the_same_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The idle machine wakes more often in the third boot, so that there a poll adds less to it."""

    def make(point: Point) -> Made:
        if not point.values["moves"]:
            return Made([[]] * 3, polls=3 if point.values["boot"] == 2 else 0)
        poll = point.values["mode"] == "pull"
        return Made([[50.0 + noise] for noise in NOISE_US], polls=9 if poll else 3, work_us=400 if poll else 100)

    patterns = ["models/*-25", "boots/*-C3-*", "untouched/C3", "boots-untouched/*-C3"]
    tables = esm_looks.analyse(esm_runs.runs(tmp_path, "esm-looks", make, monkeypatch, patterns)).tables
    idle = {row["one"]: row["idle_power_w"] for row in tables["differences"].to_pylist()}
    assert idle["models/esm-25"] == pytest.approx(idle["boots/1-C3-esm"])
    assert idle["boots/2-C3-esm"] > idle["boots/1-C3-esm"]
    shares = [row["above_percent"] for row in tables["differences"].to_pylist()]
    (row,) = tables["boots"].to_pylist()
    assert row["above_percent"] == pytest.approx(sum(shares) / 3)
    assert row["above_percent_pm"] > row["above_percent_within_pm"] - 1e-9


def test_a_poll_answers_by_the_phase_of_an_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def poll(_: Point) -> Made:
        waits = [16.0 * (number + 0.5) for number in range(100)]
        return Made([waits[first::10] for first in range(10)])

    runs = esm_runs.runs(tmp_path, "esm-gesture", poll, monkeypatch, ["models/pull-100"])
    (row,) = esm_gesture.analyse(runs).tables["deciles"].to_pylist()
    assert [row[f"d{part}_us"] for part in (1, 5, 9)] == pytest.approx([160, 800, 1440], abs=25)
