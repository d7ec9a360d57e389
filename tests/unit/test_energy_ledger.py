# SPDX-License-Identifier: BSD-3-Clause
"""Ledgers of made-up runs: known joules, and properties that hold for any run."""

import errno
import itertools
import operator
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from lull.energy import activity, causes, ledger, rows, source, windows
from lull.energy.account import Account, Label, Part, Place, closed
from lull.energy.backend import Backend
from lull.energy.em import EnergyModel
from lull.energy.ledger import Totals
from lull.energy.occupancy import ClosureError
from lull.energy.uncore import Uncore
from lull.errors import UserError
from lull.platform.schema import Platform
from lull.rundir.folder import STATS_TABLE, RunDir
from tests import energy_runs
from tests.energy_runs import HZ, J_PER_LINE, MS, US, Span, Wake, mcpat, run_spec, total, window

START = 7 * MS
"""A run goes on from a checkpoint, whose clock does not start at 0."""


@pytest.fixture(autouse=True)
def _made_up_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "core_joules", energy_runs.core_joules)
    monkeypatch.setattr(activity, "l2_joules", energy_runs.l2_joules)


def _write(
    made: RunDir,
    spans: Sequence[Span] | None = None,
    wakes: Sequence[Wake] = (),
    given: bool = False,
    rest_w: float = 0.0,
) -> tuple[Path, Totals]:
    run = source.open_run(made)
    occupancy = None
    if spans is not None:
        occupancy = causes.occupancy(energy_runs.columns(spans), wakes, run.platform, run.deepest, run.time)
    path = made / "energy.parquet"
    backends: list[Backend] = [mcpat(run.platform, given), EnergyModel(run.platform)]
    return path, ledger.write(run, windows.read(made / STATS_TABLE), backends, Uncore(rest_w), occupancy, path, {})


