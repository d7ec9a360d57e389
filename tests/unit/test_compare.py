# SPDX-License-Identifier: BSD-3-Clause
"""`lull compare`: what differs is told, what is significant is what a table of Student's t says, and n = 1 is not."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lull.cli.app import app
from lull.compare import compare, samples
from lull.compare.compare import Difference, difference
from lull.errors import UserError
from lull.statistics import student
from lull.sweep import table
from tests import sweeps
from tests.sweeps import POINT

RECORDED = Path(__file__).parent / "data" / "trace" / "tiny-gem5"


def _sweep(path: Path, latencies: Mapping[str, Sequence[float]], seeds: Sequence[int] = (1, 2, 3)) -> Path:
    return sweeps.make(path, {name: [(value, 1.0) for value in values] for name, values in latencies.items()}, seeds)


def _latency(found: compare.Comparison) -> Difference:
    (one,) = [item for item in found.differences if item.measure == "guest:latency_us"]
    return one


def test_welch_is_what_the_textbook_has() -> None:
    """The second of the three examples of Wikipedia's article: t = -1.57, 9.9 degrees of freedom."""
    first = [17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8]
    second = [21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8]
    second += [20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8]
    low, high, p = student.welch(np.array(first), np.array(second))
    assert p == pytest.approx(0.149, abs=0.001)
    assert (high + low) / (high - low) == pytest.approx(1.57 / 2.23, rel=5e-3), "2.23 errors hold 95 % of that t"


def test_an_interval_of_few_seeds_is_as_wide_as_it_says() -> None:
    """For 2000 pairs of three draws each from one distribution, 0 is outside of one interval in twenty."""
    draws = np.random.default_rng(1).normal(size=(2000, 2, 3))
    outside = [low > 0 or high < 0 for low, high, _ in (student.welch(first, second) for first, second in draws)]
    assert np.mean(outside) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(("t", "freedom", "p"), [(12.706, 1, 0.05), (2.262, 9, 0.05), (2.750, 30, 0.01), (0, 5, 1)])
def test_students_t_is_the_table(t: float, freedom: float, p: float) -> None:
    assert student.incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) == pytest.approx(p, rel=2e-3)


def test_a_difference_beyond_the_seeds_spread_is_significant_and_one_within_is_not(tmp_path: Path) -> None:
    a = samples.read(_sweep(tmp_path / "a", {"menu": [100.0, 101.0, 102.0]}))
    far = _latency(compare.compare(a, samples.read(_sweep(tmp_path / "b", {"menu": [200.0, 201.0, 202.0]}))))
    near = _latency(compare.compare(a, samples.read(_sweep(tmp_path / "c", {"menu": [99.0, 102.0, 103.0]}))))
    assert (far.n_first, far.n_second) == (3, 3)
    assert far.change == pytest.approx(100 / 101)
    assert far.significant
    assert far.low is not None
    assert far.high is not None
    assert (far.low, far.high) == pytest.approx((100 - 2.267, 100 + 2.267), abs=0.001), "2.776 times sqrt(2 / 3)"
    assert near.significant is False
    assert near.low is not None
    assert near.high is not None
    assert near.low < 0 < near.high


def test_one_seed_gives_no_significance_and_says_so(tmp_path: Path) -> None:
    a = samples.read(_sweep(tmp_path / "a", {"menu": [100.0]}, [1]))
    b = samples.read(_sweep(tmp_path / "b", {"menu": [200.0, 201.0, 202.0]}))
    found = _latency(compare.compare(a, b))
    assert (found.low, found.p, found.significant) == (None, None, None)
    assert "n = 1" in found.why


def test_seeds_without_spread_are_no_test() -> None:
    found = difference("x", "y", np.array([5.0, 5.0]), np.array([6.0, 6.0]))
    assert (found.p, found.why) == (None, compare.NO_SPREAD)


