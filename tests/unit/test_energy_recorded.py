# SPDX-License-Identifier: BSD-3-Clause
"""The whole chain on a recorded run of `tiny` on gem5: sleeps of 2 to 50 ms in all idle states, traced."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.energy import activity, calibration, causes, rows, run_ledger, source, states, tables, technology, windows
from lull.energy.events import L2
from lull.energy.run_ledger import Accounted, Options
from lull.rundir.folder import STATS_TABLE, TRACE, RunDir
from lull.timeline import timeline
from lull.trace import columns, recording, spans, wakes
from lull.trace.clock import TICK_HZ
from lull.trace.datfile import TraceFile
from tests import energy_runs, perfetto

DATA = Path(__file__).parent / "data"
SECONDS = 0.171115248864
AWAKE = 0xFFFFFFFF
"""Linux's `PWR_EVENT_EXIT`."""


@pytest.fixture(scope="module")
def rundir(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    folder = tmp_path_factory.mktemp("recorded") / "run"
    shutil.copytree(DATA / "trace" / "tiny-gem5", folder)
    return RunDir.open(folder)


@pytest.fixture(scope="module")
def found(rundir: RunDir) -> Accounted:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibration, "factors", lambda _: energy_runs.FACTORS)
        return run_ledger.make_ledger(rundir, Options())


def test_time_adds_up_on_every_cpu_and_the_trace_agrees_with_gem5(found: Accounted) -> None:
    assert found.totals.windows == 172
    for cpu in range(3):
        spent = sum(seconds for (own, _), seconds in found.totals.residency_s.items() if own == cpu)
        assert spent == pytest.approx(SECONDS, rel=1e-12)
    assert found.totals.disagreement_s < 0.01 * found.totals.cpu_s
    assert found.notes == ["leakage at 310 K, 37 °C"]


def test_the_shadow_core_was_off_with_its_cluster_and_the_others_slept_deep(found: Accounted) -> None:
    share = {key: seconds / SECONDS for key, seconds in found.totals.residency_s.items()}
    assert share[2, "C4"] > 0.3
    assert all(share[cpu, "C3"] + share[cpu, "C4"] > 0.5 for cpu in (0, 1))
    off = energy_runs.total(found.ledger, backend="mcpat", band="raw", cluster="shadow", component="l2", state="off")
    on = energy_runs.total(found.ledger, backend="mcpat", band="raw", cluster="shadow", component="l2", state="on")
    assert off > 0
    assert on > 0


def test_every_event_is_in_the_ledger_once(rundir: RunDir, found: Accounted) -> None:
    """Apart from cycles, which come from power states: over the whole run gem5's two counts are the same.

    In waits for a power switch gem5 clocks the core; the ledger does not.
    """
    run = source.open_run(rundir)
    clusters = run.platform.resolved_clusters()
    made = [tables.load(run.platform, cluster) for cluster in clusters]
    expected, cycle_j, hz = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    for window in windows.read(rundir / STATS_TABLE):
        for number, cluster in enumerate(clusters):
            table = made[number].at(source.opp_of(window, number, cluster, run.hz).mhz)
            expected[number] += sum(activity.core_joules(table, window, f"system.cluster{number}.cpu0").values())
            cycle_j[number] = sum(
                joules.get("cycles", 0.0) for name, joules in table.joules_per_event.items() if name != "l2"
            )
            hz[number] = table.mhz * 1e6
    for cpu in range(3):
        expected[cpu] -= found.totals.residency_s[cpu, "switch"] * hz[cpu] * cycle_j[cpu]
    dynamic = [0.0, 0.0, 0.0]
    for row in pq.read_table(found.ledger).to_pylist():
        if (row["backend"], row["band"], row["kind"]) != ("mcpat", "raw", "dynamic") or row["cpu"] is None:
            continue
        # What C1 leaves of the clocks is no event.
        if row["state"] != "C1":
            dynamic[row["cpu"]] += row["joules"]
    assert dynamic == pytest.approx(expected, rel=0.02), "in some windows gem5 counted less than the waits are long"


def test_memory_is_what_gem5_says_it_is(rundir: RunDir, found: Accounted) -> None:
    table = pq.read_table(rundir / STATS_TABLE).to_pylist()
    gem5 = sum(row["value"] for row in table if row["statistic"].endswith(".totalEnergy"))
    for backend in ("mcpat", "em"):
        mine = {"backend": backend, "band": "raw"}
        parts = (energy_runs.total(found.ledger, **mine, component=name) for name in ("dram-access", "dram-background"))
        assert sum(parts) == pytest.approx(gem5 * 1e-12)


