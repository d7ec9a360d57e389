# SPDX-License-Identifier: BSD-3-Clause
"""docs/notebook.ipynb runs as it stands, and docs/notebook.md names every view."""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import nbformat
import pytest
from matplotlib import pyplot

import lull
from lull.files.paths import ROOT
from lull.notebook import catalogue
from lull.notebook.many_runs import SweepView
from lull.notebook.one_run import RunView
from tests import notebook
from tests.notebook import recorded

PAGE = ROOT / "docs" / "notebook.md"


@pytest.fixture
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No window, and nothing left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with matplotlib.rc_context({"backend": "agg"}):
        yield
    pyplot.close("all")


def test_it_is_a_notebook_without_outputs() -> None:
    nbformat.validate(json.loads(notebook.FILE.read_text(encoding="utf-8")))
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in notebook.cells())
    assert {tag for cell in notebook.cells() for tag in cell["metadata"].get("tags", ())} == {notebook.BOOTS}


@pytest.mark.usefixtures("_quiet")
def test_its_cells_run_in_their_order() -> None:
    names: dict[str, Any] = {}
    shown = notebook.run(names, boots=False)
    assert repr(shown["open"]).endswith("recorded: tiny on gem5, 'for ms in 2 5 10 20 50; do usleep ${ms}000; done'>")
    assert shown["residency"].sum(axis="columns").tolist() == pytest.approx([1, 1, 1], abs=0.01)
    assert shown["wake-ups"].loc[("C4", "big"), "out_us"] > 1000
    assert list(shown["events"].columns) == ["time_s", "cpu", "prev_comm", "next_comm"]
    assert shown["joules"].loc[0, "C3"] > 0
    assert (names["runs"] / "recorded" / "energy.parquet").is_file()
    assert len(shown["result"]) == 12
    assert shown["checks"]["passed"].all()
    assert len(pyplot.get_fignums()) == 4


def test_the_page_lists_the_views_as_they_are() -> None:
    assert catalogue.page_table() in PAGE.read_text(encoding="utf-8"), (
        "docs/notebook.md: put the table of `.venv/bin/python -m lull.notebook.catalogue` into it"
    )


def test_the_page_names_every_attribute_and_no_other() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for kind in (RunView, SweepView):
        public = {name for name in dir(kind) if not name.startswith("_")}
        missing = {name for name in public if not re.search(rf"`\.{name}\b", text)}
        assert not missing, f"{PAGE.name} does not name {missing} of {kind.__name__}"


@pytest.mark.usefixtures("_quiet")
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path / "runs" / "mine")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), {})


def test_the_sentence_of_the_page_is_the_one_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(tmp_path / "runs" / "mine", trace=["sched"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lull.UserError) as error:
        lull.open("runs/mine").wakes.df_wake_ups()
    assert f"`{error.value}`" in " ".join(PAGE.read_text(encoding="utf-8").split())
