# SPDX-License-Identifier: BSD-3-Clause
"""`lull demo`: the main job, at the size of a first look."""

import json
import sys

import typer
from rich.console import Console
from rich.table import Table

from lull import runs
from lull.cli.boot import WHAT_IT_RUNS_ON
from lull.cli.options import OutOption, PlatformOption
from lull.engines.choose import choose
from lull.report import report
from lull.rundir import STDOUT
from lull.runspec import Limits
from lull.specs import load_spec


def demo(
    platform: PlatformOption = "tiny",
    out: OutOption = None,
) -> None:
    """Boot the patched kernel and print what it runs on.

    On gem5 if there is one, else on QEMU.

    Example: lull demo --platform exynos5422
    """
    engine = choose(None)
    spec = load_spec(
        platform,
        (),
        WHAT_IT_RUNS_ON,
        engine=engine.name,
        cpu="detailed" if engine.name == "gem5" else None,
        limits=Limits(simulated_s=10, wall_s=3600),
    )
    rundir, outcome = runs.execute(spec, engine, out, lambda _: None)
    if outcome.status != 0:
        sys.stdout.write((rundir / STDOUT).read_text(errors="replace"))
        raise typer.Exit(outcome.status)
    system, *cpus = (rundir / STDOUT).read_text().splitlines()
    for_people = Console(highlight=False)
    for_people.print(system, soft_wrap=True)
    for_people.print(_table([json.loads(line) for line in cpus]))
    report(f"engine: {engine.name} ({'cycle-level CPUs' if engine.name == 'gem5' else 'functional only: no timing'})")
    report(f"run: {rundir.path}; next: ./lull show {rundir.path}")


def _table(cpus: list[dict[str, object]]) -> Table:
    table = Table("CPU", "model", "role", "cluster", "capacity", "idle states")
    for cpu in cpus:
        states = cpu.get("idle_states")
        names = [str(state["name"]) for state in states] if isinstance(states, list) else []
        table.add_row(*(str(cpu.get(key)) for key in ("cpu", "model", "role", "cluster", "capacity")), " ".join(names))
    return table
