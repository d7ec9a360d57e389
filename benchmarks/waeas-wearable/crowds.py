# SPDX-License-Identifier: BSD-3-Clause
"""Samples that come together: the three processes are still at work on one when the next one comes.

Others that came before a sample delay it, because each process works on one sample after the other. Others that come
after a sample delay it only if the scheduler puts work on them to the CPU where this sample is being worked on.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.statistics import bootstrap

Row = dict[str, Any]
CROWD_US = 5000.0
"""About how long a sample takes: what came so shortly before is still being worked on."""
COMPANY = {
    "alone": f"no other came within {CROWD_US / 1e3:g} ms",
    "followed": "none came before, and one or more came after",
    "behind": "one or more came before",
}


def df_crowds(samples: pa.Table, place: Sequence[str], same: Sequence[str]) -> pa.Table:
    """A row per point and company of a sample: `COMPANY` says what the companies are.

    A row has the columns `place` of its point. `beyond_eas` counts samples that took longer than any of the same
    company did with EAS, at the point that has the same values in the columns `same`.
    """
    found: list[Row] = []
    responses: list[list[float]] = []
    for own in waiting.by_point(samples).values():
        by_company: dict[str, list[float]] = {name: [] for name in COMPANY}
        for row, company in zip(own, companies(np.array([row["came_us"] for row in own])), strict=True):
            by_company[company].append(row["response_us"])
        for company, times in by_company.items():
            if not times:
                continue
            ((middle, low, high),) = bootstrap.quantiles(np.array(times), [0.5])
            found.append(
                {
                    **{name: own[0][name] for name in ("point", "group", *place) if name in own[0]},
                    "company": company, "events": len(times), "median_us": middle, "median_low_us": low,
                    "median_high_us": high, "longest_us": max(times),
                }
            )  # fmt: skip
            responses.append(times)
    for row, times in zip(found, responses, strict=True):
        eas = waiting.beside(found, row, "eas", (*same, "company"))
        row["beyond_eas"] = None if eas is None else sum(time > eas["longest_us"] for time in times)
    return pa.Table.from_pylist(found)


def companies(came_us: NDArray[np.float64]) -> list[str]:
    """The company of each sample, by when the samples came."""
    order = np.sort(came_us)
    before = np.searchsorted(order, came_us) - np.searchsorted(order, came_us - CROWD_US, "right")
    after = np.searchsorted(order, came_us + CROWD_US) - np.searchsorted(order, came_us, "right")
    alone, followed, behind = COMPANY
    return [
        behind if earlier else followed if later else alone
        for earlier, later in zip(before.tolist(), after.tolist(), strict=True)
    ]


def text(crowds: pa.Table | None) -> str:
    if crowds is None:
        return ""
    rows = [
        (
            row["point"], row["company"], row["events"], waiting.quantile_text(row, "median"),
            f"{row['longest_us']:.4g}", "-" if row["beyond_eas"] is None else row["beyond_eas"],
        )
        for row in crowds.to_pylist()
    ]  # fmt: skip
    return (
        f"\n\n## Samples that come together\n\nA sample takes about {CROWD_US / 1e3:g} ms. Its company is the others "
        "that came so shortly before or after: "
        + "; ".join(f"*{name}*: {what}" for name, what in COMPANY.items())
        + ". The last column counts samples that took longer than any of the same company did with EAS, in the same "
        "boot.\n\n" + markdown_table(("point", "company", "samples", "median, µs", "longest", "beyond EAS"), rows)
    )
