# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of eanemd's parts share."""

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the parts of eanemd as programs of the host, with sanitisers."""
    out = tmp_path_factory.mktemp("native")
    subprocess.run(["make", "-s", "-C", Path(__file__).parent, f"O={out}", "native-tests"], check=True)
    return out
