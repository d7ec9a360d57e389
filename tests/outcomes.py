# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of an experiment's run, as its own tests on QEMU look at it."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines that the guest left."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_point(out: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the table `points` that the figures of a run stand on."""
    return {row["point"]: row for row in pq.read_table(out / "figures" / "points.parquet").to_pylist()}
