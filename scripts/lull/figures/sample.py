# SPDX-License-Identifier: BSD-3-Clause
"""One finished run beside others: its settings, its seed, and the numbers that it left."""

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
    """One finished point."""

    title: str
    """The scenario's name for it and its settings; unique in the sweep, but for the seed."""
    settings: Mapping[str, Value]
    """Values of the grid's settings, in its order. They tell this point from the others."""
    seed: int
    run: Run

    def files(self) -> list[str]:
        """The JSON lines that the guest left, by name."""
        left = sorted(path.name for path in (self.run.path / FILES).glob(f"*{SUFFIX}"))
        return [*left, STDOUT] if self._printed() else left

    def lines(self, name: str) -> list[dict[str, Any]]:
        return self._printed() if name == STDOUT else self.run.lines(name)

    def _printed(self) -> list[dict[str, Any]]:
        """Empty unless all that the guest printed is objects of JSON."""
        try:
            found = [json.loads(line) for line in (self.run.path / STDOUT).read_text().splitlines()]
        except (OSError, ValueError, RecursionError):
            return []
        return found if all(isinstance(line, dict) for line in found) else []

    @property
    def ledger(self) -> Path | None:
        """Its energy.parquet, for `lull.energy.rows.grouped`; None for a run that no energy is known of."""
        path = self.run.path / LEDGER
        return path if path.is_file() else None

    def joules(self) -> dict[tuple[str, str], float]:
        """All of the machine's, by backend and band."""
        if self.ledger is None:
            return {}
        found = rows.grouped(self.ledger, ["backend", "band"], ["joules"]).to_pylist()
        return {(row["backend"], row["band"]): row["joules"] for row in found}
