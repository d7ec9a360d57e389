# SPDX-License-Identifier: BSD-3-Clause
"""All that a result is made with, as this tree has it: firmware, kernel, image, machine model and power models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lull.artifacts import store
from lull.engines import gem5
from lull.files import digest, paths
from lull.results.manifest import Piece

POWER_MODELS = paths.ROOT / "power-models"


@dataclass(frozen=True)
class Tree:
    artifacts: Mapping[str, str]
    """The keys of firmware, kernel and image."""
    configs: str
    """The hash of gem5-configs/, the machine model."""
    power_models: str

    def made(self, pieces: Sequence[Piece], power_models: str | None, code: Mapping[str, str]) -> bool:
        """Return true if this tree made all of these pieces of a manifest. Older manifests name no power models.

        `code`: the hashes of this tree's own code that the result's tables are made with.
        """
        return power_models in (None, self.power_models) and all(
            piece["artifacts"] == self.artifacts
            and piece["engine"].get("configs") == self.configs
            and piece.get("code", {}) == code
            for piece in pieces
        )


def now() -> Tree:
    """Return this tree. Nothing is built or downloaded; the sources of the artifacts have to be in the cache."""
    return Tree(store.keys(), gem5.configs(), power_models())


def power_models() -> str:
    files = (path for path in POWER_MODELS.rglob("*") if path.is_file() and path.suffix != ".md")
    return digest.of_files(POWER_MODELS, files)
