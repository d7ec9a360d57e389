# SPDX-License-Identifier: BSD-3-Clause
"""Choices of made-up sleeps, as if they had been made again."""

from collections.abc import Sequence

import numpy as np

from lull.whatif.recorded import Made
from lull.whatif.sleeps import ChosenSleep, packed


def made(sleeps: Sequence[ChosenSleep], stop_tick: bool = True, wheels: Sequence[int] | None = None) -> Made:
    """Each as recorded. `wheels`: when the wheel was taken to be due; not given, as the trace tells."""
    own = packed(sleeps)
    due = own["wheel"].copy() if wheels is None else np.array(wheels, np.int64)
    return Made(own, own["state"].copy(), due, np.full(own.size, stop_tick))
