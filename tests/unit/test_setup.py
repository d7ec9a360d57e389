# SPDX-License-Identifier: BSD-3-Clause
"""Set-up on machines that lack something, told by programs that stand in for the machine's own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.files import paths

FILES = ("scripts/setup", "scripts/system-packages", "requirements.lock", "pyproject.toml")
NEEDED = ("bash", "cat", "cut", "dirname", "env", "flock", "grep", "mv", "rm", "sha256sum", "tail", "tr")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / "lull" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.ROOT / name, tmp_path / "lull" / name)
    return tmp_path / "lull"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH with nothing but what every Debian has."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return folder


def _program(machine: Path, name: str, body: str) -> None:
    (machine / name).write_text(f"#!/bin/sh\n{body}\n")
    (machine / name).chmod(0o755)


def _setup(checkout: Path, machine: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(checkout / "scripts" / "setup")], env={"PATH": str(machine), "HOME": os.environ["HOME"]},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_missing_packages_without_root_or_sudo_are_listed(checkout: Path, machine: Path) -> None:
    _program(machine, "dpkg", "echo amd64")
    _program(machine, "dpkg-query", 'case "$*" in *qemu-system-arm|*flex) exit 1;; esac; printf installed')
    _program(machine, "id", "echo 1000")
    ran = _setup(checkout, machine)
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [
        "lull: these packages are missing and neither root nor sudo is at hand; "
        "have them installed: apt-get install qemu-system-arm flex "
    ]
    assert not (checkout / ".venv").exists()


def test_on_an_arm64_machine_the_ordinary_compiler_does(checkout: Path, machine: Path) -> None:
    _program(machine, "dpkg", "echo arm64")
    _program(machine, "dpkg-query", "exit 1")
    _program(machine, "id", "echo 1000")
    listed = _setup(checkout, machine).stderr
    assert " gcc " in listed
    assert "aarch64" not in listed


def test_another_system_is_told_so(checkout: Path, machine: Path) -> None:
    ran = _setup(checkout, machine)
    assert ran.returncode == 2
    assert "this is not a Debian machine" in ran.stderr


def test_a_failed_installation_shows_its_first_error_and_the_log(checkout: Path, machine: Path) -> None:
    _program(machine, "dpkg", "echo amd64")
    _program(machine, "dpkg-query", "exit 1")
    _program(machine, "id", "echo 0")
    _program(machine, "apt-get", "echo Reading; echo 'E: no archive'; echo 'E: gave up'; exit 100")
    ran = _setup(checkout, machine)
    assert ran.returncode == 2
    assert f"failed: E: no archive (whole log: {checkout}/.setup.log)" in ran.stderr


def test_a_python_too_old_is_refused(checkout: Path, machine: Path) -> None:
    _program(machine, "dpkg", "echo amd64")
    _program(machine, "dpkg-query", "printf installed")
    _program(machine, "python3", "exit 1")
    # The machine's own Python is the second candidate; it is hidden by a name that does not exist.
    script = checkout / "scripts" / "setup"
    script.write_text(script.read_text().replace("/usr/bin/python3", "/no/python3"))
    ran = _setup(checkout, machine)
    assert ran.returncode == 2
    assert "python3: 3.11 or newer with its venv module is needed" in ran.stderr
