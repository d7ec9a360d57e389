# SPDX-License-Identifier: BSD-3-Clause
"""What the engine makes of a simulator's folder, shown on a program that leaves what gem5 leaves."""

from pathlib import Path

import pytest

from lull.engines import gem5_binary
from lull.engines.gem5 import Gem5
from lull.engines.gem5_binary import Gem5Binary
from lull.report import Progress

LEAVES = """#!/bin/sh
cd "$2"
echo '{"cause": "exit"}' >outcome.json
echo booted >system.terminal
: >system.realview.uart1.device
: >system.realview.uart2.device
echo panic >system.realview.uart3.device
"""


def test_the_console_has_our_name_and_uarts_that_said_nothing_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary, folder = tmp_path / "gem5.opt", tmp_path / "run"
    binary.write_text(LEAVES)
    binary.chmod(0o755)
    folder.mkdir()
    monkeypatch.setattr(gem5_binary, "find", lambda chosen: Gem5Binary(str(binary), "24.0.0.1", "0"))
    with Progress("test") as progress:
        assert Gem5()._simulate({}, folder, 60, progress, None) == {"cause": "exit"}
    kept = {path.name for path in folder.iterdir()}
    assert kept == {"console.log", "engine.log", "gem5.json", "outcome.json", "system.realview.uart3.device"}
    assert (folder / "console.log").read_text() == "booted\n"
