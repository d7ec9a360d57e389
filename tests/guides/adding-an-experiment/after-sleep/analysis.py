# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of `after-sleep`: a table of the loop's median time, and a plot of it."""

from statistics import median

import pyarrow as pa

from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs


def analyse(runs: Runs) -> Result:
    table = df_loops(runs)
    rows = [(row["state"], row["ticks"]) for row in table.to_pylist()]
    fastest = min(ticks for _, ticks in rows)
    check = Check("a loop takes time", fastest > 0, f"the fastest takes {fastest} ticks")
    return Result(markdown_table(("state", "median, ticks"), rows), {"loops": table}, [check])


def df_loops(runs: Runs) -> pa.Table:
    """A row per idle state."""
    rows = []
    for run in runs.runs:
        with run.understanding("loop.jsonl"):
            ticks = [int(line["ticks"]) for line in run.lines("loop.jsonl")]
        rows.append({"state": run.values["state"], "ticks": median(ticks)})
    return pa.Table.from_pylist(rows)


def draw(stored: Stored) -> list[Drawing]:
    """Draw the stored tables alone, so that `lull plot` can draw them again without the runs."""
    rows = stored.tables["loops"].to_pylist()
    figure, (axis,) = style.panels(1, 1, 2)
    axis.bar([row["state"] for row in rows], [row["ticks"] for row in rows], color=style.GREYS[0])
    axis.set_ylabel("median time of the loop (ticks)")
    return [Drawing("loops", figure, "A loop after a sleep, by the deepest state allowed.")]
