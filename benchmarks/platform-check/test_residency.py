# SPDX-License-Identifier: BSD-3-Clause
"""Three sources of time asleep, made to agree and to differ by known amounts."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.errors import UserError
from lull.platform.cstates import CState
from lull.platform.load import load_platform
from lull.results.result import CheckFailed, must_hold
from lull.rundir.folder import FILES
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, resolve, select
from lull.scenario.runs import Runs, read
from lull_experiments.platform_check import analysis as platform_check
from lull_experiments.platform_check import residency
from tests import drawn, wakes

WINDOW_US = 600_000
SLEEPS = 3
OVERHEAD_US = {"gem5": 0, "firmware": 10, "linux": 30}
"""Microseconds per sleep that a source counts beyond gem5's."""
SOURCES = tuple(OVERHEAD_US)
PACKETS_PER_WAIT = 16
TINY = load_platform("tiny")

Microseconds = Mapping[tuple[str, int], int]
"""Time asleep by source and CPU."""


def _deep(name: str, cpu: int) -> CState:
    """Return a state of the CPU's cluster. On `tiny` each CPU has a cluster of its own."""
    return next(state for state in TINY.resolved_clusters()[cpu].cstates if state.name == name)


def _asleep(gem5_us: int = 590_000) -> dict[tuple[str, int], int]:
    return {(name, cpu): gem5_us + SLEEPS * OVERHEAD_US[name] for name in SOURCES for cpu in wakes.CPUS}


def _lines(state: str, asleep: Microseconds) -> list[dict[str, object]]:
    """Return the guest's lines. Counters start at values of their own, because only differences count."""
    lines: list[dict[str, object]] = []
    for edge, done in (("begin", 0), ("end", 1)):
        ticks = 5_000 + done * WINDOW_US * wakes.FREQUENCY // 10**6
        lines.append({"edge": edge, "source": "counter", "ticks": ticks, "frequency": wakes.FREQUENCY, "asked": state})
        for cpu in wakes.CPUS:
            for name in ("C1", "C2", "C3", "C4"):
                linux = 77 + done * (asleep["linux", cpu] if name == state else 0)
                counts = {"usage": 5 + done * SLEEPS * (name == state), "above": 1, "below": 2, "rejected": 0}
                key = {"edge": edge, "cpu": cpu, "state": name}
                lines.append({**key, "source": "linux", "time": linux, **counts})
                # The firmware counts a core that is off under C3, whichever of the two asked, and its cluster under C4.
                counted = state == name or (state == "C4" and name == "C3")
                firmware = 33 + done * (asleep["firmware", cpu] if counted and name != "C1" else 0)
                if name != "C1":
                    lines.append({**key, "source": "firmware", "param": 0, "time": firmware, "usage": 0})
    return lines


def _statistics(
    path: Path, asleep: Microseconds, name: str = "C1", window_us: int = WINDOW_US, windows: int = 3
) -> None:
    """Write gem5's statistics: the way out of the state is a wait on a latency device, and the rest is WFI."""
    hz = 1e12
    rows: list[dict[str, object]] = []
    for window in range(windows):
        rows += [
            {"window": window, "statistic": "simFreq", "value": hz},
            {"window": window, "statistic": "simTicks", "value": window_us * 1e6 if window == 1 else 1.0},
        ]
        for cpu in wakes.CPUS:
            prefix = f"system.cluster{cpu}.cpu0.power_state.pwrStateResidencyTicks"
            state = _deep(name, cpu)
            ticks = (asleep["gem5", cpu] - SLEEPS * state.actual.exit_us) * 1e6 if window == 1 else 1.0
            rows.append({"window": window, "statistic": f"{prefix}::ON", "value": window_us * 1e6 - ticks})
            rows.append({"window": window, "statistic": f"{prefix}::CLK_GATED", "value": ticks})
            if name != "C1" and window == 1:
                packets = SLEEPS * PACKETS_PER_WAIT
                rows.append({"window": window, "statistic": _port(cpu, state, "exit"), "value": packets})
    pq.write_table(pa.Table.from_pylist(rows), path)


