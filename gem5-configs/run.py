# SPDX-License-Identifier: BSD-3-Clause
"""One simulation: `gem5.opt -d OUTDIR gem5-configs/run.py OUTDIR/gem5.json`.

The stage `checkpoint` boots with atomic CPUs until the guest asks for a checkpoint; the stage `run` restores one into
any CPU model and goes on until the guest exits. Both leave outcome.json in OUTDIR. Whatever is wrong before the first
instruction is one line on standard error and exit status 2.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checkpoint
import dumps
import images
import outcome
import requires
import spec as settings
from failure import Failure

PEER_READY = "peer.ready"
"""The file that the peer's init makes in the output directory."""
STEP_S = 0.005
"""Simulated time from one word about the progress to the next."""


def main(arguments: list[str]) -> None:
    try:
        if len(arguments) != 1:
            raise Failure(f"{len(arguments)} arguments; give the path of gem5.json and nothing else")
        simulate(settings.read(Path(arguments[0])))
    except Failure as failure:
        print(f"lull-gem5: {failure}", file=sys.stderr)
        sys.exit(2)


def simulate(spec: settings.Spec) -> None:
    version = requires.check_binary()
    _check_files(spec)

    import _m5.core
    import m5
    import soc

    m5.disableAllListeners()
    _m5.core.seedRandom(spec.seed)
    try:
        machine = soc.build(spec)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Failure(
            f"gem5 {version} does not take the settings ({error}); use gem5 24.0 and this project's files"
        ) from error

    restored = None
    if spec.stage == "run":
        restored = checkpoint.verify(spec.checkpoint, *machine.expected)
    m5.instantiate(str(spec.checkpoint) if spec.stage == "run" else None)
    dumps.remember()
    start = m5.curTick()
    if restored is not None and start == 0:
        raise Failure(f"gem5 did not go on from the checkpoint {spec.checkpoint}; make it again")

    before = time.monotonic()
    event = _simulate_telling(spec, machine)
    host_seconds = time.monotonic() - before
    cause = outcome.cause_name(event.getCause())
    instructions = _instructions(machine.cpus)
    end = m5.curTick()
    if spec.stage == "checkpoint" and cause == "checkpoint":
        _keep(spec.checkpoint, machine.expected, soc.reset_address(spec))

    outcome.write(
        Path(m5.options.outdir),
        {
            "cause": cause,
            "code": int(event.getCode()),
            "ticks": end - start,
            "start_tick": start,
            "tick_hz": m5.ticks.fromSeconds(1.0),
            "instructions": instructions,
            **({"peer_instructions": _instructions(machine.peer_cpus)} if machine.peer_cpus else {}),
            "host_seconds": host_seconds,
            "gem5_version": version,
            "restored": restored,
        },
    )


def _simulate_telling(spec: settings.Spec, machine: Any) -> Any:
    """Simulate to the end; on the way say how far it is, and close windows of statistics.

    Stopping in between changes no event's place, and statistics change no event.
    """
    import m5

    start = m5.curTick()
    end = start + m5.ticks.fromSeconds(spec.limit_s)
    step = m5.ticks.fromSeconds(STEP_S)
    period = m5.ticks.fromSeconds(spec.stats_period_s) if spec.stats_period_s else None
    word = start + step
    window = start + period if period else None
    while True:
        stop = min(end, word, window or end)
        event = m5.simulate(stop - m5.curTick())
        now = m5.curTick()
        cause = outcome.cause_name(event.getCause())
        if cause == "checkpoint" and not _peer_is_ready(spec):
            continue  # the guest asks again
        if cause != "limit" or now >= end:
            return event
        if period and window and now >= window:
            m5.stats.dump()
            m5.stats.reset()
            window += period
        if now >= word:
            outcome.tell(
                Path(m5.options.outdir), (now - start) / m5.ticks.fromSeconds(1.0), _instructions(machine.cpus)
            )
            word += step


def _peer_is_ready(spec: settings.Spec) -> bool:
    """A peer leaves a file when it too can be part of the checkpoint."""
    import m5

    return spec.network is None or (Path(m5.options.outdir) / PEER_READY).exists()


def _instructions(cpus: list[Any]) -> int:
    return sum(int(cpu.totalInsts()) for cpu in cpus)


def _check_files(spec: settings.Spec) -> None:
    if spec.stage == "checkpoint":
        images.check(list(spec.load), spec.soc.memory.size_bytes)
        if spec.network is not None:
            images.check(list(spec.network.peer.load), spec.network.peer.soc.memory.size_bytes)
        if spec.checkpoint.exists():
            raise Failure(f"the checkpoint {spec.checkpoint} is there already; remove it or choose another place")
    for readfile in (spec.readfile, spec.network.peer.readfile if spec.network is not None else None):
        if readfile is not None and not readfile.is_file():
            raise Failure(f"the script {readfile} is not a file; write it before the simulation")


def _keep(place: Path, expected: tuple[checkpoint.Expected, ...], reset_address: int) -> None:
    """The checkpoint appears under its name once it is complete and would be accepted."""
    import m5

    partial = place.with_name(place.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    m5.checkpoint(str(partial))
    checkpoint.write_note(partial, reset_address)
    checkpoint.verify(partial, *expected)
    partial.replace(place)


if __name__ == "__m5_main__":
    main(sys.argv[1:])
