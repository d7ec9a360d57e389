# SPDX-License-Identifier: BSD-3-Clause
"""The process a platform is made in, as far as McPAT can be told: power-models/technology.yaml."""

from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, fault, quoted
from lull.files.paths import ROOT
from lull.platform.schema import Platform
from lull.platform.values import Name, Source

FILE = ROOT / "power-models" / "technology.yaml"

Device = Literal["high-performance", "low-standby-power", "low-operating-power"]
DEVICE_NUMBERS: dict[Device, int] = {"high-performance": 0, "low-standby-power": 1, "low-operating-power": 2}


def _in_steps(kelvin: int) -> int:
    if kelvin % 10:
        raise fault(f"{kelvin} is between McPAT's steps; use a multiple of 10")
    return kelvin


class Technology(Block):
    node_nm: Annotated[int, Field(ge=22, le=180)]
    """McPAT 1.3 knows no smaller one than 22."""
    device: Device
    temperature_k: Annotated[int, Field(ge=300, le=400), AfterValidator(_in_steps)]
    source: Source

    @property
    def device_number(self) -> int:
        """As McPAT's `device_type` counts."""
        return DEVICE_NUMBERS[self.device]


class ClusterTechnology(Block):
    device: Device
    source: Source


class PlatformTechnology(Technology):
    clusters: dict[Name, ClusterTechnology] = Field(default_factory=dict)
    """Clusters whose transistors are of another kind."""

    def of(self, cluster: str) -> Technology:
        own = self.clusters.get(cluster)
        return Technology(
            node_nm=self.node_nm,
            device=own.device if own else self.device,
            temperature_k=self.temperature_k,
            source=f"{self.source}; {own.source}" if own else self.source,
        )


def load(platform: Platform, cluster: str) -> Technology:
    """What a cluster's transistors are. Platforms of a user's own need an entry, for nobody else can know."""
    known = _all()
    if platform.name not in known:
        raise UserError(
            f"{yaml_file.shown(FILE)}: {platform.name}: no entry for this platform; "
            f"add one like those of {quoted(sorted(known))}"
        )
    return known[platform.name].of(cluster)


@cache
def _all() -> dict[str, PlatformTechnology]:
    shown = yaml_file.shown(FILE)
    data = yaml_file.read(FILE, shown, "technology", "power-models/README.md")
    found = {}
    for name, block in data.items():
        with explained(f"{shown}: {name}", PlatformTechnology):
            found[name] = PlatformTechnology.model_validate(block)
    return found
