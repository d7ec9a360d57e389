# SPDX-License-Identifier: BSD-3-Clause
"""The files that the engine reads: progress during a simulation, and outcome.json after it, written whole or not at
all."""

from __future__ import annotations

import json
from pathlib import Path

SCHEMA = 1

CAUSES = {
    "m5_exit instruction encountered": "exit",
    "m5_fail instruction encountered": "fail",
    "checkpoint": "checkpoint",
    "simulate() limit reached": "limit",
}


def cause_name(event: str) -> str:
    """gem5's reason for stopping in one word; a reason that is not expected stays as gem5 words it."""
    return CAUSES.get(event, event)


def tell(directory: Path, simulated_s: float, instructions: int) -> None:
    """How far the simulation is, for whoever waits for it."""
    partial = directory / "progress.partial"
    partial.write_text(f"{simulated_s:.6f} {instructions}\n")
    partial.replace(directory / "progress")


def write(directory: Path, facts: dict[str, object]) -> None:
    """A reader sees the complete file or none."""
    partial = directory / "outcome.json.partial"
    partial.write_text(json.dumps({"schema": SCHEMA, **facts}, indent=2) + "\n")
    partial.replace(directory / "outcome.json")
