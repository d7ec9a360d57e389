# SPDX-License-Identifier: BSD-3-Clause
"""The loads of sched-bench have the protocols of `perf bench sched`: both run on the host, and their calls are counted.

sched-bench.c is compiled as it is. Only what a host lacks is replaced, and the program ends after as many messages as
perf sends, and not after a time (`tests/native/sched-bench-host.c`). Nothing about time is compared.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lull.files.paths import ROOT

HOST = ROOT / "tests" / "native"
LIB = ROOT / "benchmarks" / "lib"
LIBRARY = ("jsonl.c", "machine.c", "options.c", "sysfs.c", "windows.c")
WRAPPED = ("read", "write", "clock_nanosleep")
SIDES = 20
"""Senders in a group of perf, and as many receivers."""
MESSAGE, NUMBER = 100, 4
"""Bytes that are passed on at a time: of messaging, and of pipe."""
CALLS = "clone,clone3,fork,vfork,read,write"
_MADE = re.compile(r"^(?:clone|clone3|fork|vfork)\((.*)\) += (\d+)$")
_PASSED = re.compile(r"^(read|write)\(\d+<(socket|pipe):\[(\d+)\]>, .*, (\d+)\) += (\d+)$")


@dataclass(frozen=True)
class Protocol:
    """What passed between the tasks of a program."""

    senders: int
    receivers: int
    threads: int
    """Those of them that were made as threads."""
    kinds: frozenset[str]
    """Sockets or pipes."""
    written_to: int
    read_from: int
    """The number of sockets or pipes that data went into, and came out of."""
    sizes: frozenset[tuple[int, int]]
    """Bytes that a call asked for, and bytes that it got."""
    writes: frozenset[int]
    """How many calls a sender made, each."""
    reads: frozenset[int]
    sent: int
    """Bytes of all."""
    received: int
    in_turn: bool
    """True if each sender wrote to all its receivers in one order, again and again."""


def protocol(folder: Path, size: int) -> Protocol:
    """Read the calls of all tasks, a file for each. What is passed in other sizes starts and ends the load."""
    threads: set[str] = set()
    passed: dict[str, list[tuple[str, str, str, int, int]]] = {}
    for file in folder.glob("calls.*"):
        for line in file.read_text(errors="replace").splitlines():
            if (made := _MADE.match(line)) and "CLONE_THREAD" in made[1]:
                threads.add(made[2])
            elif (found := _PASSED.match(line)) and int(found[4]) == size:
                row = (found[1], found[2], found[3], size, int(found[5]))
                passed.setdefault(file.suffix[1:], []).append(row)
    writes = {task: own for task, rows in passed.items() if (own := [row for row in rows if row[0] == "write"])}
    reads = {task: own for task, rows in passed.items() if (own := [row for row in rows if row[0] == "read"])}
    every = [row for rows in passed.values() for row in rows]
    return Protocol(
        senders=len(writes),
        receivers=len(reads),
        threads=len(threads & passed.keys()),
        kinds=frozenset(row[1] for row in every),
        written_to=len({row[2] for rows in writes.values() for row in rows}),
        read_from=len({row[2] for rows in reads.values() for row in rows}),
        sizes=frozenset((row[3], row[4]) for row in every),
        writes=frozenset(len(rows) for rows in writes.values()),
        reads=frozenset(len(rows) for rows in reads.values()),
        sent=sum(row[4] for rows in writes.values() for row in rows),
        received=sum(row[4] for rows in reads.values() for row in rows),
        in_turn=all(_in_turn([row[2] for row in rows]) for rows in writes.values()),
    )


def _in_turn(places: Sequence[str]) -> bool:
    order = list(Counter(places))
    return list(places) == order * (len(places) // len(order))


def traced(folder: Path, command: Sequence[str | Path], **more: str) -> Path:
    folder.mkdir()
    strace: list[str | Path] = ["strace", "-ff", "-y", "-s", "0", "-e", f"trace={CALLS}", "-o", folder / "calls"]
    ran = subprocess.run([*strace, *command], env={**os.environ, **more}, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return folder


def answers(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


@pytest.fixture(scope="module")
def perf() -> str:
    """perf of the host, if it can run and be traced."""
    for tool, package in (("perf", "linux-perf"), ("strace", "strace")):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is missing; install {package}")
    if not answers("perf", "bench", "sched", "pipe", "-l", "1"):
        pytest.skip("this perf has no `bench sched`; install linux-perf of another version")
    if not answers("strace", "-o", os.devnull, "true"):
        pytest.skip("strace may not trace here; allow ptrace")
    return "perf"


@pytest.fixture(scope="module")
def sched_bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """sched-bench for the host."""
    program = tmp_path_factory.mktemp("native") / "sched-bench"
    sources = [
        Path(__file__).with_name("sched-bench.c"),
        HOST / "sched-bench-host.c",
        *(LIB / name for name in LIBRARY),
    ]
    words = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-pthread", f"-I{HOST}", f"-I{LIB}"]
    wraps = [f"-Wl,--wrap={name}" for name in WRAPPED]
    subprocess.run(["gcc", *words, "-o", program, *sources, *wraps], check=True)
    return program


def bench(program: Path, folder: Path, load: str, writes: int, total: int, *more: str) -> Path:
    made: list[str | Path] = ["--out", folder.with_name("stamps.jsonl"), "--totals", folder.with_name("windows.jsonl")]
    command: list[str | Path] = [
        program,
        "--load",
        load,
        "--way",
        "eas",
        "--settle-us",
        "1",
        "--windows",
        "1",
        *more,
        *made,
    ]
    return traced(folder, command, LULL_WRITES=str(writes), LULL_BYTES=str(total))


@pytest.mark.parametrize(("groups", "loops", "threads"), [(1, 10, 0), (1, 10, 1), (2, 3, 0)])
def test_messaging_passes_what_perf_does(
    perf: str, sched_bench: Path, tmp_path: Path, groups: int, loops: int, threads: int
) -> None:
    words = ["-g", str(groups), "-l", str(loops), *(["-t"] if threads else [])]
    theirs = protocol(traced(tmp_path / "perf", [perf, "bench", "sched", "messaging", *words]), MESSAGE)
    each = loops * SIDES
    total = groups * SIDES * each * MESSAGE
    own = ("--groups", str(groups), "--sides", str(SIDES), "--threads", str(threads))
    ours = protocol(bench(sched_bench, tmp_path / "ours", "messaging", each, total, *own), MESSAGE)
    assert ours == theirs
    assert ours == Protocol(
        senders=groups * SIDES, receivers=groups * SIDES, threads=groups * SIDES * 2 * threads,
        kinds=frozenset({"socket"}), written_to=groups * SIDES, read_from=groups * SIDES,
        sizes=frozenset({(MESSAGE, MESSAGE)}), writes=frozenset({each}), reads=frozenset({each}),
        sent=total, received=total, in_turn=True,
    )  # fmt: skip


@pytest.mark.parametrize(("trips", "threads"), [(100, 0), (100, 1)])
def test_pipe_passes_what_perf_does(perf: str, sched_bench: Path, tmp_path: Path, trips: int, threads: int) -> None:
    words = ["-l", str(trips), *(["-T"] if threads else [])]
    theirs = protocol(traced(tmp_path / "perf", [perf, "bench", "sched", "pipe", *words]), NUMBER)
    total = 2 * trips * NUMBER
    own = ("--groups", "1", "--threads", str(threads))
    ours = protocol(bench(sched_bench, tmp_path / "ours", "pipe", trips, total, *own), NUMBER)
    assert ours == theirs
    assert ours == Protocol(
        senders=2, receivers=2, threads=2 * threads, kinds=frozenset({"pipe"}), written_to=2, read_from=2,
        sizes=frozenset({(NUMBER, NUMBER)}), writes=frozenset({trips}), reads=frozenset({trips}),
        sent=total, received=total, in_turn=True,
    )  # fmt: skip


def test_calls_are_told_apart(tmp_path: Path) -> None:
    """On a host without perf, too."""
    (tmp_path / "calls.1").write_text(
        "clone3({flags=CLONE_VM|CLONE_THREAD|CLONE_SIGHAND, stack=0x1} => {parent_tid=[2]}, 88) = 2\n"
        'write(3<socket:[7]>, ""..., 100) = 100\nwrite(4<socket:[9]>, ""..., 100)       = 100\n'
        'write(3<socket:[7]>, ""..., 100) = 100\nwrite(1<pipe:[5]>, ""..., 12) = 12\nexit_group(0) = ?\n'
    )
    (tmp_path / "calls.2").write_text(
        'read(5<socket:[8]>, ""..., 100) = 60\nread(5<socket:[8]>, <unfinished ...>) = ?\n+++ killed by SIGKILL +++\n'
    )
    found = protocol(tmp_path, MESSAGE)
    assert (found.senders, found.receivers, found.threads) == (1, 1, 1)
    assert (found.written_to, found.read_from, found.sent, found.received) == (2, 1, 300, 60)
    assert found.sizes == {(100, 100), (100, 60)}
    assert not found.in_turn
    assert protocol(tmp_path, NUMBER).senders == 0
