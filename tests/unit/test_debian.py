# SPDX-License-Identifier: BSD-3-Clause
"""Downloads from Debian: once, until asked for anew. A program stands for apt-get."""

from pathlib import Path

import pytest

from lull.artifacts import debian
from lull.errors import UserError

APT = """#!/bin/sh
case "$*" in
*update) [ -e "{archive}" ] || {{ echo "E: no network" >&2; exit 100; }} ;;
*) cp "{archive}" package.deb; touch lock ;;
esac
"""


@pytest.fixture
def archive(empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The content of the one package there is; without it there is no network."""
    path, program = tmp_path / "archive", tmp_path / "apt-get"
    program.write_text(APT.format(archive=path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("LULL_DEBIAN_MIRROR", "http://nowhere/")
    monkeypatch.setattr(debian, "_stale", set())
    path.write_text("first")
    return path


def _package(name: str = "package") -> str:
    (path,) = debian.binary_packages([name], "arm64")
    return path.read_text()


def test_a_package_is_downloaded_once_until_it_is_asked_for_anew(archive: Path, empty_cache: Path) -> None:
    assert _package() == "first"
    archive.write_text("second")
    assert _package() == "first"
    debian.renew()
    assert _package() == "second"
    archive.unlink()
    assert _package() == "second", "once a command"
    assert not list(empty_cache.glob("debian/fetched/.*"))


def test_without_a_network_what_is_there_stays(archive: Path) -> None:
    assert (_package(), _package("other")) == ("first", "first")
    archive.unlink()
    debian.renew()
    with pytest.raises(UserError, match=r"package: cannot be downloaded from Debian trixie \(E: no network\); check"):
        _package()
    debian._stale.clear()  # another command
    assert (_package(), _package("other")) == ("first", "first")
