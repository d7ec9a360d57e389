# SPDX-License-Identifier: BSD-3-Clause
"""docs/what-if.md and docs/sensitivity.md have the numbers that their commands print, and those of the committed
recordings."""

import re
from typing import Any

import pyarrow as pa
import pytest

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform.load import load_platform
from lull.results import quotes, result
from lull.whatif import source, surface
from lull.whatif.settings import Setup
from lull.whatif.source import Replay
from tests import what_ifs

PAGE = ROOT / "docs" / "what-if.md"
SENSITIVITY = ROOT / "docs" / "sensitivity.md"
HEADING = "## A study: "
RECORDINGS = ROOT / "results" / "recordings"


@pytest.fixture(scope="module")
def study() -> str:
    return PAGE.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def tables(study: str, governors: None) -> dict[str, pa.Table]:
    replays = {path.name: source.load(path) for path in sorted(RECORDINGS.iterdir()) if path.is_dir()}
    found = {"choices": _choices(replays), "sliders": _sliders(replays)}
    assert found.keys() == what_ifs.OF_RECORDINGS
    return what_ifs.tables(study) | found


def _choices(replays: dict[str, Replay]) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {"of": name, "counted": own.size, "again": int(own.sum())}
        for name, own in ((name, replay.again.agrees()) for name, replay in replays.items())
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
    assert quotes.fill(page, result.quoted_tables(page) | tables) == page
    assert len(quotes.QUOTE.findall(page)) > len(quotes.QUOTE.findall(study)) > 10


def test_no_number_of_the_study_comes_from_nowhere(study: str) -> None:
    prose = re.sub(r"```.*?```", "", study, flags=re.DOTALL)
    assert quotes.loose(prose) == []


@pytest.mark.parametrize(("heading", "taken"), [("What may be set", True), ("What may not be set", False)])
def test_the_settings_of_the_page_are_taken_or_refused_as_it_says(heading: str, taken: bool) -> None:
    machine = Setup(load_platform("tegra-k1"), "menu", {0: "C3"})
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    words = re.findall(r"`([\w.-]+=[\w.-]+)`", rest.partition("\n## ")[0])
    assert len(words) > 10
    for word in words:
        if taken:
            assert machine.changed([word]) != machine, word
        else:
            with pytest.raises(UserError, match=r"^--set") as error:
                machine.changed([word])
            assert "\n" not in str(error.value), word


def test_the_page_on_inputs_quotes_its_commands_too(governors: None) -> None:
    page = SENSITIVITY.read_text(encoding="utf-8")
    answers = what_ifs.tables(page)
    assert quotes.fill(page, result.quoted_tables(page) | answers) == page
    named = set().union(*(quotes.named(match["what"]) for match in quotes.QUOTE.finditer(page)))
    assert answers.keys() == named & answers.keys(), "each command's answer is quoted"
    assert len(answers) > 2
