# SPDX-License-Identifier: BSD-3-Clause
"""docs/what-if.md has the numbers that its commands print, and those of the committed recordings."""

import re
import shlex
from typing import Any

import pyarrow as pa
import pytest

from lull.files.paths import ROOT
from lull.results import quotes
from lull.whatif import prediction, source, surface
from lull.whatif.source import Replay

PAGE = ROOT / "docs" / "what-if.md"
HEADING = "## A study: "
TABLES = ("halved", "told")
"""The tables that the two commands print, by the names that the page has for them."""
RECORDINGS = ROOT / "results" / "recordings"


@pytest.fixture(scope="module")
def study() -> str:
    return PAGE.read_text(encoding="utf-8").partition(HEADING)[2]


@pytest.fixture(scope="module")
def tables(study: str, governors: None) -> dict[str, pa.Table]:
    block = study.partition("```\n")[2].partition("```")[0].replace("\\\n", " ")
    found = {}
    for name, line in zip(TABLES, block.strip().splitlines(), strict=True):
        command, what_if, run, *words = shlex.split(line)
        assert (command, what_if, words[::2]) == ("./lull", "what-if", ["--set"] * (len(words) // 2))
        replay = source.load(ROOT / run)
        found[name] = prediction.table(prediction.rows(replay, replay.machine.changed(words[1::2])), replay.path)
    replays = {path.name: source.load(path) for path in sorted(RECORDINGS.iterdir()) if path.is_dir()}
    return found | {"choices": _choices(replays), "sliders": _sliders(replays)}


def _choices(replays: dict[str, Replay]) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {"of": name, "counted": len(made), "again": sum(one.agrees for one in made)}
        for name, made in ((name, replay.again.counted()) for name, replay in replays.items())
    ]
    whole = {"of": "all", **{key: sum(row[key] for row in rows) for key in ("counted", "again")}}
    return pa.Table.from_pylist([*rows, whole])


def _sliders(replays: dict[str, Replay]) -> pa.Table:
    """Of the governor whose interpolation is off most."""
    rows = []
    for name in ("drags", "drags-deeper"):
        off = surface.of_run(replays[name]).off.values()
        rows.append({"of": name, **{what: max(own[what].usual for own in off) for what in ("joules", "p99")}})
    return pa.Table.from_pylist(rows)


def test_each_quoted_number_is_the_commands(study: str, tables: dict[str, pa.Table]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert quotes.fill(page, tables) == page
    assert len(quotes.QUOTE.findall(page)) > len(quotes.QUOTE.findall(study)) > 10


def test_no_number_of_the_study_comes_from_nowhere(study: str) -> None:
    prose = re.sub(r"```.*?```", "", study, flags=re.DOTALL)
    assert quotes.loose(prose) == []
