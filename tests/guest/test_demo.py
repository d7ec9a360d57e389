# SPDX-License-Identifier: BSD-3-Clause
"""`make demo` on a machine without gem5: it works, and says what it does not show."""

import json
from pathlib import Path

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_without_gem5_the_demo_says_what_it_is(lull: Lull, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
    monkeypatch.delenv("GEM5", raising=False)
    ran = lull("demo", env={"COLUMNS": "120"})
    assert ran.returncode == 0, ran.stderr
    place = tmp_path / "runs" / "demo-tiny-qemu"
    for way in ("pull 16 ms", "epoll", "ESM"):
        (row,) = [line for line in ran.stdout.splitlines() if line.strip("│ ").startswith(way)]
        assert "12" in row.split(), "six keys, pressed and released"
    assert "functional only" in ran.stderr
    assert "cstates.C3.exit_us=90 governor=teo" in ran.stdout, "a what-if needs no gem5"
    assert "µs" not in ran.stdout
    assert list((place / "published").glob("*/*.pdf"))
    assert (tmp_path / "report.html").stat().st_size > 50_000
    assert len([line for line in ran.stderr.splitlines() if line.startswith("- ")]) == 3
    _be_of_an_earlier_version(place / "models" / "epoll-600")
    refused = lull("demo", "--out", str(place))
    assert refused.returncode == 2
    assert "epoll-600: this point is finished, with another engine, kernel, image or firmware" in refused.stderr
    renewed = lull("demo")
    assert renewed.returncode == 0, renewed.stderr
    assert "runs/demo-tiny-qemu: some of it is of an earlier version, and made again" in renewed.stderr
    assert (renewed.stderr.count(" ran"), renewed.stderr.count(" kept")) == (1, 2)


def _be_of_an_earlier_version(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["artifacts"]["rootfs"]["key"] = "earlier"
    (run / "manifest.json").write_text(json.dumps(manifest))
