# SPDX-License-Identifier: BSD-3-Clause
"""Reads simulated times as users write them, such as 1ms for the length of a window of statistics."""

import re

from lull.errors import UserError
from lull.runspec.spec import SIMULATED_MAX_S

_PERIOD = re.compile(r"(\d+(?:\.\d+)?)(s|ms|us)")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
SHORTEST_PERIOD_S = 1e-6


def period(text: str | None, option: str = "--stats-period") -> float | None:
    """Return the seconds of a time such as 250us. `option` is named in error messages."""
    if text is None:
        return None
    match = _PERIOD.fullmatch(text)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not SHORTEST_PERIOD_S <= seconds <= SIMULATED_MAX_S:
        raise UserError(
            f"{option} {text}: not a time from 1us to {SIMULATED_MAX_S:g}s; write one as 1ms, 250us or 0.1s"
        )
    return seconds
