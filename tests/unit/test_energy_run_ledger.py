# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy RUNDIR`: what it refuses, what it writes, what it says."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from lull.cli import energy as command
from lull.energy import run_ledger, source, summary, tables, view
from lull.energy.run_ledger import Options
from lull.errors import UserError
from lull.platform.schema import Platform
from lull.rundir.folder import LEDGER, MANIFEST, STATS_TABLE, TRACE, RunDir
from lull.trace import recording, spans, wakes
from lull.trace.spans import CpuSpans
from tests import energy_runs
from tests.conftest import Lull
from tests.energy_runs import MS, run_spec, window

EM = Options(backends=("em",))


def _run(tmp_path: Path, windows: int = 3, **changes: object) -> RunDir:
    asked = run_spec().model_copy(update=changes)
    made = [
        window(asked.platform, number * MS, (number + 1) * MS, [0, MS // 2, MS], ops=[1e5, 2e5, 0.0])
        for number in range(windows)
    ]
    return energy_runs.rundir(tmp_path / "run", asked, made)


def _refused(rundir: RunDir, said: str, options: Options = EM) -> None:
    with pytest.raises(UserError, match=said) as refused:
        run_ledger.make_ledger(rundir, options)
    assert "\n" not in str(refused.value)
    assert not (rundir / LEDGER).exists()
    assert not list(rundir.path.glob(".*")), "nothing half-written"


def test_a_run_on_qemu_has_no_energy(tmp_path: Path) -> None:
    _refused(_run(tmp_path, engine="qemu", cpu=None), "a run on qemu is functional only and has no energy")


def test_a_run_on_atomic_cpus_has_no_energy(tmp_path: Path) -> None:
    _refused(_run(tmp_path, cpu="atomic"), "atomic CPUs have neither caches nor waits")


def test_a_run_without_a_manifest_is_refused(tmp_path: Path, lull: Lull) -> None:
    rundir = _run(tmp_path)
    (rundir / MANIFEST).unlink()
    ended = lull("energy", str(rundir.path))
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"lull: {rundir.path}: not a run's folder (run.json or manifest.json is missing)")
    assert ended.stderr.count("\n") == 1
    assert not ended.stdout


def test_a_run_that_has_not_finished_is_refused(tmp_path: Path) -> None:
    rundir = _run(tmp_path)
    rundir.write_json(MANIFEST, {**rundir.read_json(MANIFEST), "state": "failed", "error": "out of disk"})
    _refused(rundir, r"manifest.json: the run has not finished \(failed\)")


def test_a_run_without_statistics_is_refused(tmp_path: Path) -> None:
    rundir = _run(tmp_path)
    (rundir / STATS_TABLE).unlink()
    _refused(rundir, "stats.parquet: missing")


def test_statistics_that_lack_windows_are_refused(tmp_path: Path) -> None:
    rundir = _run(tmp_path)
    table = pq.read_table(rundir / STATS_TABLE)
    pq.write_table(table.slice(0, table.num_rows * 2 // 3), rundir / STATS_TABLE)
    _refused(rundir, r"stats.parquet: truncated, 2 windows of the 3 that manifest.json tells of")


def test_statistics_that_do_not_cover_the_run_are_refused(tmp_path: Path) -> None:
    rundir = _run(tmp_path)
    details = {"start_tick": 0, "ticks": 4 * MS, "tick_hz": energy_runs.HZ}
    rundir.write_json(MANIFEST, {**rundir.read_json(MANIFEST), "details": details})
    _refused(rundir, f"covers ticks 0 to {3 * MS}, but the run went from 0 to {4 * MS}")


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    rundir = _run(tmp_path)
    path = rundir / STATS_TABLE
    path.write_bytes(path.read_bytes()[:-100])
    _refused(rundir, "stats.parquet: cut off, or not a table of statistics")


def test_a_table_of_another_core_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rundir = _run(tmp_path)
    platform = rundir.spec().platform
    monkeypatch.setattr(tables, "TABLES", tmp_path / "tables")
    tables.save(energy_runs.table(platform, "little").model_copy(update={"core": "a7"}))
    _refused(rundir, r"little.json: core: a table for the `a7`, and this cluster has `a53`", Options(("mcpat",)))


def test_a_clock_that_is_no_operating_point_is_refused(tmp_path: Path) -> None:
    asked = run_spec()
    values = window(asked.platform, 0, MS, [0, 0, 0], mhz={"little": 123.0})
    rundir = energy_runs.rundir(tmp_path / "run", asked, [values])
    _refused(rundir, r"window 0: system.cluster0.clk_domain.clock is 8130 ticks, which is no operating point of little")


def test_the_rest_of_the_platform_is_no_negative_power(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--rest-w -1: give watts, 0 or more"):
        command.account(tmp_path, rest_w=-1.0)


def test_the_summary_fits_one_screen_and_says_that_there_is_no_trace(tmp_path: Path) -> None:
    found = run_ledger.make_ledger(_run(tmp_path), Options(backends=("em",), rest_w=0.25))
    console = Console(record=True, width=100, highlight=False, file=io.StringIO())
    summary.show(console, found.ledger, found.platform, found.totals, found.notes)
    text = console.export_text()
    assert len(text.splitlines()) <= 40
    assert "no trace: idle states are in the run's mixture" in text
    assert "3.000 ms in 3 windows; closed" in text
    watts = 140e-6 * 850 + 530e-6 * 1100 / 2 + 0.25 + (150e-12 + 1000 * 4.8e-12) / 1e-3
    assert f"{watts:.4g} to {watts:.4g} W" in text


def test_a_ledger_says_what_it_was_made_from(tmp_path: Path) -> None:
    rundir = _run(tmp_path)
    found = run_ledger.make_ledger(rundir, Options(backends=("em",), rest_w=0.25))
    about = json.loads(pq.read_schema(found.ledger).metadata[b"lull"])
    assert about["run"] == rundir.spec().hash()
    assert about["options"]["rest_w"] == 0.25
    assert len(about["statistics"]) == len(about["power-models"]) == 64


def test_power_over_time_is_a_windows_joules_over_its_length(tmp_path: Path) -> None:
    found = run_ledger.make_ledger(_run(tmp_path), EM)
    power = view.df_power(found.ledger, "em")
    watts = {(row["start"], row["owner"]): row["watts"] for row in power.to_pylist()}
    assert len(watts) == 9, "CPU 2 slept, and em knows no L2"
    for start in (0, MS, 2 * MS):
        assert watts[start, "uncore"] == pytest.approx((150e-12 + 1000 * 4.8e-12) / 1e-3)
        assert watts[start, "CPU 0"] == pytest.approx(140e-6 * 850)
        assert watts[start, "CPU 1"] == pytest.approx(530e-6 * 1100 / 2)
    run_ledger.draw(found, "em")
    assert (found.ledger.parent / "power.pdf").stat().st_size > 1000


class _Recorded:
    """The part of a recording that the accounting looks at."""

    def __init__(self, lost: int) -> None:
        self.lost = lost
        self.changes = {cpu: SimpleNamespace(time=np.arange(30)) for cpu in range(3)}


def _trace(rundir: RunDir, monkeypatch: pytest.MonkeyPatch, lost: int) -> None:
    """All CPUs work for one task throughout, but for a millisecond of the first, of which nothing is known."""
    (rundir / TRACE).touch()

    def by_cpu(record: _Recorded, _platform: Platform, allow_lost: bool) -> list[CpuSpans]:
        if record.lost and not allow_lost:
            raise UserError("trace.dat: lost events")
        told = [
            energy_runs.Span(0, 0, MS, "active", "task:cat/7"),
            energy_runs.Span(0, 2 * MS, 3 * MS, "active", "task:cat/7"),
            *(energy_runs.Span(cpu, 0, 3 * MS, "active", "task:cat/7") for cpu in (1, 2)),
        ]
        return energy_runs.columns(told)

    monkeypatch.setattr(recording, "load", lambda _: _Recorded(lost))
    monkeypatch.setattr(spans, "by_cpu", by_cpu)
    monkeypatch.setattr(wakes, "of_recording", lambda *_: [])


def test_a_trace_that_lost_events_is_refused_and_counted_when_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rundir = _run(tmp_path)
    whole = run_ledger.make_ledger(rundir, EM).totals.joules
    (rundir / LEDGER).unlink()
    _trace(rundir, monkeypatch, lost=10)
    _refused(rundir, "lost events")
    found = run_ledger.make_ledger(rundir, Options(backends=("em",), allow_lost=True))
    (disagrees, lost) = found.notes
    active_j = energy_runs.total(found.ledger, backend="em", band="raw", state="active")
    assert (
        f"lost 10 events beside 90 that tell what CPUs do: about 10.0% of their active energy, {active_j / 10:.3g} J"
        in lost
    )
    # CPUs 1 and 2 stood in WFI for 1.5 and 3 of their 3 ms, which this trace calls work.
    assert "trace and gem5 disagree about 50.0% of the CPUs' time" in disagrees
    assert found.totals.joules["em", "raw"] > whole["em", "raw"]
    unknown = energy_runs.total(found.ledger, backend="em", band="raw", cpu=0, cause="active")
    assert unknown == pytest.approx(140e-6 * 850 * 1e-3), "gem5 saw CPU 0 awake in the millisecond that is missing"


def test_a_state_that_the_command_itself_allowed_counts_as_allowed(tmp_path: Path) -> None:
    rundir = _run(tmp_path)
    assert set(source.open_run(rundir).deepest.values()) == {"C1"}
    energy_runs.slept(rundir, 1000, {0: {"C1": (1, 10), "C3": (1, 10), "C4": (0, 0)}})
    found = source.open_run(rundir).deepest
    assert found.pop("little") == "C3"
    assert set(found.values()) == {"C1"}


@pytest.mark.parametrize("kelvin", ["270", "374", "nan", "warm"])
def test_a_temperature_at_which_no_chip_works_is_refused(tmp_path: Path, lull: Lull, kelvin: str) -> None:
    ended = lull("energy", str(_run(tmp_path).path), "--temperature-k", kelvin)
    assert ended.returncode == 2
    assert len(ended.stderr.strip().splitlines()) == 1
