# SPDX-License-Identifier: BSD-3-Clause
"""The call of Snakemake by a sweep, and by users themselves."""

import subprocess
import sys
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.sweep import workflow
from lull.sweep.folder import SweepFolder
from lull.sweep.job import Means
from lull.sweep.snakemake import How
from tests.unit.test_sweep import FakeEngine
from tests.unit.test_sweep_jobs import engine, folder, means, planned  # noqa: F401


@pytest.fixture
def laid_out(folder: SweepFolder, engine: FakeEngine, means: Means) -> Path:  # noqa: F811
    workflow.lay_out(folder, planned(5), engine, means, How(batch=2))
    return folder.path


def _snakemake(place: Path) -> str:
    words = [sys.executable, "-m", "snakemake", "-n", "--quiet", "host"]
    done = subprocess.run(words, cwd=place, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_snakemake_finds_the_jobs_in_the_sweeps_folder(laid_out: Path) -> None:
    said = _snakemake(laid_out)
    assert ["run", "3"] in [line.split() for line in said.splitlines()]
    assert "logs/batch-0001.log" in said
    (laid_out / ".workflow" / "done" / "batch-0001").touch()
    assert ["run", "2"] in [line.split() for line in _snakemake(laid_out).splitlines()]


def test_a_dry_run_lists_the_jobs(laid_out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    How(jobs=1).list_jobs(laid_out / workflow.FOLDER)
    said = capsys.readouterr().out
    assert ["run", "3"] in [line.split() for line in said.splitlines()]
    assert not any((laid_out / ".workflow" / "state").iterdir())


def test_a_profile_says_what_the_user_does_not(
    laid_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "config.yaml").write_text("executor: local\ncores: 1\ndefault-resources: [mem_mb=77]\n")
    monkeypatch.chdir(tmp_path)
    how = How(profile="mine")
    how.check()
    words = how.words(laid_out)
    assert words[words.index("--profile") + 1] == str(mine)
    assert not {"--executor", "--jobs", "--cores"} & set(words)
    how.list_jobs(laid_out / workflow.FOLDER)
    assert "mem_mb=77" in capsys.readouterr().out  # of the job that brings all together, which asks for nothing else
    words = How(executor="slurm", jobs=3, profile="mine").words(laid_out)
    assert (words[words.index("--executor") + 1], words[words.index("--jobs") + 1]) == ("slurm", "3")


def test_a_profile_by_name_is_looked_for_where_snakemake_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(UserError, match=r"--profile mine: no folder with a config\.yaml; give its path"):
        How(profile="mine").check()
    (tmp_path / "snakemake" / "mine").mkdir(parents=True)
    (tmp_path / "snakemake" / "mine" / "config.v8+.yaml").write_text("jobs: 1\n")
    How(profile="mine").check()


def test_without_a_profile_jobs_go_where_the_executor_says(laid_out: Path) -> None:
    local, slurm = How(jobs=2).words(laid_out), How("slurm").words(laid_out)
    assert (local[local.index("--executor") + 1], local[local.index("--cores") + 1]) == ("local", "2")
    assert (slurm[slurm.index("--executor") + 1], slurm[slurm.index("--jobs") + 1]) == ("slurm", "100")
    assert "--slurm-status-command" in slurm
