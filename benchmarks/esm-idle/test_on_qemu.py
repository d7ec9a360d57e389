# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: who polls wakes up, and who waits does not."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import by_point

pytestmark = pytest.mark.guest

SMALL = ("-e", "qemu", "-p", "tiny", "--set", "windows=2", "--out", "out")


def test_an_idle_application_wakes_nobody_by_esm(lull: Lull, tmp_path: Path) -> None:
    small = ("--set", "window_ms=100", "--points", "esm", "--points", "epoll", "--points", "pull-slow/1000")
    ran = lull("run", "esm-idle", *SMALL, *small)
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    points = by_point(tmp_path / "out")
    for name in ("esm", "epoll"):
        assert (points[name]["cpu_share"], points[name]["own_wakes_hz"]) == (0, 0)
    assert points["pull-slow/1000"]["own_wakes_hz"] > 500
