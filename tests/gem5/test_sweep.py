# SPDX-License-Identifier: BSD-3-Clause
"""A sweep on gem5: killed outright while a run simulates, it goes on, and its table says what was varied."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull
from tests.killing import kill_when

pytestmark = [pytest.mark.gem5, pytest.mark.slow]

EXIT_US = (10, 300)


def test_a_sweep_goes_on_after_a_kill_and_measures_what_it_varied(lull: Lull, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["sweep", "--scenario", "wake-latency", "--points", "states/C3", "-e", "gem5", "--cpu", "detailed"]
    words += ["--set", "count=3", "--set", "span_us=200", "--set", "cpus=0", "-j", "1", "--out", str(out)]
    words += ["--grid", f"cstates.C3.exit_us={','.join(map(str, EXIT_US))}"]
    kill_when(lambda: list(out.glob("points/*/progress")), *words, with_children=False)
    ran = lull(*words)
    assert ran.returncode == 0, ran.stderr
    assert "2 points: 2 ran, 0 were there, 0 failed, 0 hung" in ran.stderr
    rows = pq.read_table(out / "table.parquet").to_pylist()
    assert [row["cstates.C3.exit_us"] for row in rows] == list(EXIT_US)
    assert [row["wake:count"] for row in rows] == [3, 3]
    assert rows[1]["wake:exit_us:mean"] - rows[0]["wake:exit_us:mean"] == pytest.approx(EXIT_US[1] - EXIT_US[0], abs=2)
    for row in rows:
        assert row["joules:mcpat:calibrated"] > 0
        assert row["joules:em:calibrated"] > 0
        assert row["instructions"] > 0
    checkpoints = {json.loads(path.read_text())["details"]["checkpoint"] for path in out.glob("points/*/manifest.json")}
    assert len(checkpoints) == 1
