# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-packets`: equation 1 of the EANeM paper, and its coefficients."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs

from . import batches, line

LOAD = "load.jsonl"
PLACE = ("cpu", "mhz", "mss", "interval_us")
LINEAR = 0.98
"""What the line has to explain of the spread, at least."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    tables = {"intervals": df_intervals(runs), "batches": df_batches(runs)}
    return conclude(tables, [run.name for run in runs.runs], runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the intervals of those points that have run, of all."""
    intervals = tables["intervals"]
    coefficients, lines, wakes = df_coefficients(intervals), df_lines(intervals), df_wakes(intervals)
    return Result(
        summary="## Packets a second = alpha · load · GHz + beta\n\n"
        + waiting.so_far(intervals, points)
        + "Load: the part of an interval in which the CPU did not sleep. Packets: bytes that the program read, by the "
        "mean size of packets that the monitor saw in the same phase. The line goes through the means of phases, and "
        "its 95 % intervals are by them. R² and error are those of all intervals that count. Full: intervals in which "
        "the CPU was busy all the time, which are on no line.\n\n"
        + _coefficients_text(coefficients)
        + "\n## Each frequency alone\n\nWere packets a second linear in load times frequency and in nothing else, the "
        "lines of a core would be the same. They go through the means of phases, too. One packet more: what it takes "
        "at this frequency.\n\n"
        + _lines_text(lines)
        + "\n## What a packet costs\n\nload = packets/s · (cycles / frequency + τ) + base / frequency, through the "
        "means of phases. τ is a time that is the same at each frequency, as that of memory is; equation 1 has none. "
        "Base: what the CPU does without packets. alpha_t and beta_t say cycles and base as equation 1 does: load = "
        "(packets/s - beta_t) / alpha_t / frequency + packets/s · τ. They belong to τ, and alpha and beta of the first "
        "table do not. Their intervals are to first order. The last column is of the same numbers as the first table's "
        "R²: the packets of all intervals, here told from load and frequency. Without one: τ of the fits without one "
        "point, from the least to the most. The intervals take phases to be independent, although those of a point "
        "have one clock and one boot.\n\n"
        + _prices_text(coefficients)
        + batches.text(tables.get("batches"))
        + _wakes_text(wakes),
        tables={
            **tables,
            "coefficients": coefficients,
            "lines": lines,
            **({"wakes": wakes} if wakes.num_rows else {}),
        },
        checks=checks(coefficients) if timed else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    intervals, coefficients = stored.rows("intervals"), stored.rows("coefficients")
    if intervals is None or coefficients is None or not stored.origin.timed:
        return []
    figure = plot_packets(intervals, coefficients, stored.label)
    return [Drawing("packets", figure, "Packets a second over load times frequency, by core and size.")]


def against(stored: Stored) -> list[Against]:
    table = stored.rows("coefficients")
    return [
        Against(
            f"packets a second over load times frequency, {row['group']} core, {row['mss']} bytes: R²", "",
            f"{row['r2_intervals']:.3f}", "linear", source="EANeM paper, figure 3",
        )
        for row in (table.to_pylist() if table else [])
    ]  # fmt: skip


def df_intervals(runs: Runs) -> pa.Table:
    """A row per interval that counts. Its group is the kind of core: `little` of `little-busy-800`, too."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _intervals(run)])


def df_batches(runs: Runs) -> pa.Table:
    """A row per run."""
    return pa.Table.from_pylist([_batch(run) for run in runs.runs], schema=batches.SCHEMA)


def _batch(run: Run) -> Row:
    with run.understanding(LOAD):
        lines = run.lines(LOAD)
        return batches.row(run, _place(run), lines, _mean_bytes([line for line in lines if line["settled"]]))


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE) | {"group": run.group.partition("-")[0]}


def _intervals(run: Run) -> list[Row]:
    place = _place(run)
    with run.understanding(LOAD):
        lines = [line for line in run.lines(LOAD) if line["settled"]]
        sizes = {phase: _mean_bytes([line for line in lines if line["phase"] == phase])
                 for phase in {line["phase"] for line in lines}}  # fmt: skip
        return [_interval(place, line, sizes[line["phase"]]) for line in lines]


def _mean_bytes(lines: Sequence[Row]) -> float:
    """By packet. The monitor's intervals are not quite ours, so its counts are put to use for a whole phase only."""
    packets = sum(int(line["monitor"]["packets"]) for line in lines)
    return sum(int(line["monitor"]["bytes"]) for line in lines) / packets if packets else 0.0


def _interval(place: Row, line: Row, mean_bytes: float) -> Row:
    ns = int(line["ns"])
    load = 1 - min(int(line["slept_ns"]), ns) / ns
    return {
        **place,
        "phase": int(line["phase"]),
        "rate_mbit_s": int(line["rate_kbit_s"]) / 1e3,
        "load": load,
        "load_ghz": load * place["mhz"] / 1e3,
        "wakes_s": int(line["wakes"]) / ns * 1e9,
        "packets_s": int(line["bytes"]) / mean_bytes / ns * 1e9 if mean_bytes else 0.0,
        "mean_bytes": mean_bytes,
        "mbit_s": int(line["bytes"]) * 8e3 / ns,
    }


def df_coefficients(intervals: pa.Table) -> pa.Table:
    """A row per kind of core and size of packets. What a packet costs is null if all points have one frequency."""
    found = []
    for (group, mss), every in _by(intervals.to_pylist(), "group", "mss").items():
        own = [row for row in every if row["load"] < line.FULL]
        phases = _phases(own)
        if len(phases) < line.LEAST:
            continue
        fit = line.fit(*_places(phases))
        judged = line.judge(*_places(own), fit["alpha"], fit["beta"])
        counts = {
            "frequencies": len({row["mhz"] for row in own}), "phases": len(phases), "intervals": len(own),
            "full": len(every) - len(own),
        }  # fmt: skip
        price = line.price(*_loads(phases))
        told = not math.isnan(price["r2_t"])
        price |= {"r2_t_intervals": line.judge_price(*_loads(own), price)}
        price |= _without_each(own, "tau_us", lambda rows: line.price(*_loads(rows)))
        found.append({"group": group, "mss": mss, **counts, **fit, **judged, **(price if told else {})})
    return pa.Table.from_pylist(found, schema=line.SCHEMA)


def df_lines(intervals: pa.Table) -> pa.Table:
    """A row per kind of core, size and frequency: the line through the phases of this frequency."""
    every = [row for row in intervals.to_pylist() if row["load"] < line.FULL]
    found = []
    for (group, mss, mhz), own in _by(every, "group", "mss", "mhz").items():
        phases = _phases(own)
        if len(phases) < line.LEAST:
            continue
        fit = line.fit(*_places(phases))
        judged = line.judge(*_places(own), fit["alpha"], fit["beta"])
        place = {"group": group, "mss": mss, "mhz": mhz}
        found.append({**place, **fit, **judged, "packet_us": 1e9 / fit["alpha"] / mhz})
    return pa.Table.from_pylist(found, schema=line.LINES)


def df_wakes(intervals: pa.Table) -> pa.Table:
    """A row per kind of core and size of packets, if there is more than one frequency.

    No row if some of its points were published before wake-ups were counted.
    """
    every = [row for row in intervals.to_pylist() if row["load"] < line.FULL]
    found = []
    for (group, mss), own in _by(every, "group", "mss").items():
        if any(row.get("wakes_s") is None for row in own):
            continue
        phases = _phases(own)
        told = line.woken(*_wakes(phases))
        if not math.isnan(told["r2_w"]):
            judged = line.judge_woken(*_wakes(own), told)
            ends = _without_each(own, "tau_w_us", lambda rows: line.woken(*_wakes(rows)))
            found.append({"group": group, "mss": mss, "phases": len(phases), **told, "r2_w_intervals": judged, **ends})
    return pa.Table.from_pylist(found, schema=line.WAKES)


def _without_each(own: Sequence[Row], name: str, fit: Callable[[Sequence[Row]], Mapping[str, float]]) -> Row:
    """The least and the most of a fitted value over the fits without one point each. Null if a point is missed so much
    that the others have no fit."""
    points = dict.fromkeys(row["point"] for row in own)
    values = [fit(_phases([row for row in own if row["point"] != point]))[name] for point in points]
    known = len(values) > 1 and not any(map(math.isnan, values))
    return {f"{name}_{end}": pick(values) if known else None for end, pick in (("least", min), ("most", max))}


def _by(rows: Sequence[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def _column(rows: Sequence[Row], name: str) -> list[float]:
    return [row[name] for row in rows]


def _places(rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    return _column(rows, "load_ghz"), _column(rows, "packets_s")


def _loads(rows: Sequence[Row]) -> tuple[list[float], list[float], list[float]]:
    """Packets, clocks in GHz, loads."""
    return _column(rows, "packets_s"), [mhz / 1e3 for mhz in _column(rows, "mhz")], _column(rows, "load")


def _wakes(rows: Sequence[Row]) -> tuple[list[float], list[float], list[float], list[float]]:
    """Packets, wake-ups, clocks in GHz, loads."""
    packets, clocks, loads = _loads(rows)
    return packets, _column(rows, "wakes_s"), clocks, loads


def _phases(rows: Sequence[Row]) -> list[Row]:
    """The means of each phase of each point. Its intervals are no measurements of their own: they have one load."""
    names = [
        name for name in ("load", "load_ghz", "packets_s", "wakes_s", "mhz")
        if all(row.get(name) is not None for row in rows)
    ]  # fmt: skip
    return [
        {name: float(np.mean([row[name] for row in own])) for name in names}
        for own in _by(rows, "point", "phase").values()
    ]


def _coefficients_text(coefficients: pa.Table) -> str:
    return markdown_table(
        (
            "core", "payload of a packet, bytes", "frequencies", "phases", "intervals", "full",
            "alpha, packets/s/GHz", "beta, packets/s", "R²", "error, %",
        ),
        [
            (
                row["group"], row["mss"], row["frequencies"], row["phases"], row["intervals"], row["full"],
                waiting.mean_text(row, "alpha"), waiting.mean_text(row, "beta"), f"{row['r2_intervals']:.4f}",
                f"{100 * row['error']:.2g}",
            )
            for row in coefficients.to_pylist()
        ],
    )  # fmt: skip


def _lines_text(lines: pa.Table) -> str:
    return markdown_table(
        (
            "core", "payload of a packet, bytes", "MHz", "alpha, packets/s/GHz", "beta, packets/s", "R²",
            "one packet more, µs",
        ),
        [
            (
                row["group"], row["mss"], row["mhz"], waiting.mean_text(row, "alpha"), waiting.mean_text(row, "beta"),
                f"{row['r2_intervals']:.4f}", f"{row['packet_us']:.3g}",
            )
            for row in lines.to_pylist()
        ],
    )  # fmt: skip


def _prices_text(coefficients: pa.Table) -> str:
    """Of those that have several frequencies."""
    return markdown_table(
        (
            "core", "payload of a packet, bytes", "cycles", "τ, µs", "base, MHz", "alpha_t, packets/s/GHz",
            "beta_t, packets/s", "τ without one, µs", "R² of the phases' loads", "R²",
        ),
        [
            (
                row["group"], row["mss"], *(waiting.mean_text(row, name) for name in line.PRICE),
                _range_text(row, "tau_us"),
                *(f"{row[name]:.4f}" for name in ("r2_t", "r2_t_intervals")),
            )
            for row in coefficients.to_pylist()
            if row["r2_t"] is not None
        ],
    )  # fmt: skip


def _wakes_text(wakes: pa.Table) -> str:
    if not wakes.num_rows:
        return ""
    return (
        "\n## What a wake-up costs\n\n"
        "load = packets/s · (cycles / frequency + τ) + wake-ups/s · wake cycles / frequency, "
        "through the means of phases. Wake-ups: how often the CPU left an idle state, for packets or anything else. "
        "What is left of τ here is no matter of how many packets come together. The last column is as in the table "
        "before: packets of all intervals, told from load, frequency and wake-ups.\n\n"
        + markdown_table(
            (
                "core", "payload of a packet, bytes", "cycles", "τ, µs", "wake cycles", "τ without one, µs",
                "R² of the phases' loads", "R²",
            ),
            [
                (
                    row["group"], row["mss"], *(waiting.mean_text(row, name) for name in line.WOKEN),
                    _range_text(row, "tau_w_us"),
                    *(f"{row[name]:.4f}" for name in ("r2_w", "r2_w_intervals")),
                )
                for row in wakes.to_pylist()
            ],
        )
    )  # fmt: skip


def _range_text(row: Row, name: str) -> str:
    least, most = (row[f"{name}_{end}"] for end in ("least", "most"))
    return "-" if least is None else f"{least:.3g} to {most:.3g}"


def checks(coefficients: pa.Table) -> list[Check]:
    """One frequency alone cannot tell whether packets go with load times frequency."""
    return [
        Check(
            f"{row['group']}, {row['mss']} bytes: packets a second are linear in load times frequency",
            row["r2_intervals"] >= LINEAR and row["frequencies"] > 1,
            f"R² {row['r2_intervals']:.4f}, at least {LINEAR:g}; {row['intervals']} intervals at "
            f"{row['frequencies']} frequencies",
        )
        for row in coefficients.to_pylist()
    ]


def plot_packets(intervals: pa.Table, coefficients: pa.Table, label: str) -> Figure:
    figure, axes = style.panels(2, 2, 2.6)
    every = intervals.to_pylist()
    for axis, group in zip(axes, ("little", "big"), strict=True):
        for number, mss in enumerate(sorted({row["mss"] for row in every})):
            own = [row for row in every if (row["group"], row["mss"]) == (group, mss)]
            axis.plot(
                [row["load_ghz"] for row in own], [row["packets_s"] for row in own], style.MARKERS[number],
                color="black", markersize=4, label=f"{mss} bytes",
            )  # fmt: skip
        for row in coefficients.to_pylist():
            if row["group"] == group:
                end = max(each["load_ghz"] for each in every if each["group"] == group)
                axis.plot([0, end], [row["beta"], row["beta"] + row["alpha"] * end], color="black", linewidth=0.8)
        axis.set_title(group)
        axis.set_xlabel("load times frequency (GHz)")
    axes[0].set_ylabel("packets/s")
    axes[0].legend()
    figure.suptitle(f"Packets received\n{label}")
    return figure
