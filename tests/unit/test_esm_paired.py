# SPDX-License-Identifier: BSD-3-Clause
"""Differences between two ways to get input, on runs whose every number is known."""

from pathlib import Path
from typing import Any

import pytest

from lull.figures.esm import paired
from lull.scenario.points import Point
from lull_experiments.esm_gesture import analysis as esm_gesture
from lull_experiments.esm_keyboard import analysis as esm_keyboard
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
    analysis = {"esm-keyboard": esm_keyboard, "esm-gesture": esm_gesture}[name]
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
    shares = paired.shares({"power_w": -0.2, "other_power_w": 1.5, "idle_power_w": 1.0})
    assert shares == {"machine": pytest.approx(100 * 0.2 / 1.5), "above": pytest.approx(40), "rest": pytest.approx(8)}
    assert paired.shares({"power_w": -0.2, "other_power_w": 1.5, "idle_power_w": None})["above"] is None


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


def test_a_poll_answers_by_the_phase_of_an_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def poll(_: Point) -> Made:
        waits = [16.0 * (number + 0.5) for number in range(100)]
        return Made([waits[first::10] for first in range(10)])

    runs = esm_runs.runs(tmp_path, "esm-gesture", poll, monkeypatch, ["models/pull-100"])
    (row,) = esm_gesture.analyse(runs).tables["deciles"].to_pylist()
    assert [row[f"d{part}_us"] for part in (1, 5, 9)] == pytest.approx([160, 800, 1440], abs=25)