def _port(cluster: int, state: CState, cost: str) -> str:
    device = f"latency_cluster{cluster}_{state.kind.replace('-', '_')}_{cost}"
    return f"system.iobus.pktCount_system.iobridge.mem_side_port::system.realview.{device}.pio"


def _runs(
    out: Path, state: str, asleep: Microseconds, spoil: Callable[[Path], None] = lambda _: None, engine: str = "gem5"
) -> Runs:
    scenario = load_scenario("platform-check")
    wishes = Wishes("gem5" if engine == "gem5" else "qemu")
    points = select(resolve(scenario, wishes), [f"residency/{state}"])
    sweep = ScenarioFolder.create(out, scenario.name, "./lull run platform-check", points)
    rundir = wakes.finish(sweep.folder(points[0].name), points[0], {**wakes.ENGINE, "name": engine})
    manifest = rundir.read_json("manifest.json")
    rundir.write_json("manifest.json", {**manifest, "stats_windows": 3 if engine == "gem5" else None})
    lines = _lines(state, asleep)
    if engine == "qemu":
        lines = [line for line in lines if line["source"] != "firmware"]
    else:
        _statistics(rundir / "stats.parquet", asleep, state)
    wakes.dump(rundir / FILES / residency.FILE, lines)
    spoil(rundir.path)
    return read(sweep, scenario)


@pytest.mark.parametrize("state", ["C2", "C3", "C4"])
def test_sources_that_nest_agree_and_what_is_between_them_is_given(tmp_path: Path, state: str) -> None:
    found = platform_check.analyse(_runs(tmp_path, state, _asleep()))
    rows = found.tables["residency"].to_pylist()
    assert [(row["cluster"], row["sleeps"]) for row in rows] == [("little", 3), ("big", 3), ("shadow", 3)]
    for row in rows:
        assert row["window_s"] == pytest.approx(0.6)
        assert row["gem5_s"] == pytest.approx(0.59)
        assert row["firmware_s"] == pytest.approx(0.59003)
        assert row["linux_s"] == pytest.approx(0.59009)
    apart = {(row["first"], row["second"]): row["per_sleep_us"] for row in found.tables["agreement"].to_pylist()}
    assert apart == {
        ("gem5", "firmware"): pytest.approx(10),
        ("gem5", "linux"): pytest.approx(30),
        ("firmware", "linux"): pytest.approx(20),
    }
    assert len(found.checks) == 4
    must_hold(found.checks)


@pytest.mark.parametrize("source", SOURCES)
def test_one_source_that_is_off_by_more_than_a_hundredth_fails_loudly(tmp_path: Path, source: str) -> None:
    asleep = _asleep()
    asleep[source, 2] -= 9_000
    found = platform_check.analyse(_runs(tmp_path, "C3", asleep))
    failed = {check.name for check in found.checks[:3] if not check.passed}
    assert failed == {check.name for check in found.checks if source in check.name}
    with pytest.raises(CheckFailed, match=r"agree on time asleep: worst on CPU 2 \(shadow\) in C3: 1\.\d+% apart"):
        must_hold(found.checks)


def test_wfi_is_unknown_to_the_firmware_and_compared_all_the_same(tmp_path: Path) -> None:
    runs = _runs(tmp_path, "C1", _asleep())
    rows = platform_check.analyse(runs).tables["agreement"].to_pylist()
    assert {(row["first"], row["second"]) for row in rows} == {("gem5", "linux")}


def test_a_source_that_left_nothing_is_no_agreement(tmp_path: Path) -> None:
    def without_firmware(run: Path) -> None:
        file = run / "files" / residency.FILE
        kept = [line for line in file.read_text().splitlines() if '"firmware"' not in line]
        file.write_text("\n".join(kept) + "\n")

    found = platform_check.analyse(_runs(tmp_path, "C3", _asleep(), without_firmware))
    assert [check.passed for check in found.checks] == [False, True, False, True]
    assert "nothing to compare" in found.checks[0].says


def test_on_qemu_there_is_one_source_and_nothing_to_check(tmp_path: Path) -> None:
    found = platform_check.analyse(_runs(tmp_path, "C3", _asleep(), engine="qemu"))
    assert found.checks == []
    assert drawn.figures("platform-check", found, drawn.QEMU) == {}
    assert "functional, no timing" in _runs(tmp_path / "again", "C3", _asleep(), engine="qemu").label


