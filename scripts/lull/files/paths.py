# SPDX-License-Identifier: BSD-3-Clause
"""Paths of the checkout and of the cache outside it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
"""The checkout. The package is always installed in place, so its sources are in the checkout."""
RESULTS = ROOT / "results"
"""The published results: one folder for each experiment."""


def cache_dir() -> Path:
    """Return the artifact cache: `LULL_CACHE`, else the XDG cache home. Never inside the checkout."""
    if explicit := os.environ.get("LULL_CACHE"):
        return Path(explicit).resolve()
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "lull"
