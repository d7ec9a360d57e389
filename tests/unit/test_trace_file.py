# SPDX-License-Identifier: BSD-3-Clause
"""The reader against trace-cmd's own words on the same recorded file (`data/trace/README.md`)."""

import gzip
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from lull.errors import UserError
from lull.trace.datfile import TraceFile
from lull.trace.events import batches

DATA = Path(__file__).parent / "data" / "trace"
RECORDED = DATA / "qemu.dat"

_LINE = re.compile(r"\[(?P<cpu>\d+)\]\S+ +(?P<s>\d+)\.(?P<ns>\d{9}): (?P<name>\w+): +(?P<fields>.*)")
_NUMBER = re.compile(r"(\w+)=(0x[0-9a-f]+|-?\d+)(?= |$)")
_SET = re.compile(r"(\w+)=ARRAY\[([0-9a-f, ]+)\]")

Event = tuple[int, str, dict[str, int]]


def reported() -> dict[int, list[Event]]:
    """By CPU, the time, name and numbers of each event in trace-cmd's report."""
    found: dict[int, list[Event]] = defaultdict(list)
    for line in gzip.decompress((DATA / "qemu-report.txt.gz").read_bytes()).decode().splitlines():
        if match := _LINE.search(line):
            fields = {
                name: int(text, 16 if text[:2] == "0x" else 10) for name, text in _NUMBER.findall(match["fields"])
            }
            for name, text in _SET.findall(match["fields"]):
                fields[name] = int.from_bytes(bytes.fromhex(text.replace(",", "")), "little")
            found[int(match["cpu"])].append((int(match["s"] + match["ns"]), match["name"], fields))
    return found


def read(trace: TraceFile, cpu: int) -> list[Event]:
    """The same by our reader, with all fields that are numbers or sets."""
    found: list[Event] = []
    for batch in batches(trace, cpu):
        for at in range(len(batch)):
            known = trace.by_id[int(batch.kind[at])]
            fields, which = {}, np.array([at])
            for field in known.fields.values():
                if field.name.startswith("common_") or field.size > 8 or field.size == 0:
                    continue
                numbers = batch.bits if field.name == "target_cpus" else batch.numbers
                fields[field.name] = int(numbers(known.name, field.name, which)[0]) & (1 << 64) - 1
            found.append((int(batch.time[at]), known.name, fields))
    return found


def read_all(path: Path) -> int:
    trace = TraceFile(path)
    return sum(len(batch) for cpu in trace.cpus for batch in batches(trace, cpu))


def test_every_event_is_what_trace_cmd_says() -> None:
    trace, expected = TraceFile(RECORDED), reported()
    assert sum(map(len, expected.values())) > 500
    assert trace.cpus == sorted(expected)
    compared: set[str] = set()
    for cpu, events in expected.items():
        for ours, theirs in zip(read(trace, cpu), events, strict=True):
            assert ours[:2] == theirs[:2]
            common = ours[2].keys() & theirs[2].keys()
            assert {key: ours[2][key] for key in common} == {key: theirs[2][key] & (1 << 64) - 1 for key in common}, (
                theirs
            )
            compared |= {f"{theirs[1]}.{key}" for key in common}
    assert compared >= {
        *("sched_switch.prev_pid", "sched_switch.next_pid", "cpu_idle.state", "irq_handler_entry.irq"),
        *("hrtimer_start.hrtimer", "hrtimer_start.expires", "timer_start.timer", "ipi_raise.target_cpus"),
        *("softirq_entry.vec", "sched_waking.target_cpu", "hrtimer_expire_entry.hrtimer"),
    }


def test_no_event_is_missing_by_the_kernels_count() -> None:
    trace = TraceFile(RECORDED)
    assert {cpu: len(read(trace, cpu)) for cpu in trace.cpus} == trace.counted
    assert read_all(RECORDED) == sum(trace.counted.values())
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
