# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `energy-validation`: does the ledger say of known states what others have measured?"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from lull.energy import published, technology
from lull.energy.rows import BANDS, CALIBRATED, RAW
from lull.figures import steady
from lull.figures.steady import Steady
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs

from . import asleep, wakes

BUSY, MEMORY = "busy", "memory"
MEAN_ERROR = 0.15
"""The largest mean error of a busy core's calibrated dynamic power, over a cluster's published operating points."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    if not runs.timed:
        return Result(summary=f"{runs.label}: no joules, and so nothing to compare.\n")
    busy = steady.read(runs, BUSY, MEMORY)
    idle = steady.read(runs, asleep.GROUP)
    tables = {"busy": df_busy(busy), "windows": steady.df_windows([*busy, *idle]), "asleep": asleep.df_asleep(idle)}
    return conclude(tables, runs.names)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables alone. Shares of a busy core and the energy of a wake-up are computed anew."""
    busy, windows, idle = (tables[name] for name in ("busy", "windows", "asleep"))
    result = Result(
        summary="## A busy CPU, mW\n\n" + _busy_text(busy),
        tables={"busy": busy, "windows": windows, "asleep": idle},
        checks=[steady.check(windows), *checks(busy)],
    )
    if idle.num_rows:
        asleep.extend(result, idle, busy)
        wakes.extend(result, set(idle["platform"].to_pylist()))
    return result


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("busy")
    if table is None:
        return []
    caption = "Dynamic power of one busy core at every operating point: published, calibrated, and raw McPAT."
    return [Drawing("busy", plot_busy(table, stored.label), caption)]


def against(stored: Stored) -> list[Against]:
    """At the fastest operating point of each cluster that somebody has published."""
    table = stored.rows("busy")
    rows = [row for row in (table.to_pylist() if table else []) if row["loop"] == "primes" and row["published_w"]]
    fastest = {(row["platform"], row["cluster"]): row for row in sorted(rows, key=lambda row: float(row["mhz"]))}
    return [
        Against(
            f"{platform}: dynamic power of a busy core of {cluster} at {row['mhz']:g} MHz", "mW",
            f"{row['calibrated_dynamic_w'] * 1e3:.4g} (raw McPAT {row['raw_dynamic_w'] * 1e3:.4g})",
            f"{row['published_w'] * 1e3:.4g}", source="power-models/published.yaml",
        )
        for (platform, cluster), row in fastest.items()
    ]  # fmt: skip


def df_busy(windows: Sequence[Steady]) -> pa.Table:
    """A row per loop, cluster and operating point: watts of the one busy core and of what it makes others burn.

    Published is the core's dynamic power alone, `published_w`, and its leakage where somebody gives it. The loop
    `primes` is what published figures are assumed to be of.
    """
    theirs = published.load()
    dynamic = {(figure.platform, figure.cluster): figure for figure in theirs.busy_core}
    static = {(figure.platform, figure.cluster): figure for figure in theirs.leakage}
    rows: list[Row] = []
    for window in windows:
        cpu = window.busy[0]
        cluster, opp = window.run.cluster(cpu), window.opp()
        place = (window.platform, cluster.name)
        row: Row = {
            "platform": window.platform, "cluster": cluster.name, "core": cluster.core, "loop": window.loop,
            "mhz": opp.mhz, "mv": opp.mv,
        }  # fmt: skip
        for band in BANDS:
            row[f"{band}_dynamic_w"] = window.watts(band, cpu=cpu, kind="dynamic")
            row[f"{band}_static_w"] = window.watts(band, cpu=cpu, kind="static")
            row[f"{band}_l2_w"] = window.watts(band, cpu=None, cluster=cluster.name)
        row["em_w"] = window.watts(backend="em", cpu=cpu)
        row["dram_w"] = sum(window.watts(component=name) for name in ("dram-access", "dram-background"))
        row["dram_access_w"] = window.watts(component="dram-access")
        figure, leakage = dynamic.get(place), static.get(place)
        row["published_w"] = figure.watts(opp) if figure else None
        row["published_static_w"] = (
            leakage.watts("core", opp, technology.running_k(window.run.spec.platform)) if leakage else None
        )
        rows.append(row)
    return pa.Table.from_pylist(rows)