def test_each_sleeping_command_answers_for_its_wake_up(found: Accounted) -> None:
    causes = rows.grouped(found.ledger, ["state", "cause"], ["joules"], "mcpat", rows.RAW).to_pylist()
    woken = {row["cause"] for row in causes if row["state"] == "exit"}
    slept = {row["cause"] for row in causes if row["state"] == "active" and row["cause"].startswith("task:usleep/")}
    assert len(slept) == 5
    assert slept <= woken


def test_l2_leakage_is_the_tables_for_the_time_that_clusters_were_on(rundir: RunDir, found: Accounted) -> None:
    run = source.open_run(rundir)
    for cluster in run.platform.resolved_clusters():
        opp = tables.load(run.platform, cluster).at(cluster.opps.table[-1].mhz)
        mine = {"backend": "mcpat", "band": "raw", "cluster": cluster.name, "component": L2, "kind": "static"}
        on_j = energy_runs.total(found.ledger, **mine, state="on")
        most_j = opp.leakage[L2].watts * technology.leakage_share(run.platform) * SECONDS
        assert 0 < on_j <= most_j * (1 + 1e-9)


def test_the_timeline_the_trace_and_the_ledger_tell_the_same_idle_time(rundir: RunDir, tmp_path: Path) -> None:
    """All three are compared over the command's time. The trace itself has more, because it begins before the
    command does."""
    path = tmp_path / "timeline.json.gz"
    timeline.write(rundir, path)
    tracks = {place: kept for place, kept in perfetto.tracks(perfetto.events(path)).items() if place[1] == "idle state"}
    run = source.open_run(rundir)
    record = recording.load(rundir)
    parts = list(spans.by_cpu(record, run.platform))
    woken = wakes.of_recording(record, run.platform)
    ledger = causes.occupancy(parts, woken, run.platform, run.deepest, run.time)
    asked = columns.of_event(TraceFile(rundir / TRACE), "cpu_idle", record.clock).to_pylist()
    assert len(tracks) == 3
    for (group, _), slices in tracks.items():
        cpu = int(group.split()[1])
        stays = ledger.stays(cpu, record.begin, record.end)
        own = [(round(row["time_s"] * TICK_HZ), row["state"]) for row in asked if row["cpu_id"] == cpu]
        sleeps = [(at, then) for (at, state), (then, _) in pairwise([*own, (record.end, 0)]) if state != AWAKE]
        by_trace = sum(max(0, min(end, record.end) - max(start, record.begin)) for start, end in sleeps)
        by_ledger = sum(stay.ticks for stay in stays if stay.who.state != states.ACTIVE)
        assert by_trace == by_ledger
        # Starts and ends are cut to nanoseconds, so each stretch of idle is wrong by less than one.
        assert sum(end - start for start, end, _ in slices) == pytest.approx(by_trace / 1000, abs=len(sleeps) + 1)
        for state in states.IDLE:
            by_track = sum(end - start for start, end, name in slices if name == state)
            told = sum(stay.ticks for stay in stays if stay.who.state == state)
            assert by_track == pytest.approx(told / 1000, abs=len(sleeps) + 1)


def test_a_warmer_chip_leaks_more_and_says_so(rundir: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "factors", lambda _: energy_runs.FACTORS)
    copied = RunDir.open(Path(shutil.copytree(rundir.path, tmp_path / "run")))
    leaks: dict[float, list[float]] = {}
    for kelvin, asked in ((310.0, None), (330.0, 330.0)):
        found = run_ledger.make_ledger(copied, Options(("mcpat",), temperature_k=asked))
        about = json.loads(pq.read_schema(found.ledger).metadata[b"lull"])
        assert about["options"]["temperature_k"] == kelvin
        assert found.notes[-1].startswith(f"leakage at {kelvin:g} K")
        mine: dict[str, object] = {"backend": "mcpat", "band": "raw", "kind": "static"}
        places: list[dict[str, object]] = [{"component": "l2"}, {"component": "memory-controller"}, {"cpu": 0}]
        leaks[kelvin] = [energy_runs.total(found.ledger, **mine, **place) for place in places]
    warmer = technology.leakage_at(330) / technology.leakage_at(310)
    assert leaks[330.0] == pytest.approx([joules * warmer for joules in leaks[310.0]])


def test_dram_slept_while_the_machine_did(found: Accounted) -> None:
    """All that is not the 108 mW of its data sheet is power-down, standby and refreshes outside of self-refresh."""
    mine = {"backend": "mcpat", "band": "raw", "component": "dram-background"}
    asleep = {
        row["window"]: row["seconds"]
        for row in pq.read_table(found.ledger).to_pylist()
        if row["state"] == "self-refresh" and all(row[key] == value for key, value in mine.items())
    }
    assert 0.5 * SECONDS < sum(asleep.values()) < SECONDS
    watts = energy_runs.total(found.ledger, **mine, state="self-refresh") / sum(asleep.values())
    assert watts == pytest.approx(0.108, rel=0.02), "the refreshes inside it come on top"
