# SPDX-License-Identifier: BSD-3-Clause
"""The groups of platform-check beside the residency: data made to hold, then made to fail one check each."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.errors import UserError
from lull.results.result import Result, TooOld
from lull.rundir.folder import FILES, MANIFEST, STATS_TABLE
from lull.runspec.spec import CpuMode
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, resolve, select
from lull.scenario.runs import read
from lull_experiments.platform_check import analysis as platform_check
from tests import drawn, wakes

Lines = list[dict[str, Any]]
Gated = dict[tuple[str, int], float]
"""Shares of time that a core is off, by window and CPU."""
EVENTS = 40
FILE_OF = {"frequency": "loop.jsonl", "routing": "routing.jsonl", "placement": "placement.jsonl"}


def _analysed(
    out: Path,
    group: str,
    lines: Lines,
    platform: str = "tiny",
    engine: str = "gem5",
    gated: Gated | None = None,
    cpu: CpuMode | None = None,
) -> Result:
    scenario = load_scenario("platform-check")
    points = select(resolve(scenario, Wishes("gem5" if engine == "gem5" else "qemu", platform, cpu)), [group])
    sweep = ScenarioFolder.create(out, scenario.name, "./lull run platform-check", points)
    rundir = wakes.finish(sweep.folder(group), points[0], {**wakes.ENGINE, "name": engine})
    wakes.dump(rundir / FILES / FILE_OF[group], lines)
    if group == "routing" and gated is not None:
        _statistics(rundir.path, gated)
    return platform_check.analyse(read(sweep, scenario))


def _loops(cycles: Callable[[int, int], int] = lambda cpu, khz: 20_000_000) -> Lines:
    """Three runs at each operating point; the first is disturbed."""
    return [
        {"cpu": cpu, "khz": khz, "ticks": cycles(cpu, khz) // khz * (2 if number == 0 else 1)}
        for cpu, points in {0: (450_000, 850_000), 1: (450_000, 1_100_000), 2: (450_000, 700_000)}.items()
        for khz in points
        for number in range(3)
    ]


def test_a_time_inverse_to_the_frequency_holds(tmp_path: Path) -> None:
    lines = _loops(lambda cpu, khz: (cpu + 1) * 10**12)
    found = _analysed(tmp_path, "frequency", lines)
    assert [check.name for check in found.checks] == [
        f"time scales with frequency on {cluster}" for cluster in ("little", "big", "shadow")
    ]
    assert all(check.passed for check in found.checks)
    assert {row["runs"] for row in found.tables["frequency"].to_pylist()} == {3}
    assert list(drawn.figures("platform-check", found)) == ["frequency"]


def test_a_cluster_whose_clock_does_not_follow_is_named(tmp_path: Path) -> None:
    lines = _loops(lambda cpu, khz: 10**12 + (2 * 10**10 if (cpu, khz) == (1, 450_000) else 0))
    found = _analysed(tmp_path, "frequency", lines)
    assert [check.name for check in found.checks if not check.passed] == ["time scales with frequency on big"]


def test_qemu_times_no_loop(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "frequency", _loops(), engine="qemu")
    assert found.tables["frequency"].num_rows == 6
    assert found.checks == []
    assert drawn.figures("platform-check", found, drawn.QEMU) == {}


def _gated(change: Mapping[tuple[str, int], float] | None = None) -> Gated:
    """Off for most of each window; unrouted events keep their consumer from it."""
    good = {(window, cpu): 0.98 for window in ("quiet", "routed", "unrouted") for cpu in wakes.CPUS}
    return good | {("unrouted", 0): 0.85, ("routed", 2): 0.85} | dict(change or {})


def _statistics(run: Path, gated: Gated) -> None:
    """Nine windows, of which gem5's of the guest's windows are every other one from the fourth on."""
    rows: list[tuple[int, str, float]] = []
    for number in range(9):
        window = {3: "quiet", 5: "routed", 7: "unrouted"}.get(number)
        length = 0.44 if window else 0.05
        rows += [(number, "simFreq", 1e12), (number, "simTicks", length * 1e12)]
        for cpu in wakes.CPUS:
            share = gated[window, cpu] if window else 0.5
            for state, part in (("ON", 1 - share), ("OFF", share)):
                name = f"system.cluster{cpu}.cpu0.power_state.pwrStateResidencyTicks::{state}"
                rows.append((number, name, part * length * 1e12))
    columns = dict(zip(("window", "statistic", "value"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), run / STATS_TABLE)
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps({**manifest, "stats_windows": 9}))


def _windows(change: Mapping[tuple[str, int, str], int] | None = None) -> Lines:
    """Windows of 440 ms in which the main CPUs sleep for 430; only the shadow and, unrouted, the consumer wake."""
    change = change or {}
    lines: Lines = [{"clock_hz": 1_000_000, "events": EVENTS, "window_us": 440_000, "consumer": 0, "shadow": 2}]
    for edge, done in (("begin", 0), ("end", 1)):
        lines += [
            {"edge": edge, "way": way, "passes": 5 + 50 * done, "ns": 100 + 40_000 * done} for way in ("enter", "exit")
        ]  # fmt: skip
    for window, taker in (("quiet", None), ("routed", 2), ("unrouted", 0)):
        for edge, done in (("begin", 0), ("end", 1)):
            for cpu in wakes.CPUS:
                taken = EVENTS if cpu == taker else 0
                gained = {
                    "entries": 20 + taken,
                    "slept_us": 430_000 - 500 * taken,
                    "events": taken,
                    "ipis": 2,
                    "timers": 9,
                }
                clock = 7 * cpu + 440_000 * done
                lines.append(
                    {"window": window, "edge": edge, "cpu": cpu, "clock": clock}
                    | {key: 3 + done * (value + change.get((window, cpu, key), 0)) for key, value in gained.items()}
                )
    return lines


def test_events_that_go_to_the_shadow_hold(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "routing", _windows(), gated=_gated())
    quiet = [row["gated"] for row in found.tables["routing"].to_pylist() if row["window"] == "quiet"]
    assert quiet == pytest.approx([0.98] * 3)
    assert [check.passed for check in found.checks] == [True] * 3, found.checks
    assert {row["residency"] for row in found.tables["routing"].to_pylist() if row["window"] == "quiet"} == {430 / 440}
    cost = found.tables["routing-cost"].to_pylist()
    assert [(row["way"], row["passes"], row["mean_ns"]) for row in cost] == [("enter", 50, 800), ("exit", 50, 800)]
    assert [row["mean_cycles"] for row in cost] == pytest.approx([680, 680])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({("routed", 0, "ipis"): 11}, "only the shadow wakes for routed events"),
        ({("routed", 2, "events"): -5}, "only the shadow wakes for routed events"),
        ({("routed", 0, "events"): 5}, "only the shadow wakes for routed events"),
        ({("unrouted", 0, "events"): -1}, "without routing they wake their consumer"),
        ({("unrouted", 0, "entries"): -21}, "without routing they wake their consumer"),
    ],
)
def test_what_routing_must_not_do_is_named(
    tmp_path: Path, change: Mapping[tuple[str, int, str], int], name: str
) -> None:
    found = _analysed(tmp_path, "routing", _windows(change), gated=_gated())
    assert [check.name for check in found.checks if not check.passed] == [name]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({("routed", 1): 0.974}, "routed events leave the main CPUs' residency unchanged"),
        ({("routed", 0): 0.986}, "routed events leave the main CPUs' residency unchanged"),
        ({("unrouted", 0): 0.976}, "without routing they wake their consumer"),
    ],
)
def test_a_cores_time_off_that_events_change_or_a_measure_that_sees_none_is_named(
    tmp_path: Path, change: Mapping[tuple[str, int], float], name: str
) -> None:
    found = _analysed(tmp_path, "routing", _windows(), gated=_gated(change))
    assert [check.name for check in found.checks if not check.passed] == [name]


def test_where_no_time_passes_an_event_takes_none(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "routing", _windows(), gated=_gated({("unrouted", 0): 0.979}), cpu="atomic")
    assert all(check.passed for check in found.checks), found.checks


def test_windows_of_another_length_are_not_the_guests(tmp_path: Path) -> None:
    lines = _windows()
    lines[0]["window_us"] = 4_400_000
    with pytest.raises(UserError, match=r"window 3 is 0\.440000 s, the guest counted 4\.400000 s"):
        _analysed(tmp_path, "routing", lines, gated=_gated())


@pytest.mark.parametrize("column", ["asked", "consumer"])
def test_events_of_tables_that_are_older_than_a_column_are_not_judged(tmp_path: Path, column: str) -> None:
    found = _analysed(tmp_path, "routing", _windows(), gated=_gated())
    assert platform_check.conclude(found.tables, []).checks == found.checks
    with pytest.raises(TooOld, match=f"no column `{column}` in the table `routing`; make the result again"):
        platform_check.conclude({**found.tables, "routing": found.tables["routing"].drop_columns([column])}, [])


def test_qemu_does_not_know_how_long_a_core_is_off(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "routing", _windows(), engine="qemu")
    assert {row["gated"] for row in found.tables["routing"].to_pylist()} == {None}
    assert found.checks == []
    assert "not known" in found.summary
    assert drawn.figures("platform-check", found, drawn.QEMU) == {}


def _placed(aware: Callable[[int, int], int], unaware: Callable[[int, int], int]) -> Lines:
    """Ten runs of four tasks each, which begin on CPU 1."""
    return [
        {"aware": setting, "task": task, "cpu": 1 if number < 5 else place(task, number), "khz": 450_000, "ticks": 1}
        for setting, place in ((1, aware), (0, unaware))
        for task in range(1, 5)
        for number in range(10)
    ]


def test_tasks_that_leave_the_big_cpu_hold(tmp_path: Path) -> None:
    found = _analysed(tmp_path, "placement", _placed(lambda task, number: 0, lambda task, number: 1))
    assert [check.passed for check in found.checks] == [True], found.checks
    assert [
        (row["aware"], row["cluster"], row["runs"], row["share"]) for row in found.tables["placement"].to_pylist()
    ] == [(True, "little", 20, 1), (False, "big", 20, 1)]  # fmt: skip


@pytest.mark.parametrize(
    ("aware", "unaware"),
    [
        (lambda task, number: 1 if (task, number) in ((1, 5), (1, 6)) else 0, lambda task, number: 1),
        (lambda task, number: 0, lambda task, number: 0),
    ],
    ids=["not all of them leave", "they leave anyway"],
)
def test_energy_awareness_that_does_not_show_fails(
    tmp_path: Path, aware: Callable[[int, int], int], unaware: Callable[[int, int], int]
) -> None:
    found = _analysed(tmp_path, "placement", _placed(aware, unaware))
    assert [check.passed for check in found.checks] == [False]


@pytest.mark.parametrize(("group", "what"), [("routing", "a shadow CPU"), ("placement", "CPUs of different capacity")])
def test_a_platform_without_it_is_said_to_be(tmp_path: Path, group: str, what: str) -> None:
    found = _analysed(tmp_path, group, [{"absent": what}], platform="server")
    assert f"This platform has not {what}." in found.summary
    assert (found.checks, found.tables) == ([], {})


@pytest.mark.parametrize(
    ("group", "lines"),
    [
        *((group, [{"cpu": 0}]) for group in FILE_OF),
        *((group, [{"events": "x"}]) for group in FILE_OF),
        ("routing", []),
    ],
)
def test_a_file_of_something_else_is_named(tmp_path: Path, group: str, lines: Lines) -> None:
    with pytest.raises(UserError, match=rf"{FILE_OF[group]}: not what this scenario writes \(.*\); run the point"):
        _analysed(tmp_path, group, lines)
