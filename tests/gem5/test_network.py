# SPDX-License-Identifier: BSD-3-Clause
"""Two machines in one simulation: what the link takes, and what of the peer is in a run's results."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lull.rundir.folder import STATS_TABLE
from tests.conftest import Lull

pytestmark = pytest.mark.gem5

PING = "lull-net ping --proto udp --count 6 --gap-us 2000 >/out/ping.jsonl"


def _pings(run: Path) -> list[int]:
    lines = (run / "files" / "ping.jsonl").read_text().splitlines()
    return [json.loads(line)["rtt_ns"] for line in lines]


def _ran(lull: Lull, out: str, *words: str) -> None:
    ran = lull("boot", "-e", "gem5", "--peer", "echo there; lull-net serve", "--out", out, *words)
    assert ran.returncode == 0, ran.stderr


def test_a_ping_takes_the_links_delay_twice(lull: Lull, tmp_path: Path) -> None:
    for name, delay in (("near", 10), ("far", 510)):
        _ran(lull, name, "--set", f"network.delay_us={delay}", "--exec", PING)
    near, far = (sorted(_pings(tmp_path / name))[3] for name in ("near", "far"))
    assert far - near == pytest.approx(1_000_000, abs=20_000)
    assert (tmp_path / "near" / "peer.stdout").read_text() == "there\n"
    checkpoints = {_details(tmp_path / name)["checkpoint"] for name in ("near", "far")}
    assert len(checkpoints) == 1, "a link needs no boot of its own"


def _details(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "manifest.json").read_text())["details"]
    return found


def test_detailed_cpus_talk_to_an_atomic_peer_and_change_their_frequency(lull: Lull, tmp_path: Path) -> None:
    """Both machines have a DVFS handler, and the machine's is the one that its clusters use."""
    policy = "/sys/devices/system/cpu/cpufreq/policy0"
    slower = f"echo userspace >{policy}/scaling_governor; echo 450000 >{policy}/scaling_setspeed; sleep 0.001"
    _ran(lull, "run", "--cpu", "detailed", "--exec", f"{PING}; {slower}; cat {policy}/cpuinfo_cur_freq")
    run = tmp_path / "run"
    assert (run / "stdout").read_text() == "450000\n"
    assert len(_pings(run)) == 6
    assert _details(run)["restored"]["peer"]["cpus"] == 1
    names = set(pq.read_table(run / STATS_TABLE)["statistic"].to_pylist())
    others = {name for name in names if "cluster0" in name and not name.startswith(("system.", "peer."))}
    assert others == set(), "each machine's statistics are told by their names"
