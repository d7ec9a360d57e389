# SPDX-License-Identifier: BSD-3-Clause
"""The recorded runs among the tests' data are whole: trace-cmd takes their traces, and reads in them what we read."""

from pathlib import Path

import pytest

from lull.trace.datfile import TraceFile
from tests.conftest import Lull
from tests.trace_report import assert_same, read

pytestmark = pytest.mark.guest

DATA = Path(__file__).parents[1] / "unit" / "data" / "trace"
RUNS = sorted(path.parent.name for path in DATA.glob("*/trace.dat"))
SYSTEMS = {"sched_switch", "cpu_idle", "irq_handler_entry", "ipi_raise", "hrtimer_expire_entry"}
"""An event of each system that a recorded run has."""


@pytest.mark.parametrize("run", RUNS)
def test_trace_cmd_takes_a_recorded_run(lull: Lull, tmp_path: Path, run: str) -> None:
    script = (
        "cd /out && cp /trace.dat t.dat && trace-cmd report -t -R -i t.dat >report && "
        "trace-cmd dump --summary t.dat >summary && trace-cmd split -i t.dat -o part.dat 0 1000000 2>said && "
        "trace-cmd convert -i t.dat -o v6.dat --file-version 6 2>>said && "
        "for file in t.dat part.dat v6.dat; do trace-cmd report -t -i $file 2>>said | grep -c ': [a-z_]*:'; done"
    )
    ran = lull("boot", "-e", "qemu", "--put", str(DATA / run / "trace.dat"), "--out", "run", "--exec", script)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    files = tmp_path / "run" / "files"
    trace = TraceFile(DATA / run / "trace.dat")
    compared = assert_same(trace, (files / "report").read_text())
    assert {name.partition(".")[0] for name in compared} >= SYSTEMS
    events = sum(len(read(trace, cpu)) for cpu in trace.cpus)
    assert list(map(int, ran.stdout.split())) == [events] * 3
    assert "[9 sections]" in (files / "summary").read_text()
