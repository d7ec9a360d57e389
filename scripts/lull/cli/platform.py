# SPDX-License-Identifier: BSD-3-Clause
"""`lull platform`: list, show and check machines."""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lull.cli.options import ShadowOption
from lull.engines import bootargs, gem5, qemu
from lull.host import terminal
from lull.platform import devicetree
from lull.platform.cstates import CState
from lull.platform.dram import load_device
from lull.platform.load import list_platforms, load_platform
from lull.platform.schema import Cluster, Memory, Platform
from lull.runspec.settings import overrides

app = typer.Typer(
    help="List, show and check machines, and print their device trees.\n\nExample: lull platform show rk3399 --sources",
    no_args_is_help=True,
)

BOOTARGS: dict[devicetree.Engine, str] = {"gem5": gem5.BOOTARGS, "qemu": qemu.BOOTARGS}


PlatformArgument = Annotated[
    str, typer.Argument(help="machine: a name from `lull platform list`, or a YAML file of yours", metavar="P")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="change a number, such as clusters.little.cpus=2 or cstates.C3.exit_us=50; may be repeated",
        metavar="KEY=VALUE",
    ),
]


@app.command("list")
def list_() -> None:
    """List the platforms that come with the project.

    Example: lull platform list
    """
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "CPUs", "shadow", "title"):
        table.add_column(heading)
    for name in list_platforms():
        platform = load_platform(name)
        shadow = "yes" if platform.shadow.enabled else "--shadow"
        table.add_row(name, str(platform.cpu_count), shadow, platform.title)
    terminal.console().print(table)


@app.command()
def show(
    name: PlatformArgument,
    settings: SetOption = None,
    shadow: ShadowOption = None,
    sources: Annotated[bool, typer.Option("--sources", help="print the source of every number")] = False,
) -> None:
    """Show a platform's clusters, operating points and C-states.

    Example: lull platform show exynos5422 --shadow --set cstates.C3.exit_us=50
    """
    platform = load_platform(name, overrides(settings, shadow))
    console = terminal.console()
    console.print(f"{platform.name}: {platform.title}", style="bold")
    console.print(
        f"{platform.cpu_count} CPUs, {platform.memory.size_mib} MiB in {platform.memory.channels} x "
        f"{platform.memory.kind}, interconnect at {platform.system.clock_mhz} MHz",
    )
    console.print(_memory(platform.memory), soft_wrap=True)
    console.print(_clusters(platform))
    for cluster in platform.resolved_clusters():
        console.print(f"\n{cluster.name}: C-states in µs (entry/exit/residency)")
        console.print(_cstates(cluster))
    if sources:
        console.print("\nsources", style="bold")
        for key, source in _sources(platform.model_dump()):
            console.print(f"{key}: {source}", soft_wrap=True)


@app.command()
def dts(
    name: PlatformArgument,
    engine: Annotated[devicetree.Engine, typer.Option("--engine", "-e", help="simulator that the device tree is for")],
    settings: SetOption = None,
    shadow: ShadowOption = None,
) -> None:
    """Print the device tree source with which a platform boots.

    The engine adds the address of the initrd at boot.

    Example: lull platform dts tiny --engine gem5 | dtc -O dtb -o tiny.dtb
    """
    platform = load_platform(name, overrides(settings, shadow))
    arguments = bootargs.complete(BOOTARGS[engine], platform)
    sys.stdout.write(devicetree.render(platform, engine, arguments))


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="platform file, or a name from `lull platform list`", metavar="FILE")],
    settings: SetOption = None,
    shadow: ShadowOption = None,
) -> None:
    """Check a platform file, and compile its device trees.

    Example: lull platform check mine.yaml
    """
    platform = load_platform(file, overrides(settings, shadow))
    with tempfile.TemporaryDirectory() as scratch:
        for engine in devicetree.ENGINES:
            text = devicetree.render(platform, engine, bootargs.complete(BOOTARGS[engine], platform))
            devicetree.compile(text, Path(scratch) / f"{platform.name}-{engine}.dtb")
    clusters = len(platform.resolved_clusters())
    typer.echo(f"{file}: good; {platform.cpu_count} CPUs in {clusters} clusters, device trees for gem5 and QEMU")


def _memory(memory: Memory) -> str:
    """Return one line about the DRAM devices, with their data sheet's power at rest."""
    idle = "power-down and self-refresh when idle" if memory.powerdown else "no power-down"
    if memory.parts is None:
        return f"DRAM: gem5's own devices, {idle}"
    device = load_device(memory.parts.device)
    count = memory.devices(device.bits)
    return (
        f"DRAM: {count} x {device.title}; {count * device.standby_w * 1e3:.0f} mW in standby, "
        f"{count * device.self_refresh_w * 1e3:.0f} mW in self-refresh; {idle}"
    )


def _clusters(platform: Platform) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("cluster", "role", "CPUs", "core", "socket", "DMIPS/MHz", "MHz", "mV", "L2"):
        table.add_column(heading)
    for cluster in platform.resolved_clusters():
        slowest, fastest = cluster.opps.table[0], cluster.opps.table[-1]
        table.add_row(
            cluster.name,
            platform.role(cluster),
            str(cluster.cpus),
            cluster.core,
            str(cluster.socket),
            str(cluster.capacity_dmips_mhz.value),
            f"{slowest.mhz:g}-{fastest.mhz:g} ({len(cluster.opps.table)})",
            f"{slowest.mv:g}-{fastest.mv:g}",
            f"{cluster.l2.size_kib} KiB",
        )
    return table


def _cstates(cluster: Cluster) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("state", "kind", "advertised", "actual", "flush", "refill", "full after"):
        table.add_column(heading)
    for state in cluster.cstates:
        table.add_row(state.name, state.kind, *_latencies(state))
    return table


def _latencies(state: CState) -> tuple[str, ...]:
    told, real = state.advertised, state.actual
    return (
        f"{told.entry_us}/{told.exit_us}/{told.residency_us}",
        f"{real.entry_us:g}/{real.exit_us:g}",
        *(f"{number:g}" for number in (real.flush_us, real.refill_us, real.fill_us)),
    )


def _sources(data: object, key: str = "") -> list[tuple[str, str]]:
    """Return the source of every number of a platform, each with the dotted key that `--set` uses."""
    found: list[tuple[str, str]] = []
    if isinstance(data, dict):
        if "source" in data:
            found.append((key, str(data["source"])))
        for part, value in data.items():
            found += _sources(value, f"{key}.{part}" if key else part)
    elif isinstance(data, list):
        for number, item in enumerate(data):
            part = item.get("name", number) if isinstance(item, dict) else number
            found += _sources(item, f"{key}.{part}")
    return found
