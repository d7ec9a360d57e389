# SPDX-License-Identifier: BSD-3-Clause
"""A figure becomes a chart with all its numbers, or an error; a page is one file that nothing in it can break."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from typer.testing import CliRunner

from lull.cli.app import app
from lull.cli.plot import chosen
from lull.cli.report import published
from lull.files import paths
from lull.page import chart
from lull.page.chart import Block
from lull.page.page import Page, render
from lull.plotting import style
from lull.results import drawing

RESULTS = paths.ROOT / "results"
PUBLISHED = [folder.name for folder in chosen(RESULTS, "all")]


def _series(figure: Figure, panel: int = 0) -> list[Block]:
    found: list[Block] = chart.of_figure("x", figure).panels[panel]["series"]
    return found


def test_lines_bars_and_whiskers_keep_their_numbers() -> None:
    figure, (axis,) = style.panels(1, 1, 2)
    axis.plot([1, 2, 3], [4, 5, 6], label="line", linestyle="--")
    axis.barh([0, 1], [7, 8], left=[1, 2], height=0.5, label="bars", color="0.3")
    axis.errorbar([1], [2], yerr=np.array([[0.5], [1]]), label="points", marker="s", linestyle="none", capsize=3)
    axis.axvline(2.5)
    axis.axhspan(1, 2)
    found = {(one["kind"], one["label"]): one for one in _series(figure)}
    assert list(found) == [
        ("band", ""), ("bars", "bars"), ("line", "line"), ("points", "points"), ("rule", ""), ("segments", "points"),
    ]  # fmt: skip
    line = found["line", "line"]
    assert (line["x"], line["y"], line["dash"]) == ([1, 2, 3], [4, 5, 6], "6 3")
    assert found["bars", "bars"]["boxes"] == [[1, -0.25, 7, 0.5], [2, 0.75, 8, 0.5]]
    assert found["bars", "bars"]["upright"] is False
    assert found["segments", "points"]["segments"] == [[1, 1.5, 1, 3]]
    assert (found["rule", ""]["axis"], found["rule", ""]["at"]) == ("x", 2.5)
    assert (found["band", ""]["axis"], found["band", ""]["from"], found["band", ""]["to"]) == ("y", 1, 2)


def test_what_looks_like_an_entry_of_the_legend_is_of_it() -> None:
    figure, axes = style.panels(2, 2, 2)
    lines = [axis.plot([1, 2], [3, 4], color="black", linestyle=":")[0] for axis in axes]
    axes[1].plot([1, 2], [3, 4], color="0.5")
    style.legend_below(figure, lines[:1], ["dotted"])
    assert [one["label"] for one in _series(figure, 1)] == ["dotted", ""]


def test_named_ticks_and_logarithms_stay() -> None:
    figure, (axis,) = style.panels(1, 1, 2)
    axis.plot([1, 1000], [0, 1])
    axis.set_xscale("log")
    axis.set_yticks([0, 1], ["little", "big"])
    panel = chart.of_figure("x", figure).panels[0]
    assert panel["x"]["kind"] == "log"
    assert panel["y"]["ticks"] == [[0, "little"], [1, "big"]]


def test_an_artist_of_an_unknown_kind_and_a_value_that_is_none_are_errors() -> None:
    figure, (axis,) = style.panels(1, 1, 2)
    axis.add_patch(Ellipse((0, 0), 1, 1))
    with pytest.raises(NotImplementedError, match="Ellipse"):
        chart.of_figure("x", figure)
    figure, (axis,) = style.panels(1, 1, 2)
    axis.plot([1, 2], [np.nan, 1])
    with pytest.raises(ValueError, match="no number"):
        chart.of_figure("x", figure)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_figure_becomes_a_chart(name: str) -> None:
    analysis, stored = drawing.read(RESULTS / name)
    drawings = drawing.of_tables(analysis, stored)
    assert drawings or not hasattr(analysis, "draw")
    for item in drawings:
        made = chart.of_figure(item.name, item.figure, item.caption)
        assert made.panels, item.name
        legend = item.figure.legends[0].get_texts() if item.figure.legends else []
        assert set(made.legend) >= {text.get_text() for text in legend}, item.name


def test_text_of_a_run_cannot_become_markup() -> None:
    evil = "</script><script>alert(1)</script>"
    page = Page(evil, [evil], [evil])
    section = page.section("One")
    section.table([evil], [[evil]])
    section.folded(evil, evil)
    figure, (axis,) = style.panels(1, 1, 2)
    axis.plot([1, 2], [3, 4], label=evil)
    section.figure("x", figure, evil)
    text = render(page)
    assert text.count("<script") == text.count("</script>") == 2
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["charts"][0]["legend"] == [evil]


def test_a_page_names_no_other_place(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["report", "results", "--out", str(tmp_path / "page.html")])
    assert said.exit_code == 0, said.output
    text = (tmp_path / "page.html").read_text()
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', text) == []
    sections = set(re.findall(r'<(?:section|main) id="([^"]*)"', text))
    assert set(re.findall(r'href="#([^"]*)"', text)) == sections
    assert text.count('href="#esm-idle"') > 1, "a summary that names another result leads to its section"
    assert "@import" not in text
    assert "url(#" in text.replace("${clip}", "x")
    assert len(text) < 100_000 * len(PUBLISHED)


def test_results_are_meant_by_name_or_by_path() -> None:
    every = [RESULTS / name for name in PUBLISHED]
    assert published(Path("results")) == published(RESULTS) == every
    assert published(RESULTS / "wake-latency") == [RESULTS / "wake-latency"]
    assert published(Path("runs/results")) == []
