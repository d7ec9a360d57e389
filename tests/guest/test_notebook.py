# SPDX-License-Identifier: BSD-3-Clause
"""`lull.boot()` and `lull.run()` on QEMU, and all of docs/notebook.ipynb."""

import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot

import lull
from tests import notebook

pytestmark = pytest.mark.guest

FAILS = "echo out; echo '{\"x\": 1}' > /out/x.jsonl; exit 7"


def test_the_whole_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names: dict[str, Any] = {}
    with matplotlib.rc_context({"backend": "agg"}):
        shown = notebook.run(names, boots=True)
    pyplot.close("all")
    settings = shown["boot"].set_index("setting")
    assert settings.loc["policy.idle_deepest"].tolist() == ["C1", "C3"]
    deep = shown["compare"].set_index("measure").loc["residency:little:C3"]
    assert deep["first"] == 0
    assert deep["second"] > 0.5
    assert "sched_switch" in names["deep"].trace.events


def test_a_command_that_fails_is_a_run_with_a_status(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = lull.boot("tiny", "qemu", exec=FAILS, out=str(tmp_path / "run"))
    assert (run.status, run.stdout) == (7, "out\n")
    assert list(run.files) == ["x.jsonl"]
    assert run.jsonl("x")["x"].tolist() == [1]
    said = capfd.readouterr()
    assert said.out == "", "what the guest prints is the run's"
    assert 1 <= len(said.err.splitlines()) <= 4


def test_a_scenario_from_python_is_the_command_line_s(tmp_path: Path) -> None:
    sweep = lull.run("wake-latency", engine="qemu", set={"count": 5}, points="states/C[13]", out=tmp_path / "look")
    assert sorted(sweep.points) == ["states/C1", "states/C3"]
    assert sweep.missing
    assert set(sweep.wakes.df_wake_ups()["point"]) == set(sweep.points)
    assert lull.open(sweep.path).command == sweep.command
    with pytest.raises(lull.UserError, match="choose another --out, or --again to run it again"):
        lull.run("wake-latency", engine="qemu", set={"count": 6}, points="states/C[13]", out=tmp_path / "look")
