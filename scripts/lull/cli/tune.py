# SPDX-License-Identifier: BSD-3-Clause
"""`lull tune`: find the governor and the advertised idle-state numbers that spend the least energy on a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from lull.engines import gem5_binary
from lull.engines.choose import choose
from lull.errors import UserError
from lull.host import terminal
from lull.host.progress import Progress, report
from lull.rundir.folder import RunDir
from lull.rundir.manifest import other_makers

if TYPE_CHECKING:
    from lull.whatif.search import Matter


def tune(
    run: Annotated[Path, typer.Argument(help="folder of a run on gem5, with traces", metavar="RUNDIR")],
    p99_us: Annotated[
        float, typer.Option("--p99-us", help="longest p99 of the wake-up latency over all CPUs in µs", min=0)
    ],
    top: Annotated[int, typer.Option(help="number of answers", min=1)] = 5,
    tunable: Annotated[
        list[str] | None,
        typer.Option(
            help="values of a parameter of haltpoll, such as haltpoll.guest_halt_poll_ns=50000,200000; may be "
            "repeated; if not given, haltpoll's longest and first poll are varied from a quarter to four times",
            metavar="KEY=VALUE,VALUE",
        ),
    ] = None,
    verify: Annotated[int, typer.Option(help="number of answers to simulate on gem5", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option(help="folder for the runs of --verify; if not given, runs/tune-<run>")
    ] = None,
) -> None:
    """Find the idle governor and settings of the least energy.

    The settings are the advertised numbers of idle states, and parameters of haltpoll. First, each advertised
    residency and each parameter is varied from a quarter to four times its value (in each cluster, the cluster's own),
    with each governor. Then, from the best settings of each governor on, residency and latencies of one state at a
    time are varied. A second table says which numbers matter. Answers are predictions, as those of `lull what-if`. An
    answer is sure if its p99 plus the error bar is within the bound. --verify runs the best answers on gem5, and shows
    the errors of the predictions. A run cannot be given parameters of haltpoll: with --verify they are not varied.

    Example: lull tune runs/gem5 --p99-us 500 --verify 3
    """
    if verify > top:
        raise UserError(f"--verify {verify}: more than the answers; raise --top {top}, or verify fewer")
    if verify and not gem5_binary.is_there():
        raise UserError(f"--verify {verify}: no gem5 found in GEM5 and PATH; name one by GEM5, or leave --verify out")
    if verify and tunable:
        raise UserError(f"--tunable {tunable[0]}: a run on gem5 cannot be given it; leave --verify or it out")
    engine = choose("gem5") if verify else None
    # numpy and pyarrow take a second to load, which other commands do not pay.
    from lull.whatif import source
    from lull.whatif import tune as tuning
    from lull.whatif.several import told_of_share

    place = out or Path("runs") / f"tune-{run.resolve().name}"
    if verify and place.exists():
        raise UserError(f"{place}: exists; remove it, or choose another --out")
    of_haltpoll = [()] if verify else tuning.tunables(tunable)
    with Progress(f"read {run}"):
        replay = source.load(run)
    with Progress(f"tune {run}") as progress:
        found = tuning.searched(replay, p99_us, top, progress, of_haltpoll)
    console = terminal.console()
    settings = Column("settings", overflow="fold")
    table = Table(settings, "energy J", "±", "p99 us", "±", "sure", box=None, pad_edge=False)
    base = tuning.as_run(replay)
    table.add_row("as recorded", f"{base.energy_j:.5g}", "", f"{base.latency_p99_us:.5g}", "", "")
    for one in found.answers:
        table.add_row(
            " ".join(one.settings),
            f"{one.energy_j:.5g}", f"{one.energy_j_error:.3g}",
            f"{one.latency_p99_us:.5g}", f"{one.latency_p99_us_error:.3g}",
            _yes(one.surely_within(p99_us)),
        )  # fmt: skip
    console.print(table)
    if found.matters:
        said = (
            "Which numbers of the best answer matter: energy and p99 if this one alone is as recorded, and over all "
            "its values that were tried. Energy is against that of the best answer."
        )
        console.print(f"\n{said}", soft_wrap=True)
        console.print(_matters(found.matters, found.answers[0].energy_j))
    for note in (told_of_share(replay.again.share()), *replay.notes):
        report(f"{run}: {note}")
    if engine is None:
        return
    verified = Column("verified on gem5", overflow="fold")
    checked = Table(
        verified, "energy J", "predicted", "in the bar", "latency p99 us", "predicted", "in the bar", box=None,
        pad_edge=False,
    )  # fmt: skip
    report("--verify: haltpoll keeps the kernel's parameters, because a run on gem5 cannot be given others")
    for number, one in enumerate(found.answers[:verify], start=1):
        with Progress(f"verify {number} of {min(verify, len(found.answers))}"):
            true = tuning.verified(replay, one, engine, place / str(number), lambda _line: None)
        checked.add_row(
            " ".join(one.settings),
            f"{true.energy_j:.5g}", f"{one.energy_j / true.energy_j - 1:+.1%}", _yes(one.holds("energy_j", true)),
            f"{true.latency_p99_us:.5g}", f"{one.latency_p99_us / true.latency_p99_us - 1:+.1%}",
            _yes(one.holds("latency_p99_us", true)),
        )  # fmt: skip
    console.print(checked)
    if others := other_makers(*(RunDir.open(path).manifest() for path in (run, place / "1"))):
        report(
            f"{run}: made with another {', '.join(others)} than the runs on gem5; so a part of the difference is theirs"
        )
    report(f"runs: {place}")


def _matters(matters: "Sequence[Matter]", least_j: float) -> Table:
    table = Table("number", Column("best", overflow="fold"), "as recorded", "p99 us", "all tried", "p99 us", box=None,
                  pad_edge=False)  # fmt: skip
    for one in matters:
        back = ("", "") if one.recorded is None else (_off(one.recorded[0], least_j), f"{one.recorded[1]:.4g}")
        low, high = (_off(joules, least_j) for joules in one.energy_j)
        late = " to ".join(dict.fromkeys(f"{us:.4g}" for us in one.latency_p99_us))
        table.add_row(one.number, one.best, *back, low if low == high else f"{low} to {high}", late)
    return table


def _off(joules: float, least_j: float) -> str:
    return f"{joules / least_j - 1:+.1%}"


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
