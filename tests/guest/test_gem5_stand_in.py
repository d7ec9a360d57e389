# SPDX-License-Identifier: BSD-3-Clause
"""Commands around gem5, with a program in its place: refusals, limits, and boots that are killed."""

import json
from pathlib import Path

import pytest

from tests import fake_gem5
from tests.conftest import Lull
from tests.killing import kill_when

BOOT = ("boot", "-e", "gem5", "--out", "run")


@pytest.fixture(autouse=True)
def cache(cache_without_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GEM5", str(fake_gem5.install(tmp_path)))
    return cache_without_checkpoints


@pytest.fixture
def checkpoint(cache: Path, lull: Lull) -> Path:
    made = lull("build", "checkpoint")
    assert made.returncode == 0, made.stderr
    (entry,) = (cache / "checkpoint").iterdir()
    return entry


@pytest.mark.parametrize("with_gem5", [True, False])
def test_a_boot_killed_while_its_checkpoint_is_written_is_made_again(cache: Path, lull: Lull, with_gem5: bool) -> None:
    kill_when(
        lambda: list(cache.glob("checkpoint/.partial-*/cpt/m5.cpt")), "build", "checkpoint",
        env=fake_gem5.HANGS_IN_CHECKPOINT, with_children=with_gem5,
    )  # fmt: skip
    ran = lull(*BOOT)
    assert (ran.returncode, ran.stdout) == (0, "from the guest\n"), ran.stderr
    (entry,) = (cache / "checkpoint").iterdir()
    assert (entry / "cpt" / "m5.cpt").read_text() == fake_gem5.WHOLE
    assert list((cache / "work").iterdir()) == []


def test_a_machine_boots_once(cache: Path, checkpoint: Path, lull: Lull) -> None:
    inode = (checkpoint / "cpt" / "m5.cpt").stat().st_ino
    assert lull(*BOOT).returncode == 0
    assert [entry.stat().st_ino for entry in cache.glob("checkpoint/*/cpt/m5.cpt")] == [inode]


def test_the_console_has_our_name_and_uarts_that_said_nothing_leave_no_file(tmp_path: Path, lull: Lull) -> None:
    assert lull(*BOOT).returncode == 0
    assert (tmp_path / "run" / "console.log").read_text() == "run\n"
    assert [path.name for path in (tmp_path / "run").glob("system.*")] == ["system.realview.uart3.device"]


def test_files_for_the_guest_stand_behind_the_script_as_long_as_gem5_runs(tmp_path: Path, lull: Lull) -> None:
    (tmp_path / "mine").write_text("x")
    for words, name in {(): "script", ("--put", "mine"): "script.readfile"}.items():
        run = tmp_path / f"with-{name}"
        ran = lull("boot", "-e", "gem5", "--out", str(run), *words)
        assert ran.returncode == 0, ran.stderr
        assert json.loads((run / "gem5.json").read_text())["readfile"] == str(run / name)
        assert (run / "put.tar").exists() == bool(words)
        assert not (run / "script.readfile").exists()


def test_a_corrupt_checkpoint_is_refused(checkpoint: Path, lull: Lull) -> None:
    (checkpoint / "cpt" / "m5.cpt").write_text("[system]\nsomething else\n")
    for words in ((), ("--checkpoint", str(checkpoint))):
        ran = lull("boot", "-e", "gem5", *words)
        assert (ran.returncode, ran.stderr) == (
            2,
            f"lull: {checkpoint}/cpt/m5.cpt: the cached checkpoint is corrupt (its content is not what was built); "
            f"remove {checkpoint} and run the command again\n",
        )


def test_a_foreign_checkpoint_is_refused(checkpoint: Path, tmp_path: Path, lull: Lull) -> None:
    newer = fake_gem5.install(tmp_path, version="24.1.0.0", name="newer")
    for name, words in {"machine": ("--set", "memory.size_mib=320"), "gem5": ("--gem5", str(newer))}.items():
        ran = lull("boot", "-e", "gem5", "--checkpoint", str(checkpoint), *words)
        assert (ran.returncode, ran.stderr) == (
            2,
            f"lull: {checkpoint}: this checkpoint is of another {name} than this run's; "
            "drop --checkpoint and the run makes or finds its own\n",
        )


def test_no_gem5(lull: Lull) -> None:
    ran = lull("boot", "-e", "gem5", env={"GEM5": "", "PATH": "/usr/bin:/bin"})
    assert (ran.returncode, ran.stderr) == (
        2,
        "lull: gem5: no binary found (looked at --gem5, GEM5 and PATH); "
        "build gem5 24.0 or newer for ARM by its own documentation, or use --engine qemu\n",
    )


def test_a_gem5_that_will_not_do(tmp_path: Path, lull: Lull) -> None:
    old = fake_gem5.install(tmp_path, version="23.1.0.0", name="old")
    other = fake_gem5.install(tmp_path, isas=("RISCV", "X86"), name="other")
    for program, sentence in {
        old: "gem5 23.1.0.0 is too old; lull needs 24.0 or newer",
        other: "this gem5 was built without ARM; build its ARM configuration and name it by --gem5",
    }.items():
        ran = lull("boot", "--gem5", str(program))
        assert (ran.returncode, ran.stderr) == (2, f"lull: {program}: {sentence}\n")


@pytest.mark.parametrize(
    ("behaviour", "limit", "sentence"),
    [
        (
            fake_gem5.HANGS_IN_RUN,
            ("--wall-limit", "0.5"),
            "took longer than 0.5 s of this machine's time and was stopped; raise --wall-limit",
        ),
        (
            fake_gem5.GUEST_HANGS,
            ("--sim-limit", "3"),
            "the guest hung past its limit of 3 simulated seconds (no panic)",
        ),
    ],
)
def test_a_run_that_never_ends_is_ended(
    lull: Lull, behaviour: dict[str, str], limit: tuple[str, str], sentence: str
) -> None:
    ran = lull(*BOOT, *limit, env=behaviour)
    assert ran.returncode == 2
    assert sentence in ran.stderr.splitlines()[-1]
