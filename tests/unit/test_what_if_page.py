# SPDX-License-Identifier: BSD-3-Clause
"""The what-if of a page: the grid, and in headless Chromium its sliders, which say what a replay says."""

import base64
import dataclasses
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lull.cli.app import app
from lull.compare.samples import Samples
from lull.figures.sample import Sample
from lull.files.paths import ROOT
from lull.page import of_sweep
from lull.page import what_if as page_part
from lull.rundir.folder import RunDir
from lull.rundir.run import Run
from lull.whatif import prediction, source, surface
from lull.whatif.source import Replay
from lull.whatif.surface import Surface
from tests import chromium
from tests.chromium import Browser

pytestmark = pytest.mark.usefixtures("governors")

RUN = ROOT / "results" / "recordings" / "drags"
KB = 1000
in_chromium = pytest.mark.skipif(chromium.BINARY is None, reason="chromium is not installed (Debian package chromium)")


@pytest.fixture(scope="module")
def replay() -> Replay:
    return source.load(RUN)


@pytest.fixture(scope="module")
def found(replay: Replay) -> Surface:
    return surface.of_run(replay)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "drags.html"
    said = CliRunner().invoke(app, ["report", str(RUN), "--out", str(path)])
    assert said.exit_code == 0, said.output
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium") / "profile") as opened:
        yield opened


def _truth(replay: Replay, settings: list[str]) -> dict[str, float]:
    """The answer of `lull what-if`."""
    rows = prediction.rows(replay, replay.machine.changed(settings))
    (joules,) = [row.predicted for row in rows if (row.what, row.cpu, row.of) == ("energy", prediction.ALL, "all")]
    (p99,) = [row.predicted for row in rows if (row.what, row.cpu, row.of) == ("latency", prediction.ALL, "p99")]
    seconds = (replay.chains.last - replay.chains.first) / 1e9
    return {"power": 1e3 * joules / seconds, "p99": p99}


def _joules(found: Surface, values: surface.Numbers) -> float:
    return float(sum(value for name, value in zip(found.measures, values, strict=True) if name.endswith(" J")))


def test_at_its_own_points_the_grid_is_the_replay(replay: Replay, found: Surface) -> None:
    length = (replay.chains.last - replay.chains.first) / 1e9
    for governor, told, left in (("menu", (1.0, 2.0), (1.0, 1.0)), ("teo", (0.25, 1.0), (1.0, 5.0))):
        values = found.at(governor, told, left)
        true = _truth(replay, list(surface.words(replay, found.states, governor, told, left)))
        assert 1e3 * _joules(found, values) / length == pytest.approx(true["power"], rel=1e-6)
        assert values[found.measures.index("p99 us")] == pytest.approx(true["p99"], rel=1e-6)


def test_as_recorded_the_grid_is_near_the_recorded_run(replay: Replay, found: Surface) -> None:
    """The grid is the replay, which is off by what `lull what-if` tells in its error bars."""
    values = found.at("menu", (1.0, 1.0), (1.0, 1.0))
    assert np.allclose(values, surface.numbers(replay, replay.machine), rtol=1e-6, atol=1e-9)
    for name in ("p99 us", "wake-ups", "C3 %"):
        at = found.measures.index(name)
        assert values[at] == pytest.approx(found.recorded[at], rel=0.01)
    assert _joules(found, values) == pytest.approx(_joules(found, found.recorded), rel=0.01)


def test_the_interpolation_is_as_far_off_as_it_says(replay: Replay, found: Surface) -> None:
    off = []
    for number in range(20):
        left = (0.2 * 1.15**number, 5 * 0.87**number)
        true = _truth(replay, list(surface.words(replay, found.states, "menu", (1.0, 1.0), left)))
        off.append(abs(found.at("menu", (1.0, 1.0), left)[found.measures.index("p99 us")] / true["p99"] - 1))
    assert max(off) <= 2 * found.off["menu"]["p99"].worst + 1e-6
    assert all(0 <= own.usual <= own.worst < 0.1 for by in found.off.values() for own in by.values())


