# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `hotplug-residency`: tables III and VI of the pseudo hotplug paper."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure

from lull.figures import time_asleep, waiting
from lull.figures.time_asleep import AWAKE
from lull.platform.schema import cpus_of_list
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
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
PLACE = ("way", "cpus", "rt_threads", "cpufreq")
"""What says which point a row is of."""
IS_OFF = "off"
"""The state of a CPU that Linux has turned off."""
OFF = ("conventional",)
"""Ways after which a CPU is off. Linux has no idle state of it, and nothing wakes it."""

UNKNOWN = "before the first wake-up"
"""The cause of being awake until a CPU's first traced wake-up."""
GOAL = 0.99
"""The share of the time out that a CPU sleeps in the deepest state, where no real-time task is on it."""
PAPER_NORMAL, PAPER_PSEUDO = 0.63, 0.9562
NAMELESS = (UNKNOWN, "none", "ipi:unknown")
"""Causes that are none."""
UNEXPLAINED = 0.001
"""The share of the time out that may be missing from the deepest state without a cause."""

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
    tables = {
        "windows": df_windows(runs.runs), "wakes": df_wakes(runs.runs), "residency": df_residency(runs.runs),
    }  # fmt: skip
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
        "to its last tile.\n\n"
        + _points_text(means)
        + "\n## Time by idle state, %\n\nMeans over the CPUs that are out, and over all others.\n\n"
        + _residency_text(tables["residency"])
        + "\n## Who wakes CPUs that are out\n\n"
        "Wake-ups a second of all CPUs that are out together, by what armed the timer or made the call, where that is "
        "known. The last column is the time that such wake-ups keep a CPU from the deepest state, as a share of the "
        "time out: the sum of a point's rows is what its CPUs lack to 100 %.\n\n" + _causes_text(causes),
        tables={**tables, "points": means},
        checks=checks(means, causes),
    )


def draw(stored: Stored) -> list[Drawing]:
    residency = stored.rows("residency")
    if residency is None or not stored.origin.timed:
        return []
    caption = "Time of the CPUs that are out by idle state, by the way they are taken out."
    return [Drawing("residency", plot_residency(residency, stored.label), caption)]


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    published = {"none": PAPER_NORMAL, "pseudo": PAPER_PSEUDO}
    return [
        Against(
            f"{row['point']}: time in the deepest state", "%", f"{100 * row['out_share']:.4g}",
            f"{100 * published[row['way']]:g}", source="pseudo hotplug paper, table VI",
        )
        for row in (points.to_pylist() if points else [])
        if row["way"] in published and row["cpufreq"] == "performance"
    ]  # fmt: skip


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
                    **waiting.place(run, PLACE),
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


def _out(run: Run) -> list[int]:
    """The CPUs that are out."""
    return cpus_of_list(str(run.values["cpus"]))


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
    shares = _shares(run, record, cpu, window)
    return shares.get(IS_OFF, shares.get(run.cluster(cpu).cstates[-1].name, 0.0))


def _shares(run: Run, record: Recording, cpu: int, window: _Window) -> dict[str, float]:
    """The shares of a window that a CPU is in each state. A CPU that is off is so until its first event."""
    changes = record.changes[cpu]
    if run.values["way"] in OFF and cpu in _out(run):
        stays = not ((changes.time >= window.begin) & (changes.time < window.end)).any()
        return {AWAKE: float(not stays), IS_OFF: float(stays)}
    found = sleeps(changes)
    times = np.maximum(np.minimum(found.end, window.end) - np.maximum(found.start, window.begin), 0)
    names = [state.name for state in run.cluster(cpu).cstates]
    ticks = np.bincount(found.state, times, len(names)) / (window.end - window.begin)
    return {AWAKE: max(0.0, 1 - float(ticks.sum())), **dict(zip(names, map(float, ticks), strict=True))}


