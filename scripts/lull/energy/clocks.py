# SPDX-License-Identifier: BSD-3-Clause
"""The mean clock and voltage of a cluster over time. A change of clock ends a window of statistics."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lull.energy import source
from lull.energy.windows import Window
from lull.platform.schema import Cluster
from lull.trace.clock import TICK_HZ


class MeanClock(NamedTuple):
    mhz: float
    mv: float


def means(
    windows: Iterable[Window], clusters: Mapping[int, Cluster], edges: Sequence[int]
) -> dict[int, list[MeanClock]]:
    """Return each cluster's mean clock between each edge and the next. A window counts where its middle is."""
    sums = {number: np.zeros((len(edges) - 1, 3)) for number in clusters}
    for window in windows:
        index = int(np.searchsorted(edges, (window.start + window.end) // 2, side="right")) - 1
        if 0 <= index < len(edges) - 1:
            for number, cluster in clusters.items():
                opp = source.opp_of(window, number, cluster, TICK_HZ)
                sums[number][index] += np.array([1.0, opp.mhz, opp.mv]) * (window.end - window.start)
    return {
        number: [MeanClock(float(mhz / ticks), float(mv / ticks)) for ticks, mhz, mv in own]
        for number, own in sums.items()
    }
