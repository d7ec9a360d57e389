# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of several unit tests."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lull.files.paths import ROOT


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guest's C that also runs on the host, with sanitisers."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    out = tmp_path_factory.mktemp("native")
    subprocess.run(["make", "-s", "-C", ROOT / "benchmarks/guest", f"O={out}", "native-tests"], check=True)
    return out
