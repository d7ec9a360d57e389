# SPDX-License-Identifier: BSD-3-Clause
"""One finished run of a sweep: its settings, its seed, and its results."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.energy import rows
from lull.rundir.folder import FILES, LEDGER, STDOUT
from lull.rundir.run import Run
from lull.runspec.values import Value

SUFFIX = ".jsonl"


@dataclass(frozen=True)
class Sample:
    """One finished point of a sweep."""

    title: str
    """The scenario's name for the point, and its settings. Only points that differ in the seed have the same title."""
    settings: Mapping[str, Value]
    """The values of the grid's settings, in the grid's order."""
    seed: int
    run: Run

    def files(self) -> list[str]:
        """Return the names of the guest's files with JSON lines."""
        left = sorted(path.name for path in (self.run.path / FILES).glob(f"*{SUFFIX}"))
        return [*left, STDOUT] if self._printed() else left

    def lines(self, name: str) -> list[dict[str, Any]]:
        return self._printed() if name == STDOUT else self.run.lines(name)

    def _printed(self) -> list[dict[str, Any]]:
        """Return the JSON objects that the guest printed; empty if it printed anything else."""
        try:
            found = [json.loads(line) for line in (self.run.path / STDOUT).read_text().splitlines()]
        except (OSError, ValueError, RecursionError):
            return []
        return found if all(isinstance(line, dict) for line in found) else []

    @property
    def ledger(self) -> Path | None:
        """Return the path of energy.parquet, for `lull.energy.rows.grouped`; None for a run without a ledger."""
        path = self.run.path / LEDGER
        return path if path.is_file() else None

    def joules(self) -> dict[tuple[str, str], float]:
        """Return the joules of the whole machine, by backend and band."""
        if self.ledger is None:
            return {}
        found = rows.grouped(self.ledger, ["backend", "band"], ["joules"]).to_pylist()
        return {(row["backend"], row["band"]): row["joules"] for row in found}
