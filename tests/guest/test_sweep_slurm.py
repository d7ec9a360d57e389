# SPDX-License-Identifier: BSD-3-Clause
"""A sweep through Slurm itself. Its packages are not among those that `scripts/setup` asks for."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests import slurm
from tests.conftest import Lull

pytestmark = [pytest.mark.guest, pytest.mark.slow]


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    if missing := slurm.missing():
        pytest.skip(f"not installed: {', '.join(missing)}")
    with slurm.cluster(tmp_path_factory.mktemp("slurm")) as env:
        yield env


@pytest.mark.parametrize("batch", ["1", "2"])
def test_a_sweep_runs_on_slurm(lull: Lull, tmp_path: Path, cluster: dict[str, str], batch: str) -> None:
    words = ["sweep", "--scenario", "wake-latency", "--points", "states/C3", "-e", "qemu", "--set", "count=5"]
    words += ["--set", "span_us=200", "--grid", "governor=menu,teo", "--grid", "cpus=0,3-1", "--out", "out"]
    ran = lull(*words, "--executor", "slurm", "--batch", batch, env=cluster)
    assert ran.returncode == 1, ran.stderr
    assert "4 points: 2 ran, 0 were there, 2 failed, 0 hung" in ran.stderr
    assert " ".join(ran.stdout.split()).count("the guest's command ended with status") == 2
    assert "SLURM jobid" in (tmp_path / "out" / "sweep.log").read_text()
    rows = pq.read_table(tmp_path / "out" / "table.parquet").to_pylist()
    assert [(row["governor"], row["cpus"]) for row in rows] == [("menu", 0), ("teo", 0)]
