# SPDX-License-Identifier: BSD-3-Clause
"""gem5 is the user's own: without one, every test here is skipped by name."""

import pytest

from lull.engines import gem5_binary
from lull.errors import UserError


@pytest.fixture(autouse=True, scope="session")
def gem5() -> gem5_binary.Gem5Binary:
    try:
        return gem5_binary.find()
    except UserError as error:
        pytest.skip(f"no gem5 to test with: {error}")
