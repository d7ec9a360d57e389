# SPDX-License-Identifier: BSD-3-Clause
"""WAEAS that is off decides as a kernel without it does: the same tasks go to the same CPUs in the same order.

The time of QEMU is deterministic. But two kernels take different numbers of instructions, so the load is one where
nothing follows from when exactly something happens (`kernel-patches/waeas/selftests/waeas-cases/replay.c`).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from lull.artifacts import store
from lull.artifacts.cache import Entry
from lull.engines.choose import choose
from lull.engines.execute import execute
from lull.rundir.folder import STDOUT, TRACE
from lull.runspec.load import load_spec
from lull.runspec.spec import Limits
from lull.systems import folder
from lull.trace.datfile import TraceFile
from lull.trace.events import batches

pytestmark = [pytest.mark.guest, pytest.mark.slow]

COMMAND = "lull-selftest waeas replay"
CHOICES = {"sched_wakeup": "target_cpu", "sched_migrate_task": "dest_cpu"}
"""The events that say to which CPU a task goes, and where they say it."""
DESIGNED = {"play-light": [0, 1, 2, 3, 0, 1, 0, 1], "play-heavy": [4, 5, 4, 5, 4, 5, 4, 5]}
"""Where upstream's Linux wakes each task, phase by phase. Without EAS it would wake the light one elsewhere."""


class Placement(NamedTuple):
    time: int
    event: str
    task: str
    cpu: int


def placements(trace: TraceFile) -> list[Placement]:
    found = []
    for cpu in trace.cpus:
        for batch in batches(trace, cpu):
            for event, field in CHOICES.items():
                which = batch.of(event)
                if not which.size:
                    continue
                rows = zip(
                    batch.time[which],
                    batch.texts(event, "comm", which),
                    batch.numbers(event, field, which),
                    strict=True,
                )
                found += [Placement(int(time), event, comm.decode(), int(to)) for time, comm, to in rows]
    return sorted(found)


def played(place: Path, kernel: Entry, *settings: str) -> list[tuple[str, str, int]]:
    """Where the tasks of the load went, in the order of time."""
    engine = choose("qemu", programs=store.selftests())
    limits = Limits(simulated_s=60.0, wall_s=3000.0)
    spec = load_spec(
        "rk3399", ["cpufreq=schedutil", *settings], COMMAND, engine="qemu",
        trace=[f"sched:{event}" for event in CHOICES], trace_kib=4096, limits=limits,
    )  # fmt: skip
    run, outcome = execute(spec, engine, place, lambda _: None, replace(engine.artifacts("default"), kernel=kernel))
    assert outcome.status == 0, (run / STDOUT).read_text()
    return [one[1:] for one in placements(TraceFile(run.path / TRACE)) if one.task.startswith("play-")]


def wakes(played: Sequence[tuple[str, str, int]], task: str) -> list[int]:
    """Where a task woke in each phase. Before the first phase it was kept on one CPU."""
    return [cpu for event, who, cpu in played if (event, who) == ("sched_wakeup", task)][-len(DESIGNED[task]) :]


def test_off_tasks_go_where_they_go_in_a_kernel_without_it(tmp_path: Path) -> None:
    kernel = store.build_kernel("default")
    off = played(tmp_path / "off", kernel)
    assert {task: wakes(off, task) for task in DESIGNED} == DESIGNED
    assert played(tmp_path / "on", kernel, "waeas.enabled=1") != off, "and WAEAS decides otherwise"
    assert played(tmp_path / "without", store.build_kernel("default", ["waeas", *folder.standing_on("waeas")])) == off
