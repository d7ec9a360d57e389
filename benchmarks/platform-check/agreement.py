# SPDX-License-Identifier: BSD-3-Clause
"""Do three sources agree on how long each CPU slept?"""

from itertools import combinations
from typing import Any

import pyarrow as pa
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs

from . import residency

SOURCES = ("gem5", "firmware", "linux")
TOLERANCE = 0.01


def tables(runs: Runs) -> dict[str, pa.Table]:
    windows = residency.read(runs)
    table = residency.df_residency(windows)
    return {"residency": table, "cpuidle": residency.df_cpuidle(windows)} if table.num_rows else {}


def extend(result: Result, engine: str) -> None:
    table, cpuidle = result.tables["residency"], result.tables["cpuidle"]
    agreement = df_agreement(table)
    result.tables["agreement"] = agreement
    result.summary += (
        "## Time asleep by source\n\n" + _residency_text(table) + "\n## cpuidle\n\n" + _cpuidle_text(cpuidle)
    )
    result.checks += checks(agreement, engine)


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("agreement")
    if table is None:
        return []
    caption = f"Difference in time asleep between sources, per CPU and state; the band is ±{TOLERANCE:.0%}."
    return [Drawing("agreement", plot_agreement(table, stored.label), caption)]


def df_agreement(table: pa.Table) -> pa.Table:
    """A row per point, CPU and pair of sources that both know: how far apart, as a share and per sleep, and what the
    hardware took of each sleep, to go down and to come up."""
    rows: list[dict[str, object]] = []
    for row in table.to_pylist():
        for first, second in combinations(SOURCES, 2):
            less, more = row[f"{first}_s"], row[f"{second}_s"]
            if less is None or more is None:
                continue
            rows.append(
                {
                    "point": row["point"],
                    "asked": row["asked"],
                    "cluster": row["cluster"],
                    "cpu": row["cpu"],
                    "first": first,
                    "second": second,
                    "difference": abs(more - less) / max(more, less, 1e-12),
                    "per_sleep_us": _per_sleep_us(more - less, row),
                    "hardware_us": None
                    if row["gem5_s"] is None
                    else _per_sleep_us(row["gem5_s"] - row["gem5_gated_s"], row),
                }
            )
    return pa.Table.from_pylist(rows, _SCHEMA)


def _per_sleep_us(seconds: float, row: dict[str, Any]) -> float | None:
    return seconds * 1e6 / row["sleeps"] if row["sleeps"] else None


_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("point", "asked", "cluster")),
        ("cpu", pa.int32()),
        *((name, pa.string()) for name in ("first", "second")),
        ("difference", pa.float64()),
        ("per_sleep_us", pa.float64()),
        ("hardware_us", pa.float64()),
    ]
)


def checks(agreement: pa.Table, engine: str) -> list[Check]:
    """One per pair of sources, with the worst CPU. A source that gem5 must have and has not fails too."""
    found: list[Check] = []
    for first, second in combinations(SOURCES, 2):
        rows = [row for row in agreement.to_pylist() if (row["first"], row["second"]) == (first, second)]
        name = f"{first} and {second} agree on time asleep"
        if rows:
            worst = max(rows, key=lambda row: float(row["difference"]))
            says = (
                f"worst on CPU {worst['cpu']} ({worst['cluster']}) in {worst['asked']}: {worst['difference']:.3%} "
                f"apart, may be {TOLERANCE:.0%}; {len(rows)} compared"
            )
            found.append(Check(name, worst["difference"] <= TOLERANCE, says))
        elif engine == "gem5":
            found.append(Check(name, passed=False, says="nothing to compare: one of the two left no numbers"))
    return [*found, *_closer_than_hardware(agreement)]


def _closer_than_hardware(agreement: pa.Table) -> list[Check]:
    """Sleeps are long, so that all that hardware takes of them would be lost in a share. Linux's time holds the
    firmware's path, which is shorter."""
    rows = [row for row in agreement.to_pylist() if row["asked"] != "C1" and row["hardware_us"] is not None]
    if not rows:
        return []
    worst = max(rows, key=lambda row: abs(row["per_sleep_us"]) - row["hardware_us"])
    apart, hardware = abs(worst["per_sleep_us"]), worst["hardware_us"]
    says = (
        f"worst on CPU {worst['cpu']} ({worst['cluster']}) in {worst['asked']}: {worst['first']} and {worst['second']} "
        f"{apart:.3g} µs apart a sleep, of which hardware takes {hardware:.3g} µs; {len(rows)} compared"
    )
    return [Check("what sources are apart is less than what hardware takes of a sleep", apart < hardware, says)]


def plot_agreement(agreement: pa.Table, label: str) -> Figure:
    """A panel per pair; CPUs along the axis, states by marker."""
    rows = agreement.to_pylist()
    pairs = list(dict.fromkeys((row["first"], row["second"]) for row in rows))
    states = sorted({row["asked"] for row in rows})
    figure, axes = style.panels(len(pairs), len(pairs), 2.2, shared=True)
    handles: dict[str, Artist] = {}
    for axis, pair in zip(axes, pairs, strict=True):
        axis.axhspan(-100 * TOLERANCE, 100 * TOLERANCE, color="0.92")
        for number, state in enumerate(states):
            here = [row for row in rows if (row["first"], row["second"], row["asked"]) == (*pair, state)]
            (points,) = axis.plot(
                [row["cpu"] + 0.12 * (number - (len(states) - 1) / 2) for row in here],
                [100 * row["difference"] for row in here],
                linestyle="none", marker=style.MARKERS[number], markersize=4, markerfacecolor="none", color="black",
            )  # fmt: skip
            handles.setdefault(state, points)
        axis.set_title(f"{pair[0]} and {pair[1]}")
        axis.set_xlabel("CPU")
        axis.set_xticks(sorted({row["cpu"] for row in rows}))
    axes[0].set_ylabel("difference (% of time asleep)")
    axes[0].set_ylim(bottom=0)
    figure.suptitle(f"Time asleep by independent sources\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles))
    return figure


def _residency_text(table: pa.Table) -> str:
    def seconds(value: float | None) -> str:
        return "-" if value is None else f"{value:.6f}"

    rows = [
        (
            row["asked"], row["cluster"], row["cpu"], f"{row['window_s']:.6f}", row["sleeps"],
            *(seconds(row[f"{source}_s"]) for source in SOURCES),
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    return markdown_table(("asked", "cluster", "CPU", "window, s", "sleeps", *(f"{s}, s" for s in SOURCES)), rows)


def _cpuidle_text(table: pa.Table) -> str:
    rows = [
        (row["point"], row["cluster"], row["cpu"], row["state"], *(row[name] for name in residency.COUNTERS))
        for row in table.to_pylist()
    ]
    return markdown_table(("point", "cluster", "CPU", "state", "time, µs", *residency.COUNTERS[1:]), rows)