def plot_busy(table: pa.Table, label: str) -> Figure:
    """A panel per cluster that has published figures, dynamic watts over MHz; both loops, told apart by dashes."""
    rows = [row for row in table.to_pylist() if row["published_w"] is not None]
    places = list(dict.fromkeys((row["platform"], row["cluster"], row["core"]) for row in rows))
    figure, axes = style.panels(len(places), min(2, len(places)), 1.9)
    handles: dict[str, Artist] = {}
    for axis, (platform, cluster, core) in zip(axes, places, strict=True):
        for number, loop in enumerate(("primes", MEMORY)):
            here = [row for row in rows if (row["platform"], row["cluster"], row["loop"]) == (platform, cluster, loop)]
            if not here:
                continue
            mhz = [row["mhz"] for row in here]
            for band, shade in ((CALIBRATED, "black"), (RAW, "0.6")):
                (line,) = axis.plot(
                    mhz, [row[f"{band}_dynamic_w"] for row in here], color=shade, linewidth=1,
                    linestyle=style.LINES[number], marker=style.MARKERS[number], markersize=3,
                )  # fmt: skip
                handles.setdefault(f"{loop}, {band}", line)
            (dots,) = axis.plot(
                mhz, [row["published_w"] for row in here], linestyle="none", marker="x", color="black", markersize=5
            )
            handles.setdefault("published", dots)
        axis.set_title(f"{platform}, {cluster} ({core})")
        axis.set_xlabel("MHz")
        axis.set_ylabel("dynamic power of the core (W)")
        axis.set_ylim(bottom=0)
    figure.suptitle(f"One busy core\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles))
    return figure


def checks(table: pa.Table) -> list[Check]:
    rows = table.to_pylist()
    found: list[Check] = []
    for platform in dict.fromkeys(row["platform"] for row in rows):
        here = [row for row in rows if row["platform"] == platform]
        for cluster in dict.fromkeys(row["cluster"] for row in here):
            errors = {
                row["mhz"]: row["calibrated_dynamic_w"] / row["published_w"] - 1
                for row in here
                if row["loop"] == "primes" and row["cluster"] == cluster and row["published_w"]
            }
            if errors:
                mean = sum(map(abs, errors.values())) / len(errors)
                mhz, worst = max(errors.items(), key=lambda item: abs(item[1]))
                says = (
                    f"mean absolute error {mean:.1%} over {len(errors)} operating points, may be {MEAN_ERROR:.0%}; "
                    f"worst {worst:+.1%} at {mhz:g} MHz"
                )
                name = f"a busy core of {platform}'s cluster {cluster} burns what is published"
                found.append(Check(name, mean <= MEAN_ERROR, says))
        found += _loops(platform, here)
    return found


def _loops(platform: str, rows: Sequence[Row]) -> list[Check]:
    """A core that waits for memory burns less itself and more in DRAM, on every cluster at its fastest."""
    found = []
    for cluster in dict.fromkeys(row["cluster"] for row in rows):
        fastest = max(row["mhz"] for row in rows if row["cluster"] == cluster)
        here = {row["loop"]: row for row in rows if (row["cluster"], row["mhz"]) == (cluster, fastest)}
        if here.keys() != {"primes", MEMORY}:
            continue
        core, dram = (
            [here[loop][name] * 1e3 for loop in ("primes", MEMORY)]
            for name in ("calibrated_dynamic_w", "dram_access_w")
        )
        says = f"core {core[1]:.4g} mW, busy {core[0]:.4g} mW; DRAM accesses {dram[1]:.4g} mW, busy {dram[0]:.4g} mW"
        name = f"waiting for memory moves power from core to DRAM on {platform}, {cluster}"
        found.append(Check(name, core[1] < core[0] and dram[1] > dram[0], says))
    return found


def _busy_text(table: pa.Table) -> str:
    headings = (
        "platform", "cluster", "core", "loop", "MHz", "dynamic: raw", "calibrated", "published", "error",
        "static: raw", "calibrated", "published", "`em`", "L2, calibrated", "DRAM",
    )  # fmt: skip
    rows = []
    for row in table.to_pylist():
        ours, theirs = row["calibrated_dynamic_w"], row["published_w"]
        compared = theirs is not None and row["loop"] == "primes"
        numbers = [row[f"{band}_dynamic_w"] for band in BANDS]
        numbers += [
            theirs if compared else None,
            *(row[f"{band}_static_w"] for band in BANDS),
            row["published_static_w"],
        ]
        numbers += [row["em_w"], row["calibrated_l2_w"], row["dram_w"]]
        cells = ["-" if number is None else f"{number * 1e3:.4g}" for number in numbers]
        cells.insert(3, f"{ours / theirs - 1:+.1%}" if compared else "-")
        rows.append((*(row[name] for name in ("platform", "cluster", "core", "loop")), f"{row['mhz']:g}", *cells))
    return markdown_table(headings, rows)
