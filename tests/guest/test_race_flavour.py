# SPDX-License-Identifier: BSD-3-Clause
"""The kernel with KCSAN: whatever races there are in Linux, our files have none."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lull.files.paths import ROOT
from tests.complaints import complaints
from tests.conftest import Lull
from tests.selftests import SLOW, judge, names, reached_its_end

pytestmark = [pytest.mark.guest, pytest.mark.slow]

RACE = re.compile(r"BUG: KCSAN: (?:data-race|assert: race) in (?P<function>[\w.]+)(?: / (?P<other>[\w.]+))?")

NOT_JUDGED = {"eas", "quiescence", "routing", "routed", "timings", "waeas"}
"""Selftests of what work weighs, of who sleeps at a moment and of how long. While KCSAN watches, tasks stand still for
a time, so that all of these are others: they have to end, with whatever result. `quiescence` does not end if a task is
lost."""


@cache
def our_code() -> str:
    """Files, and what the hooks add to those of Linux."""
    files = sorted(file for file in (ROOT / "kernel-patches").rglob("*") if file.suffix in (".c", ".h", ".patch"))
    return "\n".join(file.read_text() for file in files)


def is_ours(function: str) -> bool:
    """Whether a file of ours defines it; the compiler may have put .isra and the like behind its name."""
    return bool(re.search(rf"^\+?\w[^\n;=]*\b{function.partition('.')[0]}\(", our_code(), re.MULTILINE))


def our_races(console: str) -> list[str]:
    found = RACE.finditer(console)
    return sorted({race[0] for race in found if any(name and is_ours(name) for name in race.groups())})


def our_complaints(console: str) -> list[str]:
    """Our races, and what any other checker says."""
    return [*our_races(console), *(line for line in complaints(console) if "BUG: KCSAN: " not in line)]


def complaints_in(flavour: str) -> Callable[[str], list[str]]:
    """What counts of the console of a kernel of this flavour."""
    return our_complaints if flavour == "race" else complaints


def test_it_knows_our_functions() -> None:
    assert is_ours("esm_stop")
    assert is_ours("esm_deliver.constprop.0")
    assert is_ours("evdev_stream_reader"), "a hook"
    assert not is_ours("tick_do_update_jiffies64")


def test_kcsan_itself_works(lull: Lull, tmp_path: Path) -> None:
    ran = lull("boot", "-e", "qemu", "--flavour", "race", "--out", "run", "--exec", "true")
    assert ran.returncode == 0, ran.stderr
    console = (tmp_path / "run" / "console.log").read_text()
    assert re.search(r"kcsan: selftest: \d+/\d+ tests passed", console)
    assert our_complaints(console) == []


@pytest.mark.parametrize("name", names())
def test_nothing_of_ours_races_in_a_selftest(lull: Lull, tmp_path: Path, name: str) -> None:
    ran = lull(
        "boot", "-e", "qemu", "--flavour", "race", "--out", "run", "--exec", f"lull-selftest {SLOW.get(name, name)}"
    )
    if name in NOT_JUDGED:
        reached_its_end(ran)
    else:
        judge(ran, our_complaints)
    assert our_complaints((tmp_path / "run" / "console.log").read_text()) == []
