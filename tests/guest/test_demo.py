# SPDX-License-Identifier: BSD-3-Clause
"""`make demo` on a machine without gem5: it works, and says what it does not show."""

from pathlib import Path

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_without_gem5_the_demo_says_what_it_is(lull: Lull, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
    monkeypatch.delenv("GEM5", raising=False)
    ran = lull("demo", "--out", "runs")
    assert ran.returncode == 0, ran.stderr
    for way in ("pull 16 ms", "epoll", "ESM"):
        (row,) = [line for line in ran.stdout.splitlines() if line.strip("│ ").startswith(way)]
        assert "12" in row.split(), "six keys, pressed and released"
    assert "functional only" in ran.stderr
    assert "µs" not in ran.stdout
    assert list((tmp_path / "runs" / "published").glob("*/*.pdf"))
    assert (tmp_path / "report.html").stat().st_size > 50_000
    assert len([line for line in ran.stderr.splitlines() if line.startswith("- ")]) == 3
    again = lull("demo", "--out", "runs")
    assert again.stderr.count(" kept") == 3
