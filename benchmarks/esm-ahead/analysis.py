# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-ahead`: the shadow core, with and without prediction."""

import pyarrow as pa

from lull.figures.esm import events as esm_events
from lull.figures.esm.events import Experiment
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs

EXPERIMENT = Experiment(
    axis="moves",
    heading="motions a second",
    sooner_ms=[],
    saved_percent=[],
    aside=("dropped", "deeper", "deeper-dropped"),
)
MEDIAN_US = 200
"""The longest median latency of events that are predicted, where the cluster stays on."""
KEPT = 0.02
"""What prediction may cost of the machine's power where most events are dropped."""


def analyse(runs: Runs) -> Result:
    result = esm_events.analyse(runs, EXPERIMENT)
    if runs.timed:
        result.checks += checks(result.tables["points"])
    return result


def draw(stored: Stored) -> list[Drawing]:
    return esm_events.draw(stored, EXPERIMENT)


def checks(points: pa.Table) -> list[Check]:
    rows = {row["point"]: row for row in points.to_pylist()}
    found = []
    for name, row in rows.items():
        plain = rows.get(f"{name.removesuffix('-1')}-0")
        if not name.endswith("-1") or plain is None:
            continue
        if name.startswith("wanted/"):
            found.append(
                Check(
                    f"{name}: predicted events reach their handler within {MEDIAN_US} µs, as a rule",
                    row["median_us"] <= MEDIAN_US,
                    f"median {row['median_us']:.4g} µs, without prediction {plain['median_us']:.4g}",
                )
            )
        elif "dropped" in name:
            found.append(
                Check(
                    f"{name}: what the shadow core saves is kept where most events are dropped",
                    row["power_w"] <= (1 + KEPT) * plain["power_w"],
                    f"{1e3 * row['power_w']:.5g} mW, without prediction {1e3 * plain['power_w']:.5g}",
                )
            )
    return found
