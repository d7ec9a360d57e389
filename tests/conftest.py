# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of all tests."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lull.artifacts import store
from lull.errors import UserError
from lull.files import paths

LAUNCHER = str(paths.ROOT / "lull")

Lull = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def governors() -> None:
    """The kernel's governors can be compiled; else the test is skipped."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    try:
        store.kernel_source()
    except UserError as error:
        pytest.skip(f"no source of the kernel: {error}")


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, for tests of the cache itself."""
    place = tmp_path / "cache"
    monkeypatch.setenv("LULL_CACHE", str(place))
    return place


@pytest.fixture
def cache_without_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own that shares the artifacts of a boot, but no boot."""
    store.build_kernel("default")
    store.build_rootfs()
    store.build_firmware()
    place = tmp_path / "cache"
    place.mkdir()
    for shared in ("debian", "firmware", "kernel", "rootfs"):
        (place / shared).symlink_to(paths.cache_dir() / shared)
    monkeypatch.setenv("LULL_CACHE", str(place))
    return place


@pytest.fixture
def lull(tmp_path: Path) -> Lull:
    """The command line as a user starts it, in a folder of its own."""

    def run(
        *words: str, env: Mapping[str, str] | None = None, timeout: float = 3000
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [LAUNCHER, *words],
            cwd=tmp_path, env={**os.environ, **(env or {})}, text=True, capture_output=True,
            timeout=timeout, check=False,
        )  # fmt: skip

    return run
