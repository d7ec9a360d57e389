# SPDX-License-Identifier: BSD-3-Clause
"""A run, resolved and validated: the only thing an engine reads."""

import shlex
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lull import digest
from lull.platform import devicetree
from lull.platform.devicetree import Engine
from lull.platform.schema import Platform

EngineName = devicetree.Engine
CpuMode = Literal["atomic", "timing", "detailed"]
Flavour = Literal["default", "debug"]


class Limits(BaseModel):
    """What ends a guest that never ends: simulated seconds for its script, seconds of this machine's clock for all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    simulated_s: float = Field(gt=0)
    wall_s: float = Field(gt=0)


class RunSpec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    engine: EngineName
    cpu: CpuMode | None
    """CPU model on gem5; QEMU has one functional model and says None."""
    platform: Platform
    flavour: Flavour
    command: str
    trace: tuple[str, ...] = ()
    """Trace events switched on around the command."""
    limits: Limits
    seed: int = 1

    def hash(self) -> str:
        return digest.of_json(self.model_dump(mode="json"))

    def script(self) -> str:
        """What the guest's init runs. Tracing starts before the command and is read out after it."""
        limit = f"#lull limit_s={self.limits.simulated_s:g}\n"
        command = f"sh -c {shlex.quote(self.command)}"
        if not self.trace:
            return f"{limit}exec {command}\n"
        events = " ".join(f"-e {shlex.quote(event)}" for event in self.trace)
        return (
            f"{limit}"
            f"trace-cmd start {events} >/dev/null || exit 125\n"
            f"{command}\nstatus=$?\n"
            "trace-cmd stop >/dev/null && trace-cmd extract -o /out/trace.dat >/dev/null || exit 125\n"
            "exit $status\n"
        )
