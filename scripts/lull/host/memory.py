# SPDX-License-Identifier: BSD-3-Clause
"""How much memory this machine has left."""

import re
from pathlib import Path

_INFO = Path("/proc/meminfo")


def available() -> int | None:
    """Bytes that programs may still take; None where the system does not tell."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB$", _INFO.read_text(), re.MULTILINE)
    except OSError:
        return None
    return 1024 * int(found[1]) if found else None
