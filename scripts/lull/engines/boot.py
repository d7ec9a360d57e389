# SPDX-License-Identifier: BSD-3-Clause
"""Prepares and starts one run, for `lull boot` and for notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.artifacts import store
from lull.engines.base import Outcome, Sink
from lull.engines.choose import choose
from lull.engines.execute import execute
from lull.errors import UserError
from lull.rundir.folder import RunDir
from lull.runspec.load import load_spec
from lull.runspec.period import period
from lull.runspec.settings import overrides
from lull.runspec.spec import SIMULATED_MAX_S, WALL_MAX_S, AnyCpu, EngineName, Flavour, Limits

WHAT_IT_RUNS_ON = "uname -a; lull-cpus"
SELFTEST = "lull-selftest"


@dataclass(frozen=True)
class Boot:
    """A user's request for one run. Each field is an option of `lull boot`. Limits are in seconds."""

    platform: str = "tiny"
    engine: EngineName | None = None
    command: str = WHAT_IT_RUNS_ON
    cpu: AnyCpu | None = None
    flavour: Flavour = "default"
    settings: Sequence[str] = ()
    shadow: bool | None = None
    schedule: Path | None = None
    peer: str | None = None
    put: Sequence[str] = ()
    trace: Sequence[str] = ()
    trace_buffer: int | None = None
    stats_period: str | None = None
    fast_forward: str | None = None
    sim_limit: float = 60.0
    wall_limit: float = 3600.0
    seed: int = 1
    out: Path | None = None
    gem5: str | None = None
    checkpoint: Path | None = None

    def run(self, sink: Sink) -> tuple[RunDir, Outcome]:
        """Check all options, then run. Return the run's folder and its outcome."""
        for name, given, most in (("sim", self.sim_limit, SIMULATED_MAX_S), ("wall", self.wall_limit, WALL_MAX_S)):
            if not 0 < given <= most:
                raise UserError(f"--{name}-limit {given:g}: give seconds, more than 0 and at most {most:g}")
        chosen = choose(self.engine, self.gem5, self.checkpoint, self._programs())
        spec = load_spec(
            self.platform,
            overrides(self.settings, self.shadow),
            self.command,
            engine=chosen.name,
            cpu=self.cpu,
            flavour=self.flavour,
            schedule=self.schedule,
            peer=self.peer,
            put=self.put,
            trace=self.trace,
            trace_kib=self.trace_buffer,
            stats_period_s=period(self.stats_period),
            fast_forward_s=period(self.fast_forward, "--fast-forward"),
            limits=Limits(simulated_s=self.sim_limit, wall_s=self.wall_limit),
            seed=self.seed,
        )
        return execute(spec, chosen, self.out, sink)

    def _programs(self) -> Path | None:
        """Return the selftests for a command that names them. All other commands share the image of experiments, and
        its checkpoint."""
        return store.selftests() if SELFTEST in self.command else None
