# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lull import paths

Lull = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, for tests of the cache itself."""
    place = tmp_path / "cache"
    monkeypatch.setenv("LULL_CACHE", str(place))
    return place


@pytest.fixture
def lull(tmp_path: Path) -> Lull:
    """The command line as a user starts it, in a folder of its own."""

    def run(
        *words: str, env: Mapping[str, str] | None = None, timeout: float = 3000
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(paths.ROOT / "lull"), *words],
            cwd=tmp_path, env={**os.environ, **(env or {})}, text=True, capture_output=True,
            timeout=timeout, check=False,
        )  # fmt: skip

    return run
