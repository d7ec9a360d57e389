# SPDX-License-Identifier: BSD-3-Clause
"""Repeats a run many times, one after the other, to make a run of any size.

The length of a repetition is a multiple of `2^shift` counts of the trace's clock: the stamps of a later repetition are
then the same plus a constant, to the nanosecond, because the clock multiplies counts and shifts. The last window of
statistics of each repetition is stretched to this length.
"""

import json
import math
import re
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from lull.energy import source
from lull.energy.windows import GAUGES
from lull.errors import UserError
from lull.rundir import stats
from lull.rundir.folder import CPUIDLE, MANIFEST, RUN, STATS_TABLE, STATS_TEXT, TRACE, RunDir
from lull.trace import recording
from lull.trace.datfile import TraceFile

_STAMP = "<u8"
"""The type of a page's first value, the time of its first event. The page's other times are relative to it."""
_PAGE = 4096


@dataclass(frozen=True)
class Repeated:
    path: Path
    times: int
    stats_bytes: int
    trace_bytes: int


def repeat(rundir: RunDir, folder: Path, size: int) -> Repeated:
    """Write a run of at least `size` bytes of statistics (as text) and trace. The table of statistics is made later."""
    for name in (STATS_TEXT, STATS_TABLE, TRACE, CPUIDLE):
        if not (rundir / name).is_file():
            raise UserError(f"{rundir / name}: missing; record the run on gem5 with --trace sched --trace power")
    run = source.open_run(rundir)
    once = (rundir / STATS_TEXT).stat().st_size + (rundir / TRACE).stat().st_size
    times = max(1, math.ceil(size / once))
    clock = recording.load(rundir).clock
    counts = math.ceil(len(run.time) / clock.period / 2**clock.shift) << clock.shift
    step = counts * clock.period
    folder.mkdir(parents=True)
    for name in (RUN, CPUIDLE):
        shutil.copyfile(rundir / name, folder / name)
    _repeat_statistics(rundir / STATS_TEXT, folder / STATS_TEXT, times, run.time.start, step)
    _repeat_trace(rundir / TRACE, folder / TRACE, times, (counts >> clock.shift) * clock.mult)
    manifest = rundir.manifest()
    manifest["details"] |= {"ticks": step * times}
    manifest["stats_windows"] = run.window_count * times
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return Repeated(folder, times, (folder / STATS_TEXT).stat().st_size, (folder / TRACE).stat().st_size)


def _repeat_statistics(source: Path, target: Path, times: int, start: int, step: int) -> None:
    windows = [window + f"{stats.END}\n" for window in source.read_text().split(f"{stats.END}\n")[:-1]]
    if len(windows) < 2:
        raise UserError(f"{source}: only {len(windows)} windows in it; record the run with --stats-period 1ms")
    ends = [int(_number(window, "finalTick")) for window in windows]
    windows[-1] = _stretched(windows[-1], start + step - ends[-2])
    ends[-1] = start + step
    # Only the first window of a run also has time before its checkpoint.
    first, later = windows[0], _stretched(windows[1], ends[0] - start)
    with target.open("w") as file:
        for number in range(times):
            for window, end in zip([later if number else first, *windows[1:]], ends, strict=True):
                file.write(_with(window, "finalTick", end + number * step))


def _stretched(window: str, length: int) -> str:
    """Return the window with another length and the same rates. gem5 writes a number after the name, then a remark."""
    share = length / _number(window, "simTicks")
    lines = []
    for line in window.splitlines(keepends=True):
        name, _, rest = line.partition(" ")
        value, _, remark = rest.lstrip().partition(" ")
        if line.startswith("-") or not rest or name.endswith(GAUGES):
            lines.append(line)
        elif name == "simTicks":
            lines.append(f"{name} {length} {remark}")
        else:
            lines.append(f"{name} {float(value) * share!r} {remark}")
    return "".join(lines)


def _number(window: str, name: str) -> float:
    match = re.search(rf"^{name}\s+(\S+)", window, re.MULTILINE)
    if not match:
        raise UserError(f"a window of {STATS_TEXT} has no statistic {name}; gem5 24 and 25 have it")
    return float(match[1])


def _with(window: str, name: str, value: int) -> str:
    return re.sub(rf"^({name}\s+)\S+", rf"\g<1>{value}", window, count=1, flags=re.MULTILINE)


def _repeat_trace(source: Path, target: Path, times: int, step_ns: int) -> None:
    """Append each CPU's pages again to a copy of the file, and then update its header."""
    trace = TraceFile(source)
    if trace.codec != "none":
        raise UserError(f"{source}: compressed, so that it cannot be made longer; record it by `lull boot --trace`")
    shutil.copyfile(source, target)
    with target.open("r+b") as file:
        content = file.read()
        for cpu, place in trace.places.items():
            entry = struct.pack("<IQQ", cpu, *place)
            file.seek(0, 2)
            file.write(bytes(-file.tell() % _PAGE))
            begin = file.tell()
            for pages in _later(trace, cpu, times, step_ns):
                _write(file, pages)
            end = file.tell()
            file.seek(content.index(entry))
            file.write(struct.pack("<IQQ", cpu, begin, end - begin))


def _later(trace: TraceFile, cpu: int, times: int, step_ns: int) -> Iterator[np.ndarray]:
    batches = list(trace.pages(cpu))
    for number in range(times):
        for batch in batches:
            pages = batch.copy()
            pages.view(_STAMP)[:, 0] += number * step_ns
            yield pages


def _write(file: BinaryIO, pages: np.ndarray) -> None:
    file.write(pages.tobytes())
