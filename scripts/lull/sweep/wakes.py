# SPDX-License-Identifier: BSD-3-Clause
"""The latencies of a run of the guest program wake-latency, over all CPUs that it woke, for a sweep's table."""

import numpy as np

from lull.figures import wake
from lull.rundir.folder import FILES
from lull.rundir.run import Run
from lull.statistics.bootstrap import Numbers

PHASES = ("total", "exit", "entry")
PERCENTILES = (50, 90, 99)


def numbers(run: Run) -> dict[str, int | float]:
    """Return the numbers for a run of wake-latency, over the wake-ups that count. Empty for other programs."""
    if not (run.path / FILES / wake.FILE).is_file():
        return {}
    wakes = wake.df_wakes([wake.recorded(run)])
    found: dict[str, int | float] = {"wake:count": wakes.num_rows}
    for phase in PHASES:
        values = wake.microseconds(wakes, phase)
        if values.size:
            found |= spread(f"wake:{phase}_us", values)
    return found


def spread(name: str, values: Numbers) -> dict[str, float]:
    return {
        f"{name}:mean": float(values.mean()),
        **{f"{name}:p{p}": float(np.percentile(values, p)) for p in PERCENTILES},
    }
