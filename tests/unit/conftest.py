# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of several unit tests."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lull.files.paths import ROOT
from tests.confirmations import Place


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guest's C that also runs on the host, with sanitisers."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    out = tmp_path_factory.mktemp("native")
    subprocess.run(["make", "-s", "-C", ROOT / "benchmarks/guest", f"O={out}", "native-tests"], check=True)
    return out


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result in results/, made once: its figures take a second."""
    place = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        Place(place, patch).publish()
    return place


@pytest.fixture
def place(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A checkout whose only result can be confirmed."""
    found = Place(tmp_path, monkeypatch)
    shutil.copytree(published / "results", tmp_path / "results")
    manifest = found.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace(str(published), str(tmp_path)))
    return found
