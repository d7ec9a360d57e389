# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every event comes, predicted or not. That events are predicted is shown by a selftest."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import by_point

pytestmark = pytest.mark.guest


def test_events_come_as_ever(lull: Lull, tmp_path: Path) -> None:
    small = ("-e", "qemu", "-p", "tiny", "--set", "windows=1", "--set", "moves=25", "--out", "out")
    ran = lull("run", "esm-ahead", *small)
    assert ran.returncode == 0, ran.stderr
    points = by_point(tmp_path / "out")
    assert {"wanted/25-0", "wanted/25-1", "alone/25"} <= set(points)
    assert len({points[name]["events"] for name in ("wanted/25-0", "wanted/25-1", "alone/25")}) == 1
