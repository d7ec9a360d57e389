# SPDX-License-Identifier: BSD-3-Clause
"""Watts beside published ones: a machine that burns what is published holds, one that does not fails by name."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from lull.energy import published
from lull.platform.load import load_platform
from lull.results.result import Check, Result
from lull_experiments.energy_validation import analysis as energy_validation
from lull_experiments.energy_validation import asleep, wakes
from tests import drawn, energy_runs, steady_runs
from tests.steady_runs import LENGTH, STATES, Made

TINY = load_platform("tiny")
SECONDS = LENGTH / energy_runs.HZ
ASLEEP = {"idle/tiny": [Made(state) for state in STATES]}


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    steady_runs.pretend(monkeypatch)
    # Clocks that burn less than a published core does, so that operations can make up the difference.
    monkeypatch.setattr(energy_runs, "J_PER_CYCLE", 1e-11)


def _ops(cpu: int, mhz: float, share: float) -> list[float]:
    """So many that the made-up tables make this share of the published power of them."""
    figure = next(
        figure for figure in published.load().busy_core if (figure.platform, figure.cluster) == ("tiny", _name(cpu))
    )
    watts = figure.watts(TINY.clusters[cpu].opps.table[_level(cpu, mhz)]) * share / energy_runs.FACTORS.dynamic
    joules = watts * SECONDS - mhz * 1e6 * SECONDS * energy_runs.J_PER_CYCLE
    return [joules / (1.5 * energy_runs.J_PER_OP) if own == cpu else 0.0 for own in range(3)]


def _name(cpu: int) -> str:
    return TINY.clusters[cpu].name


def _level(cpu: int, mhz: float) -> int:
    return [opp.mhz for opp in TINY.clusters[cpu].opps.table].index(mhz)


def _loop(loop: str, shares: Mapping[tuple[int, float], float]) -> list[Made]:
    return [Made("C4", (cpu,), mhz, loop, _ops(cpu, mhz, share)) for (cpu, mhz), share in shares.items()]


def _analysed(out: Path, monkeypatch: pytest.MonkeyPatch, made: Mapping[str, Sequence[Made]]) -> Result:
    return energy_validation.analyse(steady_runs.runs(out, "energy-validation", made, monkeypatch))


def _failed(found: Result) -> list[Check]:
    """But for those of Juno's C1: the made runs leak as a made chip does."""
    return [check for check in found.checks if not check.passed and "Juno" not in check.name]


AS_PUBLISHED: dict[tuple[int, float], float] = {(0, 450): 1.0, (0, 850): 1.0, (1, 450): 1.0, (1, 1100): 1.0}


def test_a_core_that_burns_what_is_published_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _analysed(tmp_path, monkeypatch, {"busy/tiny": _loop("primes", AS_PUBLISHED), **ASLEEP})
    rows = found.tables["busy"].to_pylist()
    assert [(row["cluster"], row["mhz"]) for row in rows] == [(_name(cpu), mhz) for cpu, mhz in AS_PUBLISHED]
    for row in rows:
        assert row["calibrated_dynamic_w"] == pytest.approx(row["published_w"], rel=1e-4), (
            "gem5's clocks are whole picoseconds"
        )
        assert row["raw_dynamic_w"] == pytest.approx(row["published_w"] / energy_runs.FACTORS.dynamic, rel=1e-4)
        assert row["em_w"] == pytest.approx(row["published_w"], rel=1e-3), "busy throughout"
        assert row["raw_static_w"] == pytest.approx(energy_runs.CORE_LEAKAGE_W)
    assert rows[-1]["published_w"] == pytest.approx(530e-6 * 1100, rel=1e-6)
    assert _failed(found) == []
    assert list(drawn.figures("energy-validation", found)) == ["busy"]


def test_a_mean_error_above_the_limit_fails_with_its_worst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = AS_PUBLISHED | {(0, 850): 1.5, (1, 1100): 0.8}
    found = _analysed(tmp_path, monkeypatch, {"busy/tiny": _loop("primes", shares), **ASLEEP})
    (failed,) = _failed(found)
    assert failed.name == "a busy core of tiny's cluster little burns what is published"
    assert failed.says == "mean absolute error 25.0% over 2 operating points, may be 15%; worst +50.0% at 850 MHz"


@pytest.mark.parametrize(("share", "dram_pj", "holds"), [(0.5, 1e6, True), (0.5, 0.0, False), (1.5, 1e6, False)])
def test_waiting_for_memory_has_to_show_in_core_and_dram(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, dram_pj: float, holds: bool
) -> None:
    (waiting,) = _loop("memory", {(0, 850): share})
    made = {
        "busy/tiny": _loop("primes", {(0, 850): 1.0}),
        "memory/tiny": [dataclasses.replace(waiting, dram_pj=dram_pj)],
        **ASLEEP,
    }
    found = _analysed(tmp_path, monkeypatch, made)
    named = {check.name: check for check in found.checks}
    assert named["waiting for memory moves power from core to DRAM on tiny, little"].passed is holds
    assert found.tables["busy"].to_pylist()[1]["loop"] == "memory"


