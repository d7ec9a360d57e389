# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a wake-up, beside the one energy model that has published some: TC2's, of a Cortex-A15.

It is computed from the platform file and the power model, with the costs that the ledger charges for each wake-up. The
runs have no part in it: a run's own caches are as full as its program made them. So platforms with this core are judged
too that no run is of, such as `tegra-k1`, on which the results about ESM rest.
"""

from typing import Any

import pyarrow as pa

from lull.energy import validation
from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result

Row = dict[str, Any]

WAKE_ERROR = 0.25
"""The largest error of a wake-up."""
CACHES = {
    "flushed": "with caches that are flushed and not needed again",
    "full": "with full caches that are fetched again",
}
"""How full the caches are, by the columns of the table: a check for each.

TC2's figure does not say whether it has the misses after a wake-up in it. In an energy model of this kind a program
that waits for its lines is busy, so they may be left out. The ledger charges them, so the larger number is judged too.
"""


def extend(result: Result, platforms: set[str]) -> None:
    table = df_wakes(platforms)
    if not table.num_rows:
        return
    result.tables["wake-ups"] = table
    result.summary += (
        "\n## A wake-up, as time at a busy core's power\n\n"
        "At the fastest operating point, from the power model and not from runs. TC2's figure does not say how full "
        "its caches were, so ours is given for caches that hold nothing, for caches that are flushed and not needed "
        "again, and for full ones.\n\n" + _text(table)
    )
    result.checks += checks(table)


def df_wakes(platforms: set[str]) -> pa.Table:
    """A row per state that loses a core, of all clusters whose core has published wake-up energies.

    Nothing where none of these platforms has such a core.
    """
    rows: list[Row] = [
        {
            "platform": platform, "cluster": cluster, "state": state.name, "empty_us": ours.us_of_waits,
            "flushed_us": ours.us_without_refill, "full_us": ours.us_of_full_power, "published_us": theirs,
        }
        for platform, cluster, state, ours, theirs in validation.wake_ups()
        if theirs is not None
    ]  # fmt: skip
    return pa.Table.from_pylist(rows if platforms & {row["platform"] for row in rows} else [])


def checks(table: pa.Table) -> list[Check]:
    found = []
    for row in table.to_pylist():
        for kind, how in CACHES.items():
            ours, theirs = row[f"{kind}_us"], row["published_us"]
            error = ours / theirs - 1
            name = f"a wake-up from {row['state']} of {row['platform']}, {row['cluster']}, costs what TC2's does, {how}"
            says = f"{ours:.3g} us, TC2 {theirs:.3g}: {error:+.0%}, may be {WAKE_ERROR:.0%}"
            found.append(Check(name, abs(error) <= WAKE_ERROR, says))
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
