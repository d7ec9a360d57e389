# SPDX-License-Identifier: BSD-3-Clause
"""A run's folder and the script that its guest gets."""

import subprocess
import time
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.files import paths
from lull.rundir import folder
from lull.rundir.folder import RunDir
from lull.runspec import spec as runspec
from lull.runspec.spec import Limits, RunSpec
from tests.specs import spec


def test_the_hash_is_of_everything_asked() -> None:
    assert spec().hash() == spec().hash()
    assert len({spec().hash(), spec(command="false").hash(), spec(seed=2).hash()}) == 3


def test_a_spec_survives_json() -> None:
    asked = spec("governor=teo", "cstates.C4.advertised.exit_us=1300", command="echo 'a b'", trace=("sched",))
    assert RunSpec.model_validate_json(asked.model_dump_json()) == asked


@pytest.mark.parametrize(
    "command", ["exit 3", "echo \"it's\" 'a' $((1+2)); (exit 5)", "for i in 1 2; do echo $i; done\nfalse"]
)
def test_the_script_runs_the_command_as_it_was_typed(command: str) -> None:
    script = spec(command=command, limits=Limits(simulated_s=2.5, wall_s=60)).script()
    assert script.startswith("#lull limit_s=2.5\n")
    ours = subprocess.run(["sh", "-c", script], capture_output=True, check=False)
    plain = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert (ours.returncode, ours.stdout) == (plain.returncode, plain.stdout)


def test_the_command_finds_the_schedule_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "schedule"
    monkeypatch.setattr(runspec, "SCHEDULE", str(there))
    text = "# `pwd` $HOME \\ 'END OF SCHEDULE\n0 2 0 1 # END OF SCHEDULE\nend\n"
    asked = spec(command=f"cat {there}; exit 3", schedule=text)
    ran = subprocess.run(["sh", "-c", asked.script()], text=True, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, text, "")
    assert asked.hash() != spec(command=f"cat {there}; exit 3").hash()


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(UserError, match="exists and is not an empty folder; choose another --out or remove it"):
        RunDir.create(tmp_path, spec())
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"not a run's folder \(run.json or manifest.json is missing\)"):
        RunDir.open(tmp_path)


def test_files_of_the_guest_stay_inside_the_folder(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run", spec())
    (tmp_path / "evil").write_text("x")
    subprocess.run(["tar", "-cPf", run / "files.tar", "-C", tmp_path, "--transform=s,^,../../,", "evil"], check=True)
    (tmp_path / "evil").unlink()
    with pytest.raises(UserError, match=r"files\.tar: the guest's files cannot all be unpacked"):
        run.unpack_files()
    assert not (tmp_path / "evil").exists()


def test_a_tar_cut_off_is_named(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run", spec())
    (run / "files.tar").write_bytes(b"no tar at all" * 100)
    with pytest.raises(UserError, match=r"files\.tar: the guest's files cannot all be unpacked"):
        run.unpack_files()


def test_two_runs_in_the_same_second_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when neither sees the other's, because both look before either makes one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(time, "strftime", lambda _: "now")
    monkeypatch.setattr(Path, "exists", lambda _: False)
    made = [RunDir.create(None, spec()).path.name for _ in range(3)]
    assert made == ["now-tiny-qemu", "now-tiny-qemu-2", "now-tiny-qemu-3"]


def test_a_trace_is_of_the_command_alone() -> None:
    asked = spec("governor=teo", command="true", trace=("sched", "power:cpu_idle"), trace_kib=512)
    assert asked.script().splitlines()[4:] == [
        "lull-trace start -b 512 sched power:cpu_idle || exit 125",
        "exec 3>&-",
        "sh -c true",
        "status=$?",
        "lull-trace stop /out/trace.dat || exit 125",
        "exit $status",
    ]


def test_cpus_are_held_awake_until_the_command_and_by_nobody_after_it() -> None:
    script = spec("idle.deepest=C3", command="true", peer="lull-net serve", trace=("sched",)).script()
    order = (
        "exec 3>/dev/cpu_dma_latency",
        "idle.deepest=C3",
        "lull-peer 'lull-net serve' 3>&-",
        "lull-trace start",
        "exec 3>&-",
        "sh -c true",
    )
    places = [script.index(part) for part in order]
    assert places == sorted(places)
    assert "cpu_dma_latency" not in spec("idle.deepest=C3", command="true").script()


def test_a_commit_is_marked_where_anything_but_results_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@lull.invalid"]
    (tmp_path / "results").mkdir()
    for name in ("code", "results/confirmed.json"):
        (tmp_path / name).write_text("before")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "results" / "confirmed.json").write_text("after")
    clean = folder._commit.__wrapped__()
    assert len(clean) == 40
    (tmp_path / "code").write_text("after")
    assert folder._commit.__wrapped__() == f"{clean}-dirty"


def test_a_checkout_without_git_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    assert folder._commit.__wrapped__() == "unknown"
