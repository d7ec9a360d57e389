# SPDX-License-Identifier: BSD-3-Clause
"""The state of this checkout as far as results depend on it: firmware, kernel, image, machine model, ledger, and the
code that an analysis names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from lull.artifacts import store
from lull.energy import version
from lull.engines import gem5
from lull.results.manifest import Piece
from lull.scenario import experiments


@dataclass(frozen=True)
class Tree:
    artifacts: Mapping[str, str]
    """The keys of firmware, kernel and image."""
    configs: str
    """The hash of gem5-configs/, the machine model."""
    ledger: str
    """The hash of the power models, and of the code that computes joules with them."""

    def made(self, pieces: Sequence[Piece], analysis: ModuleType) -> bool:
        """Return true if this state of the checkout made all of these pieces with this analysis."""
        code = _code(self.ledger, analysis)
        return all(
            piece["artifacts"] == self.artifacts
            and piece["engine"].get("configs") == self.configs
            and piece.get("code") == code
            for piece in pieces
        )


def now() -> Tree:
    """Return this checkout's state. Nothing is built or downloaded: the artifacts' sources must be in the cache."""
    return Tree(store.keys(), gem5.configs(), version.ledger())


def with_code(pieces: Sequence[Mapping[str, Any]], analysis: ModuleType) -> list[dict[str, Any]]:
    """Return the pieces of a manifest with the hashes of this checkout's table-making code added."""
    code = _code(version.ledger(), analysis)
    return [{**piece, "code": code} for piece in pieces]


def _code(ledger: str, analysis: ModuleType) -> dict[str, str]:
    return {"ledger": ledger, **experiments.code_of(analysis)}
