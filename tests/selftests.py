# SPDX-License-Identifier: BSD-3-Clause
"""The selftests that run in the guest, and how their TAP is read."""

import re
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from lull.artifacts.rootfs import SELFTESTS, selftest_folders
from lull.files.paths import ROOT
from tests.complaints import complaints

SHARED = ROOT / SELFTESTS
"""The folder of the files that all selftests share, and of what builds them."""

SLOW = {"bursts": "bursts 100 slow", "eanem": "eanem 24 slow", "eanem_wire": "eanem_wire slow"}
"""Commands of selftests that have to be told of a kernel whose checkers make it slow."""

LARGER = {"bursts": "server", "waeas": "rk3399"}
"""Platforms on which a selftest skips no case, if it skips some on the default one. `bursts` spreads tasks over six
CPUs or more, in two sockets; the tasks of `waeas` need several CPUs of each kind."""

NO_FAILURES = "# SKIP no allocation can be made to fail"
"""The end of a case's line if the kernel cannot be without memory (`fail_each.c`)."""

_NOT_TESTS = re.compile(r".*\.(h|md)")


def names() -> list[str]:
    """Return the names of all tests. Each file of a system's folder is a test, but for the few that the Makefile
    excepts."""
    files = (file for folder in selftest_folders(ROOT) for file in folder.iterdir() if file.is_file())
    return sorted(file.stem for file in files if not _NOT_TESTS.fullmatch(file.name))


def on_larger(name: str) -> tuple[str, ...]:
    """Return what tells `lull boot` to run a selftest where it skips no case: nothing if that is the default platform.
    A kernel with checkers needs more time than others."""
    return ("-p", LARGER[name], "--sim-limit", "200") if name in LARGER else ()


def skipped(ran: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the cases that a selftest skipped, but for those about `ENOMEM`: only the flavour `debug` runs these."""
    return [line for line in ran.stdout.splitlines() if "# SKIP" in line and not line.endswith(NO_FAILURES)]


def reached_its_end(ran: subprocess.CompletedProcess[str]) -> None:
    """Check that a selftest told how many tests it ran, whatever their results are."""
    assert re.search(r"^1\.\.\d+$", ran.stdout, re.MULTILINE), f"{ran.stdout}{ran.stderr}"


def judge(
    ran: subprocess.CompletedProcess[str],
    complains: Callable[[str], list[str]] = complaints,
    may_fail: Collection[str] = (),
) -> None:
    """Fail on a failed test, on fewer or more tests than planned, on a status that says otherwise, and if the kernel
    has complained on its console meanwhile. `complains` returns what counts of a console. The tests that `may_fail`
    names may pass or fail."""
    output = f"{ran.stdout}{ran.stderr}"
    plans = re.findall(r"^1\.\.(\d+)(?: # SKIP (.*))?$", ran.stdout, re.MULTILINE)
    assert len(plans) == 1, f"no plan, or more than one: it did not reach its end\n{output}"
    planned, why = int(plans[0][0]), plans[0][1]
    verdicts = re.findall(r"^(not ok|ok) (\d+)", ran.stdout, re.MULTILINE)
    failed = [line for line in ran.stdout.splitlines() if line.startswith("not ok")]
    assert all(line.partition(" - ")[2] in may_fail for line in failed), output
    assert [int(number) for _, number in verdicts] == list(range(1, planned + 1)), output
    assert (ran.returncode == 0) == (not failed), output
    for run in re.findall(r"^run: (.+)$", ran.stderr, re.MULTILINE):
        found = complains((Path(run) / "console.log").read_text(errors="replace"))
        assert not found, "\n".join(found)
    if planned == 0:
        assert why, output
        pytest.skip(why)
