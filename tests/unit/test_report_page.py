# SPDX-License-Identifier: BSD-3-Clause
"""`lull report` in headless Chromium: pages render, controls do what they say, the console stays silent."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from lull.cli.app import app
from lull.energy import run_ledger
from lull.energy.run_ledger import Options
from lull.files.paths import ROOT
from lull.rundir.folder import RunDir
from tests import chromium, sweeps
from tests.chromium import Browser

pytestmark = pytest.mark.skipif(chromium.BINARY is None, reason="chromium is not installed (Debian package chromium)")

DATA = Path(__file__).parent / "data"
TIP = "document.querySelector('.chart .tip:not([hidden])')?.textContent || ''"

Pages = Callable[[str], Path]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The page of a run, of a sweep, or of results/."""
    place = tmp_path_factory.mktemp("pages")
    made = {"menu": [(100, 5.0), (104, 5.2)], "teo": [(80, 7.0), (84, 7.2)]}
    sweep = sweeps.make(place / "sweep", made, seeds=(1, 2))
    run = place / "run"
    shutil.copytree(DATA / "trace" / "tiny-gem5", run)
    run_ledger.make_ledger(RunDir.open(run), Options())
    what = {"run": str(run), "sweep": str(sweep), "results": "results"}

    def page(kind: str) -> Path:
        path = place / f"{kind}.html"
        if not path.exists():
            said = CliRunner().invoke(app, ["report", what[kind], "--out", str(path)])
            assert said.exit_code == 0, said.output
        return path

    return page


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium") / "profile") as found:
        yield found


def _middle(browser: Browser, selector: str, place: int = 0) -> tuple[float, float, float, float]:
    """Centre and size of an element, scrolled into view."""
    box: list[float] = browser.js(
        f"(() => {{ const it = document.querySelectorAll({selector!r})[{place}];"
        "it.scrollIntoView({block: 'center', behavior: 'instant'}); const b = it.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2, b.width, b.height] })()"
    )
    return box[0], box[1], box[2], box[3]


def _click(browser: Browser, selector: str, place: int = 0) -> None:
    x, y, *_ = _middle(browser, selector, place)
    browser.drag((x, y), (x, y))


def _ticks(browser: Browser, place: int = 0) -> str:
    return str(browser.js(f"document.querySelectorAll('svg.panel')[{place}].querySelector('.axes').textContent"))


