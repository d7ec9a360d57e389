# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a kernel system in instructions: the same code paths in a kernel without the system, with it
off, and with it on.

Systems that depend on this one are left out of all these kernels, so that nothing else differs. If only "off" and "on"
are compared, both can run in the same kernel, which has all systems (`same_kernel`).

On gem5, the statistics count instructions. On QEMU, the clock does: it counts the instructions of all CPUs, so the time
of a run in which some CPU always works is their number. It is no timing, because QEMU has no caches or pipelines.

The result of a path is the lower quartile over its runs. Interrupts, and the tick in runs above 4 ms, only add
instructions, so a low value is right. The minimum is not used: a few runs of `timer` are some 200 instructions cheaper
than all others, so the minimum differs between kernels with the same code. For two such kernels, the quartiles of 40
runs of 100 events differ by at most two instructions. Exceptions are `fork` (1 %, because memory is found in other
places), `place` (140), `process` (40), `tcp` (8) and `connect` (10). Some runs of `connect` are 360 instructions per
event cheaper; if these are more than a quarter of the runs, the result is, too.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lull.artifacts import store
from lull.engines import gem5_names
from lull.engines.base import Engine
from lull.engines.execute import execute
from lull.errors import UserError
from lull.platform.schema import Platform
from lull.rundir.folder import STATS_TABLE, STDOUT, RunDir
from lull.runspec.load import load_spec
from lull.runspec.spec import CpuMode, Limits
from lull.systems import folder

SWITCH = "enabled"
NOT_THERE, OFF, ON = "not compiled in", "off", "on"
_LIMITS = Limits(simulated_s=60.0, wall_s=7200.0)


@dataclass(frozen=True)
class CostPlan:
    system: str
    platform: str
    cpu: CpuMode | None
    settings: Sequence[str]
    """Settings besides the system's switch. Those of the system are only for the run in which it is on."""
    events: int
    runs: int
    same_kernel: bool = False
    """Count in the kernel with all systems: with the system off, and with it on."""


def variants(what: CostPlan) -> dict[str, list[str]]:
    """Return the settings of each run. The system's own settings are only in those of the run in which it is on.

    A system on which all others depend cannot be left out, so it has two runs only: off and on. So has any system in
    the same kernel.
    """
    system = folder.find(what.system)
    own = [setting for setting in what.settings if setting.startswith(f"{system.name}.")]
    each = [setting for setting in what.settings if setting not in own]
    own += [f"{system.name}.{SWITCH}=1"] if SWITCH in system.manifest.settings else []
    if not own:
        raise UserError(f"{system.name}: it has no setting `{SWITCH}`; say by --set what turns it on")
    found = {} if what.same_kernel or _is_base(system.name) else {NOT_THERE: each}
    return found | {OFF: each, ON: [*each, *own]}


def left_out(system: str, variant: str) -> list[str]:
    """Return the systems that are left out of a variant's kernel."""
    if _is_base(system):
        return []
    others = folder.standing_on(system)
    return [system, *others] if variant == NOT_THERE else others


def _is_base(system: str) -> bool:
    return len(folder.standing_on(system)) == len(folder.known()) - 1


def measure(what: CostPlan, engine: Engine, out: Path) -> dict[str, dict[str, float]]:
    """Return the instructions per event of each path, by variant. The runs are left in `out`."""
    found: dict[str, dict[str, float]] = {}
    command = f"lull-cost -n {what.events} -r {what.runs}"
    # All settings are checked before a kernel is built, which takes minutes.
    specs = {
        variant: load_spec(what.platform, settings, command, engine=engine.name, cpu=what.cpu, limits=_LIMITS)
        for variant, settings in variants(what).items()
    }
    artifacts = engine.artifacts("default")
    for variant, spec in specs.items():
        without = [] if what.same_kernel else left_out(what.system, variant)
        kernel = store.build_kernel("default", without) if without else artifacts.kernel
        place = out / variant.replace(" ", "-")
        run, outcome = execute(spec, engine, place, lambda _: None, replace(artifacts, kernel=kernel))
        if outcome.status != 0:
            said = (run / STDOUT).read_text(errors="replace").strip().splitlines()
            raise UserError(f"{place}: lull-cost ended with status {outcome.status}: {said[-1] if said else 'no word'}")
        found[variant] = counted(run, spec.platform)
    return found


def counted(run: RunDir, platform: Platform) -> dict[str, float]:
    """Return the instructions per event of each path: the lower quartile over its runs."""
    rows = [json.loads(line) for line in (run / STDOUT).read_text().splitlines()]
    windows = _windows(run, platform) if (run / STATS_TABLE).is_file() else None
    found, begin = {}, 0
    for row in rows:
        took: list[float] = row["took_ns"]
        if windows is not None:
            # The time before the first run of a path is also a window.
            took = [windows[number] for number in range(begin + 1, begin + 1 + len(took))]
            begin += 1 + len(took)
        found[row["path"]] = sorted(took)[len(took) // 4] / row["events"]
    return found


def _windows(run: RunDir, platform: Platform) -> dict[int, float]:
    """Return the instructions of all CPUs in each window of gem5's statistics."""
    # pyarrow takes long to load.
    from lull.rundir import stats

    cpus = [(number, cpu) for number, one in enumerate(platform.resolved_clusters()) for cpu in range(one.cpus)]
    names = [f"{gem5_names.cpu(number, cpu)}.commitStats0.numInsts" for number, cpu in cpus]
    found: dict[int, float] = {}
    for row in stats.TABLE.read(run / STATS_TABLE, filters=[("statistic", "in", names)]).to_pylist():
        found[row["window"]] = found.get(row["window"], 0.0) + row["value"]
    return found
