# SPDX-License-Identifier: BSD-3-Clause
"""The points of `lull what-if --grid`: which there are, what each has, and the processes that compute them."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from lull.files.paths import ROOT
from lull.whatif import bars
from lull.whatif.bars import Scale
from lull.whatif.prediction import ALL

NUMBERS = ROOT / "results" / "what-if-validation" / "numbers.parquet"
KILLED = """
import os, sys, time, types
from lull.whatif import grid

def answer(source, machine):
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
    time.sleep(60)

os.cpu_count = lambda: 2
machine = types.SimpleNamespace(changed=lambda point: None)
grid.each(types.SimpleNamespace(machine=machine), [("governor=menu",)] * 100, answer)
"""


def test_a_grid_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)]) as parent:
        _until(lambda: len(list(tmp_path.iterdir())) == 2)
        parent.kill()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert parent.pid not in workers
    _until(lambda: not any(_lives(worker) for worker in workers))


def test_the_bar_of_all_wake_ups_holds_in_the_runs_that_were_held_out() -> None:
    """The experiment has wake-ups by CPU and cause; of a grid's point their sum is told."""
    sums: dict[tuple[str, str], list[float]] = {}
    for row in pq.read_table(NUMBERS).to_pylist():
        if row["what"] == "wake-ups":
            own = sums.setdefault((row["point"], row["recorded_run"]), [0.0, 0.0, 0.0])
            for at, name in enumerate(("recorded", "predicted", "true")):
                own[at] += row[name]
    held = []
    for before, said, true in sums.values():
        scale = Scale(tick_s=0.004, length_s=1.0, cores_j=0.0, wakes={}, watts={}, one_more={})
        change = bars.SHARE_OF_CHANGE * abs(said - before)
        held.append(abs(said - true) <= bars.bar("wake-ups", ALL, "all", said, 0.0, change, scale))
    assert len(held) > 20
    assert sum(held) / len(held) >= 0.95


def _lives(process: int) -> bool:
    """A dead process that nobody has waited for is a zombie, and lives no more."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends, "not within a minute"
        time.sleep(0.05)
