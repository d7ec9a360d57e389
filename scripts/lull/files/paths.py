# SPDX-License-Identifier: BSD-3-Clause
"""Where things are: the checkout, and the cache outside it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
"""The checkout. The package is always installed in place, so its sources are the checkout's."""


def cache_dir() -> Path:
    """The artifact cache: `LULL_CACHE`, else the XDG cache home. Never inside the checkout."""
    if explicit := os.environ.get("LULL_CACHE"):
        return Path(explicit).resolve()
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "lull"
