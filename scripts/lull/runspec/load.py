# SPDX-License-Identifier: BSD-3-Clause
"""Makes a RunSpec from a user's words. No other module does."""

from collections.abc import Sequence
from pathlib import Path

from lull.errors import UserError
from lull.platform.network import Network
from lull.runspec import put as putting
from lull.runspec.policy import check_engine
from lull.runspec.schedule import load_schedule
from lull.runspec.settings import resolve
from lull.runspec.spec import SCRIPT_MAX, AnyCpu, EngineName, Flavour, Limits, RunSpec


def load_spec(
    platform: str,
    overrides: Sequence[str],
    command: str,
    *,
    engine: EngineName,
    cpu: AnyCpu | None = None,
    flavour: Flavour = "default",
    schedule: Path | None = None,
    peer: str | None = None,
    put: Sequence[str] = (),
    trace: Sequence[str] = (),
    trace_kib: int | None = None,
    stats_period_s: float | None = None,
    fast_forward_s: float | None = None,
    limits: Limits,
    seed: int = 1,
) -> RunSpec:
    """Return the RunSpec after all checks. On gem5, the default CPUs are atomic."""
    if engine == "qemu" and cpu not in (None, "parallel"):
        raise UserError("--cpu: QEMU has no CPU models to choose from; use --engine gem5")
    if engine == "gem5" and cpu == "parallel":
        raise UserError("--cpu parallel: gem5 simulates one CPU at a time; use --engine qemu")
    if engine == "qemu" and stats_period_s:
        raise UserError("--stats-period: QEMU has no statistics; use --engine gem5")
    if engine == "qemu" and fast_forward_s:
        raise UserError("--fast-forward: QEMU has one CPU model and no other to change to; use --engine gem5")
    for option, text in (("--exec", command), ("--peer", peer or ""), ("--trace", "".join(trace))):
        if _is_of_bytes(text):
            raise UserError(f"{option}: not UTF-8; have the guest make such bytes, by its printf")
    asked = resolve(platform, overrides)
    if peer is None:
        _check_no_network(overrides)
    check_engine(asked.policy, engine)
    spec = RunSpec(
        engine=engine,
        cpu=(cpu or "atomic") if engine == "gem5" else cpu,
        # A machine without a peer has no link, even if its file describes one.
        platform=asked.platform if peer is not None else asked.platform.model_copy(update={"network": Network()}),
        told_at_boot=asked.told_at_boot,
        policy=asked.policy,
        flavour=flavour,
        schedule=load_schedule(schedule) if schedule else None,
        command=command,
        peer=peer,
        put=putting.parse(put, asked.platform),
        trace=tuple(trace),
        trace_kib=trace_kib,
        stats_period_s=stats_period_s,
        fast_forward_s=fast_forward_s,
        limits=limits,
        seed=seed,
    )
    if len(spec.script().encode()) > SCRIPT_MAX:
        what, remedy = ("--schedule", "use periodic and poisson lines") if schedule else ("--exec", "shorten it")
        raise UserError(f"{what}: the guest takes a script of at most {SCRIPT_MAX >> 20} MiB; {remedy}, or split it")
    if spec.peer is not None and len(spec.peer_script().encode()) > SCRIPT_MAX:
        raise UserError(f"--peer: a peer takes a script of at most {SCRIPT_MAX >> 20} MiB; shorten it")
    return spec


def _check_no_network(overrides: Sequence[str]) -> None:
    for text in overrides:
        if text.startswith("network."):
            raise UserError(f"--set {text}: the run has no network; give the other end something to do by --peer")


def _is_of_bytes(text: str) -> bool:
    """Return true if the text has bytes of the command line that are not UTF-8. Python keeps them as surrogates."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)
