# SPDX-License-Identifier: BSD-3-Clause
"""The Event Stream Model on gem5: what its selftest checks, and what an input event costs while it is off."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.engines import gem5_names
from lull.rundir.folder import STATS_TABLE
from tests.conftest import Lull
from tests.selftests import judge

pytestmark = pytest.mark.gem5


@pytest.mark.parametrize(
    "cases", ["--case interrupt", pytest.param("--events 600 --calls 100", marks=pytest.mark.slow)]
)
def test_it_does_what_it_says(lull: Lull, cases: str) -> None:
    """The case of a device's interrupt, or every case, in one way of dispatch. The other cases need no device: QEMU's
    quick tests run them. Few events: what runs for a time, or races, is shorter for that."""
    command = f"lull-selftest esm --dispatch direct {cases}"
    judge(lull("boot", "-e", "gem5", "-p", "tiny", "--cpu", "atomic", "--exec", command))


def costs(run: Path, runs: list[dict[str, int]]) -> list[dict[str, float]]:
    """For each call of lull-input what an event costs its CPU, by its cheapest run: an interrupt only ever adds."""
    cpu = gem5_names.cpu(0, 0)
    counters = {"instructions": f"{cpu}.commitStats0.numInsts", "cycles": f"{cpu}.numCycles"}
    rows = pq.read_table(run / STATS_TABLE, filters=[("statistic", "in", list(counters.values()))]).to_pylist()
    found = {(row["statistic"], row["window"]): row["value"] for row in rows}
    begin, result = 0, []
    for did in runs:
        # What came before the first run is a window too.
        windows = range(begin + 1, begin + 1 + did["runs"])
        begin += 1 + did["runs"]
        result.append(
            {
                name: min(found[counter, window] for window in windows) / did["events"]
                for name, counter in counters.items()
            }
        )
    return result


def test_switched_off_it_costs_an_input_event_nothing_that_stays(lull: Lull, tmp_path: Path) -> None:
    """Runs of few events, and many of them: then some are free of everything else, and all these cost the same."""
    measure = "lull-input -c 0 -n 4 -r 40"
    switch = "/sys/kernel/lull/esm/enabled"
    script = f"{measure} && echo 1 >{switch} && {measure} && echo 0 >{switch} && {measure}"
    ran = lull("boot", "-e", "gem5", "-p", "tiny", "--cpu", "detailed", "--out", "run", "--exec", script)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    never, on, off = costs(tmp_path / "run", [json.loads(line) for line in ran.stdout.splitlines()])
    print(f"an event costs CPU 0 {never} before it was ever on, {on} on with nobody registered, {off} off again")
    assert off["instructions"] == never["instructions"]
    assert on["instructions"] > never["instructions"] + 1
