# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a wake-up, beside the one energy model that has published some: TC2's, of a Cortex-A15.

It is computed from the platform file and the power model, with the costs that the ledger charges for each wake-up. The
runs have no part in it: a run's own caches are as full as its program made them.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lull.energy import validation
from lull.figures.steady import Steady
from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result

Row = dict[str, Any]


def extend(result: Result, idle: Sequence[Steady]) -> None:
    table = df_wakes({window.platform for window in idle})
    if not table.num_rows:
        return
    result.tables["wake-ups"] = table
    result.summary += (
        "\n## A wake-up, as time at a busy core's power\n\n"
        "At the fastest operating point. TC2's figure does not say how full its caches were, so ours is given for "
        "caches that hold nothing, for caches that are flushed and not needed again, and for full ones.\n\n"
        + _text(table)
    )
    result.checks += checks(table)


def df_wakes(platforms: set[str]) -> pa.Table:
    """A row per state that loses a core, of the clusters whose core has published wake-up energies."""
    rows: list[Row] = [
        {
            "platform": platform, "cluster": cluster, "state": state.name, "empty_us": ours.us_of_waits,
            "flushed_us": ours.us_without_refill, "full_us": ours.us_of_full_power, "published_us": theirs,
        }
        for platform, cluster, state, ours, theirs in validation.wake_ups()
        if theirs is not None and platform in platforms
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def checks(table: pa.Table) -> list[Check]:
    found = []
    for row in table.to_pylist():
        least, most, theirs = row["empty_us"], row["full_us"], row["published_us"]
        woken = f"a wake-up from {row['state']} of {row['platform']}, {row['cluster']},"
        name = f"{woken} costs what TC2's does, with caches that TC2 may have had"
        says = f"{least:.3g} us with empty caches, {most:.3g} with full ones, TC2 {theirs:.3g}"
        found.append(Check(name, least <= theirs <= most, says))
    return found


def _text(table: pa.Table) -> str:
    headings = ("platform", "cluster", "state", "empty, µs", "flushed, µs", "full, µs", "TC2, µs")
    rows = [
        (
            row["platform"], row["cluster"], row["state"],
            *(f"{row[name]:.3g}" for name in ("empty_us", "flushed_us", "full_us", "published_us")),
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, rows)
