# SPDX-License-Identifier: BSD-3-Clause
"""Shared tables of the EANeM experiments: performance per watt relative to EAS, and decisions of the manager."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lull.figures import repetitions, waiting
from lull.plotting.markdown import markdown_table
from lull.results.result import Check
from lull.rundir.run import Run
from lull.statistics import student
from lull.trace import recording
from lull.trace.clock import TICKS_PER_US

DECISIONS = "eanemd.jsonl"
EAS, MANAGED = "eas", "eanem"
POWERS = ("power_w", "cpus_w", "model_w")
"""Watts of a point: of the machine, of CPUs with L2s by the ledger, and of CPUs by the paper's equation 3, which leaves
out the L2s."""

Row = dict[str, Any]


def per_watt(points: pa.Table | None, same: Sequence[str]) -> list[Row]:
    """Return the rows with performance per CPU watt relative to EAS: `gain` by the ledger, `model_gain` by equation 3.

    A gain is None if there is no point with EAS or no power. `same` are the columns that both points must share.
    """
    found: list[Row] = points.to_pylist() if points is not None else []
    for row in found:
        eas = waiting.beside(found, row, EAS, same)
        for name, watts in (("gain", "cpus_w"), ("model_gain", "model_w")):
            known = eas is not None and bool(row.get(watts)) and bool(eas.get(watts)) and eas["performance"] > 0
            row[name] = row["performance"] / row[watts] / (eas["performance"] / eas[watts]) if known and eas else None
    return found


def mean_gain(rows: Sequence[Row]) -> Row | None:
    """Return the mean gain over points, with half its 95 % interval; None without gains. The papers publish such means
    only, so a single point cannot be compared with them."""
    known = [row for row in rows if None not in (row["gain"], row["model_gain"])]
    return {"points": len(known), **waiting.means(known, ("gain", "model_gain"))} if known else None


def gain_check(what: str, mean: Row, paper: float) -> Check:
    """Return the check that the lower end of the mean gain's interval is at least the paper's gain."""
    return Check(
        f"{what}: performance per watt at least the paper's, by that of EAS",
        student.ends(mean["gain"], mean["gain_pm"])[0] >= paper,
        f"{waiting.mean_text(mean, 'gain', digits=3)} times, mean of {mean['points']} points; in the paper {paper:g}",
    )


def gain_texts(row: Row) -> list[str]:
    return ["-" if row[name] is None else f"{row[name]:.3g}" for name in ("gain", "model_gain")]


_TOLD = {
    "at_us": pa.float64(), "during": pa.bool_(), "level": pa.int64(), "why": pa.string(), "packets_s": pa.float64(),
    "rate": pa.float64(), "little": pa.int64(), "little_mhz": pa.int64(), "big": pa.int64(), "big_mhz": pa.int64(),
    "net_cores": pa.int64(), "watts": pa.float64(),
}  # fmt: skip


def df_decisions(runs: Sequence[Run], place: Callable[[Run], Row]) -> pa.Table | None:
    """Return a row per decision of the manager; None if there are no such points.

    `at_us` counts from the first window's begin. `during` is true between the begin of the first window and the end of
    the last. The first level reports packets a second and the cores for them; the second, the application's rate.
    """
    rows = [{**place(run), **told} for run in runs if run.values["way"] == MANAGED for told in _decisions(run)]
    if not rows:
        return None
    table = pa.Table.from_pylist(rows)
    names = table.column_names
    return table.cast(pa.schema([(name, _TOLD.get(name, table.schema.field(name).type)) for name in names]))


def _decisions(run: Run) -> list[Row]:
    edges = repetitions.edges(run, waiting.WINDOWS)
    clock = recording.load(run.rundir()).clock
    with run.understanding(DECISIONS):
        lines = run.lines(DECISIONS)
        ticks = clock.monotonic_ticks(np.array([int(line["ns"]) for line in lines], np.int64))
        return [
            {
                **dict.fromkeys(_TOLD),
                "at_us": float(tick - edges[0]) / TICKS_PER_US,
                "during": bool(edges[0] <= tick < edges[-1]),
                "level": int(line["level"]),
                "why": str(line["why"]),
                **(_of_packets(line) if line["level"] == 1 else _of_applications(line)),
            }
            for line, tick in zip(lines, ticks, strict=True)
        ]


def _of_packets(line: Row) -> Row:
    found: Row = {"packets_s": float(line["packets_s"])}
    if cluster := line.get("cluster"):
        found |= {cluster: int(line["cores"]), f"{cluster}_mhz": int(line["mhz"]), "watts": float(line["watts"])}
    return found


def _of_applications(line: Row) -> Row:
    if "watts" not in line:
        return {}
    return {
        "rate": next((float(each["rate"]) for each in line["applications"] if "rate" in each), None),
        **{cluster: int(line[cluster]["cores"]) for cluster in ("little", "big")},
        **{f"{cluster}_mhz": int(line[cluster]["mhz"]) for cluster in ("little", "big")},
        "net_cores": int(line["net_cores"]),
        "watts": float(line["watts"]),
    }


def decisions_text(decisions: pa.Table | None) -> str:
    if decisions is None:
        return ""
    rows = [
        (
            row["point"], f"{row['at_us'] / 1e3:.4g}", row["level"], row["why"], _number(row["packets_s"]),
            _number(row["rate"]), *(_cores(row, cluster) for cluster in ("little", "big")),
            _number(row["net_cores"]),
        )
        for row in decisions.to_pylist()
    ]  # fmt: skip
    headings = (
        "point", "at, ms", "level", "why", "packets/s", "rate, /s", "little cores", "big cores", "cores of packets",
    )  # fmt: skip
    return (
        "\n## What the manager decided\n\nTimes are from the first window that counts. The first level says which "
        "cores packets get, the second which cores there are for the application.\n\n" + markdown_table(headings, rows)
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"


def _cores(row: Row, cluster: str) -> str:
    return "-" if row[cluster] is None else f"{row[cluster]} at {row[f'{cluster}_mhz']} MHz"


def rest_checks(decisions: pa.Table | None) -> list[Check]:
    """Return checks that the manager decides nothing in the windows: otherwise their power mixes several states."""
    if decisions is None:
        return []
    found = []
    for point, own in waiting.by_point(decisions).items():
        during = [row["why"] for row in own if row["during"]]
        says = ", ".join(during) if during else f"the last of {len(own)} decisions is outside of them"
        found.append(Check(f"{point}: the manager decides nothing in the windows", not during, says))
    return found