def test_idle_states_stand_beside_junos_as_shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _analysed(tmp_path, monkeypatch, {"busy/tiny": _loop("primes", {(0, 850): 1.0}), **ASLEEP})
    asleep = {(row["cluster"], row["state"]): row for row in found.tables["asleep"].to_pylist()}
    assert len(asleep) == 12
    leakage = energy_runs.CORE_LEAKAGE_W
    clock = 850e6 * energy_runs.J_PER_CYCLE
    assert asleep["little", "C1"]["raw_core_w"] == pytest.approx(leakage + 0.03 * clock, rel=1e-3)
    assert asleep["little", "C3"]["raw_core_w"] == pytest.approx(0.03 * leakage, rel=1e-3)
    assert asleep["little", "C4"]["raw_shared_w"] == pytest.approx(0.3 * energy_runs.L2_LEAKAGE_W, rel=1e-3)
    shares = {(row["part"], row["state"]): row for row in found.tables["asleep-shares"].to_pylist()}
    assert set(shares) == {("core", "C1"), ("core", "C3"), ("shared", "C1"), ("shared", "C4")}
    assert shares["core", "C1"]["juno"] == pytest.approx(6 / 93)
    busy = found.tables["busy"].to_pylist()[0]
    whole = busy["raw_dynamic_w"] + busy["raw_static_w"]
    assert shares["core", "C1"]["raw"] == pytest.approx(asleep["little", "C1"]["raw_core_w"] / whole)


def test_core_and_cluster_in_c1_are_judged_at_the_platforms_own_temperature() -> None:
    row = {"cluster": "little", "part": "core", "state": "C1", "calibrated": 0.07, "juno": 0.065}
    row |= {"cold": 0.05, "warm": 0.12}
    unjudged = [{**row, "state": "C3", "juno": 0.0}, {**row, "part": "shared", "state": "C4", "juno": 0.18}]
    made = [row, {**row, "part": "shared", "calibrated": 0.11, "juno": 0.6}, {**row, "calibrated": 0.085}, *unjudged]
    found = asleep.juno_checks(pa.Table.from_pylist(made))
    assert [(check.name.split(" in C1")[0], check.passed) for check in found] == [
        ("a core of little", True),
        ("what the cores of little share", False),
        ("a core of little", False),
    ]


def test_a_deeper_state_that_burns_as_much_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _analysed(tmp_path, monkeypatch, {"idle/tiny": [Made("C3"), Made("C2")]})
    assert [check.name for check in found.checks if not check.passed] == ["a deeper idle state of tiny burns less"]
    assert drawn.figures("energy-validation", found) == {}


@pytest.mark.parametrize(
    ("watts", "holds"), [(0.108, True), (0.112, True), (0.104, True), (0.115, False), (0.1, False)]
)
def test_dram_at_rest_stands_beside_its_data_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watts: float, holds: bool
) -> None:
    found = _analysed(tmp_path, monkeypatch, {"idle/tiny": [Made("C2"), Made("C3", dram_asleep_w=watts)]})
    (check,) = [check for check in found.checks if check.name.startswith("DRAM of tiny at rest")]
    assert check.passed is holds
    assert check.says.endswith("108 by the currents of self-refresh")


def test_a_wake_up_stands_beside_tc2s() -> None:
    """Of each platform with the core, also of one that no run is of."""
    table = wakes.df_wakes({"exynos5422", "tiny"})
    rows = {(row["platform"], row["cluster"], row["state"]): row for row in table.to_pylist()}
    places = {("exynos5422", "big"), ("tegra-k1", "main")}
    assert set(rows) == {(*place, state) for place in places for state in ("C3", "C4")}, "tiny has no A15"
    for row in rows.values():
        assert 0 < row["empty_us"] < row["flushed_us"] < row["full_us"]
    assert wakes.df_wakes({"tiny"}).num_rows == 0


@pytest.mark.parametrize(
    ("flushed", "full", "passed"),
    [(1.0, 1.2, [True, True]), (0.7, 1.2, [False, True]), (1.0, 1.3, [True, False]), (1.9, 4.1, [False, False])],
)
def test_flushed_and_full_caches_are_judged_each(flushed: float, full: float, passed: list[bool]) -> None:
    row = {
        "platform": "tegra-k1", "cluster": "main", "state": "C3", "empty_us": 0.1, "flushed_us": 0.7 * flushed,
        "full_us": 0.7 * full, "published_us": 0.7,
    }  # fmt: skip
    found = wakes.checks(pa.Table.from_pylist([row]))
    assert [check.passed for check in found] == passed
    assert found[1].name.endswith("costs what TC2's does, with full caches that are fetched again")
    assert found[1].says == f"{0.7 * full:.3g} us, TC2 0.7: {full - 1:+.0%}, may be 25%"
