# SPDX-License-Identifier: BSD-3-Clause
"""Fast-forward: `gem5.opt -d OUTDIR gem5-configs/forward.py OUTDIR/gem5.json CHECKPOINT`.

Restores a checkpoint as `run.py` does, and simulates until the guest asks for a checkpoint. Writes this checkpoint to
CHECKPOINT, and outcome.json to OUTDIR. Then `run.py` can go on from CHECKPOINT with detailed CPUs.

Not every moment can be a checkpoint. For example, gem5 loses a change of frequency that is under way. Then the
simulation goes on, and the guest asks again.

A run without fast-forward does not execute this file. So the file is no part of the hash of the machine model
(`configs` in `scripts/lull/engines/gem5.py`).
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checkpoint
import outcome
import requires
import run
import spec as settings
from failure import Failure

MOST_TRIES = 20
"""Checkpoints that may turn out to be of a wrong moment. Each takes seconds."""


def main(arguments: list[str]) -> None:
    try:
        if len(arguments) != 2:
            raise Failure(f"{len(arguments)} arguments; give the path of gem5.json and that of the new checkpoint")
        forward(settings.read(Path(arguments[0])), Path(arguments[1]))
    except Failure as failure:
        print(f"lull-gem5: {failure}", file=sys.stderr)
        sys.exit(2)


def forward(spec: settings.Spec, place: Path) -> None:
    requires.check_binary()
    if place.exists():
        raise Failure(f"the checkpoint {place} is there already; remove it or choose another place")

    import _m5.core
    import m5
    import soc

    m5.disableAllListeners()
    _m5.core.seedRandom(spec.seed)
    machine = soc.build(spec)
    checkpoint.verify(spec.checkpoint, *machine.expected)
    m5.instantiate(str(spec.checkpoint))
    start = m5.curTick()
    before = time.monotonic()
    cause = ""
    for attempt in range(1, MOST_TRIES + 1):
        event = run._simulate_telling(spec, machine)
        cause = outcome.cause_name(event.getCause())
        if cause != "checkpoint":
            break
        try:
            run._keep(place, machine.expected, checkpoint.reset_address(spec.checkpoint))
            break
        except Failure as failure:
            if attempt == MOST_TRIES:
                raise Failure(f"no moment of {MOST_TRIES} could be a checkpoint; the last one: {failure}") from failure
    outcome.write(
        Path(m5.options.outdir),
        {
            "cause": cause,
            "ticks": m5.curTick() - start,
            "instructions": run._instructions(machine.cpus),
            "host_seconds": time.monotonic() - before,
        },
    )


if __name__ == "__m5_main__":
    main(sys.argv[1:])
