# SPDX-License-Identifier: BSD-3-Clause
"""Pseudo CPU hotplug on gem5: what its selftest checks, without the parts that keep CPUs busy."""

import pytest

from tests.conftest import Lull
from tests.selftests import judge

pytestmark = pytest.mark.gem5


def test_it_does_what_it_says(lull: Lull) -> None:
    judge(lull("boot", "-e", "gem5", "-p", "tiny", "--cpu", "atomic", "--exec", "lull-selftest pseudo --brief"))
