# SPDX-License-Identifier: BSD-3-Clause
"""gem5's statistics as a table."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.errors import UserError
from lull.rundir import stats

WINDOW = """
---------- Begin Simulation Statistics ----------
simSeconds                                   0.000500                       # Number of seconds simulated (Second)
system.cluster0.cpus.numCycles                 600000                       # Number of cpu cycles (Cycle)
system.mem.latency::0-3                           148      0.86%      0.86% # Distribution ((Count/Count))
system.mem.latency::total                       17200                       # Distribution ((Count/Count))
system.l2.missRate::total                         nan                       # miss rate ((Count/Count))

---------- End Simulation Statistics   ----------
"""


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "stats.txt"
    path.write_text(text)
    return path


def test_windows_become_rows(tmp_path: Path) -> None:
    table = tmp_path / "stats.parquet"
    assert stats.to_parquet(_file(tmp_path, WINDOW + WINDOW.replace("600000", "7e5")), table) == 2
    rows = pq.read_table(table).to_pylist()
    assert len(rows) == 10
    assert rows[1] == {"window": 0, "statistic": "system.cluster0.cpus.numCycles", "value": 600000.0}
    assert rows[2] == {"window": 0, "statistic": "system.mem.latency::0-3", "value": 148.0}
    assert rows[6] == {"window": 1, "statistic": "system.cluster0.cpus.numCycles", "value": 700000.0}
    assert rows[4]["value"] != rows[4]["value"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (WINDOW.replace("600000", "many"), 4),
        ("simSeconds 1 # outside a window\n", 1),
        (WINDOW.replace("simSeconds ", "---------- Begin Simulation Statistics ----------\nsimSeconds "), 3),
    ],
)
def test_an_unknown_format_is_an_error_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(UserError, match=rf"{path}:{line}: not a line of gem5's statistics"):
        stats.to_parquet(path, tmp_path / "stats.parquet")


def test_a_window_that_was_cut_off_is_an_error(tmp_path: Path) -> None:
    path = _file(tmp_path, WINDOW[: WINDOW.index("\n---------- End")])
    with pytest.raises(UserError, match="window 0 has no end"):
        stats.to_parquet(path, tmp_path / "stats.parquet")
    assert list(tmp_path.iterdir()) == [path]
