# SPDX-License-Identifier: BSD-3-Clause
"""A million context switches under WAEAS whose switches change at random, and all cases of its selftest before them: no
checker complains, and each task goes on."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.guest.test_race_flavour import complaints_in
from tests.selftests import LARGER, judge, reached_its_end

pytestmark = [pytest.mark.guest, pytest.mark.slow]

STORM = ("--sim-limit", "1200", "--exec", "lull-selftest waeas 40 1000000")
CASES = ["storm: no group of tasks ends", "storm: each group goes on in each round of changes"]
"""The cases that tell of a task that has ended, or that nobody has woken. They hold however slow a kernel is."""


def tasks_go_on(ran: subprocess.CompletedProcess[str]) -> None:
    """Check that the selftest came to its end, and that its storm passed, whatever the results of the other cases are:
    those are about where tasks run, which is otherwise while a checker works."""
    reached_its_end(ran)
    passed = re.findall(r"^ok \d+ - (storm: .*)$", ran.stdout, re.MULTILINE)
    assert passed == CASES, f"{ran.stdout}{ran.stderr}"


@pytest.mark.parametrize("flavour", ["default", "debug", "race"])
def test_a_million_switches(lull: Lull, tmp_path: Path, flavour: str) -> None:
    ran = lull("boot", "-e", "qemu", "-p", LARGER["waeas"], "--flavour", flavour, "--out", "run", *STORM)
    (judge if flavour == "default" else tasks_go_on)(ran)
    console = (tmp_path / "run" / "console.log").read_text()
    assert complaints_in(flavour)(console) == []
