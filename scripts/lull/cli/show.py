# SPDX-License-Identifier: BSD-3-Clause
"""`lull show`: a run on one screen."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lull.rundir import CONSOLE, FILES, MANIFEST, RUN, STDOUT, RunDir

LINES_OF_OUTPUT = 8


def show(
    run: Annotated[Path, typer.Argument(help="a folder made by `lull boot`", metavar="RUNDIR")],
) -> None:
    """Summarise a run on one screen: what ran, on what, how it ended, what it left.

    Example: lull show runs/20260101-120000-tiny-gem5
    """
    rundir = RunDir.open(run)
    for_people = Console(highlight=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    for key, value in _rows(rundir).items():
        table.add_row(key, value)
    for_people.print(table)
    output = (rundir / STDOUT).read_text(errors="replace").splitlines() if (rundir / STDOUT).is_file() else []
    if output:
        for_people.print(f"\nlast lines of its output ({len(output)} in all)", style="bold")
        for line in output[-LINES_OF_OUTPUT:]:
            for_people.print(f"  {line}", markup=False, soft_wrap=False, overflow="ellipsis", no_wrap=True)


def _rows(rundir: RunDir) -> dict[str, str]:
    run, manifest = rundir.read_json(RUN), rundir.read_json(MANIFEST)
    engine, platform = _mapping(manifest, "engine"), _mapping(run, "platform")
    rows = {
        "run": f"{rundir.path}",
        "platform": f"{platform.get('name')}: {platform.get('title')}",
        "engine": f"{engine.get('name')} {engine.get('version')}" + (f", {run['cpu']} CPUs" if run.get("cpu") else ""),
        "kernel": f"{run.get('flavour')} flavour",
        "command": str(run.get("command")),
        "state": str(manifest.get("state")) + (f": {manifest['error']}" if "error" in manifest else ""),
    }
    if manifest.get("state") == "finished":
        rows["exit status"] = str(manifest["status"])
        rows["time"] = f"{float(str(manifest['simulated_s'])):.6f} s simulated, {manifest['wall_s']} s here"
        if manifest.get("instructions"):
            count, wall = int(str(manifest["instructions"])), float(str(manifest["wall_s"]))
            rows["instructions"] = f"{count:,} ({count / wall / 1e6:.2f} million a second)"
        if manifest.get("stats_windows"):
            rows["statistics"] = f"{manifest['stats_windows']} windows in stats.parquet"
    files = [path for path in (rundir / FILES).rglob("*") if path.is_file()]
    kept = [rundir / CONSOLE, *([rundir / "trace.dat"] if (rundir / "trace.dat").is_file() else []), *files]
    rows["files"] = ", ".join(str(path.relative_to(rundir.path)) for path in kept[:8]) + (" …" if len(kept) > 8 else "")
    rows["made"] = f"{manifest.get('started')}, lull {_mapping(manifest, 'lull').get('commit')}"
    return rows


def _mapping(value: dict[str, object], key: str) -> dict[str, object]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
