# SPDX-License-Identifier: BSD-3-Clause
"""A selftest that fails, ends early or lies about it is found out: tap.sh on the host, and the reader of its TAP."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.guest.test_race_flavour import complaints_in
from tests.selftests import SHARED, judge, names


def ran(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (tmp_path / "tap.sh").write_bytes((SHARED / "tap.sh").read_bytes())
    (tmp_path / "test").write_text(f'. "${{0%/*}}/tap.sh"\n{script}\n')
    return subprocess.run(["sh", str(tmp_path / "test")], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "script",
    [
        'check "true" true; check_fails "false" false; finish',
        "plan 1; ok one; finish",
        'skip "one" "not here"; ok two; finish',
    ],
)
def test_what_passes(script: str, tmp_path: Path) -> None:
    judge(ran(script, tmp_path))


@pytest.mark.parametrize(
    "script",
    [
        'check "false" false; finish',
        'ok one; check_fails "true" true; finish',
        "not_ok one; ok two; finish",
        "ok one; exit 0",
        "plan 2; ok one; finish",
        "plan 1; ok one; ok two; finish",
        "finish",
        "echo 1..0",
    ],
)
def test_what_fails(script: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        judge(ran(script, tmp_path))


def test_what_may_fail_and_nothing_else(tmp_path: Path) -> None:
    judge(ran("not_ok one; ok two; finish", tmp_path), may_fail=["one"])
    judge(ran("ok one; ok two; finish", tmp_path), may_fail=["one"])
    with pytest.raises(AssertionError):
        judge(ran("not_ok one; not_ok two; finish", tmp_path), may_fail=["one"])
    with pytest.raises(AssertionError):
        judge(ran("echo 'not ok 1 - one'; echo 1..1", tmp_path), may_fail=["one"])


def test_a_status_that_contradicts_the_verdicts(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        judge(ran("ok one; echo 1..1; exit 3", tmp_path))


def test_a_kernel_that_complains_meanwhile(tmp_path: Path) -> None:
    passes = f"ok one; echo run: {tmp_path} >&2; finish"
    (tmp_path / "console.log").write_text("[    0.120451] Run /init as init process\n")
    judge(ran(passes, tmp_path))
    (tmp_path / "console.log").write_text("[    1.2] WARNING: CPU: 1 PID: 0 at kernel/time/tick-sched.c:1463\n")
    with pytest.raises(AssertionError, match="tick-sched"):
        judge(ran(passes, tmp_path))


def test_a_race_of_linux_itself_is_no_complaint_in_the_race_kernel(tmp_path: Path) -> None:
    passes = f"ok one; echo run: {tmp_path} >&2; finish"
    console = tmp_path / "console.log"
    console.write_text("[    0.9] BUG: KCSAN: data-race in __hrtimer_run_queues / hrtimer_active\n")
    judge(ran(passes, tmp_path), complaints_in("race"))
    with pytest.raises(AssertionError, match="hrtimer_active"):
        judge(ran(passes, tmp_path), complaints_in("debug"))
    for line in ("BUG: KCSAN: data-race in esm_stop / hrtimer_active", "WARNING: suspicious RCU usage"):
        console.write_text(f"[    0.9] {line}\n")
        with pytest.raises(AssertionError, match=line):
            judge(ran(passes, tmp_path), complaints_in("race"))


def test_a_failed_check_shows_what_the_command_said(tmp_path: Path) -> None:
    done = ran("complain() { echo first; echo second >&2; return 4; }; check text complain; finish", tmp_path)
    assert done.returncode == 1
    assert done.stdout == "not ok 1 - text\n# failed: complain\n# first\n# second\n1..1\n"


def test_what_is_not_there_yet_is_tried_for_again(tmp_path: Path) -> None:
    asked = "usleep() { slept=$((slept + $1)); }; slept=0; third() { tries=$((tries + 1)); [ $tries -eq 3 ]; }; "
    assert ran(asked + "soon third; echo $? $tries $slept", tmp_path).stdout == "0 3 20000\n"
    assert ran(asked + "soon false || echo $slept", tmp_path).stdout == "990000\n"


def test_a_test_that_cannot_run_here_is_skipped_by_its_reason(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="no such machine"):
        judge(ran('skip_all "no such machine"', tmp_path))


def test_every_system_is_looked_into() -> None:
    assert {"hotplug", "esm"} <= set(names())
    assert not {"tap", "tap.sh", "Makefile"} & set(names())


def make(files: tuple[str, ...], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Tell what would be done to build these files, which are empty, in place of the systems' selftests."""
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    words = ["make", "--dry-run", f"--directory={SHARED}", f"O={tmp_path}/out", f"SYSTEMS={tmp_path}"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        (("a/selftests/one.c", "b/selftests/one"), "of the same name"),
        (("a/selftests/a.c", "a/selftests/cases/f.c"), "cases/f.c"),
        (("a/selftests/a.c", "b/selftests/b.c", "b/selftests/a-cases/f.c"), "a-cases/f.c"),
        (("a/selftests/a.c", "a/selftests/a-cases/f.c", "b/selftests/b.c", "b/selftests/b-cases/f.c"), ""),
    ],
    ids=["programs", "a subfolder of no program", "a subfolder beside another program", "different subfolders"],
)
def test_what_cannot_be_built(files: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    made = make(files, tmp_path)
    assert (made.returncode != 0) == bool(complaint)
    assert complaint in made.stderr


def test_a_subfolder_belongs_to_the_program_of_its_name(tmp_path: Path) -> None:
    files = ("a/selftests/b.c", "a/selftests/b-cases/f.c", "a/selftests/b_c.c", "a/selftests/b_c-cases/g.c")
    made, out = make(files, tmp_path), tmp_path / "out"
    for program, other in (("b", "f"), ("b_c", "g")):
        (link,) = re.findall(rf"-o {out}/{program} (.*)", made.stdout)
        objects = [word for word in link.split() if word.endswith(".o")]
        assert objects == [f"{out}/{program}.o", f"{out}/{program}-cases/{other}.o"]
