# SPDX-License-Identifier: BSD-3-Clause
"""`lull doctor` names what is missing and says by its status whether `make demo` can run."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.cli.app import app


@pytest.fixture(autouse=True)
def alone(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEM5", "MCPAT", "BUILDROOT", "KERNEL_SRC"):
        monkeypatch.delenv(name, raising=False)


def test_a_ready_machine() -> None:
    ran = CliRunner().invoke(app, ["doctor"])
    assert ran.exit_code == 0
    assert ran.output.splitlines()[-1] == "`make demo` can run"
    assert any(line.startswith("QEMU ") and "qemu-system-aarch64" in line for line in ran.output.splitlines())


def test_a_bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = CliRunner().invoke(app, ["doctor"])
    assert ran.exit_code == 1
    last = ran.output.splitlines()[-1]
    assert last.startswith("`make demo` cannot run: QEMU, aarch64-linux-gnu-gcc, dtc,")
    assert "the qemu engine: apt-get install qemu-system-arm" in ran.output
    assert "gem5" not in last, "gem5 is the user's own and optional"


def test_variables_that_point_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNEL_SRC", "/no/linux")
    monkeypatch.setenv("MCPAT", "/no/mcpat")
    monkeypatch.setenv("BUILDROOT", "/no/buildroot")
    ran = CliRunner().invoke(app, ["doctor"])
    assert ran.exit_code == 1
    assert "KERNEL_SRC=/no/linux: does not exist; point it at a Linux 6.12 tree or tarball" in ran.output
    assert "MCPAT=/no/mcpat: no executable there; name a McPAT 1.3 binary" in ran.output
    assert "BUILDROOT=/no/buildroot: no Buildroot tree" in ran.output


def test_mcpat_on_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`lull doctor` finds McPAT where `lull energy tables` does."""
    binary = tmp_path / "mcpat"
    binary.write_text("McPAT (version 1.3 of Feb, 2015) is computing the target processor...")
    binary.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    ran = CliRunner().invoke(app, ["doctor"])
    assert f"McPAT                  {binary}\n" in ran.output
