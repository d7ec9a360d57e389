# SPDX-License-Identifier: BSD-3-Clause
"""Answers of `lull what-if` that a page quotes. Each such command of the page has a name behind it:

    ./lull what-if results/recordings/drags --set cstates.C3.exit_us=15     # halved

The page then quotes `halved what=energy of=cores: predicted`.
"""

import re
import shlex
from functools import cache

import pyarrow as pa

from lull.files.paths import ROOT
from lull.results import quotes
from lull.whatif import prediction, source
from lull.whatif.source import Replay

_COMMAND = re.compile(r"^\./lull what-if (?P<words>(?:\\\n|[^\\\n#])*?) +# (?P<name>[\w-]+)$", re.MULTILINE)

OF_RECORDINGS = {"choices", "sliders"}
"""Tables that a test makes of the recordings themselves."""
_replay = cache(source.load)


def commands(text: str) -> dict[str, tuple[Replay, list[str]]]:
    """The named commands of a page: the run and the settings of each."""
    found = {}
    for match in _COMMAND.finditer(text):
        run, *words = shlex.split(match["words"].replace("\\\n", " "))
        assert words[::2] == ["--set"] * (len(words) // 2), match[0]
        assert match["name"] not in found, f"two commands are called {match['name']}"
        found[match["name"]] = (_replay(ROOT / run), words[1::2])
    return found


def tables(text: str) -> dict[str, pa.Table]:
    """What the named commands of a page print."""
    return {
        name: prediction.table(prediction.rows(replay, replay.machine.changed(settings)), replay.path)
        for name, (replay, settings) in commands(text).items()
    }


def without(text: str) -> str:
    """The text without the comments that need a replay, to judge the others without a compiler."""
    names = {match["name"] for match in _COMMAND.finditer(text)} | OF_RECORDINGS

    def kept(match: re.Match[str]) -> str:
        return match["number"] if names & quotes.named(match["what"]) else match[0]

    return quotes.QUOTE.sub(kept, text)