def df_residency(runs: Sequence[Run]) -> pa.Table:
    """A row per point, CPU and state: the share of the time of all repetitions."""
    rows = []
    for run in runs:
        record, out = recording.load(run.rundir()), _out(run)
        windows = _windows(run, record)
        ticks = sum(window.end - window.begin for window in windows)
        for cpu in range(run.spec.platform.cpu_count):
            found: dict[str, float] = {}
            for window in windows:
                for state, share in _shares(run, record, cpu, window).items():
                    found[state] = found.get(state, 0.0) + share * (window.end - window.begin) / ticks
            place = {**waiting.place(run, PLACE), "cpu": cpu, "out": cpu in out}
            rows += [{**place, "state": state, "share": share} for state, share in found.items()]
    return pa.Table.from_pylist(rows)


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
    names = ("out_share", "least_share", "others_share", "wakes_hz", "frames_hz", "frame_us")
    for own in waiting.by_point(windows).values():
        row: Row = {name: own[0][name] for name in ("point", "group", *PLACE)}
        row |= waiting.means(own, names)
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
                **waiting.place(run, PLACE),
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
        "way", "RT threads", "clocks", "out, %", "least of them", "others, %", "wake-ups/s of each", "frames/s",
        "frame, µs", "longest",
    )  # fmt: skip
    rows = [
        (
            row["way"], row["rt_threads"], row["cpufreq"],
            *(waiting.mean_text(row, name, 100) for name in ("out_share", "least_share", "others_share")),
            *(waiting.mean_text(row, name) for name in ("wakes_hz", "frames_hz", "frame_us")),
            f"{row['frame_most_us']:.5g}",
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _residency_text(residency: pa.Table) -> str:
    every = residency.to_pylist()
    states = sorted({row["state"] for row in every}, key=lambda state: (state != AWAKE, state))
    rows = []
    for point, out in dict.fromkeys((row["point"], row["out"]) for row in every):
        own = [row for row in every if (row["point"], row["out"]) == (point, out)]
        cpus = len({row["cpu"] for row in own})
        sums = {state: sum(row["share"] for row in own if row["state"] == state) for state in states}
        cells = (f"{100 * sums[state] / cpus:.4g}" for state in states)
        rows.append((point, "out" if out else "others", *cells))
    return markdown_table(("point", "CPUs", *states), rows)


def _causes_text(causes: pa.Table) -> str:
    rows = [
        (row["way"], row["rt_threads"], row["cause"], f"{row['hz']:.3g}", f"{100 * row['awake_share']:.3g}")
        for row in causes.to_pylist()
    ]
    return markdown_table(("way", "RT threads", "cause", "a second", "awake, %"), rows)


def checks(points: pa.Table, causes: pa.Table) -> list[Check]:
    """CPUs that conventional hotplug took out stay out; those that pseudo hotplug took out sleep, or one knows why."""
    found = []
    rows, every = points.to_pylist(), causes.to_pylist()
    off = [row for row in rows if row["way"] in OFF]
    if off:
        says = ", ".join(f"{row['out_share']:.1%}" for row in off)
        found.append(Check("a CPU that is off stays off", all(row["least_share"] == 1 for row in off), says))
    for row in (row for row in rows if row["way"] == "pseudo"):
        known = sum(each["awake_share"] for each in every
                    if each["point"] == row["point"] and each["cause"] not in NAMELESS)  # fmt: skip
        found.append(
            Check(
                f"what CPUs that are out lack to 100 % has its causes: {row['point']}",
                abs(1 - row["out_share"] - known) <= UNEXPLAINED,
                f"{1 - row['out_share']:.3%} are missing, and {known:.3%} have a cause",
            )
        )
        if row["rt_threads"]:
            continue
        low = student.ends(row["out_share"], row["out_share_pm"])[0]
        found.append(
            Check(
                f"CPUs that pseudo hotplug took out spend {GOAL:.0%} in the deepest state: {row['point']}",
                low >= GOAL,
                f"{row['out_share']:.2%}, at least {low:.2%}; paper: {PAPER_PSEUDO:.2%} with real-time tasks, and "
                f"{PAPER_NORMAL:.0%} of CPUs that are not out",
            )
        )
    return found


def plot_residency(residency: pa.Table, label: str) -> Figure:
    out = residency.filter(pc.field("out"))
    figure, (axis,) = style.panels(1, 1, 0.8 + 0.25 * len(waiting.by_point(out)))
    time_asleep.draw_by_point(axis, out)
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.suptitle(f"CPUs that are out while a screen is scrolled\n{label}")
    return figure
