# SPDX-License-Identifier: BSD-3-Clause
"""The free memory of this machine."""

import re
from pathlib import Path

_INFO = Path("/proc/meminfo")


def available() -> int | None:
    """Return the bytes that programs may still take; None if the system does not tell."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB$", _INFO.read_text(), re.MULTILINE)
    except OSError:
        return None
    return 1024 * int(found[1]) if found else None
