# SPDX-License-Identifier: BSD-3-Clause
"""What makes a result, as this tree has it: firmware, kernel, image, the machine model and the power models."""

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
    """Keys of firmware, kernel and image."""
    configs: str
    """Hash of the machine model."""
    power_models: str

    def made(self, pieces: Sequence[Piece], power_models: str | None) -> bool:
        """Whether all of these pieces of a manifest are of this tree. Older manifests name no power models."""
        return power_models in (None, self.power_models) and all(
            piece["artifacts"] == self.artifacts and piece["engine"].get("configs") == self.configs for piece in pieces
        )


def now() -> Tree:
    """Nothing is built or downloaded for it; the sources of what is built have to be there."""
    return Tree(store.keys(), gem5.configs(), power_models())


def power_models() -> str:
    files = (path for path in POWER_MODELS.rglob("*") if path.is_file() and path.suffix != ".md")
    return digest.of_files(POWER_MODELS, files)
