# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `wake-model`: latency against size, and how well the block layer predicts it."""

from collections.abc import Mapping, Sequence
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
from lull.trace import recording

REQUESTS = "requests.jsonl"
PLACE = ("drive", "threads", "pages", "state")
ALONE = ("sata", "nvme")
"""Groups with one request at a time."""
SETTLED = 20
"""After so many requests of a kind the line is judged."""
PAPER = {False: 1.00, True: 0.91}
"""Pearson's correlation of latency and size, of reads and of writes."""
CORRELATION, OFF = 0.99, 0.05
"""At least, and at most: how far a settled prediction is off in the median, of the latency."""
STEPS = (4, 8, SETTLED, 32, 64, 128)
"""Requests of a kind that were seen before, at most, in a row of the table of convergence."""

UNKNOWN = ("program", "device", "off")
"""Columns of points that may have no number."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    requests, predictions = df_requests(runs), df_predictions(runs)
    tables = {
        "requests": requests,
        "predictions": predictions,
        "points": df_points(runs, requests, predictions),
    }
    return conclude(tables, [run.name for run in runs.runs], runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables of those points that have run, of all."""
    table, convergence = tables["points"], df_convergence(tables["predictions"])
    return Result(
        summary="## Latency against size\n\n"
        + waiting.so_far(table, points)
        + "Pearson's correlation of the size of a request and what it took: the "
        "program, and the device. The device's time is counted until the interrupt, without what the CPU took to "
        "wake.\n\n"
        + _correlations_text(table)
        + "\n## Predictions after so many requests\n\nHow far they are off in the median, of what the device took. "
        "Too long: how many of them are, and by how much in the median.\n\n"
        + _convergence_text(convergence)
        + "\n## Requests at a time\n\nRequests that were predicted, and those of them that came in their window.\n\n"
        + _queues_text(table),
        tables={**tables, "convergence": convergence},
        checks=checks(table) if timed else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    requests = stored.rows("requests")
    if requests is None or not stored.origin.timed:
        return []
    return [
        Drawing(
            "sizes", plot_sizes(requests, stored.label), "What a request took the program, by its size and its drive."
        )
    ]


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    return [
        Against(
            f"correlation of latency and size, {_kind(row['write'])}", "", f"{row['program']:.3f}",
            f"{PAPER[row['write']]:.2f}", source="engagement paper",
        )
        for row in (points.to_pylist() if points else [])
        if row["group"] == "sata"
    ]  # fmt: skip


def _kind(write: bool) -> str:
    return "writes" if write else "reads"


def _place(run: Run) -> Row:
    return {"point": run.name, "group": run.group, **{name: run.values[name] for name in PLACE}}


def df_requests(runs: Runs) -> pa.Table:
    """A row per request, as the program saw it."""
    found = []
    for run in runs.runs:
        with run.understanding(REQUESTS):
            found += [
                {**_place(run), "write": bool(line["write"]), "kib": int(line["bytes"]) // 1024,
                 "took_us": int(line["took_ns"]) / 1e3}
                for line in run.lines(REQUESTS)
            ]  # fmt: skip
    return pa.Table.from_pylist(found)


def df_predictions(runs: Runs) -> pa.Table:
    """A row per request, as the block layer saw it: `before` requests of its kind had been seen."""
    found = []
    for run in runs.runs:
        came = recording.load(run.rundir()).tables["lull_ahead_came"]
        seen = {False: 0, True: 0}
        for what, ns, expected, margin in zip(
            came["what"].tolist(), came["ns"].tolist(), came["expected_ns"].tolist(), came["margin_ns"].tolist(),
            strict=True,
        ):  # fmt: skip
            write = bool(what % 2)
            found.append(
                {
                    **_place(run), "write": write, "kib": what // 4, "before": seen[write], "took_us": ns / 1e3,
                    "expected_us": expected / 1e3 if expected else None, "margin_us": margin / 1e3,
                }
            )  # fmt: skip
            seen[write] += 1
    return pa.Table.from_pylist(found)


def df_points(runs: Runs, requests: pa.Table, predictions: pa.Table) -> pa.Table:
    """A row per point and kind of request."""
    all_requests, all_predictions = requests.to_pylist(), predictions.to_pylist()
    found = []
    for run in runs.runs:
        for write in (False, True):
            own = [row for row in all_requests if row["point"] == run.name and row["write"] == write]
            seen = [row for row in all_predictions if row["point"] == run.name and row["write"] == write]
            if not seen:
                continue
            settled = [row for row in seen if row["before"] >= SETTLED]
            predicted = [row for row in settled if row["expected_us"] is not None]
            # One that is dated before its beginning took 0: see the limits of anticipatory wakeup.
            off = [abs(row["took_us"] - row["expected_us"]) / row["took_us"] for row in predicted if row["took_us"]]
            found.append(
                {
                    **_place(run), "write": write, "requests": len(seen),
                    "program": _correlation(own), "device": _correlation(seen),
                    "settled": len(settled), "predicted": len(predicted),
                    "hits": sum(_in_time(row) for row in predicted),
                    "off": float(np.median(off)) if off else None,
                    "median_us": float(np.median([row["took_us"] for row in seen])),
                }
            )  # fmt: skip
    table = pa.Table.from_pylist(found)
    # Points of one size have no correlation, and a column of nothing has no type.
    types = [pa.field(field.name, pa.float64()) if field.name in UNKNOWN else field for field in table.schema]
    return table.cast(pa.schema(types))


def _in_time(row: Row) -> bool:
    """Whether the request came while the CPU was ready: 20 µs behind the margin belong to the window."""
    return bool(-row["margin_us"] <= row["took_us"] - row["expected_us"] < row["margin_us"] + 20)


def _correlation(rows: list[Row]) -> float | None:
    sizes = [row["kib"] for row in rows]
    if len(set(sizes)) < 2:
        return None
    return float(np.corrcoef(sizes, [row["took_us"] for row in rows])[0, 1])


def _correlations_text(points: pa.Table) -> str:
    return markdown_table(
        ("drive", "requests", "number", "program", "device", f"off after {SETTLED}, median"),
        [
            (
                row["drive"], _kind(row["write"]), row["requests"], f"{row['program']:.4f}", f"{row['device']:.4f}",
                "-" if row["off"] is None else f"{100 * row['off']:.2g} %",
            )
            for row in points.to_pylist()
            if row["group"] in ALONE and row["device"] is not None
        ],
    )  # fmt: skip


def df_convergence(predictions: pa.Table) -> pa.Table:
    """A row per drive, kind of request and number of requests seen before: how far predictions are off, `longer` with
    its sign."""
    every = [row for row in predictions.to_pylist() if row["group"] in ALONE]
    found = []
    for group in dict.fromkeys(row["group"] for row in every):
        for write in (False, True):
            own = [row for row in every if row["group"] == group and row["write"] == write]
            for low, high in zip((0, *STEPS), STEPS, strict=False):
                some = [row for row in own if low <= row["before"] < high]
                longer = [
                    row["expected_us"] / row["took_us"] - 1 for row in some if row["expected_us"] and row["took_us"]
                ]
                if some:
                    found.append(
                        {
                            "group": group, "write": write, "first": low, "last": high - 1, "requests": len(some),
                            "predicted": len(longer), "too_long": sum(share > 0 for share in longer),
                            "off": float(np.median(np.abs(longer))) if longer else None,
                            "longer": float(np.median(longer)) if longer else None,
                        }
                    )  # fmt: skip
    return pa.Table.from_pylist(found, schema=_CONVERGENCE)


_CONVERGENCE = pa.schema(
    [("group", pa.string()), ("write", pa.bool_())]
    + [(name, pa.int64()) for name in ("first", "last", "requests", "predicted", "too_long")]
    + [(name, pa.float64()) for name in ("off", "longer")]
)


def _convergence_text(convergence: pa.Table) -> str:
    return markdown_table(
        ("drive", "requests", "seen before", "predicted", "off, median", "too long", "by, median"),
        [
            (
                row["group"], _kind(row["write"]), f"{row['first']} to {row['last']}",
                f"{row['predicted']} of {row['requests']}",
                *(
                    ("-", "-", "-")
                    if row["off"] is None
                    else (f"{100 * row['off']:.2g} %", row["too_long"], f"{100 * row['longer']:+.2g} %")
                ),
            )
            for row in convergence.to_pylist()
        ],
    )  # fmt: skip


def _queues_text(points: pa.Table) -> str:
    return markdown_table(
        ("threads", "requests", "median of the device, µs", "predicted", "in time"),
        [
            (row["threads"], row["settled"], f"{row['median_us']:.4g}", row["predicted"], row["hits"])
            for row in points.to_pylist()
            if row["group"] == "queues"
        ],
    )


def checks(points: pa.Table) -> list[Check]:
    """A line is found where there is one, and prediction ends where there is none."""
    found = []
    every = points.to_pylist()
    for row in every:
        if row["group"] not in ALONE or row["device"] is None:
            continue
        name = f"{row['drive']}, {_kind(row['write'])}"
        found += [
            Check(
                f"{name}: latency and size are correlated by {CORRELATION:g} at least", row["program"] >= CORRELATION,
                f"{row['program']:.4f} as the program sees it, {row['device']:.4f} as the device does it",
            ),
            Check(
                f"{name}: a settled prediction is off by {100 * OFF:g} % at most in the median",
                row["off"] is not None and row["off"] <= OFF,
                "nothing is predicted" if row["off"] is None else f"{100 * row['off']:.2g} %",
            ),
        ]  # fmt: skip
    queues = sorted((row for row in every if row["group"] == "queues"), key=lambda row: row["threads"])
    for row in queues:
        late = row["predicted"] - row["hits"]
        found.append(
            Check(
                f"{row['threads']} at a time: at most one of ten requests has a window that it misses",
                late <= 0.1 * row["settled"],
                f"{row['settled']} requests, {row['predicted']} predicted, {row['hits']} in time",
            )
        )
    return found


def plot_sizes(requests: pa.Table, label: str) -> Figure:
    rows = [row for row in requests.to_pylist() if row["group"] in ALONE]
    drives = list(dict.fromkeys(row["drive"] for row in rows))
    figure, axes = style.panels(max(1, len(drives)), 2, 2.6)
    for axis, drive in zip(axes, drives, strict=False):
        for number, write in enumerate((False, True)):
            own = [row for row in rows if row["drive"] == drive and row["write"] == write]
            axis.plot(
                [row["kib"] for row in own], [row["took_us"] for row in own], linestyle="none", markersize=3,
                marker=style.MARKERS[number], color="black", fillstyle="full" if write else "none", label=_kind(write),
            )  # fmt: skip
        axis.set_title(drive)
        axis.set_xlabel("size (KiB)")
        axis.set_ylabel("latency (µs)")
        axis.legend()
    figure.suptitle(f"Latency against size\n{label}")
    return figure
