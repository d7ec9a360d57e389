# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: an event waits in a poll until the next look."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import by_point

pytestmark = pytest.mark.guest

SMALL = ("-e", "qemu", "-p", "tiny", "--set", "windows=1")


def test_an_event_waits_until_the_next_look(lull: Lull, tmp_path: Path) -> None:
    points = ("phases/pull-4000", "phases/pull-12000", "phases/esm-4000")
    ran = lull("run", "esm-phase", *SMALL, *(word for name in points for word in ("--points", name)), "--out", "out")
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    early, late, esm = (by_point(tmp_path / "out")[name] for name in points)
    assert early["events"] == late["events"] == esm["events"] > 0
    assert 12000 < early["median_us"] < 13000
    assert 4000 < late["median_us"] < 5000
    assert esm["median_us"] < 1000
