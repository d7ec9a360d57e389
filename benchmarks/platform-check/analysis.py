# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `platform-check`: does the hardware that sleeps do what it says?"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lull.results.drawing import Drawing, Stored
from lull.results.result import Result
from lull.scenario.runs import Runs

from . import agreement, frequency, placement, routing


def analyse(runs: Runs) -> Result:
    tables: dict[str, pa.Table] = {}
    for part in (agreement, frequency, routing, placement):
        tables |= part.tables(runs)
    result = conclude(tables, runs.names, runs.engine, runs.timed)
    result.summary += _absent(runs)
    return result


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], engine: str = "gem5", timed: bool = True) -> Result:
    """From the tables alone."""
    result = Result(summary="", tables=dict(tables))
    if "residency" in tables:
        agreement.extend(result, engine)
    if "frequency" in tables:
        frequency.extend(result, timed)
    if "routing" in tables:
        routing.extend(result, engine, timed)
    if "placement" in tables:
        placement.extend(result)
    return result


def _absent(runs: Runs) -> str:
    """Say what the platform has not, and which parts are left out for this."""
    found = ""
    for title, part in (("Routing", routing), ("Placement", placement)):
        for run in runs.group(part.GROUP):
            first = next(iter(run.lines(part.FILE)), {})
            if "absent" in first:
                found += f"\n## {title}\n\nThis platform has not {first['absent']}.\n"
    return found


def draw(stored: Stored) -> list[Drawing]:
    return [drawing for part in (agreement, frequency, routing) for drawing in part.draw(stored)]
