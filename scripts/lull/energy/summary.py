# SPDX-License-Identifier: BSD-3-Clause
"""Prints the summary of a ledger on one screen."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lull.energy import rows
from lull.energy.causes import IDLE_CAUSE
from lull.energy.ledger import Totals
from lull.energy.states import IDLE, STATES, TRANSITIONS
from lull.platform.schema import Platform, cpu_list

CAUSES_SHOWN = 8
OWN, WAKES, BROKEN = "itself", "wake-ups", "broken sleep"


def show(console: Console, ledger: Path, platform: Platform, totals: Totals, notes: Sequence[str]) -> None:
    backends = sorted({backend for backend, _ in totals.joules})
    detailed = "mcpat" if "mcpat" in backends else backends[0]
    console.print(
        f"{totals.seconds * 1e3:.3f} ms in {totals.windows} windows; closed: residencies, parts and file sum up"
    )
    console.print(_totals(totals, backends))
    console.print(f"\n{detailed}, calibrated: joules by CPU and state", style="bold")
    console.print(_states(ledger, platform, totals, detailed))
    console.print(f"\n{detailed}, calibrated: joules by cause, on CPUs", style="bold")
    console.print(_causes(ledger, detailed))
    for note in notes:
        console.print(note, soft_wrap=True)


def _totals(totals: Totals, backends: Sequence[str]) -> Table:
    table = Table("backend", "raw", "calibrated", "mean power, raw to calibrated", box=None, pad_edge=False)
    for backend in backends:
        raw, calibrated = (totals.joules[backend, band] for band in rows.BANDS)
        table.add_row(
            backend,
            _joules(raw),
            _joules(calibrated),
            f"{raw / totals.seconds:.4g} to {calibrated / totals.seconds:.4g} W",
        )
    if len(backends) == 2:
        low, high = ([totals.joules[backend, band] for band in rows.BANDS] for backend in backends)
        differences = [theirs - ours for ours, theirs in zip(low, high, strict=True)]
        shares = [f"{gap / theirs:+.1%}" if theirs else "none" for gap, theirs in zip(differences, high, strict=True)]
        table.add_row(f"{backends[1]} - {backends[0]}", *map(_joules, differences), " to ".join(shares))
    return table


def _states(ledger: Path, platform: Platform, totals: Totals, backend: str) -> Table:
    """Return a table of states, with a column for each cluster: the share of its CPUs' time."""
    found = rows.grouped(ledger, ["cluster", "cpu", "state"], ["joules"], backend, rows.CALIBRATED).to_pylist()
    ranges = platform.cpu_ranges()
    names = [f"{cluster.name} (CPU {cpu_list(cpus)})" for cpus, cluster in ranges]
    table = Table("", *names, box=None, pad_edge=False)
    for state in STATES:
        shares = [
            sum(totals.residency_s.get((cpu, state), 0.0) for cpu in cpus) / (totals.seconds * len(cpus))
            for cpus, _ in ranges
        ]
        if not any(shares):
            continue
        spent = [
            sum(row["joules"] for row in found if row["cpu"] in cpus and row["state"] == state) for cpus, _ in ranges
        ]
        cells = [f"{share:5.1%}  {_joules(joules)}" for share, joules in zip(shares, spent, strict=True)]
        table.add_row(state, *cells)
    for name, is_shared in (("shared", True), ("all", False)):
        cells = [
            _joules(sum(row["joules"] for row in found if row["cluster"] == cluster.name and row["cpu"] is None))
            if is_shared
            else _joules(sum(row["joules"] for row in found if row["cluster"] == cluster.name))
            for _, cluster in ranges
        ]
        table.add_row(name, *(f"        {cell}" for cell in cells))
    table.add_row("uncore", f"        {_joules(sum(row['joules'] for row in found if row['cluster'] is None))}")
    return table


def _causes(ledger: Path, backend: str) -> Table:
    """Return a table with a row per cause: its work, the cost of its wake-ups, and that of the sleeps they cut."""
    found = rows.grouped(ledger, ["cpu", "state", "cause"], ["joules"], backend, rows.CALIBRATED).to_pylist()
    by_cause: dict[str, dict[str, float]] = {}
    for row in found:
        if row["cpu"] is None:
            continue
        kind = WAKES if row["state"] in TRANSITIONS else BROKEN if _broken(row["state"], row["cause"]) else OWN
        entry = by_cause.setdefault(row["cause"], {})
        entry[kind] = entry.get(kind, 0.0) + row["joules"]
    table = Table("cause", OWN, WAKES, BROKEN, "total", box=None, pad_edge=False)
    ranked = sorted(by_cause.items(), key=lambda item: -sum(item[1].values()))
    for cause, parts in ranked[:CAUSES_SHOWN]:
        cells = [_joules(parts[kind]) if kind in parts else "-" for kind in (OWN, WAKES, BROKEN)]
        table.add_row(cause, *cells, _joules(sum(parts.values())))
    if rest := ranked[CAUSES_SHOWN:]:
        table.add_row(f"{len(rest)} more", "", "", "", _joules(sum(sum(parts.values()) for _, parts in rest)))
    return table


def _broken(state: str, cause: str) -> bool:
    """Return true for the cost of a sleep that a wake-up cut short. It is not charged to `idle`, but to the cause."""
    return state in IDLE and cause != IDLE_CAUSE


def _joules(value: float) -> str:
    for unit, size in (("J", 1.0), ("mJ", 1e-3), ("µJ", 1e-6)):
        if abs(value) >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value / 1e-9:.4g} nJ"
