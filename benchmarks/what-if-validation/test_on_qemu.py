# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each load runs and leaves a trace. Its time is none, so nothing is predicted."""

from pathlib import Path

import pytest

from lull.rundir.folder import RunDir
from tests.conftest import Lull

pytestmark = pytest.mark.guest

POINTS = {
    "first": "menu-300", "governors": "C4-haltpoll", "timers": "teo-300", "short": "menu-60", "watch": "menu-300",
    "page": "menu-1500", "pairs": "60", "clocks": "teo-1500", "told": "8000",
}  # fmt: skip


def test_each_load_runs_and_qemu_is_refused_in_a_sentence(lull: Lull, tmp_path: Path) -> None:
    points = [word for group, name in POINTS.items() for word in ("--points", f"{group}/{name}")]
    ran = lull(
        "run", "what-if-validation", "-e", "qemu", "-p", "tiny", "--set", "window_ms=40", *points, "--out", "out"
    )
    assert ran.returncode == 0, ran.stderr
    for group, name in POINTS.items():
        rundir = RunDir.open(tmp_path / "out" / group / name)
        assert rundir.manifest()["status"] == 0, group
        assert (rundir / "trace.dat").stat().st_size > 10_000, group
    refused = lull("figures", "out")
    assert refused.returncode == 2
    (line,) = [line for line in refused.stderr.splitlines() if line.startswith("lull: ")]
    assert "made by QEMU, which has no timing to predict" in line
    assert not (tmp_path / "out" / "figures").exists()
