# SPDX-License-Identifier: BSD-3-Clause
"""Figures in prose are those of the tables that they name."""

import math
import re
from pathlib import Path

import pyarrow as pa
import pytest

from lull.energy import validation
from lull.errors import UserError
from lull.files import paths
from lull.results import drawing, quotes, reasons, result
from lull.scenario import experiments
from tests import what_ifs

TABLES = {
    "points": pa.table(
        {
            "point": ["models/esm-25", "models/pull-25"],
            "power_w": [0.1266, 0.1286],
            "idle_w": [0.126, 0.0],
            "p99_us": [None, 15971.0],
            "drift": [math.nan, math.inf],
            "cpus": [[0, 1], [2]],
        }
    )
}
ESM, PULL = "points point=models/esm-25", "points point=models/pull-25"


@pytest.mark.parametrize(
    ("had", "what", "has"),
    [
        ("0.10", "points: average power_w", "0.13"),
        ("12", "points: average 1e3 * abs(power_w - 0.2)", "72"),
        ("99.9", f"{ESM}: 1e3 * power_w", "127"),
        ("99.95", f"{ESM}: 1e3 * power_w", "126.6"),
        ("0.5", f"{PULL}: p99_us / 1e3", "16"),
        ("3", f"{PULL}: p99_us", "15971"),
        ("12", f"{ESM}: 100 * (power_w - idle_w) / power_w", "0.47"),
        ("0.1", "points: min power_w", "0.1"),
        ("0.10", "points: max power_w", "0.13"),
        ("2.1", f"{PULL}: 1e3 * (power_w - other) with other = {ESM}: power_w", "2.0"),
        ("0.1", f"{PULL}: a * b with a = {PULL}: 2 * power_w with b = points: max power_w", "0.03"),
        ("0.10", f"{PULL}: a with a = {PULL}: power_w + b with b = {ESM}: power_w", "0.26"),
        ("4", f"{PULL}: power_w - other with other = {ESM}: p99_us", "-"),
        ("4", f"{ESM}: -p99_us", "-"),
        ("4", f"{PULL}: power_w / idle_w", "-"),
        ("4", f"{PULL}: 1 / (idle_w - idle_w)", "-"),
        ("4", f"{PULL}: power_w / other with other = {PULL}: idle_w", "-"),
        ("4", f"{ESM}: drift", "-"),
        ("4", f"{PULL}: drift", "-"),
        ("4", "points: max drift", "-"),
        ("4", f"{PULL}: power_w / 1e-320", "-"),
        ("4", "points point=none: power_w", "-"),
        ("4", "differences: power_w", "-"),
    ],
)
def test_a_figure_is_renewed_with_as_many_digits_as_it_had(had: str, what: str, has: str) -> None:
    assert quotes.fill(f"takes {had}<!--= {what} --> W", TABLES) == f"takes {has}<!--= {what} --> W"


