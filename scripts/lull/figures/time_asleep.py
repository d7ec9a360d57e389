# SPDX-License-Identifier: BSD-3-Clause
"""The time of each CPU by idle state, as Linux's cpuidle counted it."""

from collections.abc import Callable, Sequence

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lull.figures.sample import Sample
from lull.plotting import style
from lull.rundir import cpuidle

AWAKE = "awake"


def df_residency(points: Sequence[Sample]) -> pa.Table:
    """Return a row per point, CPU and state: the share of the command's time. Time in no idle state is awake."""
    rows: list[dict[str, object]] = []
    for point in points:
        counted = cpuidle.of_command(point.run.path, point.run.spec, point.run.manifest)
        for cpus, cluster in point.run.spec.platform.cpu_ranges():
            for cpu in cpus:
                own = [row for row in counted if row["cpu"] == cpu]
                shares = {row["name"]: row["time_us"] / max(1, row["window_us"]) for row in own}
                if not own:
                    continue
                shares[AWAKE] = max(0.0, 1 - sum(shares.values()))
                place = {"point": point.title, "seed": point.seed, "cluster": cluster.name, "cpu": cpu}
                rows += [{**place, "state": state, "share": share} for state, share in shares.items()]
    names = [(name, pa.string()) for name in ("point", "cluster", "state")]
    return pa.Table.from_pylist(
        rows, schema=pa.schema([*names, ("seed", pa.int64()), ("cpu", pa.int32()), ("share", pa.float64())])
    )


def plot_residency(table: pa.Table) -> Figure:
    """Draw one point, with a bar for each CPU."""
    return _alone(draw_residency, len(set(table["cpu"].to_pylist())), table, "Time in idle states")


def draw_residency(axis: Axes, table: pa.Table) -> None:
    rows = table.to_pylist()
    names = {row["cpu"]: f"CPU {row['cpu']} ({row['cluster']})" for row in rows}
    shares = {(names[row["cpu"]], row["state"]): row["share"] for row in rows}
    _stack(axis, list(names.values()), shares)


def plot_by_point(table: pa.Table) -> Figure:
    """Draw a bar for each point: the mean over its CPUs and seeds."""
    return _alone(draw_by_point, len(set(table["point"].to_pylist())), table, "Time in idle states, mean of all CPUs")


def draw_by_point(axis: Axes, table: pa.Table) -> None:
    found = table.group_by(["point", "state"], use_threads=False).aggregate([("share", "mean")]).to_pylist()
    shares = {(row["point"] or "run", row["state"]): row["share_mean"] for row in found}
    points = list(dict.fromkeys(row["point"] or "run" for row in table.select(["point"]).to_pylist()))
    _stack(axis, points, shares)


def _alone(draw: Callable[[Axes, pa.Table], None], bars: int, table: pa.Table, title: str) -> Figure:
    figure, (axis,) = style.panels(1, 1, 0.6 + 0.2 * bars)
    draw(axis, table)
    figure.suptitle(title)
    return figure


def _stack(axis: Axes, bars: Sequence[str], shares: dict[tuple[str, str], float]) -> None:
    states = sorted({state for _, state in shares}, key=lambda state: (state != AWAKE, state))
    left = dict.fromkeys(bars, 0.0)
    for number, state in enumerate(states):
        widths = [100 * shares.get((bar, state), 0.0) for bar in bars]
        axis.barh(
            range(len(bars)), widths, left=[left[bar] for bar in bars], height=0.7, label=state, edgecolor="black",
            linewidth=0.5, **style.fill(number),
        )  # fmt: skip
        left = {bar: left[bar] + width for bar, width in zip(bars, widths, strict=True)}
    axis.set_yticks(range(len(bars)), bars)
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("share of the time (%)")
