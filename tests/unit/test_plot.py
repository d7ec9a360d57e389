# SPDX-License-Identifier: BSD-3-Clause
"""`lull plot`: what is published is what its own data draws."""

import json
import re
import resource
import shutil
import zlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from typer.testing import CliRunner

from lull.cli.app import app
from lull.cli.plot import chosen
from lull.errors import UserError
from lull.files import paths
from lull.plotting import style
from lull.results import drawing, index, judging
from lull.results.reasons import REASONS
from lull.results.result import CHECKS
from lull.scenario import experiments
from lull.scenario.experiments import BENCHMARKS
from lull.scenario.load import load_scenario

RESULTS = paths.ROOT / "results"
PUBLISHED = [folder.name for folder in chosen(RESULTS, "all")]
STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)


def _inflated(path: Path) -> list[bytes]:
    """The contents of a PDF, whichever zlib packed them."""
    return [zlib.decompress(found) for found in STREAM.findall(path.read_bytes())]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_figure_is_drawn_from_its_tables(name: str, tmp_path: Path) -> None:
    saved = {path.name for path in drawing.draw(RESULTS / name, tmp_path)}
    theirs = {path.name for kind in ("pdf", "png") for path in (RESULTS / name).glob(f"*.{kind}")}
    assert saved == theirs
    for figure in sorted(saved):
        if figure.endswith(".png"):
            assert np.array_equal(imread(tmp_path / figure), imread(RESULTS / name / figure)), figure
        else:
            assert _inflated(tmp_path / figure) == _inflated(RESULTS / name / figure) != [], figure
    summary = drawing.SUMMARY
    assert (tmp_path / summary).read_text() == (RESULTS / name / summary).read_text()


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_checks_follow_from_the_tables_by_the_rules_of_today(name: str) -> None:
    """`lull plot NAME` makes them so."""
    found = judging.concluded(RESULTS / name)
    if found is None:
        pytest.skip("its analysis needs the runs, or columns that its tables are too old for")
    assert [vars(check) for check in found.checks] == json.loads((RESULTS / name / CHECKS).read_text())
    assert found.summary in (RESULTS / name / drawing.SUMMARY).read_text()


@pytest.mark.parametrize("name", ["wake-ssd", "multicore-power"], ids=["in pieces", "whole"])
def test_a_result_is_judged_again_and_keeps_what_made_it(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(RESULTS / name, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / CHECKS).write_text("[]\n")
    (folder / drawing.SUMMARY).write_text("")
    assert judging.judge(folder)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    figures = {name for name in before if name.endswith((".pdf", ".png"))}
    assert {name: after[name] for name in after.keys() - figures} == {
        name: before[name] for name in before.keys() - figures
    }
    assert {name for name in after if name.endswith((".pdf", ".png"))} == figures


def test_tables_that_are_older_than_a_column_stay_as_they_are(tmp_path: Path) -> None:
    """Such a result has to be made again."""
    folder = tmp_path / "cold-caches"
    shutil.copytree(RESULTS / "cold-caches", folder)
    table = pq.read_table(folder / "costs.parquet")
    pq.write_table(table.select([name for name in table.column_names if name != "whole"]), folder / "costs.parquet")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert not judging.judge(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_other_data_draws_another_figure(tmp_path: Path) -> None:
    """The comparison above can fail."""
    folder = tmp_path / "platform-check"
    shutil.copytree(RESULTS / "platform-check", folder)
    drawing.draw(folder)
    before = imread(folder / "routing.png")
    table = pq.read_table(folder / "routing.parquet")
    place = table.column_names.index("gated")
    changed = table.set_column(place, "gated", [[value / 2 for value in table["gated"].to_pylist()]])
    pq.write_table(changed, folder / "routing.parquet")
    drawing.draw(folder)
    assert not np.array_equal(before, imread(folder / "routing.png"))


def test_a_figure_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match=r"File too large: .*one\.pdf"):
            style.save(Figure(), tmp_path, "one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_figure_that_is_drawn_no_more_goes_but_only_from_its_own_folder(tmp_path: Path) -> None:
    folder, other = tmp_path / "platform-check", tmp_path / "other"
    shutil.copytree(RESULTS / "platform-check", folder)
    other.mkdir()
    for place in (folder, other):
        (place / "old.png").touch()
    drawing.draw(folder, other)
    assert (other / "old.png").exists()
    assert (folder / "old.png").exists()
    drawing.draw(folder)
    assert not (folder / "old.png").exists()


def test_the_command_writes_elsewhere_if_asked(tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in RESULTS.rglob("*")}
    said = CliRunner().invoke(app, ["plot", "platform-check", "--out", str(tmp_path)])
    assert said.exit_code == 0, said.output
    assert sorted(path.name for path in (tmp_path / "platform-check").glob("*.pdf")) == [
        "agreement.pdf", "frequency.pdf", "routing.pdf",
    ]  # fmt: skip
    assert {path: path.stat().st_mtime_ns for path in RESULTS.rglob("*")} == before


def test_an_experiment_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match=r"no_such: no such folder in .*; use `all`, "):
        chosen(RESULTS, "no_such")


def test_the_page_of_results_has_the_table_of_today() -> None:
    page = (RESULTS / index.PAGE).read_text(encoding="utf-8")
    assert index.BEGIN in page
    assert index.written(page, RESULTS) == page, "run `./lull plot`"
    assert index.written(page.replace("gem5 24", "gem5 23"), RESULTS) == page, "the comparison can fail"


@pytest.mark.parametrize("name", experiments.names())
def test_who_sets_numbers_beside_published_ones_says_why_they_differ(name: str) -> None:
    if hasattr(experiments.analysis_in(load_scenario(name).folder), "against"):
        assert REASONS in (BENCHMARKS / name / "README.md").read_text().splitlines()
