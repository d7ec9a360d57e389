# SPDX-License-Identifier: BSD-3-Clause
"""Formats numbers for tables and checks: without powers of ten, and without digits below their interval."""

import math

MOST_DECIMALS = 6
MOST_WHOLE_DIGITS = 9


def number(value: float, digits: int = 4, sign: str = "") -> str:
    """Return the value with this many significant digits: 51234.5 is "51235" and not "5.123e+04"."""
    shown = f"{value:{sign}.{digits}g}"
    return f"{value:{sign}.0f}" if "e+" in shown and abs(value) < 10**MOST_WHOLE_DIGITS else shown


def with_interval(value: float, half: float | None, sign: str = "", digits: int = 4, scale: float = 1.0) -> str:
    """Return the value and half its interval, both to the interval's second significant digit: "0.88 ± 0.12".

    If the interval is not known, only the value is returned. `digits` is used if the interval gives no digits. Both
    numbers are multiplied by `scale`.
    """
    value *= scale
    if half is None:
        return number(value, digits, sign)
    half *= scale
    known = half > 0 and math.isfinite(half)
    decimals = 1 - math.floor(math.log10(float(f"{half:.2g}"))) if known else None
    if decimals is None or decimals > MOST_DECIMALS or abs(value) >= 10**MOST_WHOLE_DIGITS:
        return f"{number(value, digits, sign)} ± {number(half, 2)}"
    places = max(0, decimals)
    # Adding 0.0 makes a negative zero positive.
    return f"{round(value, places) + 0.0:{sign}.{places}f} ± {half:.{places}f}"
