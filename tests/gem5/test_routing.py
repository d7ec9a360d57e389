# SPDX-License-Identifier: BSD-3-Clause
"""Events that nobody reads cost the main cores nothing: the shadow takes them, and only the shadow wakes."""

import json
from pathlib import Path

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.gem5


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["atomic", "detailed"])
@pytest.mark.parametrize("name", ["tiny", "tegra-k1"])
def test_events_nobody_wants_wake_only_the_shadow(lull: Lull, tmp_path: Path, name: str, cpu: str) -> None:
    ran = lull(
        "run", "platform-check", "-e", "gem5", "-p", name, "--cpu", cpu, "--points", "routing", "--out", "out"
    )  # fmt: skip
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    made = lull("figures", "out")
    assert made.returncode == 0, f"{made.stdout}{made.stderr}"
    checks = json.loads((tmp_path / "out" / "figures" / "checks.json").read_text())
    assert len(checks) == 3, checks
