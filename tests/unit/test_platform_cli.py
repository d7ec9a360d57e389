# SPDX-License-Identifier: BSD-3-Clause
"""`lull platform …`, as a user meets it."""

import sys
from pathlib import Path

import pytest

from lull.cli import app
from lull.cli.platform import BOOTARGS
from lull.files.paths import ROOT
from lull.platform.devicetree import ENGINES, Engine, render
from lull.platform.load import list_platforms, load_platform


class Lull:
    """The command line in this process: status, output and complaints."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["lull", "platform", *words])
        with pytest.raises(SystemExit) as end:
            app.main()
        said = self.capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err


@pytest.fixture
def lull(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lull:
    monkeypatch.setenv("COLUMNS", "200")
    return Lull(monkeypatch, capsys)


def test_list(lull: Lull) -> None:
    status, out, _ = lull("list")
    assert status == 0
    rows = {line.split()[0]: line.split()[1:3] for line in out.splitlines()[1:]}
    assert list(rows) == list_platforms()
    assert rows["server"] == ["12", "--shadow"]
    assert rows["tegra-k1"] == ["5", "yes"]


def test_show(lull: Lull) -> None:
    status, out, _ = lull("show", "rk3399", "--shadow", "--set", "cstates.C3.exit_us=50")
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["big", "main", "2", "a72", "0", "1024", "408-1800", "(8)", "825-1200", "1024", "KiB"] in lines
    assert lines.count(["C3", "core-off", "120/250/900", "60/50", "3", "9", "66"]) == 2, "little and the shadow"
    assert lines.count(["C3", "core-off", "120/250/900", "60/50", "3", "11", "82"]) == 1, "big"
    assert "sources" not in out


def test_show_sources(lull: Lull) -> None:
    status, out, _ = lull("show", "rk3399", "--sources")
    assert status == 0
    assert "clusters.big.cstates.C4.advertised: Linux rk3399-base.dtsi, CLUSTER_SLEEP\n" in out


@pytest.mark.parametrize("engine", ENGINES)
def test_dts_is_what_the_engine_boots(engine: Engine, lull: Lull) -> None:
    status, out, _ = lull("dts", "tiny", "--engine", engine, "--no-shadow")
    assert status == 0
    platform = load_platform("tiny", ["shadow.enabled=false"])
    assert out == render(platform, engine, BOOTARGS[engine])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_shadow_core_is_isolated_by_the_command_line(engine: Engine, lull: Lull) -> None:
    _, out, _ = lull("dts", "rk3399", "--engine", engine, "--shadow")
    assert f'bootargs = "{BOOTARGS[engine]} isolcpus=domain,managed_irq,6 irqaffinity=0-5";' in out
    _, out, _ = lull("dts", "rk3399", "--engine", engine, "--no-shadow")
    assert f'bootargs = "{BOOTARGS[engine]}";' in out


def test_check_a_good_file(lull: Lull, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text((ROOT / "platforms" / "tiny.yaml").read_text())
    status, out, _ = lull("check", str(file))
    assert (status, out) == (0, f"{file}: good; 3 CPUs in 3 clusters, device trees for gem5 and QEMU\n")


def test_check_a_bad_file(lull: Lull, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text((ROOT / "platforms" / "tiny.yaml").read_text().replace("cpus: 1", "cpus: one", 1))
    status, out, error = lull("check", str(file))
    assert (status, out) == (2, "")
    assert error == f"lull: {file}: clusters[0].cpus: 'one' is not a whole number; write a whole number\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show", "tinny"), "lull: unknown platform `tinny`; use one of `exynos5422`, "),
        (("dts", "tiny", "-e", "gem5", "--set", "memory.sise=1"), "lull: --set memory.sise: unknown key `sise`; use "),
        (("check", "none.yaml"), "lull: none.yaml: cannot read it (No such file or directory); "),
    ],
)
def test_one_sentence_and_status_2(words: tuple[str, ...], sentence: str, lull: Lull) -> None:
    status, out, error = lull(*words)
    assert (status, out) == (2, "")
    assert error.startswith(sentence)
    assert error.count("\n") == 1
    assert "Traceback" not in error


@pytest.mark.parametrize("command", ["list", "show", "dts", "check"])
def test_help_has_an_example(command: str, lull: Lull) -> None:
    status, out, _ = lull(command, "--help")
    assert status == 0
    assert f"Example: lull platform {command}" in out
