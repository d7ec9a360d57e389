# SPDX-License-Identifier: BSD-3-Clause
"""A trace of the guest: what the guest's own trace-cmd makes of it, and what we do."""

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest

from lull.rundir.folder import RunDir
from lull.trace import recording, spans
from lull.trace.datfile import TraceFile
from tests.conftest import Lull
from tests.trace_report import assert_same

pytestmark = pytest.mark.guest

SYSTEMS = ("sched", "power", "irq", "ipi", "timer")


def test_trace_cmd_reads_what_lull_trace_writes_and_so_do_we(lull: Lull, tmp_path: Path) -> None:
    script = (
        f"cd /out && lull-trace start {' '.join(SYSTEMS)} && sleep 0.01 && lull-trace stop t.dat && "
        "trace-cmd report -t -R -i t.dat >report"
    )
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", script)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    files = tmp_path / "run" / "files"
    trace = TraceFile(files / "t.dat")
    compared = assert_same(trace, (files / "report").read_text())
    assert compared >= {"sched_switch.next_pid", "cpu_idle.state", "hrtimer_start.expires", "ipi_raise.target_cpus"}


def test_trace_cmds_other_commands_take_the_file_too(lull: Lull, tmp_path: Path) -> None:
    """The files that these commands write have every event, and the sections that were written."""
    script = (
        f"cd /out && lull-trace start {' '.join(SYSTEMS)} && sleep 0.01 && lull-trace stop t.dat && "
        "trace-cmd dump --summary t.dat >summary && trace-cmd split -i t.dat -o part.dat 0 1000000 2>said && "
        "trace-cmd convert -i t.dat -o v6.dat --file-version 6 2>>said && "
        "trace-cmd convert -i t.dat -o v7.dat --file-version 7 2>>said && "
        "for file in t.dat part.dat v6.dat v7.dat; do trace-cmd report -t -i $file 2>>said | wc -l; done"
    )
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", script)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    counts = set(map(int, ran.stdout.split()))
    assert len(counts) == 1, counts
    assert counts.pop() > 100
    files = tmp_path / "run" / "files"
    assert "[9 sections]" in (files / "summary").read_text()
    assert "unknown option" not in (files / "said").read_text()


def test_a_traced_run_is_known_throughout(lull: Lull, tmp_path: Path) -> None:
    events = [word for system in SYSTEMS for word in ("--trace", system)]
    ran = lull("boot", "-e", "qemu", *events, "--out", "run", "--exec", "sleep 0.01; exit 3")
    assert ran.returncode == 3, ran.stderr
    rundir = RunDir.open(tmp_path / "run")
    platform = rundir.spec().platform
    record = recording.load(rundir)
    assert record.lost == 0
    assert 10_000_000_000 < record.end - record.begin < 100_000_000_000, "the command's time"
    found = spans.of_recording(record, platform)
    for cpu in range(platform.cpu_count):
        mine = [span for span in found if span.cpu == cpu]
        assert (mine[0].start, mine[-1].end) == (record.begin, record.end)
        assert all(one.end == other.start for one, other in pairwise(mine))

    made = lull("timeline", "run")
    assert made.returncode == 0, made.stderr
    names = {
        event["name"]
        for event in json.loads(gzip.decompress((tmp_path / "run" / "timeline.json.gz").read_bytes()))["traceEvents"]
    }
    assert {"C1", "arch_timer"} <= names
    assert any(name.startswith("sleep/") for name in names)


def test_a_trace_without_room_says_that_it_lost_events(lull: Lull, tmp_path: Path) -> None:
    words = ("--trace", "sched", "--trace", "power", "--trace-buffer", "8")
    ran = lull("boot", "-e", "qemu", *words, "--out", "run", "--exec", "hackbench -g 1 -l 20")
    assert ran.returncode == 0, ran.stderr
    made = lull("timeline", "run")
    assert made.returncode == 2
    assert "trace.dat: lost " in made.stderr
    assert not (tmp_path / "run" / "timeline.json.gz").exists()
    assert lull("timeline", "run", "--allow-lost").returncode == 0


def test_an_event_that_no_kernel_has_is_named(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--trace", "nonsense", "--exec", "true")
    assert (ran.returncode, ran.stdout) == (125, "lull-trace: cannot trace nonsense: Invalid argument\n")
