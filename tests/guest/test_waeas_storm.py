# SPDX-License-Identifier: BSD-3-Clause
"""A million context switches under WAEAS whose switches change at random, and all cases of its selftest before them: no
checker complains."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.guest.test_race_flavour import complaints_in
from tests.selftests import LARGER, judge, reached_its_end

pytestmark = [pytest.mark.guest, pytest.mark.slow]

STORM = ("--sim-limit", "1200", "--exec", "lull-selftest waeas 40 1000000")


@pytest.mark.parametrize("flavour", ["default", "debug", "race"])
def test_a_million_switches(lull: Lull, tmp_path: Path, flavour: str) -> None:
    ran = lull("boot", "-e", "qemu", "-p", LARGER["waeas"], "--flavour", flavour, "--out", "run", *STORM)
    (judge if flavour == "default" else reached_its_end)(ran)
    console = (tmp_path / "run" / "console.log").read_text()
    assert complaints_in(flavour)(console) == []
