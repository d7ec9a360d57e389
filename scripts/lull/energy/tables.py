# SPDX-License-Identifier: BSD-3-Clause
"""Joules per event: the files in power-models/tables, one for each cluster, made by `lull energy tables`."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from lull.energy import technology
from lull.energy.mcpat_xml import sources_digest
from lull.errors import UserError
from lull.files import digest, json_file, yaml_file
from lull.files.paths import ROOT
from lull.platform.cores import load_core
from lull.platform.schema import Cluster, Platform
from lull.platform.values import without_sources

TABLES = ROOT / "power-models" / "tables"


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Leakage(_Row):
    subthreshold_w: float
    gate_w: float

    @property
    def watts(self) -> float:
        return self.subthreshold_w + self.gate_w


class OppTable(_Row):
    mhz: float
    mv: float
    joules_per_event: dict[str, dict[str, float]]
    """Joules by component (of one core, or `l2`), then by event. A miss of the L2 may have less than 0, because McPAT
    also counts it as an access, and it is cheaper than a hit."""
    leakage: dict[str, Leakage]
    """Leakage by component, of one core and of the cluster's `l2`."""


class TableManifest(_Row):
    made_from: str
    """A digest of everything on which McPAT's inputs depend."""
    mcpat_version: str
    mcpat_sha256: str
    lull_version: str
    seed: int
    linearity_error: float
    """The largest relative difference between McPAT and this table on random activity."""


class ClusterTable(_Row):
    platform: str
    cluster: str
    core: str
    node_nm: int
    device: str
    temperature_k: int
    area_mm2: dict[str, float]
    opps: list[OppTable]
    manifest: TableManifest

    def at(self, mhz: float) -> OppTable:
        """Return the operating point of a frequency. A difference of 0.2 % is allowed: gem5's periods are whole ps."""
        for opp in self.opps:
            if abs(opp.mhz - mhz) <= 0.002 * opp.mhz:
                return opp
        known = ", ".join(f"{opp.mhz:g}" for opp in self.opps)
        raise UserError(
            f"{yaml_file.shown(path(self.platform, self.cluster))}: no operating point of {mhz:g} MHz among {known}; "
            "run `lull energy tables` for a platform that has it"
        )


def path(platform: str, cluster: str) -> Path:
    return TABLES / platform / f"{cluster}.json"


def made_from(platform: Platform, cluster: Cluster) -> str:
    """Return a digest of all that a table depends on: cores, L2, operating points, process and templates. C-states and
    other clusters are not included, because they change no table."""
    described: dict[str, Any] = {
        "core": load_core(cluster.core).model_dump(mode="json"),
        "l2": cluster.l2.model_dump(mode="json"),
        "opps": [opp.model_dump(mode="json") for opp in cluster.opps.table],
        "technology": technology.load(platform, cluster.name).model_dump(mode="json"),
        "templates": sources_digest(),
    }
    return digest.of_json(without_sources(described))


def load(platform: Platform, cluster: Cluster) -> ClusterTable:
    """Return the table of a cluster. Raise a UserError if it was made for another description of the machine."""
    file = path(platform.name, cluster.name)
    shown = yaml_file.shown(file)
    remedy = f"make it by `lull energy tables --platform {platform.name}`, which needs McPAT"
    if not file.is_file():
        raise UserError(f"{shown}: no table for this cluster; {remedy}")
    try:
        table = ClusterTable.model_validate(json_file.read(file, remedy))
    except ValidationError as error:
        fault = error.errors()[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise UserError(f"{shown}: {key}: {fault['msg']}; {remedy}") from None
    if table.core != cluster.core:
        raise UserError(
            f"{shown}: core: a table for the `{table.core}`, and this cluster has `{cluster.core}`; {remedy}"
        )
    if table.manifest.made_from != made_from(platform, cluster):
        raise UserError(
            f"{shown}: manifest.made_from: made for other caches, operating points, process or templates than the "
            f"platform has now; {remedy}"
        )
    return table


def save(table: ClusterTable) -> Path:
    file = path(table.platform, table.cluster)
    file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write(file, table.model_dump(mode="json"))
    return file
