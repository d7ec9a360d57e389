# SPDX-License-Identifier: BSD-3-Clause
"""What makes answers worse: the errors of the questions that have something in common."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lull.plotting.markdown import markdown_table

from . import judging
from .errors import NAMES, Row, errors
from .judging import Judged


def conditions(row: Row) -> dict[str, str]:
    factor = row["factor"]
    return {
        "platform": row["platform"],
        "load": row["load"],
        "clocks": row["cpufreq"],
        "exit": "as recorded" if factor == 1 else "shorter" if factor < 1 else "longer",
        "governor": f"to {row['governor']}" if row["other_governor"] else "as recorded",
        "deepest state": f"to {row['state']}" if row["other_state"] else "as recorded",
        "residency": "another" if row["other_residency"] else "as recorded",
        "counted from": f"{row['from_ms']:g} ms",
        "CPUs that wake up": "others than in the recorded run" if row["strangers"] else "those of the recorded run",
        "asked of": "the group's first run" if row["of_first"] else "another run",
    }


def df_by_condition(rows: Sequence[Row], numbers: pa.Table, judged: Judged) -> pa.Table:
    """Mean errors of the questions that have something in common, and `before`: how far the joules of the recorded run
    are off that is taken for the answer."""
    asked = list(zip(numbers["recorded_run"].to_pylist(), numbers["point"].to_pylist(), strict=True))
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        for condition in conditions(row).items():
            found.setdefault(condition, []).append(row)
    lines = []
    for (kind, value), own in sorted(found.items()):
        if len(own) == len(rows):
            continue  # tells nothing apart
        off, before = errors(own), errors(own, "before")
        questions = {(row["recorded"], row["point"]) for row in own}
        lines.append(
            {
                "condition": kind, "value": value, "questions": len(own),
                **{name: float(off[what].mean()) for what, name in _SHORT.items()},
                "before": float(before["cores_j"].mean()),
                "inside": judging.share(judged.within[judged.known & np.array([one in questions for one in asked])]),
            }
        )  # fmt: skip
    return pa.Table.from_pylist(lines, schema=_BY_CONDITION)


_SHORT = {"cores_j": "cores", "p99_us": "p99", "rests_pp": "rests"}
_BY_CONDITION = pa.schema(
    [("condition", pa.string()), ("value", pa.string()), ("questions", pa.int64())]
    + [(name, pa.float64()) for name in (*_SHORT.values(), "before", "inside")]
)


def conditions_text(found: pa.Table) -> str:
    columns = ("cores", "before", "p99", "rests")
    lines = [
        (
            row["condition"], row["value"], row["questions"], *(f"{row[name]:.3g}" for name in columns),
            "-" if row["inside"] is None else f"{row['inside']:.1f}%",
        )
        for row in found.to_pylist()
    ]  # fmt: skip
    heads = [f"mean error of {name}" for name in NAMES.values()]
    return markdown_table(
        ("condition", "", "questions", heads[0], "the same without a what-if", *heads[1:], "inside"), lines
    )
