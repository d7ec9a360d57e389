# SPDX-License-Identifier: BSD-3-Clause
"""A million events, each for six applications and more: once, in order, or told to be lost."""

import pytest

from tests.conftest import Lull
from tests.selftests import judge

pytestmark = [pytest.mark.guest, pytest.mark.slow]


@pytest.mark.parametrize("dispatch", ["direct", "thread"])
def test_no_event_is_lost_or_comes_twice(lull: Lull, dispatch: str) -> None:
    command = f"lull-selftest esm --case stress --dispatch {dispatch} --events 1000000 --seed 3"
    judge(lull("boot", "-e", "qemu", "--exec", command))
