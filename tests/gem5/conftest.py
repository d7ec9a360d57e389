# SPDX-License-Identifier: BSD-3-Clause
"""gem5 is the user's own: without one, every test here is skipped by name. One that will not do fails them."""

import pytest

from lull.engines import gem5_binary


@pytest.fixture(autouse=True, scope="session")
def gem5() -> gem5_binary.Gem5Binary:
    if not gem5_binary.is_there():
        pytest.skip("no gem5 to test with: set GEM5, or have gem5.opt on PATH")
    return gem5_binary.find()