def test_ticks_that_are_a_guess_widen_the_bar_of_the_sliders_as_that_of_a_grid(replay: Replay) -> None:
    costs = {cpu: cost._replace(measured=False) for cpu, cost in replay.chains.tick_cost.items()}
    unsure = dataclasses.replace(replay, chains=dataclasses.replace(replay.chains, tick_cost=costs))
    asked = replay.machine.changed(["governor=haltpoll"])
    sure_error, error = (
        prediction.point(prediction.ground_of_points(one), one, asked)["energy_j_error"] for one in (replay, unsure)
    )
    sure_bar, bar = (surface._bars(one)["joules"] for one in (replay, unsure))
    guess = dict(zip(surface.names(unsure), surface.numbers(unsure, asked), strict=True))["guess"]
    assert bar == pytest.approx(sure_bar)
    assert bar[-1] * guess == pytest.approx(error - sure_error)
    assert guess > 0


def test_residencies_out_of_order_are_no_point_of_the_grid(found: Surface) -> None:
    assert [state.name for state in found.states] == ["C2", "C3"]
    assert (4.0, 0.5) in found.combinations, "400 us of C2 are below the 500 of C3"
    assert (1.0, 0.25) not in found.combinations, "C3 takes 500 us in and out"


def test_the_data_of_the_page_is_the_grid_to_a_ten_thousandth(found: Surface) -> None:
    data = page_part.data_of(found)
    packed = np.frombuffer(base64.b64decode(data["packed"]), "<u2").reshape(-1, len(found.measures))
    again = np.array(data["low"]) + packed * np.array(data["step"])
    flat = found.table.reshape(-1, len(found.measures))
    assert packed.size == data["count"]
    assert np.abs(again - flat).max(axis=0) == pytest.approx(
        np.zeros(flat.shape[1]), abs=1e-4 * np.ptp(flat, axis=0).max()
    )
    assert (np.abs(again - flat).max(axis=0) <= 1e-4 * np.ptp(flat, axis=0) + 1e-12).all()


def _set(browser: Browser, what: str, value: float | str) -> None:
    kind = "change" if isinstance(value, str) else "input"
    browser.js(
        f"(it => {{ it.value = {value!r}; it.dispatchEvent(new Event({kind!r})) }})"
        f"(document.querySelector('[data-what={what}]'))"
    )


