# SPDX-License-Identifier: BSD-3-Clause
"""The engine, CPU model and platform behind a result, as every figure names them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NO_TIMING = "functional, no timing"


@dataclass(frozen=True)
class Origin:
    engine: str
    version: str
    cpu: str | None
    platform: str
    """One platform or several, as text."""

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> "Origin":
        """Return the origin from a result's manifest. An older manifest names one engine for all of its points."""
        engines = [piece["engine"] for piece in manifest.get("pieces", [manifest])]
        versions = ", ".join(dict.fromkeys(engine["version"] for engine in engines))
        return cls(engines[0]["name"], versions, manifest["cpu"], manifest["platform"])

    @property
    def timed(self) -> bool:
        """True if the engine has timing: gem5 with CPUs that are not atomic."""
        return self.engine == "gem5" and self.cpu != "atomic"

    @property
    def label(self) -> str:
        if self.engine == "qemu":
            return f"QEMU {self.version}: {NO_TIMING}; {self.platform}"
        caveat = "" if self.timed else f" ({NO_TIMING})"
        return f"gem5 {self.version}, {self.cpu} CPUs{caveat}, {self.platform}"