def _more_windows(run: Path) -> None:
    manifest = (run / "manifest.json").read_text()
    (run / "manifest.json").write_text(manifest.replace('"stats_windows": 3', '"stats_windows": 4'))


def _other_clock(run: Path) -> None:
    _statistics(run / "stats.parquet", _asleep(), window_us=WINDOW_US * 2)


def _no_cpu(run: Path) -> None:
    table = pq.read_table(run / "stats.parquet").to_pylist()
    pq.write_table(
        pa.Table.from_pylist([row for row in table if "cluster1" not in row["statistic"]]), run / "stats.parquet"
    )


def _half(run: Path) -> None:
    file = run / "files" / residency.FILE
    file.write_text("".join(line + "\n" for line in file.read_text().splitlines()[:-1]))


def _no_clock(run: Path) -> None:
    file = run / "files" / residency.FILE
    kept = [line for line in file.read_text().splitlines() if not ('"counter"' in line and '"end"' in line)]
    file.write_text("\n".join(kept) + "\n")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (_more_windows, "4 windows instead of 3, so something else dumped statistics"),
        (_other_clock, "window 1 is 1.200000 s, the guest counted 0.600000 s"),
        (_no_cpu, r"no statistic system\.cluster1\.cpu0\.power_state\.pwrStateResidencyTicks::\* in window 1"),
        (_half, "its two moments do not hold the same counters"),
        (_no_clock, r"not what this scenario writes \(KeyError\('end'\)\); run the point again"),
    ],
)
def test_a_window_that_is_not_the_guests_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        platform_check.analyse(_runs(tmp_path, "C3", _asleep(), spoil))


def test_cpuidles_counters_are_those_of_the_window(tmp_path: Path) -> None:
    rows = residency.df_cpuidle(residency.read(_runs(tmp_path, "C3", _asleep()))).to_pylist()
    used = {(row["cpu"], row["state"]): row["usage"] for row in rows}
    assert used == {(cpu, state): 3 * (state == "C3") for cpu in wakes.CPUS for state in ("C1", "C2", "C3", "C4")}
    assert {row["above"] for row in rows} == {0}


def _more_packets(run: Path) -> None:
    """Little's C3 takes 150 us to enter and 600 us to leave, in eighths; a load is two packets. C4's are not read."""
    state = _deep("C3", 0)
    ports = {_port(0, state, "entry"): 16 * SLEEPS, _port(0, state, "exit"): 8 * SLEEPS}
    rows = pq.read_table(run / "stats.parquet").to_pylist()
    kept = [row for row in rows if "latency_cluster" not in row["statistic"]]
    kept += [{"window": 1, "statistic": port, "value": float(packets)} for port, packets in ports.items()]
    pq.write_table(pa.Table.from_pylist(kept), run / "stats.parquet")


def test_gem5_counts_the_wait_on_latency_devices(tmp_path: Path) -> None:
    little, big, _ = residency.df_residency(residency.read(_runs(tmp_path, "C3", _asleep(), _more_packets))).to_pylist()
    assert little["gem5_s"] == pytest.approx(little["gem5_gated_s"] + SLEEPS * (150e-6 + 300e-6))
    assert big["gem5_s"] == big["gem5_gated_s"]


@pytest.mark.parametrize("state", ["C2", "C3", "C4"])
def test_a_wait_that_nobody_counted_fails_however_long_the_sleeps_are(tmp_path: Path, state: str) -> None:
    def of_another_name(run: Path) -> None:
        rows = pq.read_table(run / "stats.parquet").to_pylist()
        kept = [row for row in rows if "latency_cluster1" not in row["statistic"]]
        pq.write_table(pa.Table.from_pylist(kept), run / "stats.parquet")

    found = platform_check.analyse(_runs(tmp_path, state, _asleep(), of_another_name))
    assert [check.passed for check in found.checks] == [True, True, True, False]
    assert f"CPU 1 (big) in {state}" in found.checks[3].says
