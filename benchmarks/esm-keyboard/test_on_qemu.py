# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: all three ways bring every key; none of it is timing."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import by_point

pytestmark = pytest.mark.guest

SMALL = ("-e", "qemu", "-p", "tiny", "--set", "windows=2", "--out", "out")


def test_keys_reach_the_handler_in_all_ways(lull: Lull, tmp_path: Path) -> None:
    ways = ("models", "pull-longer", "esm-shadow", "epoll-shadow", "esm-thread")
    points = [word for way in ways for word in ("--points", f"{way}/*")]
    ran = lull("run", "esm-keyboard", *SMALL, "--set", "rate=600", "--set", "window_ms=500", *points)
    assert ran.returncode == 0, ran.stderr
    drawn = lull("figures", "out")
    assert drawn.returncode == 0, drawn.stderr
    made = by_point(tmp_path / "out")
    assert set(made) == {
        "models/pull-600", "models/epoll-600", "models/esm-600", "pull-longer/600", "esm-shadow/600",
        "epoll-shadow/600", "esm-thread/600",
    }  # fmt: skip
    # Five keys in each half second, each pressed and released; the last release may come after the end.
    assert {row["events"] for row in made.values()} <= {19, 20}
    assert len({row["events"] for row in made.values()}) == 1, "one seed, one schedule"
    assert made["models/pull-600"]["own_wakes_hz"] > 50
    for name in ("models/epoll-600", "models/esm-600"):
        assert made[name]["own_wakes_hz"] == 0
        assert made[name]["device_wakes_hz"] == pytest.approx(20, abs=2)
    assert made["models/pull-600"]["latency_us"] > 3000
