# SPDX-License-Identifier: BSD-3-Clause
"""A run, resolved and validated: the only thing an engine reads."""

import shlex
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lull import advertised, digest
from lull.advertised import AtBoot
from lull.platform import devicetree
from lull.platform.schema import Platform
from lull.policy import Policy

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
    told_at_boot: AtBoot = {}
    """Where the device tree advertises other latencies than `platform`; the script tells Linux those of `platform`."""
    policy: Policy = Policy()
    flavour: Flavour
    command: str
    trace: tuple[str, ...] = ()
    """Trace events switched on around the command."""
    limits: Limits
    seed: int = 1

    def hash(self) -> str:
        return digest.of_json(self.model_dump(mode="json"))

    def boot_platform(self) -> Platform:
        """The machine as its device tree describes it."""
        return advertised.boot_platform(self.platform, self.told_at_boot)

    def script(self) -> str:
        """What the guest's init runs: the policy, then the command. Tracing is of the command alone."""
        head = f"#lull limit_s={self.limits.simulated_s:g}\n"
        asked = [f"cstate={line}" for line in advertised.lines(self.platform, self.told_at_boot)]
        asked += self.policy.arguments(self.platform)
        if asked:
            head += f"lull-policy {' '.join(map(shlex.quote, asked))} || exit 125\n"
        if not self.trace:
            return f"{head}{self.command}\n"
        events = " ".join(f"-e {shlex.quote(event)}" for event in self.trace)
        return (
            f"{head}"
            f"trace-cmd start {events} >/dev/null || exit 125\n"
            f"sh -c {shlex.quote(self.command)}\nstatus=$?\n"
            "trace-cmd stop >/dev/null && trace-cmd extract -o /out/trace.dat >/dev/null || exit 125\n"
            "exit $status\n"
        )
