# SPDX-License-Identifier: BSD-3-Clause
"""The study in docs/what-if.md has the numbers that its commands print."""

import re
import shlex
import shutil

import pyarrow as pa
import pytest

from lull.artifacts import store
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.results import quotes
from lull.whatif import prediction, source

PAGE = ROOT / "docs" / "what-if.md"
HEADING = "## A study: "
TABLES = ("halved", "told")
"""The tables that the two commands print, by the names that the page has for them."""


@pytest.fixture(scope="module")
def study() -> str:
    return PAGE.read_text(encoding="utf-8").partition(HEADING)[2]


@pytest.fixture(scope="module")
def tables(study: str) -> dict[str, pa.Table]:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    try:
        store.kernel_source()
    except UserError as error:
        pytest.skip(f"no source of the kernel: {error}")
    block = study.partition("```\n")[2].partition("```")[0].replace("\\\n", " ")
    found = {}
    for name, line in zip(TABLES, block.strip().splitlines(), strict=True):
        command, what_if, run, *words = shlex.split(line)
        assert (command, what_if, words[::2]) == ("./lull", "what-if", ["--set"] * (len(words) // 2))
        replay = source.load(ROOT / run)
        found[name] = prediction.table(prediction.rows(replay, replay.machine.changed(words[1::2])), replay.path)
    return found


def test_each_number_of_the_study_is_the_commands(study: str, tables: dict[str, pa.Table]) -> None:
    assert quotes.fill(study, tables) == study
    assert len(quotes.QUOTE.findall(study)) > 10


def test_no_number_of_the_study_comes_from_nowhere(study: str) -> None:
    prose = re.sub(r"```.*?```", "", study, flags=re.DOTALL)
    assert quotes.loose(prose) == []
