# SPDX-License-Identifier: BSD-3-Clause
"""Kernels with checkers on machines where a selftest skips no case: every case runs, and no checker complains.

On the default platform `test_debug_flavour.py` and `test_race_flavour.py` judge what the selftests say, too. Here a
selftest only has to end: the cases that need more CPUs are about where and how soon tasks run, which is otherwise while
a checker works. Without checkers these cases are judged (`test_selftests.py`), and in the rt kernel.
"""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.guest.test_race_flavour import complaints_in
from tests.selftests import LARGER, on_larger, reached_its_end, skipped

pytestmark = [pytest.mark.guest, pytest.mark.slow]

IN_STORM = {"waeas"}
"""`test_waeas_storm.py` runs the whole selftest on its larger platform, with more changes of the switches."""


@pytest.mark.parametrize("flavour", ["debug", "race"])
@pytest.mark.parametrize("name", sorted(LARGER.keys() - IN_STORM))
def test_no_checker_complains_of_any_case(lull: Lull, tmp_path: Path, name: str, flavour: str) -> None:
    words = ("--flavour", flavour, "--out", "run", "--exec", f"lull-selftest {name}")
    ran = lull("boot", "-e", "qemu", *on_larger(name), *words)
    reached_its_end(ran)
    assert skipped(ran) == []
    assert complaints_in(flavour)((tmp_path / "run" / "console.log").read_text()) == []