def test_a_figure_without_a_row_can_stay() -> None:
    text = "takes 4<!--= points point=none: power_w --> W"
    assert quotes.fill(text, TABLES, unknown=None) == text


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("points power_w", "write TABLE COLUMN=VALUE"),
        ("points point=models/esm-25: watts", "write TABLE COLUMN=VALUE"),
        ("points point=models/esm-25: power_w ** 2", "write TABLE COLUMN=VALUE"),
        ("points point=models/esm-25: abs(power_w, 1)", "write TABLE COLUMN=VALUE"),
        ("points point=models/esm-25: print(1)", "write TABLE COLUMN=VALUE"),
        ("points point=models/esm-25: cpus", "write TABLE COLUMN=VALUE"),
        (f"points point=models/esm-25: {'9' * 400}", "write TABLE COLUMN=VALUE"),
        ("points: power_w", "2 rows fit; name one"),
        (f"{ESM}: power_w - idle_w with idle_w = {PULL}: power_w", "write TABLE COLUMN=VALUE"),
        (f"{ESM}: power_w - other with other = points: power_w", "2 rows fit; name one"),
    ],
)
def test_a_comment_that_names_no_figure_is_refused(what: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as said:
        quotes.fill(f"4<!--= {what} -->", TABLES)
    assert "\n" not in str(said.value)


def test_a_refusal_names_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a summary, this is the README that its prose is from."""
    monkeypatch.setattr(experiments, "BENCHMARKS", tmp_path)
    page = tmp_path / "naps" / "README.md"
    page.parent.mkdir()
    page.write_text(f"# naps\n\n{reasons.REASONS}\n4<!--= points: power_w -->\n")
    for filled in (lambda: reasons.shown("naps", TABLES), lambda: result.requote(page, TABLES)):
        with pytest.raises(UserError) as said:
            filled()
        assert str(said.value).startswith(f"{page}: `<!--= points: power_w -->`: 2 rows fit; name one")
        assert said.value.exit_status == 2


def test_links_of_a_summary_lead_from_the_summary_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "BENCHMARKS", tmp_path / "benchmarks")
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    page = tmp_path / "benchmarks" / "naps" / "README.md"
    page.parent.mkdir(parents=True)
    links = (
        "../sleep/notes.md#why",
        "../../results/sleep/summary.md",
        "../../docs/energy.md",
        "#why",
        "https://a.org",
    )
    page.write_text(f"# naps\n\n{reasons.REASONS}\n" + " ".join(f"[there]({link})" for link in links) + "\n")
    assert re.findall(r"\]\((.*?)\)", reasons.shown("naps", TABLES)) == [
        "../../benchmarks/sleep/notes.md#why",
        "../sleep/summary.md",
        "../../docs/energy.md",
        f"../../benchmarks/naps/{page.name}#why",
        "https://a.org",
    ]


def test_readers_see_no_comments_and_loose_numbers_are_found() -> None:
    text = (
        "<!--= given: 16 1.6 -->\n- C3 takes 7.6<!--= points: min power_w --> µs of 16 ms, `sleep 5`, [there](issue/5) "
        "and 42 times 1.6, in x86. C4 takes 8.1<!--= points: max power_w -->\n  µs.\n"
    )
    assert (
        quotes.without_comments(text)
        == "- C3 takes 7.6 µs of 16 ms, `sleep 5`, [there](issue/5) and 42 times 1.6, in x86. C4 takes 8.1\n  µs.\n"
    )
    assert quotes.loose(text) == ["42"]


def test_the_tables_that_a_comment_names_are_known() -> None:
    assert quotes.named("points: power_w with other = esm-idle/points point=esm: power_w") == {
        "points",
        "esm-idle/points",
    }


@pytest.mark.parametrize("name", sorted(name for name in experiments.names() if reasons.of(name)))
def test_published_prose_quotes_the_published_tables(name: str) -> None:
    text, tables = reasons.of(name), drawing.tables_of(result.RESULTS / name)
    assert quotes.fill(text, tables) == text
    assert not [match[0] for match in quotes.QUOTE.finditer(text) if match["number"].startswith("-")]
    assert quotes.loose(text) == []
    summary = result.RESULTS / name / drawing.SUMMARY
    if summary.is_file():
        assert reasons.shown(name, tables) in summary.read_text(), f"run `./lull plot {name}`"


def test_a_summary_gets_the_reasons_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "BENCHMARKS", tmp_path)
    (tmp_path / "naps").mkdir()
    readme = f"# naps\n\n{reasons.REASONS}\nTakes 1<!--= points point=models/esm-25: 1e3 * power_w --> mW.\n\n## More\n"
    (tmp_path / "naps" / "README.md").write_text(readme)
    old = f"# Naps\n\n{reasons.REASONS}\nTook 9 mW.\n\n## Checks\n\n| holds |\n"
    new = f"# Naps\n\n{reasons.REASONS}\nTakes 127 mW.\n\n## Checks\n\n| holds |\n"
    assert reasons.renewed(old, "naps", TABLES) == new
    assert reasons.renewed("# Naps\n\n## Checks\n", "naps", TABLES) == "# Naps\n\n## Checks\n"


@pytest.mark.parametrize("page", result.quoting_docs(), ids=lambda page: page.name)
def test_docs_quote_the_published_tables(page: Path) -> None:
    text = page.read_text()
    published = what_ifs.without(text)
    assert quotes.fill(published, result.quoted_tables(text)) == published
    assert not [match[0] for match in quotes.QUOTE.finditer(text) if match["number"].startswith("-")]
    assert quotes.loose(text) == []


def test_the_notes_on_the_power_models_quote_their_tables() -> None:
    notes = validation.NOTES.read_text(encoding="utf-8")
    assert quotes.QUOTE.search(notes)
    assert quotes.fill(notes, validation.quotable()) == notes


def test_publishing_renews_what_docs_quote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "wake-latency").symlink_to(result.RESULTS / "wake-latency")
    monkeypatch.setattr(result, "RESULTS", tmp_path / "results")
    (tmp_path / "docs").mkdir()
    quoted, silent = tmp_path / "docs" / "quoted.md", tmp_path / "docs" / "silent.md"
    quoted.write_text("takes 1.0<!--= wake-latency/wakes: max 0 * cpu + 42 --> µs\n")
    silent.write_text("takes 1.0 µs\n")
    result.requote_docs()
    assert quoted.read_text() == "takes 42<!--= wake-latency/wakes: max 0 * cpu + 42 --> µs\n"
    assert silent.read_text() == "takes 1.0 µs\n"
