# SPDX-License-Identifier: BSD-3-Clause
"""The reader against trace-cmd's own words on the same recorded file (`data/trace/README.md`)."""

import gzip
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.trace.datfile import TraceFile
from lull.trace.events import batches
from tests.trace_report import assert_same

DATA = Path(__file__).parent / "data" / "trace"
RECORDED = DATA / "qemu.dat"


def read_all(path: Path) -> int:
    trace = TraceFile(path)
    return sum(len(batch) for cpu in trace.cpus for batch in batches(trace, cpu))


def test_every_event_is_what_trace_cmd_says() -> None:
    report = gzip.decompress((DATA / "qemu-report.txt.gz").read_bytes()).decode()
    assert assert_same(TraceFile(RECORDED), report) >= {
        *("sched_switch.prev_pid", "sched_switch.next_pid", "cpu_idle.state", "irq_handler_entry.irq"),
        *("hrtimer_start.hrtimer", "hrtimer_start.expires", "timer_start.timer", "ipi_raise.target_cpus"),
        *("softirq_entry.vec", "sched_waking.target_cpu", "hrtimer_expire_entry.hrtimer"),
    }


def test_no_event_is_missing_by_the_kernels_count() -> None:
    trace = TraceFile(RECORDED)
    assert {cpu: sum(map(len, batches(trace, cpu))) for cpu in trace.cpus} == trace.counted
    assert sum(trace.counted.values()) > 500
    assert set(trace.dropped.values()) == {0}


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = RECORDED.read_bytes()
    cut = tmp_path / "cut.dat"
    for size in range(1, len(whole) - 1, 97):
        cut.write_bytes(whole[:size])
        with pytest.raises(UserError, match=rf"^{cut}: (cut off at byte|not a trace of trace-cmd)"):
            read_all(cut)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty; run the command again with --trace"),
        (b"\x7fELF" + bytes(100), "not a trace of trace-cmd's file version 7"),
        (b"\x17\x08\x44tracing7\0\x01\x08" + bytes(40), "not of a little-endian 64-bit machine"),
        (RECORDED.read_bytes().replace(b"zstd\0", b"lzma\0", 1), "compressed by lzma; lull reads zstd, zlib and none"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "other.dat"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"^{path}: {message}"):
        TraceFile(path)
