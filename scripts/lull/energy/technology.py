# SPDX-License-Identifier: BSD-3-Clause
"""Each platform's process, as McPAT's input needs it, and its temperature: power-models/technology.yaml."""

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
COLDEST_K, HOTTEST_K = 273.15, 373.15
"""0 to 100 degrees Celsius, the range of such chips, for which Arm's formula for leakage is meant."""
DEVICE_NUMBERS: dict[Device, int] = {"high-performance": 0, "low-standby-power": 1, "low-operating-power": 2}


def _in_steps(kelvin: int) -> int:
    if kelvin % 10:
        raise fault(f"{kelvin} is between McPAT's steps; use a multiple of 10")
    return kelvin


class Technology(Block):
    node_nm: Annotated[int, Field(ge=22, le=180)]
    """McPAT 1.3 has no smaller process than 22 nm."""
    device: Device
    temperature_k: Annotated[int, Field(ge=300, le=400), AfterValidator(_in_steps)]
    """McPAT's temperature, at which its leakage is compared with published figures."""
    source: Source

    @property
    def device_number(self) -> int:
        """Return the number of the device type for McPAT's `device_type`."""
        return DEVICE_NUMBERS[self.device]


Kelvin = Annotated[float, Field(ge=COLDEST_K, le=HOTTEST_K)]


class RunsAt(Block):
    """The temperature of a run's ledger, unless the user gives another."""

    temperature_k: Kelvin
    source: Source


class ClusterTechnology(Block):
    device: Device
    source: Source


class PlatformTechnology(Technology):
    runs_at: RunsAt
    clusters: dict[Name, ClusterTechnology] = Field(default_factory=dict)
    """Clusters with another kind of transistors."""

    def of(self, cluster: str) -> Technology:
        own = self.clusters.get(cluster)
        return Technology(
            node_nm=self.node_nm,
            device=own.device if own else self.device,
            temperature_k=self.temperature_k,
            source=f"{self.source}; {own.source}" if own else self.source,
        )


def load(platform: Platform, cluster: str) -> Technology:
    """Return the technology of a cluster's transistors. A user's own platform needs its own entry in the file."""
    return _of(platform).of(cluster)


def running_k(platform: Platform) -> float:
    """Return the temperature of the ledgers of the platform's runs."""
    return _of(platform).runs_at.temperature_k


def leakage_at(kelvin: float) -> float:
    """Return the leakage at a temperature, without a unit, by the formula of Arm's Linux for Juno.

    The formula is in power-models/published.yaml. McPAT's own dependence on temperature is not used: from 300 to 340 K
    its leakage grows by a sixth, but Juno's grows fourfold.
    """
    celsius = kelvin - 273.15
    return 0.032 + 0.0047 * celsius - 0.00008 * celsius**2 + 0.000002 * celsius**3


def leakage_share(platform: Platform, kelvin: float | None = None) -> float:
    """Return the leakage at a temperature, as a share of the leakage in the platform's tables."""
    reference = _of(platform).temperature_k
    return leakage_at(running_k(platform) if kelvin is None else kelvin) / leakage_at(reference)


def _of(platform: Platform) -> PlatformTechnology:
    known = _all()
    if platform.name not in known:
        raise UserError(
            f"{yaml_file.shown(FILE)}: {platform.name}: no entry for this platform; "
            f"add one like those of {quoted(sorted(known))}"
        )
    return known[platform.name]


@cache
def _all() -> dict[str, PlatformTechnology]:
    shown = yaml_file.shown(FILE)
    data = yaml_file.read(FILE, shown, "technology", "power-models/README.md")
    found = {}
    for name, block in data.items():
        with explained(f"{shown}: {name}", PlatformTechnology):
            found[name] = PlatformTechnology.model_validate(block)
    return found
