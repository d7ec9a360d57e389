# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `hotplug-residency`: tables III and VI of the pseudo hotplug paper."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student
from lull.trace import recording, wakes
from lull.trace.clock import TICK_HZ
from lull.trace.events import Numbers
from lull.trace.recording import Recording
from lull.trace.sleeps import NEVER, sleeps

FILE = "windows.jsonl"
OFF = ("conventional",)
"""Ways after which a CPU is off. Linux has no idle state of it, and nothing wakes it."""

UNKNOWN = "before the first wake-up"
"""The cause of being awake until a CPU's first traced wake-up."""
GOAL = 0.99
"""The share of the time out that a CPU sleeps in the deepest state, where no real-time task is on it."""
PAPER_NORMAL, PAPER_PSEUDO = 0.63, 0.9562

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

    def has(self, woken: "_Woken") -> bool:
        return woken.cause != UNKNOWN and self.begin <= woken.time < self.end


def analyse(runs: Runs) -> Result:
    tables = {"windows": df_windows(runs.runs), "wakes": df_wakes(runs.runs)}
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    windows, causes = tables["windows"], tables["wakes"]
    means = df_points(windows)
    return Result(
        summary="## Time in the deepest idle state\n\n"
        + waiting.so_far(windows, points)
        + "Share of the time of the CPUs that are out, and of all others, in the deepest state or off, and how often a "
        "CPU that is out is woken. Means with 95 % intervals over repetitions. A frame's time is from when it was due "
        "to its last tile.\n\n" + _points_text(means) + "\n## Who wakes CPUs that are out\n\n"
        "Wake-ups a second of all CPUs that are out together, by what armed the timer or made the call, where that is "
        "known. The last column is the time that such wake-ups keep a CPU from the deepest state, as a share of the "
        "time out: the sum of a point's rows is what its CPUs lack to 100 %.\n\n" + _causes_text(causes),
        tables={"windows": windows, "points": means, "wakes": causes},
        checks=checks(means),
    )


def df_windows(runs: Sequence[Run]) -> pa.Table:
    """A row per repetition."""
    rows = []
    for run in runs:
        record = recording.load(run.rundir())
        out, woken = _out(run), _woken(run, record)
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
                    "wakes_hz": sum(window.has(wake) for wake in woken) / seconds / len(out),
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


@dataclass(frozen=True)
class _Woken:
    """A wake-up of a CPU that is out."""

    cause: str
    time: int
    awake: tuple[int, int]
    """From the wake-up until the CPU is in the deepest state again."""

    def awake_in(self, window: _Window) -> int:
        return max(0, min(self.awake[1], window.end) - max(self.awake[0], window.begin))


def _woken(run: Run, record: Recording) -> list[_Woken]:
    """The wake-ups of the CPUs that are out. Until its first wake-up, a CPU is awake for an unknown cause."""
    every = wakes.of_recording(record, run.spec.platform)
    found = []
    for cpu in _out(run):
        own = [wake for wake in every if wake.cpu == cpu]
        asleep = sleeps(record.changes[cpu])
        deep = asleep.start[asleep.state == len(run.cluster(cpu).cstates) - 1]
        causes = [UNKNOWN, *(wake.armed_by or wake.source for wake in own)]
        times = [record.begin, *(wake.time for wake in own)]
        ends = [*times[1:], NEVER]
        found += [
            _Woken(cause, time, (time, min(end, _first_from(deep, time))))
            for cause, time, end in zip(causes, times, ends, strict=True)
        ]
    return found


def _first_from(times: Numbers, time: int) -> int:
    at = int(np.searchsorted(times, time))
    return int(times[at]) if at < times.size else NEVER


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
    """Wake-ups of the CPUs that are out, and time awake by cause, over all repetitions of a point."""
    rows = []
    for run in runs:
        record = recording.load(run.rundir())
        windows = _windows(run, record)
        ticks = sum(window.end - window.begin for window in windows)
        counts: Counter[str] = Counter()
        awake: Counter[str] = Counter()
        for woken in () if run.values["way"] in OFF else _woken(run, record):
            name = _named(woken.cause)
            counts[name] += sum(window.has(woken) for window in windows)
            awake[name] += sum(woken.awake_in(window) for window in windows)
        rows += [
            {
                **_place(run),
                "cause": cause,
                "count": counts[cause],
                "hz": counts[cause] * TICK_HZ / ticks,
                "awake_share": awake[cause] / ticks / len(_out(run)),
            }
            for cause in sorted(awake, key=lambda each: (-awake[each], -counts[each], each))
            if counts[cause] or awake[cause]
        ]
    return pa.Table.from_pylist(rows, schema=_WAKES)


_WAKES = pa.schema(
    [
        *((name, pa.string()) for name in ("point", "group", "way", "cpus")), ("rt_threads", pa.int64()),
        ("cpufreq", pa.string()), ("cause", pa.string()), ("count", pa.int64()), ("hz", pa.float64()),
        ("awake_share", pa.float64()),
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
    rows = [
        (row["way"], row["rt_threads"], row["cause"], f"{row['hz']:.3g}", f"{100 * row['awake_share']:.3g}")
        for row in causes.to_pylist()
    ]
    return markdown_table(("way", "RT threads", "cause", "a second", "awake, %"), rows)


def checks(points: pa.Table) -> list[Check]:
    """CPUs that conventional hotplug took out stay out, and those that pseudo hotplug took out sleep."""
    found = []
    rows = points.to_pylist()
    off = [row for row in rows if row["way"] in OFF]
    if off:
        says = ", ".join(f"{row['out_share']:.1%}" for row in off)
        found.append(Check("a CPU that is off stays off", all(row["least_share"] == 1 for row in off), says))
    for row in rows:
        if row["way"] == "pseudo" and not row["rt_threads"]:
            low = row["out_share"] - (row["out_share_pm"] or 0.0)
            found.append(
                Check(
                    f"CPUs that pseudo hotplug took out spend {GOAL:.0%} in the deepest state: {row['point']}",
                    low >= GOAL,
                    f"{row['out_share']:.2%}, at least {low:.2%}; paper: {PAPER_PSEUDO:.2%}, and {PAPER_NORMAL:.0%} of "
                    "CPUs that are not out",
                )
            )
    return found