def _busy(tmp_path: Path) -> tuple[Path, Platform]:
    """One millisecond: CPU 0 runs all of it, 1 half of it, 2 none. No trace."""
    asked = run_spec()
    made = energy_runs.rundir(
        tmp_path / "run",
        asked,
        [window(asked.platform, START, START + MS, [0, MS // 2, MS], ops=[1e5, 2e5, 0.0], l2_accesses=100.0)],
    )
    return _write(made, rest_w=0.5)[0], asked.platform


def test_an_active_core_burns_its_events_and_its_leakage(tmp_path: Path) -> None:
    path, _ = _busy(tmp_path)
    dynamic = energy_runs.clock_hz(850) * 1e-3 * energy_runs.J_PER_CYCLE + 1e5 * 1.5 * energy_runs.J_PER_OP
    static = energy_runs.CORE_LEAKAGE_W * 1e-3
    mine = {"backend": "mcpat", "cpu": 0}
    assert total(path, **mine, kind="dynamic", band="raw") == pytest.approx(dynamic)
    assert total(path, **mine, kind="dynamic", band="calibrated") == pytest.approx(2 * dynamic)
    assert total(path, **mine, kind="static", band="raw") == pytest.approx(static)
    assert total(path, **mine, kind="static", band="calibrated") == pytest.approx(static / 2)
    assert total(path, **mine, state="active", band="raw") == pytest.approx(dynamic + static)


def test_a_sleeping_core_burns_what_c1_leaves(tmp_path: Path) -> None:
    path, _ = _busy(tmp_path)
    clock = 0.03 * 700e6 * 1e-3 * energy_runs.J_PER_CYCLE
    leakage = energy_runs.CORE_LEAKAGE_W * 1e-3
    asleep = total(path, backend="mcpat", band="raw", cpu=2)
    assert asleep == pytest.approx(clock + leakage)
    assert total(path, backend="mcpat", band="raw", cpu=2, state="C1", cause="idle") == pytest.approx(asleep)


def test_l2_memory_interconnect_and_the_rest_are_accounted_for(tmp_path: Path) -> None:
    path, _ = _busy(tmp_path)
    raw = {"backend": "mcpat", "band": "raw"}
    l2 = 100 * energy_runs.J_PER_L2_ACCESS + energy_runs.L2_LEAKAGE_W * 1e-3
    assert total(path, **raw, component="l2", cluster="little") == pytest.approx(l2)
    assert total(path, **raw, component="dram-access") == pytest.approx(100e-12)
    assert total(path, **raw, component="dram-background", cause="platform") == pytest.approx(50e-12)
    assert total(path, **raw, component="interconnect") == pytest.approx(1000 * 4.8e-12)
    assert total(path, **raw, component="rest", cause="platform") == pytest.approx(0.5e-3)
    mine = {**raw, "component": "memory-controller"}
    assert total(path, **mine, cause="active", kind="dynamic") == pytest.approx(8 * 1e-9 + 2 * 2e-9)
    assert total(path, **mine, cause="platform", kind="dynamic") == pytest.approx(0.1e-3)
    assert total(path, **mine, cause="platform", kind="static") == pytest.approx(0.03e-3)


def test_what_an_l2_leaks_belongs_to_who_uses_its_cpus_while_they_do(tmp_path: Path) -> None:
    """The big CPU works half of the millisecond."""
    path, _ = _busy(tmp_path)
    mine = {"backend": "mcpat", "band": "raw", "component": "l2", "cluster": "big", "kind": "static"}
    for cause in ("active", "idle"):
        assert total(path, **mine, cause=cause) == pytest.approx(energy_runs.L2_LEAKAGE_W * 0.5e-3)


def test_em_is_utilisation_times_the_power_of_the_operating_point(tmp_path: Path) -> None:
    path, _platform = _busy(tmp_path)
    expected = {0: 140e-6 * 850 * 1e-3, 1: 530e-6 * 1100 * 0.5e-3, 2: 0.0}
    for cpu, joules in expected.items():
        for band in rows.BANDS:
            assert total(path, backend="em", band=band, cpu=cpu) == pytest.approx(joules)
    shared = {row["component"] for row in pq.read_table(path).to_pylist() if row["backend"] == "em"}
    assert shared == {"core", "dram-access", "dram-background", "interconnect", "rest"}


def test_the_watts_of_a_window_sum_to_its_power(tmp_path: Path) -> None:
    path, _ = _busy(tmp_path)
    found = rows.grouped(path, ["window"], ["joules", "watts"], "mcpat", rows.RAW).to_pylist()
    assert [row["watts"] for row in found] == pytest.approx([row["joules"] / 1e-3 for row in found])


def test_linux_counters_divide_sleep_and_transitions_where_there_is_no_trace(tmp_path: Path) -> None:
    """C2 takes 43 us to leave. Ten of them in 10 ms, of which CPU 0 stood 6 ms in WFI and had 0.43 ms of exits."""
    asked = run_spec("idle.deepest=C2")
    made = energy_runs.rundir(
        tmp_path / "run", asked, [window(asked.platform, START, START + 10 * MS, [6 * MS, 0, 0], ops=[1e5, 0, 0])]
    )
    energy_runs.slept(made, 10_000, {0: {"C1": (5, 2000), "C2": (10, 4430)}})
    path, totals = _write(made)
    assert totals.residency_s[0, "C1"] == pytest.approx(2e-3)
    assert totals.residency_s[0, "C2"] == pytest.approx(4e-3)
    assert totals.residency_s[0, "switch"] == pytest.approx(0.43e-3)
    assert totals.residency_s[0, "active"] == pytest.approx(3.57e-3)
    mine = {"backend": "mcpat", "band": "raw", "cpu": 0}
    assert total(path, **mine, state="switch") == pytest.approx(0.43e-3 * 0.5 * energy_runs.CORE_LEAKAGE_W)
    assert total(path, **mine, state="C2") == pytest.approx(4e-3 * 0.35 * energy_runs.CORE_LEAKAGE_W)


def test_untraced_flushes_and_refills_are_clocked_and_their_waits_are_not(tmp_path: Path) -> None:
    """C3 of the little core takes 3 and 16 us of them, and 150 and 600 us of waits. Four of them in 10 ms."""
    asked = run_spec("idle.deepest=C3")
    made = energy_runs.rundir(
        tmp_path / "run", asked, [window(asked.platform, START, START + 10 * MS, [4 * MS, 0, 0], ops=[1e5, 0, 0])]
    )
    energy_runs.slept(made, 10_000, {0: {"C3": (4, 4000 + 4 * 769)}})
    path, totals = _write(made)
    assert totals.residency_s[0, "transition"] == pytest.approx(4 * 19e-6)
    assert totals.residency_s[0, "switch"] == pytest.approx(4 * 750e-6)
    assert totals.residency_s[0, "C3"] == pytest.approx(4e-3)
    mine = {"backend": "mcpat", "band": "raw", "cpu": 0, "state": "transition"}
    timed = total(path, **mine, kind="static") + total(path, **mine, kind="dynamic")
    assert timed == pytest.approx(4 * 19e-6 * (850e6 * energy_runs.J_PER_CYCLE + energy_runs.CORE_LEAKAGE_W))


def test_untraced_entries_find_caches_as_full_as_the_mean_active_time_makes_them(tmp_path: Path) -> None:
    """Two sleeps in C4 of 9 ms in all, 2.041 of each on the way, and 1 ms of work.

    The little L1 is full after 66 us, its L2 after 1049 us.
    """
    asked = run_spec("idle.deepest=C4")
    made = energy_runs.rundir(
        tmp_path / "run", asked, [window(asked.platform, START, START + 10 * MS, [4918 * US, 0, 0])]
    )
    energy_runs.slept(made, 10_000, {0: {"C4": (2, 9000)}})
    path, _ = _write(made)
    mine = {"backend": "mcpat", "band": "raw", "cpu": 0}
    l1, l2 = 2 * 512 * 0.5e-9, 1000 / 1049 * 16384 * J_PER_LINE
    assert total(path, **mine, component="refill") == pytest.approx(l1 + l2)
    assert total(path, **mine, component="flush") == pytest.approx(0.5 * (l1 + l2))
    assert total(path, **mine, component="rail") == pytest.approx(2 * 1.5e-9 * (1.0 + 1.0))


def test_an_untraced_cluster_is_off_as_long_as_its_least_sleeper_was_off_or_in_c4(tmp_path: Path) -> None:
    """In 10 ms, CPU 0 is in C4 for 6 ms, and CPU 1 is turned off for 8 ms. Nothing says when each was."""
    asked = run_spec("idle.deepest=C4", "clusters.little.cpus=2")
    stats = window(asked.platform, START, START + 10 * MS, [6 * MS, 0, 0, 0])
    state = "system.cluster0.cpu1.power_state.pwrStateResidencyTicks"
    stats |= {f"{state}::ON": float(2 * MS), f"{state}::OFF": float(8 * MS)}
    made = energy_runs.rundir(tmp_path / "run", asked, [stats])
    energy_runs.slept(made, 10_000, {0: {"C4": (0, 6000)}})
    path, totals = _write(made)
    assert totals.residency_s[1, "off"] == pytest.approx(8e-3)
    off = total(path, backend="mcpat", band="raw", component="l2", cluster="little", state="off")
    assert off == pytest.approx(6e-3 * 0.30 * energy_runs.L2_LEAKAGE_W)


def test_a_cpu_that_is_turned_off_runs_nothing_whatever_its_trace_ends_with(tmp_path: Path) -> None:
    """CPU 1 works for 2 ms, and its stopper is the last that the trace has of it. CPU 0 sleeps in C4 for 6 of 10 ms."""
    asked = run_spec("idle.deepest=C4", "clusters.little.cpus=2")
    stats = window(asked.platform, START, START + 10 * MS, [6 * MS, 0, 0, 0])
    state = "system.cluster0.cpu1.power_state.pwrStateResidencyTicks"
    stats |= {f"{state}::ON": float(2 * MS), f"{state}::OFF": float(8 * MS)}
    made = energy_runs.rundir(tmp_path / "run", asked, [stats])
    end = START + 10 * MS
    spans = [Span(cpu, START, end, "active", f"task:cat/{cpu}") for cpu in (0, 2, 3)]
    spans[0] = Span(0, START, START + 4 * MS, "active", "task:cat/0")
    spans.insert(1, Span(0, START + 4 * MS, end, "C4", "idle"))
    spans += [
        Span(1, START, START + 1 * MS, "active", "task:cat/1"),
        Span(1, START + 1 * MS, end, "active", "task:migration/1"),
    ]
    path, totals = _write(made, spans)
    assert totals.residency_s[1, "off"] == pytest.approx(8e-3)
    assert totals.residency_s[1, "active"] == pytest.approx(2e-3)
    assert totals.disagreement_s == pytest.approx(0, abs=1e-5)
    mine = {"backend": "mcpat", "band": "raw", "cpu": 1, "kind": "static", "state": "active"}
    shares = [total(path, **mine, cause=f"task:{task}") for task in ("cat/1", "migration/1")]
    assert shares == [pytest.approx(1e-3 * energy_runs.CORE_LEAKAGE_W)] * 2
    off = total(path, backend="em", cpu=1, state="off")
    assert off == pytest.approx(0.0, abs=1e-12)


def _one_sleep(
    tmp_path: Path, platform: str = "tiny", cpu: int = 0, given: bool = False, settings: Sequence[str] = ()
) -> tuple[Path, Platform]:
    """A CPU goes to sleep in 1 ms, is in C4 for 6, needs 2 to wake and works 1 ms for a task. The others work.

    Half of each way, in and out, is a wait for the switch.
    """
    asked = run_spec("idle.deepest=C4", *settings, platform=platform)
    others = [other for other in range(asked.platform.cpu_count) if other != cpu]
    spans = [
        Span(cpu, START, START + MS // 2, "entry", "firmware"),
        Span(cpu, START + MS // 2, START + MS, "switch", "firmware"),
        Span(cpu, START + MS, START + 7 * MS, "C4", "idle"),
        Span(cpu, START + 7 * MS, START + 8 * MS, "switch", "firmware"),
        Span(cpu, START + 8 * MS, START + 9 * MS, "exit", "firmware"),
        Span(cpu, START + 9 * MS, START + 10 * MS, "active", "task:cat/7"),
        *(Span(other, START, START + 10 * MS, "active", "task:hog/8") for other in others),
    ]
    asleep = [6 * MS if own == cpu else 0 for own in range(asked.platform.cpu_count)]
    made = energy_runs.rundir(tmp_path / "run", asked, [window(asked.platform, START, START + 10 * MS, asleep)])
    woken = [Wake(cpu, START + 9 * MS, "C4", "timer:cat/7", "task:cat/7")]
    return _write(made, spans, woken, given)[0], asked.platform


def test_a_transition_costs_its_time_its_lines_and_its_rails(tmp_path: Path) -> None:
    path, _ = _one_sleep(tmp_path)
    mine = {"backend": "mcpat", "band": "raw", "cpu": 0}
    idle_w = 850e6 * energy_runs.J_PER_CYCLE + energy_runs.CORE_LEAKAGE_W
    l1, l2 = 512 * 0.5e-9, 16384 * J_PER_LINE
    assert total(path, **mine, component="flush") == pytest.approx(0.5 * (l1 + l2))
    assert total(path, **mine, component="refill") == pytest.approx(l1 + l2)
    assert total(path, **mine, component="rail") == pytest.approx(1.5e-9 * (1.0 + 1.0))
    timed = sum(
        total(path, **mine, state=state, kind=kind) for state in ("entry", "exit") for kind in ("dynamic", "static")
    )
    assert timed == pytest.approx(1.5e-3 * idle_w)
    assert total(path, **mine, cause="task:cat/7", state="exit") > 1e-3 * idle_w
    assert total(path, **mine, cause="transition", state="entry") > 0.5e-3 * idle_w


def test_a_wait_for_the_switch_burns_half_of_the_leakage_and_no_clock(tmp_path: Path) -> None:
    path, _ = _one_sleep(tmp_path)
    mine = {"backend": "mcpat", "band": "raw", "cpu": 0, "state": "switch"}
    leakage_w = 0.5 * energy_runs.CORE_LEAKAGE_W
    assert total(path, **mine) == pytest.approx(1.5e-3 * leakage_w)
    assert total(path, **mine, kind="static", cause="task:cat/7") == pytest.approx(1e-3 * leakage_w), "the way out"
    assert total(path, **mine, kind="static", cause="transition") == pytest.approx(0.5e-3 * leakage_w), "the way in"
    # gem5 clocked the core through the waits. That is not work.
    worked_w = 850e6 * energy_runs.J_PER_CYCLE
    assert total(path, **{**mine, "state": "active"}, kind="dynamic") == pytest.approx(1e-3 * worked_w, rel=2e-3)


def test_the_l2_keeps_what_a_cluster_that_is_off_keeps(tmp_path: Path) -> None:
    path, _ = _one_sleep(tmp_path)
    off = total(path, backend="mcpat", band="raw", component="l2", cluster="little", state="off")
    assert off == pytest.approx(6e-3 * 0.30 * energy_runs.L2_LEAKAGE_W)
    on = total(path, backend="mcpat", band="raw", component="l2", cluster="little", state="on")
    assert on == pytest.approx(4e-3 * energy_runs.L2_LEAKAGE_W)


def test_a_published_wake_up_energy_replaces_the_model_of_its_core(tmp_path: Path) -> None:
    """The cluster stays on, because its other CPUs work."""
    path, platform = _one_sleep(tmp_path, "exynos5422", cpu=4, given=True)
    big = platform.clusters[1]
    assert big.core == "a15"
    mine = {"backend": "mcpat", "band": "raw", "cpu": 4}
    fastest = big.opps.table[-1]
    given = 0.7e-6 * big.dynamic_power_coefficient.value * 1e-6 * fastest.mhz * (fastest.mv / 1000) ** 2
    assert total(path, **mine, component="wake-given") == pytest.approx(given)
    moved = sum(total(path, **mine, state=state) for state in ("entry", "switch", "exit"))
    assert moved == pytest.approx(given), "and nothing else"
    worked_w = fastest.mhz * 1e6 * energy_runs.J_PER_CYCLE + energy_runs.CORE_LEAKAGE_W
    assert total(path, **mine, state="active") == pytest.approx(1e-3 * worked_w)


def test_a_published_wake_up_energy_of_a_cluster_leaves_out_the_lines_to_memory(tmp_path: Path) -> None:
    path, platform = _one_sleep(tmp_path, "exynos5422", cpu=4, given=True, settings=["clusters.big.cpus=1"])
    big = platform.clusters[1]
    mine = {"backend": "mcpat", "band": "raw", "cpu": 4}
    fastest = big.opps.table[-1]
    full_w = big.dynamic_power_coefficient.value * 1e-6 * fastest.mhz * (fastest.mv / 1000) ** 2
    assert total(path, **mine, component="wake-given") == pytest.approx((0.7 + 29.3) * 1e-6 * full_w)
    lines = big.l2.size_kib * 1024 / 64
    assert total(path, **mine, component="refill") == pytest.approx(lines * J_PER_LINE)
    assert total(path, **mine, component="flush") == pytest.approx(lines * J_PER_LINE / 2)
    assert total(path, **mine, component="rail") == 0


def test_a_core_without_a_published_wake_up_energy_stays_modelled(tmp_path: Path) -> None:
    modelled, _ = _one_sleep(tmp_path / "modelled", "exynos5422", given=False)
    given, _ = _one_sleep(tmp_path / "given", "exynos5422", given=True)
    assert total(given, cpu=0, state="exit") == total(modelled, cpu=0, state="exit") > 0


def test_who_breaks_up_a_sleep_pays_for_what_it_would_have_saved(tmp_path: Path) -> None:
    """Linux chose C1 where each half deserved C2: its own fault. Together they deserved C3: the wake-up's."""
    asked = run_spec("idle.deepest=C4")
    half = 1200 * US
    end = START + 2 * half
    spans = [
        Span(0, START, START + half, "C1", "idle"),
        Span(0, START + half, end, "C1", "idle"),
        *(Span(cpu, START, end, "active", "task:hog/8") for cpu in (1, 2)),
    ]
    made = energy_runs.rundir(tmp_path / "run", asked, [window(asked.platform, START, end, [2 * half, 0, 0])])
    path, _ = _write(made, spans, [Wake(0, START + half, "C1", "irq:timer", "task:cron/3")])
    mine = {"backend": "mcpat", "band": "raw", "cpu": 0}
    lost = half / HZ * (0.35 - 0.03) * energy_runs.CORE_LEAKAGE_W
    assert total(path, **mine, cause="task:cron/3") == pytest.approx(lost)
    clock = 0.03 * 850e6 * energy_runs.J_PER_CYCLE
    whole = 2 * half / HZ * (clock + energy_runs.CORE_LEAKAGE_W)
    assert total(path, **mine, cause="idle") == pytest.approx(whole - lost)


def test_a_step_up_in_voltage_charges_the_regulator_and_a_step_down_does_not(tmp_path: Path) -> None:
    asked = run_spec()
    speeds = [450, 850, 450]
    made = energy_runs.rundir(
        tmp_path / "run",
        asked,
        [
            window(asked.platform, START + number * MS, START + (number + 1) * MS, [0, 0, 0], {"little": mhz})
            for number, mhz in enumerate(speeds)
        ],
    )
    path, _ = _write(made)
    joules = 44e-6 * 1.0 * (1.0 - 0.819)
    raw = {"backend": "mcpat", "band": "raw", "component": "regulator", "cause": "transition"}
    assert total(path, **raw, window=1) == pytest.approx(joules)
    assert total(path, **raw) == pytest.approx(joules)


def test_power_states_that_do_not_fill_a_window_are_refused_and_located(tmp_path: Path) -> None:
    asked = run_spec()
    values = window(asked.platform, START, START + MS, [0, 0, 0])
    values["system.cluster1.cpu0.power_state.pwrStateResidencyTicks::ON"] -= 10
    made = energy_runs.rundir(tmp_path / "run", asked, [values])
    with pytest.raises(UserError, match=r"window 0, system.cluster1.cpu0: power states sum to 999999990 of 1000000000"):
        _write(made)
    assert not (made / "energy.parquet").exists()
    assert not list(made.path.glob(".*"))


def test_a_ledger_that_cannot_be_finished_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: rows.Writer) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(rows.Writer, "_write", full)
    with pytest.raises(OSError, match="No space left"):
        _busy(tmp_path)
    assert not list((tmp_path / "run").glob("*energy.parquet*"))


def test_a_file_that_does_not_sum_to_what_was_put_in_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Twice(Totals):
        def add(self, backend: str, account: Account) -> None:
            super().add(backend, account)
            super().add(backend, account)

    monkeypatch.setattr(ledger, "Totals", Twice)
    with pytest.raises(ClosureError, match=r"run/energy\.parquet: mcpat, raw: rows sum to .* J, accounts to"):
        _busy(tmp_path)
    assert not list((tmp_path / "run").glob("*energy.parquet*"))


def test_dram_parts_that_do_not_make_gem5s_total_are_refused(tmp_path: Path) -> None:
    asked = run_spec()
    values = window(asked.platform, START, START + MS, [0, 0, 0])
    values["system.mem_ctrls.dram.rank0.totalEnergy"] *= 2
    made = energy_runs.rundir(tmp_path / "run", asked, [values])
    with pytest.raises(UserError, match=r"window 0: system.mem_ctrls.dram.rank0.totalEnergy is 300 pJ, but its parts"):
        _write(made)


def test_dram_at_rest_is_charged_to_the_states_that_it_was_in(tmp_path: Path) -> None:
    """One of two ranks sleeps. gem5 prints less for self-refresh than its total has."""
    asked = run_spec()
    values = window(asked.platform, START, START + MS, [0, 0, 0])
    rank = "system.mem_ctrls.dram.rank{}."
    for number in (0, 1):
        for name in ("actEnergy", "totalEnergy", "actBackEnergy", "preBackEnergy", "refreshEnergy"):
            values[rank.format(number) + name] = 0.0
    values |= {
        rank.format(0) + "actBackEnergy": 500.0, rank.format(0) + "refreshEnergy": 100.0,
        rank.format(0) + "actEnergy": 7.0, rank.format(0) + "totalEnergy": 607.0,
        rank.format(0) + "pwrStateTime::ACT": 0.75 * MS, rank.format(0) + "pwrStateTime::REF": 0.25 * MS,
        rank.format(1) + "prePowerDownEnergy": 30.0, rank.format(1) + "selfRefreshEnergy": 40.0,
        rank.format(1) + "totalEnergy": 75.0,
        rank.format(1) + "pwrStateTime::PRE_PDN": 0.2 * MS, rank.format(1) + "pwrStateTime::SREF": 0.8 * MS,
    }  # fmt: skip
    path, _ = _write(energy_runs.rundir(tmp_path / "run", asked, [values]))
    mine = {"backend": "mcpat", "band": "raw", "component": "dram-background"}
    joules = {state: total(path, **mine, state=state) for state in ("standby", "power-down", "self-refresh")}
    assert joules == pytest.approx({"standby": 600e-12, "power-down": 30e-12, "self-refresh": 45e-12})
    assert total(path, **mine) == pytest.approx(675e-12)
    assert total(path, **{**mine, "component": "dram-access"}) == pytest.approx(7e-12)
    controller = {**mine, "component": "memory-controller", "cause": "platform"}
    assert total(path, **controller, kind="dynamic") == pytest.approx(0.1e-3 * 0.6), "not while all is asleep"
    assert total(path, **controller, kind="static") == pytest.approx(0.03e-3)
    seconds = {
        row["state"]: row["seconds"] / 1e-3
        for row in pq.read_table(path).to_pylist()
        if (row["component"], row["backend"], row["band"]) == ("dram-background", "mcpat", "raw")
    }
    assert seconds == pytest.approx({"standby": 0.5, "power-down": 0.1, "self-refresh": 0.4})


def test_negative_energy_is_refused_and_located(tmp_path: Path) -> None:
    asked = run_spec()
    values = window(asked.platform, START, START + MS, [0, 0, 0], ops=[-1e9, 0, 0])
    made = energy_runs.rundir(tmp_path / "run", asked, [values])
    with pytest.raises(UserError, match=r"window 0, CPU 0: -.* J of (pipe|cache) \(dynamic\) in state active"):
        _write(made)


# Properties, for runs at random: each has its own windows, spans, wake-ups, speeds and event counts.

LENGTH = 40 * MS


def _random_spans(rng: np.random.Generator, cpus: int) -> tuple[list[Span], list[Wake]]:
    spans: list[Span] = []
    wakes: list[Wake] = []
    for cpu in range(cpus):
        edges = [0, *sorted({*rng.integers(1, LENGTH, 24).tolist()}), LENGTH]
        cycle = ["entry", "", "exit", "active"]
        for number, (start, end) in enumerate(itertools.pairwise(edges)):
            state = cycle[number % 4] or str(rng.choice(["C1", "C2", "C3", "C4"]))
            cause = f"task:t/{rng.integers(3)}" if state == "active" else "idle"
            spans.append(Span(cpu, START + start, START + end, state, cause))
            if state.startswith("C") and rng.random() < 0.8:
                armed = f"task:t/{rng.integers(3)}" if rng.random() < 0.5 else None
                wakes.append(Wake(cpu, START + end, state, "irq:timer", armed))
    return spans, wakes


def _gated(spans: Sequence[Span], cpu: int, start: int, end: int) -> int:
    return sum(
        max(0, min(span.end, end) - max(span.start, start))
        for span in spans
        if span.cpu == cpu and span.state.startswith("C")
    )


def _random_run(
    rng: np.random.Generator,
    folder: Path,
    edges: Sequence[int],
    spans: Sequence[Span],
    rates: NDArray[np.float64],
) -> RunDir:
    """The same activity, whatever the windows: operations in proportion to time."""
    asked = run_spec("idle.deepest=C4", "clusters.little.cpus=2")
    found = []
    for start, end in itertools.pairwise(edges):
        asleep = [_gated(spans, cpu, start, end) for cpu in range(4)]
        ops = (rates * (end - start)).tolist()
        found.append(window(asked.platform, start, end, asleep, ops=ops, l2_accesses=1e-6 * (end - start)))
    return energy_runs.rundir(folder, asked, found)


def _edges(rng: np.random.Generator, count: int) -> list[int]:
    return [START, *sorted({*(START + rng.integers(1, LENGTH, count)).tolist()}), START + LENGTH]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("traced", [True, False])
def test_parts_are_not_negative_and_sum_to_the_whole(tmp_path: Path, seed: int, traced: bool) -> None:
    rng = np.random.default_rng(seed)
    spans, wakes = _random_spans(rng, 4)
    rates = rng.uniform(0, 1e-4, 4)
    made = _random_run(rng, tmp_path / "run", _edges(rng, 5), spans, rates)
    path, totals = _write(made, spans if traced else None, wakes)
    joules = pq.read_table(path)["joules"].to_numpy()
    assert (joules > 0).all()
    for (backend, band), whole in totals.joules.items():
        assert total(path, backend=backend, band=band) == pytest.approx(whole, rel=1e-12)
    for cpu in range(4):
        spent = sum(seconds for (own, _), seconds in totals.residency_s.items() if own == cpu)
        assert spent == pytest.approx(LENGTH / HZ, rel=1e-12)
    events = sum(rates) * LENGTH * 1.5 * energy_runs.J_PER_OP
    mhz = (850, 850, 1100, 700)
    ran_s = [(LENGTH - _gated(spans, cpu, START, START + LENGTH)) / HZ for cpu in range(4)]
    gated_s = [totals.residency_s.get((cpu, "C1"), 0.0) for cpu in range(4)]
    cycles = energy_runs.J_PER_CYCLE * sum(map(operator.mul, ran_s, map(energy_runs.clock_hz, mhz)))
    gated = energy_runs.J_PER_CYCLE * 0.03e6 * sum(map(operator.mul, gated_s, mhz))
    dynamic = sum(
        row["joules"]
        for row in pq.read_table(path).to_pylist()
        if (row["backend"], row["band"], row["kind"]) == ("mcpat", "raw", "dynamic") and row["cpu"] is not None
    )
    assert dynamic == pytest.approx(events + cycles + gated, rel=1e-9), "every event is in the ledger, once"


@pytest.mark.parametrize("seed", range(4))
def test_splitting_windows_changes_no_sum(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    spans, wakes = _random_spans(rng, 4)
    rates = rng.uniform(0, 1e-4, 4)
    coarse, fine = ([START, START + LENGTH], _edges(rng, 7))
    by = ["cpu", "component", "backend", "band"]
    found = []
    for name, edges in (("coarse", coarse), ("fine", fine)):
        path, _ = _write(_random_run(rng, tmp_path / name, edges, spans, rates), spans, wakes)
        sums = rows.grouped(path, by, ["joules"]).to_pylist()
        found.append({tuple(row[key] for key in by): row["joules"] for row in sums})
    assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_cpus_does_not_matter(tmp_path: Path, seed: int) -> None:
    """The two little CPUs change places, and the trace names all CPUs in another order."""
    rng = np.random.default_rng(seed)
    spans, wakes = _random_spans(rng, 4)
    rates, edges = rng.uniform(0, 1e-4, 4), _edges(rng, 3)
    place = {0: 1, 1: 0, 2: 2, 3: 3}
    swapped = [Span(place[span.cpu], span.start, span.end, span.state, span.cause) for span in spans]
    rewoken = [Wake(place[wake.cpu], wake.time, wake.state, wake.source, wake.armed_by) for wake in wakes]
    rng.shuffle(swapped)
    rng.shuffle(rewoken)
    before, _ = _write(_random_run(rng, tmp_path / "before", edges, spans, rates), spans, wakes)
    after, _ = _write(_random_run(rng, tmp_path / "after", edges, swapped, rates[[1, 0, 2, 3]]), swapped, rewoken)
    by = ["window", "cpu", "cluster", "state", "component", "cause", "backend", "band"]
    sums = [
        {
            tuple(order.get(row[key], row[key]) if key == "cpu" else row[key] for key in by): row["joules"]
            for row in rows.grouped(path, by, ["joules"]).to_pylist()
        }
        for path, order in ((before, place), (after, {}))
    ]
    assert sums[0] == pytest.approx(sums[1], rel=1e-9)


def test_counters_lose_what_the_trace_knows_before_they_tell_of_the_rest(tmp_path: Path) -> None:
    """Linux counted one sleep in C1 and one in C2; the trace saw the one in C2, so the other half had C1 alone."""
    asked = run_spec("idle.deepest=C2")
    spans = [
        Span(0, START + 5 * MS, START + 9 * MS, "C2", "idle"),
        Span(0, START + 9 * MS, START + 10 * MS, "active", "task:cat/7"),
        *(Span(cpu, START, START + 10 * MS, "active", "task:hog/8") for cpu in (1, 2)),
    ]
    made = energy_runs.rundir(tmp_path / "run", asked, [window(asked.platform, START, START + 10 * MS, [7 * MS, 0, 0])])
    energy_runs.slept(made, 10_000, {0: {"C1": (1, 3000), "C2": (1, 4043)}})
    _, totals = _write(made, spans)
    assert totals.residency_s[0, "C1"] == pytest.approx(3e-3)
    assert totals.residency_s[0, "C2"] == pytest.approx(4e-3)
    assert totals.residency_s[0, "active"] == pytest.approx(3e-3)
    assert (0, "transition") not in totals.residency_s


@pytest.mark.parametrize("whole", [0.9, 1.1])
def test_parts_that_sum_to_more_or_less_than_the_whole_are_refused(whole: float) -> None:
    parts, raw = [Part("pipe", "dynamic"), Part("cache", "static")], np.array([[0.25, 0.75]])
    place, labels = Place(0, "little", 3, 0, MS), [Label("active", "task:cat/7", 1e-3)]
    assert closed(place, labels, parts, raw, np.ones(2), 1.0).raw.sum() == 1.0
    with pytest.raises(ClosureError, match=f"window 3, CPU 0: the parts sum to 1 J, not to the {whole} J of the whole"):
        closed(place, labels, parts, raw, np.ones(2), whole)
