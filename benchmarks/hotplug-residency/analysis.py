# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `hotplug-residency`: tables III and VI of the pseudo hotplug paper."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student
from lull.trace import recording, wakes
from lull.trace.clock import TICK_HZ
from lull.trace.recording import Recording
from lull.trace.sleeps import sleeps

FILE = "windows.jsonl"
OFF = ("conventional",)
"""Ways after which a CPU is off. Linux has no idle state of it, and nothing wakes it."""

Row = dict[str, Any]


@dataclass(frozen=True)
class _Window:
    number: int
    begin: int
    end: int
    """Ticks."""
    frames: int
    frame_sum_ns: int
    frame_most_ns: int


def analyse(runs: Runs) -> Result:
    windows = df_windows(runs.runs)
    points, causes = df_points(windows), df_wakes(runs.runs)
    return Result(
        summary="## Time in the deepest idle state\n\n"
        "Share of the time of the CPUs that are out, and of all others, in the deepest state or off, and how often a "
        "CPU that is out is woken. Means with 95 % intervals over repetitions. A frame's time is from when it was due "
        "to its last tile.\n\n" + _points_text(points) + "\n## Who wakes CPUs that are out\n\n"
        "Wake-ups a second of all CPUs that are out together, by what armed the timer or made the call, where that is "
        "known.\n\n" + _causes_text(causes),
        tables={"windows": windows, "points": points, "wakes": causes},
        checks=checks(points),
    )


def df_windows(runs: Sequence[Run]) -> pa.Table:
    """A row per repetition."""
    rows = []
    for run in runs:
        record = recording.load(run.rundir())
        out = _out(run)
        for window in _windows(run, record):
            seconds = (window.end - window.begin) / TICK_HZ
            shares = {cpu: _deep_share(run, record, cpu, window) for cpu in range(run.spec.platform.cpu_count)}
            rows.append(
                {
                    **_place(run),
                    "window": window.number,
                    "seconds": seconds,
                    "out_share": float(np.mean([shares[cpu] for cpu in out])),
                    "least_share": min(shares[cpu] for cpu in out),
                    "others_share": float(np.mean([share for cpu, share in shares.items() if cpu not in out])),
                    "wakes_hz": sum(1 for _ in _woken(run, record, window)) / seconds / len(out),
                    "frames_hz": window.frames / seconds,
                    "frame_us": window.frame_sum_ns / max(1, window.frames) / 1e3,
                    "frame_most_us": window.frame_most_ns / 1e3,
                }
            )
    return pa.Table.from_pylist(rows)


def _place(run: Run) -> Row:
    names = ("way", "cpus", "rt_threads", "cpufreq")
    return {"point": run.name, "group": run.group, **{name: run.values[name] for name in names}}


def _out(run: Run) -> list[int]:
    """The CPUs of a list such as 4-7 or 1,3."""
    found: list[int] = []
    for part in str(run.values["cpus"]).split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _windows(run: Run, record: Recording) -> list[_Window]:
    period = record.clock.period
    with run.understanding(FILE):
        return [
            _Window(
                int(line["window"]), int(line["begin"]) * period, int(line["end"]) * period, int(line["frames"]),
                int(line["frame_sum_ns"]), int(line["frame_most_ns"]),
            )
            for line in run.lines(FILE)
        ]  # fmt: skip


def _deep_share(run: Run, record: Recording, cpu: int, window: _Window) -> float:
    """The share of a window in which a CPU is in the deepest state, or off."""
    changes = record.changes[cpu]
    if run.values["way"] in OFF and cpu in _out(run):
        return float(not ((changes.time >= window.begin) & (changes.time < window.end)).any())
    found = sleeps(changes)
    deepest = found.state == len(run.cluster(cpu).cstates) - 1
    start, end = np.maximum(found.start[deepest], window.begin), np.minimum(found.end[deepest], window.end)
    return float(np.maximum(end - start, 0).sum()) / (window.end - window.begin)


def _woken(run: Run, record: Recording, window: _Window) -> Iterator[str]:
    """The cause of each wake-up of a CPU that is out."""
    out = _out(run)
    for wake in wakes.of_recording(record, run.spec.platform):
        if wake.cpu in out and window.begin <= wake.time < window.end:
            yield wake.armed_by or wake.source


def df_points(windows: pa.Table) -> pa.Table:
    """Means over repetitions, each `name` with half its interval `name_pm`."""
    rows = []
    every = windows.to_pylist()
    for point in dict.fromkeys(row["point"] for row in every):
        own = [row for row in every if row["point"] == point]
        row: Row = {name: own[0][name] for name in ("point", "group", "way", "cpus", "rt_threads", "cpufreq")}
        for name in ("out_share", "least_share", "others_share", "wakes_hz", "frames_hz", "frame_us"):
            row[name], row[f"{name}_pm"] = student.mean([each[name] for each in own])
        row["frame_most_us"] = max(each["frame_most_us"] for each in own)
        rows.append(row)
    return pa.Table.from_pylist(rows)


def df_wakes(runs: Sequence[Run]) -> pa.Table:
    """Wake-ups of the CPUs that are out, by cause, over all repetitions of a point."""
    rows = []
    for run in runs:
        record = recording.load(run.rundir())
        windows = _windows(run, record)
        seconds = sum(window.end - window.begin for window in windows) / TICK_HZ
        counts = Counter(_named(cause) for window in windows for cause in _woken(run, record, window))
        rows += [
            {**_place(run), "cause": cause, "count": count, "hz": count / seconds}
            for cause, count in counts.most_common()
        ]
    return pa.Table.from_pylist(rows, schema=_WAKES)


_WAKES = pa.schema(
    [
        *((name, pa.string()) for name in ("point", "group", "way", "cpus")), ("rt_threads", pa.int64()),
        ("cpufreq", pa.string()), ("cause", pa.string()), ("count", pa.int64()), ("hz", pa.float64()),
    ]
)  # fmt: skip


def _named(cause: str) -> str:
    """A cause without the number of its process: threads of a program are one cause."""
    head, slash, number = cause.rpartition("/")
    return head if slash and number.isdecimal() else cause


def _points_text(points: pa.Table) -> str:
    headings = (
        "way", "RT threads", "out, %", "least of them", "others, %", "wake-ups/s of each", "frames/s", "frame, µs",
        "longest",
    )  # fmt: skip
    rows = [
        (
            row["way"], row["rt_threads"],
            *(_cell(row, name, 100) for name in ("out_share", "least_share", "others_share")),
            _cell(row, "wakes_hz"), _cell(row, "frames_hz"), _cell(row, "frame_us"), f"{row['frame_most_us']:.5g}",
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _cell(row: Row, name: str, scale: float = 1.0) -> str:
    half = row[f"{name}_pm"]
    return f"{row[name] * scale:.4g}" + ("" if half is None else f" ± {half * scale:.2g}")


def _causes_text(causes: pa.Table) -> str:
    rows = [(row["way"], row["rt_threads"], row["cause"], f"{row['hz']:.3g}") for row in causes.to_pylist()]
    return markdown_table(("way", "RT threads", "cause", "a second"), rows)


def checks(points: pa.Table) -> list[Check]:
    """CPUs that conventional hotplug took out stay out."""
    rows = [row for row in points.to_pylist() if row["way"] in OFF]
    says = ", ".join(f"{row['out_share']:.1%}" for row in rows)
    return [Check("a CPU that is off stays off", all(row["least_share"] == 1 for row in rows), says)] if rows else []
