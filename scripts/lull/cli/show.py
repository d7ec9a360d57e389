# SPDX-License-Identifier: BSD-3-Clause
"""`lull show`: a summary of a run, on one screen."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lull.host import terminal
from lull.rundir import cpuidle
from lull.rundir.cpuidle import ClusterUse, Use
from lull.rundir.folder import CONSOLE, FILES, STDOUT, TRACE, RunDir
from lull.rundir.manifest import Manifest
from lull.runspec.spec import RunSpec

LINES_OF_OUTPUT = 5


def show(
    run: Annotated[Path, typer.Argument(help="folder of a run", metavar="RUNDIR")],
) -> None:
    """Summarise a run on one screen.

    The summary has the command, the platform, the exit status, the idle states and the files of the run.

    Example: lull show runs/20260101-120000-tiny-gem5
    """
    rundir = RunDir.open(run)
    spec = rundir.spec()
    for_people = terminal.console()
    table = Table(show_header=False, box=None, pad_edge=False)
    manifest = rundir.manifest()
    idle = cpuidle.of_command(rundir.path, spec, manifest)
    for key, value in _rows(rundir, spec, manifest, idle).items():
        table.add_row(key, value)
    for_people.print(table)
    if idle:
        for_people.print("\nidle states: entries and share of the time", style="bold")
        for_people.print(_idle(cpuidle.by_cluster(idle, spec.platform)))
        if spec.starts_with_trace:
            for_people.print("the entries of C1 include those of the idle seconds before the command")
    output = (rundir / STDOUT).read_text(errors="replace").splitlines() if (rundir / STDOUT).is_file() else []
    if output:
        for_people.print(f"\nlast lines of its output ({len(output)} in all)", style="bold")
        for line in output[-LINES_OF_OUTPUT:]:
            for_people.print(f"  {line}", soft_wrap=False, overflow="ellipsis", no_wrap=True)


def _idle(clusters: list[ClusterUse]) -> Table:
    """Return a table with one row per cluster. `above`, `below` and `rejected` are names of Linux's cpuidle sysfs."""
    names = sorted({name for cluster in clusters for name in cluster.states})
    table = Table("cluster", "CPUs", *names, "above", "below", "rejected", box=None, pad_edge=False)
    for cluster in clusters:
        uses = [cluster.states.get(name) for name in names]
        counts = (cluster.above, cluster.below, cluster.rejected)
        table.add_row(cluster.name, cluster.cpus, *map(_cell, uses), *map(str, counts))
    return table


def _cell(use: Use | None) -> str:
    if use is None:
        return "none"
    return f"{use.entries} {use.share:.1%}" if use.entries or use.enabled else "off"


def _policy(spec: RunSpec) -> str:
    asked = spec.policy.words()
    if told := [f"{cluster} {state}" for cluster, states in spec.told_at_boot.items() for state in states]:
        asked.append(f"other advertised latencies than at boot ({', '.join(told)})")
    return ", ".join(asked) or "as booted"


def _governors(idle: list[cpuidle.Row]) -> str | None:
    found = cpuidle.governors(idle)
    if not found["governor"]:
        return None
    frequency = ", ".join(found["cpufreq_governor"]) or "none"
    return f"at the end governor {', '.join(found['governor'])}, frequency governor {frequency}"


def _rows(rundir: RunDir, spec: RunSpec, manifest: Manifest, idle: list[cpuidle.Row]) -> dict[str, str]:
    engine = manifest["engine"]
    rows = {
        "run": f"{rundir.path}",
        "platform": f"{spec.platform.name}: {spec.platform.title}",
        "engine": f"{engine['name']} {engine['version']}" + (f", {spec.cpu} CPUs" if spec.cpu else ""),
        "kernel": f"{spec.flavour} flavour",
        "command": spec.command,
        **({"peer": spec.peer} if spec.peer is not None else {}),
        **({"schedule": f"{len(spec.schedule.splitlines())} lines"} if spec.schedule else {}),
        **({"put": ", ".join(file.guest for file in spec.put)} if spec.put else {}),
        "policy": "; ".join(filter(None, (_policy(spec), _governors(idle)))),
        "state": manifest["state"] + (f": {manifest['error']}" if "error" in manifest else ""),
    }
    if manifest["state"] == "finished":
        rows["state"] += f", exit status {manifest['status']}"
        wall = manifest["wall_s"]
        rows["time"] = f"{manifest['simulated_s']:.6f} s simulated" + (f", {wall} s here" if wall else "")
        if count := manifest["instructions"]:
            rows["instructions"] = f"{count:,}" + (f" ({count / wall / 1e6:.2f} million a second)" if wall else "")
        if windows := manifest["stats_windows"]:
            rows["statistics"] = f"{windows} windows in stats.parquet"
    kept = [path for path in (rundir / CONSOLE, rundir / TRACE, *(rundir / FILES).rglob("*")) if path.is_file()]
    rows["files"] = ", ".join(str(path.relative_to(rundir.path)) for path in kept[:8]) + (" …" if len(kept) > 8 else "")
    rows["made"] = f"{manifest['started']}, lull {manifest['lull']['commit']}"
    return rows
