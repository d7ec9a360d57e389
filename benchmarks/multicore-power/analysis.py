# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `multicore-power`: what the first active CPU costs, and what each further one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lull.energy.rows import CALIBRATED, RAW
from lull.figures import steady
from lull.figures.steady import Steady
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs
from lull.statistics import student

GROUP = "steps"
PAPER_FIRST_W, PAPER_FURTHER_W = 37, 8
PAPER = {
    "server": f"figure 3 A, Xeon E5-2620 v3: {PAPER_FIRST_W} W for the first CPU, {PAPER_FURTHER_W} W or less for each "
    "further one",
    "exynos5422": "figure 3 B, Galaxy S5: a disproportionate jump at the fifth CPU, the first big one; no number",
}
"""The engagement paper's words on the machine that a platform stands for. Nothing here is tuned to them."""
MARKED = {
    "server": f"paper (Xeon E5-2620 v3): +{PAPER_FIRST_W} W for the first,\nat most +{PAPER_FURTHER_W} W for each "
    "further one",
    "exynos5422": "paper (Galaxy S5): a jump\nat the first big CPU",
}
"""The same for a figure: in words, because the server's watts are of another size."""
PAPER_RATIO = PAPER_FIRST_W / PAPER_FURTHER_W
"""The least that the paper's words allow, because 8 W is its most for a further CPU."""
THRESHOLD = math.sqrt(PAPER_RATIO)
"""Half-way, on a logarithmic scale, from a machine whose CPUs all cost the same (1) to the paper's server."""
PAPER_RATIOS = {
    "server": f"at least {PAPER_RATIO:.3g}",
    "exynos5422": "no number, so the server's threshold",
}
"""The machines of the paper. The shape of any other one is not judged."""
PARTS = ("cores", "l2", "rest")

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    if not runs.timed:
        return Result(summary=f"{runs.label}: no joules, and so nothing to show.\n")
    windows = steady.read(runs, GROUP)
    return conclude({"steps": df_steps(windows), "windows": steady.df_windows(windows)}, runs.names)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables alone."""
    table, windows = tables["steps"], tables["windows"]
    shape = ratios(table)
    return Result(
        summary="## Watts by number of active CPUs\n\n"
        + _steps_text(table)
        + "\n## Beside the paper\n\n"
        + _paper(table),
        tables={"steps": table, "windows": windows, **({"shape": df_shape(shape)} if shape else {})},
        checks=[steady.check(windows), *(ratio.check() for ratio in shape)],
    )


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("steps")
    if table is None:
        return []
    caption = (
        "Mean power over the number of active CPUs, all others in their deepest idle state: calibrated, by part, and "
        "raw McPAT."
    )
    return [Drawing("power", plot_steps(table, stored.label), caption)]


def against(stored: Stored) -> list[Against]:
    table = stored.rows("steps")
    return [
        Against(
            f"{platform}: power of the first CPU of {name}, of each further one", "W",
            f"{steps[0]:.3g}" + (f", {min(steps[1:]):.3g} to {max(steps[1:]):.3g}" if steps[1:] else ""),
            PAPER.get(platform, "-"), source="engagement paper",
        )
        for platform, clusters in (_clusters(table) if table else {}).items()
        for name, steps in clusters.items()
    ]  # fmt: skip


def df_steps(windows: Sequence[Steady]) -> pa.Table:
    """A row per platform and number of active CPUs. `step_w` is what the newest one added; `rest` is all that is
    neither core nor L2."""
    rows: list[Row] = []
    for window in windows:
        number = len(window.busy)
        newest = window.run.cluster(window.busy[-1]) if number else None
        row: Row = {
            "platform": window.platform,
            "active": number,
            "newest": newest.name if newest else None,
            "core": newest.core if newest else None,
            "others_in": window.state,
        }
        for band in (RAW, CALIBRATED):
            row[f"{band}_w"] = window.watts(band)
            for part, watts in zip(PARTS, _parts(window, band), strict=True):
                row[f"{band}_{part}_w"] = watts
        row["em_w"] = window.watts(backend="em")
        before = rows[-1] if rows and rows[-1]["platform"] == window.platform else None
        for name in (RAW, CALIBRATED, "em"):
            row[f"{name}_step_w"] = row[f"{name}_w"] - before[f"{name}_w"] if before else None
        rows.append(row)
    return pa.Table.from_pylist(rows)


def plot_steps(table: pa.Table, label: str) -> Figure:
    """A panel per platform: calibrated power stacked by part, raw as a line, and where a new cluster begins."""
    rows = table.to_pylist()
    platforms = list(dict.fromkeys(row["platform"] for row in rows))
    figure, axes = style.panels(len(platforms), min(2, len(platforms)), 2.6)
    for axis, platform in zip(axes, platforms, strict=True):
        here = [row for row in rows if row["platform"] == platform]
        numbers = [row["active"] for row in here]
        below = [0.0] * len(here)
        for place, part in enumerate(PARTS):
            watts = [row[f"{CALIBRATED}_{part}_w"] for row in here]
            axis.bar(
                numbers, watts, bottom=below, width=0.7, edgecolor="black", linewidth=0.5, **style.fill(place),
                label=f"calibrated: {'L2' if part == 'l2' else part}",
            )  # fmt: skip
            below = [low + height for low, height in zip(below, watts, strict=True)]
        axis.plot(
            numbers, [row[f"{RAW}_w"] for row in here], color="black", linewidth=0.8, marker=style.MARKERS[0],
            markersize=4, markerfacecolor="white", label="raw McPAT",
        )  # fmt: skip
        for row, before in zip(here[2:], here[1:], strict=False):
            if row["newest"] != before["newest"]:
                axis.axvline(row["active"] - 0.5, color="0.5", linewidth=0.8, linestyle=":")
        if platform in MARKED:
            axis.text(0.03, 0.97, MARKED[platform], transform=axis.transAxes, va="top")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_title(platform)
        axis.set_xlabel("active CPUs")
        axis.set_ylabel("power (W)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.suptitle(f"Power over the number of active CPUs\n{label}")
    style.legend_below(figure, handles, labels)
    return figure


@dataclass(frozen=True)
class Ratio:
    """A CPU's step over the mean step of others, with its 95 % interval.

    The others' steps are the repetitions. Neighbouring steps share a window, so that their errors compensate each
    other; the interval takes them for independent, and is rather too wide.
    """

    platform: str
    name: str
    step_w: float
    others_w: tuple[float, ...]
    jumps: bool
    """Whether the step has to be larger than the others, or has to be no jump."""
    paper: str

    @property
    def interval(self) -> tuple[float, float, float]:
        return student.ratio(self.step_w, self.others_w)

    def check(self) -> Check:
        ratio, low, high = self.interval
        mean_w = sum(self.others_w) / len(self.others_w)
        has_to = f"from {THRESHOLD:.3g} on" if self.jumps else f"below {THRESHOLD:.3g}"
        says = (
            f"{self.step_w:.3g} W is {ratio:.3g} times (95 %: {low:.3g} to {high:.3g}) the {mean_w:.3g} W of "
            f"{len(self.others_w)} others; paper: {self.paper}; the whole interval has to be {has_to}"
        )
        return Check(self.name, low >= THRESHOLD if self.jumps else high < THRESHOLD, says)


def ratios(table: pa.Table) -> list[Ratio]:
    """The steps that the paper speaks of, on its two machines. Judged is the last kind of core to become active."""
    found: list[Ratio] = []
    cores = {(row["platform"], row["newest"]): row["core"] for row in table.to_pylist()}
    for platform, clusters in _clusters(table).items():
        if platform not in PAPER_RATIOS:
            continue
        paper = PAPER_RATIOS[platform]
        core = cores[platform, list(clusters)[-1]]
        slower = tuple(step for name, steps in clusters.items() if cores[platform, name] != core for step in steps)
        (first, own), *later = [item for item in clusters.items() if cores[platform, item[0]] == core]
        further = (*own[1:], *(step for _, steps in later for step in steps[1:]))
        if slower:
            name = f"{platform} jumps at the first CPU of {first}, beside all slower ones"
            found.append(Ratio(platform, name, own[0], slower, jumps=True, paper=paper))
        if further:
            name = f"the first CPU of {first} costs far more than a further one on {platform}"
            found.append(Ratio(platform, name, own[0], further, jumps=True, paper=paper))
            # The paper's limit is for each CPU but the first of the machine.
            for second, steps in later:
                name = f"{platform} does not jump again at the first CPU of {second}"
                found.append(
                    Ratio(platform, name, steps[0], further, jumps=False, paper=f"at most {PAPER_FURTHER_W} W")
                )
    return found


def df_shape(found: Sequence[Ratio]) -> pa.Table:
    rows = []
    for one in found:
        ratio, low, high = one.interval
        rows.append(
            {
                "platform": one.platform, "name": one.name, "step_w": one.step_w, "others": len(one.others_w),
                "ratio": ratio, "low": low, "high": high, "threshold": THRESHOLD,
            }
        )  # fmt: skip
    return pa.Table.from_pylist(rows)


def _clusters(table: pa.Table) -> dict[str, dict[str, list[float]]]:
    """Return the calibrated watts that each CPU added, by platform and cluster."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in table.to_pylist():
        if row["newest"] is not None:
            steps = found.setdefault(row["platform"], {}).setdefault(row["newest"], [])
            steps.append(row[f"{CALIBRATED}_step_w"])
    return found


def _parts(window: Steady, band: str) -> tuple[float, float, float]:
    everything = window.watts(band)
    uncore = window.watts(band, cluster=None)
    shared = window.watts(band, cpu=None) - uncore
    return everything - uncore - shared, shared, uncore


def _steps_text(table: pa.Table) -> str:
    headings = ("platform", "active", "newest in", "raw", "step", "calibrated", "step", "`em`", "step")
    rows = [
        (
            row["platform"], row["active"], row["newest"] or "-",
            *(
                "-" if row[key] is None else f"{row[key]:.4f}"
                for name in (RAW, CALIBRATED, "em")
                for key in (f"{name}_w", f"{name}_step_w")
            ),
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _paper(table: pa.Table) -> str:
    rows = []
    for platform, clusters in _clusters(table).items():
        ours = "; ".join(
            f"{name}: {steps[0]:.3g} W for its first CPU"
            + (f", {min(steps[1:]):.3g} to {max(steps[1:]):.3g} W for each further one" if steps[1:] else "")
            for name, steps in clusters.items()
        )
        rows.append((platform, ours, PAPER.get(platform, "-")))
    return markdown_table(("platform", "here, calibrated", "paper"), rows)
