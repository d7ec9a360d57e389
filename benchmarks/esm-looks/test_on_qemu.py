# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: a dear look takes CPU time, and events arrive all the same."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import by_point

pytestmark = pytest.mark.guest

SMALL = ("-e", "qemu", "-p", "tiny", "--set", "windows=1")


def test_dear_looks_take_time_and_lose_no_event(lull: Lull, tmp_path: Path) -> None:
    words = ("--points", "models/pull-25", "--points", "models/esm-25", "--points", "looks/160000", "--out", "out")
    ran = lull("run", "esm-looks", *SMALL, *words)
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    points = by_point(tmp_path / "out")
    cheap, dear, esm = (points[name] for name in ("models/pull-25", "looks/160000", "models/esm-25"))
    assert cheap["events"] == dear["events"] == esm["events"] > 0
    assert dear["cpu_share"] > 2 * cheap["cpu_share"]
