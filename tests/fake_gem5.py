# SPDX-License-Identifier: BSD-3-Clause
"""A program that stands for gem5: it answers what it is, and leaves what a boot and a run leave.

The settings of a simulation are read and refused by the modules of gem5-configs, as in gem5. How the program behaves is
said by the environment, so that it stays the same binary to the cache.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

BEHAVIOUR = "FAKE_GEM5"
HANGS_IN_CHECKPOINT = {BEHAVIOUR: "hangs-in-checkpoint"}
FAILS_IN_CHECKPOINT = {BEHAVIOUR: "fails-in-checkpoint"}
HANGS_IN_RUN = {BEHAVIOUR: "hangs-in-run"}
GUEST_HANGS = {BEHAVIOUR: "guest-hangs"}
ENDS_IN_FORWARD = {BEHAVIOUR: "ends-in-forward"}

WHOLE = "[system]\n"
FORGETS_ITSELF_S = 600


def install(folder: Path, version: str = "24.0.0.1", isas: tuple[str, ...] = ("ARM",), name: str = "gem5.opt") -> Path:
    """The program, to be named by --gem5, GEM5 or PATH."""
    program = folder / name
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{version}" "{",".join(isas)}" "$@"\n')
    program.chmod(0o755)
    return program


def main(version: str, isas: str, _: str, folder: str, script: str, argument: str, *more: str) -> None:
    """Called as `gem5.opt -d FOLDER SCRIPT ARGUMENT...`."""
    if script.endswith("/probe.py"):
        Path(argument).write_text(json.dumps({"version": version, "isas": isas.split(",")}))
        return
    spec = checked(Path(script).parent, Path(argument))
    if script.endswith("/forward.py"):
        forward(Path(folder), Path(more[0]), os.environ.get(BEHAVIOUR))
    else:
        simulate(spec.stage, spec.checkpoint, Path(folder), os.environ.get(BEHAVIOUR))
        if spec.readfile is not None and spec.readfile.read_bytes() == b"forwarded\n":
            with (Path(folder) / "system.terminal").open("a") as console:
                console.write("goes on\n")


def checked(configs: Path, settings: Path) -> Any:
    """The simulation that is asked for, refused as `run.py` refuses it. gem5 too finds modules beside its script."""
    sys.path.insert(0, str(configs))
    spec, images, failure = (importlib.import_module(name) for name in ("spec", "images", "failure"))
    try:
        asked = spec.read(settings)
        if asked.stage == "checkpoint":
            images.check(list(asked.load), asked.soc.memory.size_bytes)
    except failure.Failure as error:
        sys.exit(f"lull-gem5: {error}")
    if asked.readfile is not None and not asked.readfile.is_file():
        sys.exit("lull-gem5: no script")
    return asked


def simulate(stage: str, checkpoint: Path, folder: Path, behaviour: str | None) -> None:
    state = checkpoint / "m5.cpt"
    outcome: dict[str, object] = {"cause": "exit", "ticks": 10**9, "tick_hz": 10**12, "instructions": 5}
    if stage == "checkpoint" and behaviour == "fails-in-checkpoint":
        sys.exit("lull-gem5: no disk")  # before there is a console
    (folder / "system.terminal").write_text(f"{stage}\n")
    (folder / "system.realview.uart1.device").touch()
    (folder / "system.realview.uart3.device").write_text("firmware speaks\n")
    if stage == "checkpoint":
        checkpoint.mkdir()  # like gem5-configs/run.py, nothing may be there
        state.write_text(WHOLE[:3])
        if behaviour == "hangs-in-checkpoint":
            time.sleep(FORGETS_ITSELF_S)
        state.write_text(WHOLE)
        outcome["cause"] = "checkpoint"
    elif state.read_text() != WHOLE:
        sys.exit("lull-gem5: the checkpoint is not whole")
    elif behaviour == "hangs-in-run":
        time.sleep(FORGETS_ITSELF_S)
    elif behaviour == "guest-hangs":
        outcome["cause"] = "limit"
    else:
        with (folder / "stdout").open("a") as said:  # as gem5 does, which writes where the guest has come to
            said.write("from the guest\n")
        (folder / "status").write_text("0\n")
    (folder / "outcome.json").write_text(json.dumps(outcome))


def forward(folder: Path, place: Path, behaviour: str | None) -> None:
    """The guest has said something when it asks for the checkpoint."""
    ends = behaviour == "ends-in-forward"
    (folder / "system.terminal").write_text("forward\n")
    (folder / "stdout").write_text("begun\n")
    (folder / "status").touch()
    if not ends:
        place.mkdir()
        (place / "m5.cpt").write_text(WHOLE)
    outcome = {"cause": "exit" if ends else "checkpoint", "ticks": 10**9, "instructions": 7, "host_seconds": 1.0}
    (folder / "outcome.json").write_text(json.dumps(outcome))


if __name__ == "__main__":
    main(*sys.argv[1:])