def test_points_pair_by_their_settings_and_the_rest_is_named(tmp_path: Path) -> None:
    a = samples.read(_sweep(tmp_path / "a", {"menu": [1.0, 2.0, 3.0], "teo": [4.0, 5.0, 6.0]}))
    b = samples.read(_sweep(tmp_path / "b", {"teo": [4.0, 5.0, 6.5], "haltpoll": [1.0, 1.0, 1.0]}))
    found = compare.compare(a, b)
    assert found.only_first == [f"{POINT.name} governor=menu"]
    assert found.only_second == [f"{POINT.name} governor=haltpoll"]
    assert {item.point for item in found.differences} == {f"{POINT.name} governor=teo"}
    assert found.same > 0, "the residency, and what the guest says is constant"
    assert found.settings == []


def test_two_runs_differ_in_what_was_set(tmp_path: Path) -> None:
    _sweep(tmp_path / "a", {"menu": [100.0], "teo": [80.0]}, [1])
    sides = [samples.read(tmp_path / "a" / "points" / f"{governor}-1") for governor in ("menu", "teo")]
    found = compare.compare(*sides)
    assert [(one.key, one.first, one.second) for one in found.settings] == [("policy.governor", "menu", "teo")]
    assert _latency(found).change == pytest.approx(-0.2)


def test_the_command_says_it_all_as_text_and_as_json(tmp_path: Path) -> None:
    a = str(_sweep(tmp_path / "a", {"menu": [100.0, 101.0, 102.0]}))
    b = str(_sweep(tmp_path / "b", {"menu": [200.0, 201.0, 202.0]}))
    shown = CliRunner().invoke(app, ["compare", a, b, "--measure", "latency"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert "guest:latency_us" in shown.output
    assert "+99.01%" in shown.output
    assert "* p < 0.05" in shown.output
    found = json.loads(CliRunner().invoke(app, ["compare", a, b, "--json"]).stdout)
    (latency,) = [one for one in found["differences"] if one["measure"] == "guest:latency_us"]
    assert (latency["unit"], latency["first"], latency["second"], latency["significant"]) == ("µs", 101, 201, True)


def test_a_recorded_run_is_the_same_as_itself() -> None:
    one = samples.read(RECORDED)
    found = compare.compare(one, one)
    assert (found.settings, found.differences) == ([], [])
    assert found.same > 5


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither a run's folder nor a sweep's"):
        samples.read(tmp_path)


@pytest.mark.parametrize("line", ["5", "[1, 2]", "[" * 5000, "9" * 5000])
def test_lines_that_are_no_objects_are_named(tmp_path: Path, line: str) -> None:
    sweep = _sweep(tmp_path / "a", {"menu": [1.0]}, seeds=[1])
    (file,) = sweep.glob("points/*/files/guest.jsonl")
    file.write_text(f'{{"x": 1}}\n{line}\n')
    said = CliRunner().invoke(app, ["compare", str(sweep), str(sweep)])
    assert isinstance(said.exception, UserError)
    assert re.match(rf"{file}: (line 2: JSON that is not an object|not lines of JSON \(.*\)); ", str(said.exception))


def test_a_number_that_no_table_has_room_for_is_not_compared(tmp_path: Path) -> None:
    sweep = _sweep(tmp_path / "a", {"menu": [1.0]}, seeds=[1])
    (file,) = sweep.glob("points/*/files/guest.jsonl")
    file.write_text(json.dumps({"x": 1, "y": 10**400, "z": 1 << 63}) + "\n")
    (row,) = table.flat(table.read(sweep).points)
    assert {name for name in row if name.startswith("guest:")} == {"guest:lines", "guest:x"}
    assert table.write(table.read(sweep)).is_file()
    assert CliRunner().invoke(app, ["compare", str(sweep), str(sweep)]).exit_code == 0


def test_a_recorded_run_is_shown() -> None:
    said = CliRunner().invoke(app, ["show", str(RECORDED)])
    assert said.exit_code == 0
    assert "0.171115 s simulated, 187.764 s here" in said.stdout
    assert "11,931,767 (0.06 million a second)" in said.stdout
    assert "console.log" not in said.stdout, "the folder has none"
