# SPDX-License-Identifier: BSD-3-Clause
"""`lull compare`: two runs or two sweeps beside each other."""

import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from lull.host import terminal

if TYPE_CHECKING:
    from lull.compare.compare import Comparison, Difference

MACHINE = "platform.name"
PLATFORM_FILE = re.compile(r"platform\.(?!name)|told_at_boot\.")
NO_TIMING = "made by QEMU: functional, its times and latencies are no timing"


def compare(
    first: Annotated[Path, typer.Argument(help="folder made by lull boot, run or sweep", metavar="A")],
    second: Annotated[Path, typer.Argument(help="another such folder, to compare with A", metavar="B")],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            help="show only measures whose name contains this text, such as joules or residency; may be repeated",
            metavar="TEXT",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
) -> None:
    """Show the differences between two runs or two sweeps.

    The settings that differ come first, then energy, residency and latency. Points are paired by their settings.
    Seeds count as repetitions. With two or more seeds on both sides, a difference has a 95 % interval and a p-value
    (Welch's t-test). With one seed it has neither.

    Example: lull compare runs/menu runs/teo --measure joules --measure residency
    """
    # numpy and pyarrow take a second to load, which commands that compare nothing do not pay.
    from lull.compare import samples
    from lull.compare.compare import compare as compared

    sides = samples.read(first), samples.read(second)
    found = compared(*sides)
    wanted = [item for item in found.differences if not measure or any(word in item.measure for word in measure)]
    engines = sorted({point.run.spec.engine for side in sides for point in side.points})
    if as_json:
        typer.echo(json.dumps(_plain(found, wanted, str(first), str(second), engines), indent=1))
        return
    console = terminal.console()
    text = "\n".join(
        f"{name}: {side.path} ({_count(len(side.points))})" for name, side in zip("AB", sides, strict=True)
    )
    console.print(text, soft_wrap=True)
    if "qemu" in engines:
        console.print(NO_TIMING, style="bold")
    _show_settings(console, found)
    _show_differences(console, found, wanted)


def _show_settings(console: Console, found: "Comparison") -> None:
    console.print("\nsettings", style="bold")
    if not found.settings:
        console.print("  the same in both")
    else:
        table = Table(Column("key", overflow="fold"), "A", "B", box=None, pad_edge=False)
        other_machine = any(setting.key.startswith(MACHINE) for setting in found.settings)
        shown = [one for one in found.settings if not (other_machine and PLATFORM_FILE.match(one.key))]
        for setting in shown:
            table.add_row(setting.key, _text(setting.first), _text(setting.second))
        console.print(table)
        if hidden := len(found.settings) - len(shown):
            console.print(f"  {hidden} more keys of the two platform files; --json has them")
    for side, names in (("A", found.only_first), ("B", found.only_second)):
        if names:
            console.print(f"  only in {side}: {', '.join(names)}", soft_wrap=True)


def _show_differences(console: Console, found: "Comparison", wanted: "list[Difference]") -> None:
    console.print("\nresults", style="bold")
    heads = ("point", "measure", "A", "B", "change", "95 % of B - A", "p")
    rows = [_cells(item) for item in wanted]
    used = [place for place, _ in enumerate(heads) if any(row[place] != "-" for row in rows)]
    table = Table(*(Column(heads[place], overflow="fold") for place in used), box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(row[place] for place in used))
    if rows:
        console.print(table)
    console.print(f"  {found.same} more measures are the same in both")
    for why in dict.fromkeys(item.why for item in wanted if item.why):
        console.print(f"  {why}", soft_wrap=True)
    if any(item.significant for item in wanted):
        console.print("  * p < 0.05, of one test; of many, one in twenty does so by chance")


def _cells(item: "Difference") -> tuple[str, ...]:
    change = "-" if item.change is None else f"{item.change:+.2%}"
    interval = "-" if item.low is None or item.high is None else f"[{item.low:.4g}, {item.high:.4g}]"
    p = "-" if item.p is None else f"{item.p:.2g}{' *' if item.significant else ''}"
    values = (_value(item.first, item.unit), _value(item.second, item.unit))
    return (item.point or "-", item.measure, *values, change, interval, p)


def _value(value: float, unit: str) -> str:
    return f"{value:.2%}" if unit == "share" else f"{value:.6g} {unit}".rstrip()


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _text(value: object) -> str:
    return "-" if value is None else str(value)


def _plain(
    found: "Comparison", wanted: "list[Difference]", first: str, second: str, engines: Sequence[str]
) -> dict[str, object]:
    differences = [
        {**dataclasses.asdict(item), "change": item.change, "significant": item.significant} for item in wanted
    ]
    return {
        "first": first,
        "second": second,
        "engines": engines,
        **dataclasses.asdict(found),
        "differences": differences,
    }
