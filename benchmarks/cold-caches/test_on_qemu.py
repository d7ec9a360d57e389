# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every loss is gone through; QEMU has no caches, and so nothing is judged."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import lines

pytestmark = pytest.mark.guest


def test_every_loss_is_gone_through(lull: Lull, tmp_path: Path) -> None:
    """Both CPUs lose lines in both ways, dirty lines and predictions, as often as asked."""
    ran = lull("run", "cold-caches", "-e", "qemu", "-p", "tiny", "--set", "repetitions=2", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    (found,) = (tmp_path / "out").rglob("losses.jsonl")
    left = lines(found)
    kinds = {(line["cpu"], line["lost"], line["way"]) for line in left}
    ways = [
        ("first level", "in order"),
        ("first level", "along a chain"),
        ("all levels", "in order"),
        ("all levels", "along a chain"),
        ("dirty lines", "by address"),
        ("predictions", "trained otherwise"),
    ]
    assert kinds == {(cpu, *way) for cpu in (0, 1) for way in ways}
    assert len(left) == 2 * len(kinds)