def _said(browser: Browser, column: int = 1) -> dict[str, float]:
    rows: list[list[str]] = browser.js(
        "[...document.querySelectorAll('table.what-if tr')].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    cells = {row[0]: row for row in rows}
    power, p99 = (next(row for name, row in cells.items() if name.startswith(begin)) for begin in ("power", "p99"))
    return {"power": float(power[column]), "p99": float(p99[column])}


@in_chromium
def test_the_page_is_one_small_file_that_asks_nobody(page: Path, browser: Browser) -> None:
    browser.open(page)
    assert page.stat().st_size < 150 * KB
    assert browser.js("document.querySelectorAll('#what-if svg.panel').length") == 3
    assert browser.js("document.querySelectorAll('#what-if input[type=range]').length") == 6
    assert browser.requests == [page.as_uri()]
    assert browser.errors == []


@in_chromium
def test_sliders_move_the_curves_to_what_a_replay_says(page: Path, browser: Browser, replay: Replay) -> None:
    browser.open(page)
    curve = "document.querySelector('#what-if-curves .series.line path').getAttribute('d')"
    before, recorded = browser.js(curve), _said(browser, column=4)
    assert _said(browser) == pytest.approx(recorded, rel=1e-3)
    _set(browser, "C3-exit", float(np.log(0.5)))
    halved = _said(browser)
    assert halved == pytest.approx(_truth(replay, ["cstates.C3.exit_us=15"]), rel=1e-3)
    assert halved["p99"] < recorded["p99"] - 10
    assert browser.js("document.querySelector('[data-what=C3-exit]').nextSibling.textContent").startswith("15 µs (")
    assert browser.js(curve) == before, "the curve is over this very slider"
    _set(browser, "C3-residency", 3)
    _set(browser, "governor", "teo")
    asked = ["governor=teo", "cstates.C3.exit_us=15", "cstates.C3.advertised.residency_us=2000"]
    assert _said(browser) == pytest.approx(_truth(replay, asked), rel=1e-3)
    assert browser.js(curve) != before
    _set(browser, "C3-power", float(np.log(2)))
    asked.append("power-models.core.C3.leakage=0.06")
    assert _said(browser) == pytest.approx(_truth(replay, asked), rel=1e-3)
    browser.js("document.querySelector('.as-recorded').click()")
    assert _said(browser) == pytest.approx(recorded, rel=1e-3)
    assert browser.errors == []


@in_chromium
def test_the_error_bar_is_that_of_the_command(page: Path, browser: Browser, replay: Replay) -> None:
    browser.open(page)
    _set(browser, "C3-exit", float(np.log(2)))
    rows = prediction.rows(replay, replay.machine.changed(["cstates.C3.exit_us=60"]))
    (p99,) = [row.error for row in rows if (row.what, row.cpu, row.of) == ("latency", prediction.ALL, "p99")]
    assert _said(browser, column=2)["p99"] == pytest.approx(p99, rel=0.02)


@in_chromium
def test_the_front_marks_the_recorded_point_and_joins_the_best(page: Path, browser: Browser) -> None:
    browser.open(page)
    labels: list[str] = browser.js(
        "[...document.querySelectorAll('#what-if-front .legend button')].map(b => b.textContent)"
    )
    assert {"beaten by no other", "recorded", "these settings"} <= set(labels)
    place = "document.querySelector('#what-if-front .series[data-label=recorded] path').getAttribute('transform')"
    before = browser.js(place)
    _set(browser, "C3-exit", float(np.log(5)))
    assert browser.js(place) != before, "the axes have moved with the other points"
    assert browser.js("document.querySelectorAll('#what-if-front .series.line path').length") == 1


@in_chromium
def test_settings_out_of_order_are_a_sentence_and_not_a_number(page: Path, browser: Browser) -> None:
    browser.open(page)
    _set(browser, "C3-residency", 0)
    text: Any = browser.js("document.querySelector('table.what-if').textContent")
    assert text.startswith("No machine has these residencies")
    assert browser.errors == []


@in_chromium
@pytest.mark.parametrize("across", ["residency of C2", "leakage in C3", "exit latency of C2"])
def test_curves_go_over_each_slider(across: str, page: Path, browser: Browser) -> None:
    browser.open(page)
    _set(browser, "across", across)
    assert across in browser.js("document.querySelector('#what-if-curves svg.panel').getAttribute('aria-label')")
    assert browser.js("document.querySelectorAll('#what-if-curves .series.line').length") == 6
    assert "NaN" not in browser.js("document.querySelector('#what-if').innerHTML")
    assert browser.errors == []


def test_the_page_tells_of_what_a_replay_cannot_move(page: Path, replay: Replay) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(replay.notes) >= 2
    assert all(note.replace("'", "&#39;") in text for note in replay.notes)


def test_a_run_that_cannot_be_asked_has_a_page_without_sliders(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(RUN, bare)
    trace = (bare / "trace.dat").read_bytes()
    (bare / "trace.dat").write_bytes(trace.replace(b"overrun: 0", b"overrun: 7", 1))
    said = CliRunner().invoke(app, ["report", str(bare)])
    assert said.exit_code == 0, said.output
    text = (bare / "report.html").read_text(encoding="utf-8")
    assert "No what-if of this run: " in text
    assert "lost 7 events; trace less" in text
    assert "what-if-curves" not in text
    (bare / "trace.dat").unlink()
    assert CliRunner().invoke(app, ["report", str(bare)]).exit_code == 0
    assert 'id="what-if"' not in (bare / "report.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("the one before")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "write_text", _half_of_it)
        said = CliRunner().invoke(app, ["report", str(RUN), "--no-what-if", "--out", str(page)])
    assert str(said.exception) == f"{page}: cannot be written (No space left on device); choose another --out"
    assert page.read_text() == "the one before"
    assert list(tmp_path.iterdir()) == [page]


def _half_of_it(path: Path, text: str, **_options: object) -> None:
    path.write_bytes(text[: len(text) // 2].encode())
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_sweeps_page_asks_its_first_traced_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(page_part, "show", lambda section, point: asked.append((section.id, point.run.name)))
    points = [_sample("poll"), _sample("drags")]
    made = of_sweep.page(Samples(RUN.parent, "sweep", "two", "./lull sweep", tuple(points)))
    assert asked == [("what-if", "poll")]
    (section,) = [section for section in made.sections if section.id == "what-if"]
    assert section.parts[0]["text"].startswith("Of the first point that has a trace, poll: ")
    without = of_sweep.page(Samples(RUN.parent, "sweep", "two", "./lull sweep", tuple(points)), with_sliders=False)
    assert "what-if" not in [section.id for section in without.sections]


def _sample(name: str) -> Sample:
    rundir = RunDir.open(RUN.parent / name)
    spec = rundir.spec()
    return Sample(name, {"load": name}, spec.seed, Run(name, "", {}, rundir.path, spec, rundir.manifest()))
