# SPDX-License-Identifier: BSD-3-Clause
"""Power that others have published: power-models/published.yaml."""

from functools import cache
from typing import Annotated, Literal, get_args

from pydantic import Field

from lull.energy import technology
from lull.files import yaml_file
from lull.files.blocks import Block, explained
from lull.files.paths import ROOT
from lull.platform.load import load_platform
from lull.platform.schema import Cluster, Opp, Platform
from lull.platform.values import Name, Source

FILE = ROOT / "power-models" / "published.yaml"

Part = Literal["core", "l2"]
PARTS: tuple[Part, ...] = get_args(Part)
Positive = Annotated[float, Field(gt=0)]


class _Figure(Block):
    platform: Name
    cluster: Name
    source: Source

    def machine(self) -> tuple[Platform, Cluster]:
        platform = _platform(self.platform)
        return platform, next(cluster for cluster in platform.clusters if cluster.name == self.cluster)


@cache
def _platform(name: str) -> Platform:
    return load_platform(name)


class BusyCore(_Figure):
    """Dynamic power of one busy core, from the platform's coefficient."""

    def watts(self, opp: Opp) -> float:
        coefficient = self.machine()[1].dynamic_power_coefficient.value
        return float(coefficient * opp.mhz * (opp.mv / 1000) ** 2 * 1e-6)


class PublishedLeakage(_Figure):
    core: Positive
    l2: Positive

    def watts(self, part: Part, opp: Opp, temperature_k: float) -> float:
        """Return the leakage by the file's formula."""
        coefficient = self.core if part == "core" else self.l2
        return coefficient * (opp.mv / 1000) ** 3 * technology.leakage_at(temperature_k) * 1e-3


class Shape(_Figure):
    power: dict[str, Positive]
    """Power by MHz. The published numbers have no unit."""


class Published(Block):
    busy_core: Annotated[list[BusyCore], Field(alias="busy-core")]
    leakage: list[PublishedLeakage]
    shape: list[Shape]


@cache
def load() -> Published:
    shown = yaml_file.shown(FILE)
    with explained(shown, Published):
        return Published.model_validate(yaml_file.read(FILE, shown, "published", "power-models/README.md"))
