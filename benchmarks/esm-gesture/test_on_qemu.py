# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: what was not asked for does not wake the application."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import by_point

pytestmark = pytest.mark.guest

SMALL = ("-e", "qemu", "-p", "tiny", "--set", "windows=2", "--out", "out")


def test_what_nobody_asked_for_does_not_reach_the_application(lull: Lull, tmp_path: Path) -> None:
    words = ("--set", "moves=100", "--set", "window_ms=500", "--points", "clicks-only/*")
    ran = lull("run", "esm-gesture", *SMALL, *words)
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    points = by_point(tmp_path / "out")
    epoll, masked, esm = (points[f"clicks-only/{mode}-100"] for mode in ("epoll", "masked", "esm"))
    assert epoll["events"] == masked["events"] == esm["events"] == 4
    assert epoll["cpu_share"] > 5 * esm["cpu_share"]
    assert epoll["cpu_share"] > 3 * masked["cpu_share"]
