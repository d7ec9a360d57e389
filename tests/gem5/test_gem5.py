# SPDX-License-Identifier: BSD-3-Clause
"""The same kernel and image, cycle level: boot, checkpoint, restore into every CPU model."""

import configparser
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.platform.load import list_platforms, load_platform
from lull.rundir.stats import HOST_STATISTICS
from tests.conftest import Lull
from tests.killing import kill_when
from tests.machines import assert_cpus

pytestmark = pytest.mark.gem5

MODES = ("atomic", "timing", "detailed")


def _machine_is_right(lull: Lull, name: str, cpu: str) -> None:
    ran = lull("boot", "-e", "gem5", "-p", name, "--cpu", cpu, "--exec", "nproc; lull-cpus")
    assert ran.returncode == 0, ran.stderr
    assert_cpus(ran.stdout, load_platform(name))


@pytest.mark.parametrize("cpu", MODES)
def test_the_guest_sees_the_machine_of_the_platform_file(lull: Lull, cpu: str) -> None:
    _machine_is_right(lull, "tiny", cpu)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", MODES)
@pytest.mark.parametrize("name", [name for name in list_platforms() if name != "tiny"])
def test_every_platform_is_right_in_every_mode(lull: Lull, name: str, cpu: str) -> None:
    _machine_is_right(lull, name, cpu)


def test_output_status_files_and_windows_come_back(lull: Lull, tmp_path: Path) -> None:
    script = "echo out; echo err >&2; seq 3 > /out/three; lull-m5 dump; lull-m5 dump; exit 7"
    ran = lull("boot", "-e", "gem5", "--out", "run", "--exec", script)
    assert (ran.returncode, ran.stdout) == (7, "out\nerr\n"), ran.stderr
    run = tmp_path / "run"
    assert (run / "files" / "three").read_text() == "1\n2\n3\n"
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["stats_windows"] == 3, "two from the guest, one at the end"
    assert set(manifest["artifacts"]) == {"kernel", "rootfs", "firmware"}


def test_two_detailed_runs_have_the_same_statistics_and_energy(lull: Lull, tmp_path: Path) -> None:
    tables, ledgers = [], []
    for run in ("first", "second"):
        ran = lull("boot", "-e", "gem5", "--cpu", "detailed", "--out", run, "--exec", "cat /proc/interrupts")
        assert ran.returncode == 0, ran.stderr
        rows = pq.read_table(tmp_path / run / "stats.parquet").to_pylist()
        tables.append([repr(row) for row in rows if row["statistic"] not in HOST_STATISTICS])
        outputs = (tmp_path / run / "stdout").read_bytes()
        accounted = lull("energy", run)
        assert accounted.returncode == 0, accounted.stderr
        ledgers.append(pq.read_table(tmp_path / run / "energy.parquet"))
    assert outputs
    assert len(tables[0]) > 1000
    assert tables[0] == tables[1]
    assert ledgers[0].num_rows > 100
    assert ledgers[0].equals(ledgers[1])


def test_fetch_of_an_in_order_core_stops_in_the_cycle_after_wfi(lull: Lull, tmp_path: Path) -> None:
    """Later, an interrupt may come before it and be forgotten: Minor then waits forever (gem5-configs/cores.py)."""
    ran = lull("boot", "-e", "gem5", "--cpu", "detailed", "--out", "run", "--exec", "true")
    assert ran.returncode == 0, ran.stderr
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(tmp_path / "run" / "config.ini")
    delays = [one["executeBranchDelay"] for one in settings.values() if "executeBranchDelay" in one]
    assert delays == ["1", "1"], "the little core and the shadow core"


def test_a_command_that_never_ends_is_ended(lull: Lull) -> None:
    ran = lull("boot", "-e", "gem5", "--sim-limit", "0.05", "--exec", "echo begun; sleep 9999")
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (2, "begun")
    assert "did not end within 0.05 simulated seconds and was stopped; raise --sim-limit" in ran.stderr


@pytest.mark.slow
def test_a_boot_killed_on_its_way_is_made_again(lull: Lull, cache_without_checkpoints: Path) -> None:
    """Slow because it boots twice: killed early, killed late, and then whole."""
    cache = cache_without_checkpoints

    def boots() -> bool:
        return any(b"Booting Linux" in log.read_bytes() for log in cache.glob("work/checkpoint-*/system.terminal"))

    def writes_its_checkpoint() -> bool:
        return any(cache.glob("checkpoint/.partial-*/cpt.partial"))

    for moment in (boots, writes_its_checkpoint):
        kill_when(moment, "build", "checkpoint")
    ran = lull("boot", "-e", "gem5", "--exec", "nproc --all")
    assert (ran.returncode, ran.stdout) == (0, "3\n"), ran.stderr
    (entry,) = (cache / "checkpoint").iterdir()
    assert sorted(path.name for path in entry.iterdir()) == [
        "console.log",
        "cpt",
        "entry.json",
        "machine.dtb",
        "outcome.json",
    ]