@pytest.mark.parametrize("kind", ["run", "sweep", "results"])
def test_a_page_renders_whole_with_a_silent_console_and_no_network(kind: str, pages: Pages, browser: Browser) -> None:
    browser.open(pages(kind))
    asked: list[dict[str, Any]] = browser.js(
        "(d => [...d.charts, ...d.paretos].map(c => ({id: c.id, n: c.panels ? c.panels.length : 1})))"
        "(JSON.parse(document.getElementById('data').textContent))"
    )
    names = {one["id"] for one in asked}
    assert (
        names
        >= {
            "run": {"residency-shares", "wake-ups-phases", "energy-power-mcpat", "energy-power-em"},
            "sweep": {"tradeoff-pareto", "residency-shares", "wake-ups-phases"},
            "results": {"wake-latency-phases", "wake-latency-distribution", "wake-latency-linearity"},
        }[kind]
    )
    for one in asked:
        figure = f"document.getElementById({one['id']!r})"
        assert browser.js(f"{figure}.querySelectorAll('svg.panel').length") == one["n"], one
        assert browser.js(f"{figure}.querySelectorAll('.series *').length") > 0, one
    marks = "[...document.querySelectorAll('.series *')].map(e => e.outerHTML).join('')"
    assert "NaN" not in browser.js(marks)
    ids = browser.js("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert browser.errors == []
    assert browser.requests == [pages(kind).as_uri()]


def test_hover_tells_the_value_under_the_pointer(pages: Pages, browser: Browser) -> None:
    first = pq.read_table(ROOT / "results" / "platform-check" / "routing.parquet").to_pylist()[0]
    assert (first["window"], first["cluster"], first["cpu"]) == ("quiet", "little", 0)
    browser.open(pages("results"))
    x, y, *_ = _middle(browser, "#platform-check-routing .series.bars rect")
    browser.mouse("mouseMoved", x, y)
    said = browser.js(TIP)
    assert said.startswith("quiet")
    assert "little 0" in said
    assert f"core off: share of the window: {first['gated']:.5g}" in said
    browser.mouse("mouseMoved", 1, 1)
    assert browser.js(TIP) == ""


def test_dragging_zooms_and_a_double_click_and_the_button_reset(pages: Pages, browser: Browser) -> None:
    browser.open(pages("results"))
    whole = _ticks(browser)
    for reset in ("double-click", "button"):
        x, y, width, height = _middle(browser, "svg.panel")
        browser.drag((x - width / 8, y - height / 8), (x + width / 8, y + height / 8))
        assert _ticks(browser) != whole
        if reset == "button":
            _click(browser, ".reset")
        else:
            browser.mouse("mousePressed", x, y, button="left", clickCount=2)
            browser.mouse("mouseReleased", x, y, button="left", clickCount=2)
        assert _ticks(browser) == whole, reset


def test_the_wheel_zooms_the_chart_in_focus_and_scrolls_the_page_otherwise(pages: Pages, browser: Browser) -> None:
    browser.open(pages("results"))
    whole = _ticks(browser)
    x, y, *_ = _middle(browser, "svg.panel")
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    assert _ticks(browser) == whole
    browser.js("document.querySelector('svg.panel').focus()")
    x, y, *_ = _middle(browser, "svg.panel")
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    assert _ticks(browser) != whole


def test_a_keyboard_does_all_that_a_mouse_does(pages: Pages, browser: Browser) -> None:
    browser.open(pages("results"))
    browser.js("document.querySelector('svg.panel').focus()")
    whole = _ticks(browser)
    browser.key("ArrowRight")
    first = browser.js(TIP)
    browser.key("ArrowRight")
    second = browser.js(TIP)
    browser.key("ArrowDown")
    assert len({first, second, browser.js(TIP), ""}) == 4
    browser.key("+", "+")
    assert _ticks(browser) != whole
    browser.key("0", "0")
    assert _ticks(browser) == whole


def test_the_legend_hides_and_shows_a_series(pages: Pages, browser: Browser) -> None:
    browser.open(pages("results"))
    count = "document.querySelectorAll('#platform-check-agreement .series[data-label=C1] path').length"
    before = browser.js(count)
    assert before > 0
    _click(browser, "#platform-check-agreement .legend button")
    pressed = "document.querySelector('#platform-check-agreement .legend button').getAttribute('aria-pressed')"
    assert (browser.js(count), browser.js(pressed)) == (0, "false")
    _click(browser, "#platform-check-agreement .legend button")
    assert (browser.js(count), browser.js(pressed)) == (before, "true")


def test_a_table_sorts_the_values_unfold_and_the_theme_changes(pages: Pages, browser: Browser) -> None:
    browser.open(pages("results"))
    rows = "[...document.querySelector('#summary table').tBodies[0].rows]"
    column = f"{rows}.map(row => Number(row.cells[3].textContent))"
    _click(browser, "#summary th button", 3)
    assert browser.js(column) == sorted(browser.js(column))
    _click(browser, "#summary th button", 3)
    assert browser.js(column) == sorted(browser.js(column), reverse=True)
    assert browser.js("document.querySelectorAll('#platform-check-frequency .tools tr').length") == 0
    _click(browser, "#platform-check-frequency summary")
    browser.js("new Promise(requestAnimationFrame)")
    assert browser.js("document.querySelectorAll('#platform-check-frequency .tools tr').length") == 13
    colour = "getComputedStyle(document.body).backgroundColor"
    before = browser.js(colour)
    _click(browser, "#theme")
    assert browser.js(colour) != before
    assert browser.errors == []


def test_no_check_is_out_of_sight_and_what_is_cut_off_says_so(pages: Pages, browser: Browser) -> None:
    browser.open(pages("results"))
    cut = "[...document.querySelectorAll('.scroll:not(.long)')].filter(e => e.scrollHeight > e.clientHeight + 1).length"
    outside = (
        "[...document.querySelectorAll('.narrow td')].filter(e => e.offsetParent && e.textContent"
        " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.textContent)"
    )
    try:
        for width in (1280, 400):
            browser.width(width)
            assert browser.js(cut) == 0, width
            assert browser.js(outside) == [], width
        assert browser.js("document.querySelectorAll('.narrow td.good').length") > 10
        shadows = "getComputedStyle(document.querySelector('.scroll')).backgroundAttachment"
        assert browser.js(shadows) == "local, local, scroll, scroll"
    finally:
        browser.width(None)
    assert browser.errors == []


def test_the_pareto_view_tells_a_points_settings_and_takes_other_measures(pages: Pages, browser: Browser) -> None:
    browser.open(pages("sweep"))
    chart = "#tradeoff-pareto"
    x, y, *_ = _middle(browser, f"{chart} .series.points .mark")
    browser.mouse("mouseMoved", x, y)
    said = browser.js(TIP)
    assert "governor = " in said
    assert "2 seeds" in said
    assert "wake:total_us:p99 (µs): " in said
    assert browser.js(f"document.querySelectorAll('{chart} .series.points .mark').length") == 2
    label = f"document.querySelector('{chart} svg.panel').getAttribute('aria-label')"
    before = browser.js(label)
    browser.js(
        f"(s => {{ s.value = 'guest:power_w'; s.dispatchEvent(new Event('change')) }})"
        f"(document.querySelector('{chart} select[data-axis=y]'))"
    )
    assert "guest:power_w" not in before
    assert "guest:power_w" in browser.js(label)
    assert browser.errors == []
