# SPDX-License-Identifier: BSD-3-Clause
"""The patched kernel on QEMU: the machine that was described, and a command line that keeps its promises."""

import json
from pathlib import Path

import pytest

from lull.platform.load import list_platforms, load_platform
from tests.conftest import Lull
from tests.machines import POLICIES, assert_cpus, expected_policies

pytestmark = pytest.mark.guest


@pytest.mark.parametrize("shadow", [False, True])
@pytest.mark.parametrize("name", list_platforms())
def test_the_guest_sees_the_machine_of_the_platform_file(lull: Lull, name: str, shadow: bool) -> None:
    option = "--shadow" if shadow else "--no-shadow"
    ran = lull("boot", "-e", "qemu", "-p", name, option, "--exec", f"nproc; lull-cpus; echo; {POLICIES}")
    assert ran.returncode == 0, ran.stderr
    platform = load_platform(name, [f"shadow.enabled={str(shadow).lower()}"])
    cpus, policies = ran.stdout.split("\n\n")
    assert_cpus(cpus, platform)
    assert [line.strip() for line in policies.splitlines()] == expected_policies(platform)


def test_output_status_and_files_come_back(lull: Lull, tmp_path: Path) -> None:
    script = "echo out; echo err >&2; mkdir /out/deep; seq 3 > /out/deep/three; exit 7"
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", script)
    assert (ran.returncode, ran.stdout) == (7, "out\nerr\n")
    run = tmp_path / "run"
    assert (run / "files" / "deep" / "three").read_text() == "1\n2\n3\n"
    assert "Linux version 6.12" in (run / "console.log").read_text()
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["state"] == "finished"
    assert manifest["status"] == 7
    assert manifest["engine"]["name"] == "qemu"
    assert set(manifest["artifacts"]) == {"kernel", "rootfs"}
    shown = lull("show", "run")
    assert shown.returncode == 0
    assert "exit status" in shown.stdout


def test_a_schedule_of_the_hosts_is_played_in_the_guest(lull: Lull, tmp_path: Path) -> None:
    (tmp_path / "motions").write_text("periodic 0 1000 5 2 8 1\nend\n")
    ran = lull("boot", "-e", "qemu", "--schedule", "motions", "--exec", "lull-events /run/schedule")
    assert ran.returncode == 0, ran.stderr
    played = json.loads(ran.stdout)
    assert (played["events"], played["received"]) == (5, 5)
    (tmp_path / "motions").write_text("0 2 8 1\n0 2 8 0\nend\n")
    ran = lull("boot", "-e", "qemu", "--schedule", "motions")
    assert ran.returncode == 2
    assert "lull: motions: line 2: a motion by 0 is no event; write another VALUE\n" in ran.stderr


def test_the_kernel_is_ours_and_every_system_is_off(lull: Lull) -> None:
    ran = lull(
        "boot", "-e", "qemu", "--exec", "cd /sys/kernel/lull && cat engine platform && cat */enabled 2>/dev/null"
    )
    assert ran.stdout.split()[:2] == ["qemu", "tiny"]
    assert set(ran.stdout.split()[2:]) == {"0"}


def test_two_runs_are_the_same_to_the_byte(lull: Lull, tmp_path: Path) -> None:
    work = (
        "dmesg; cat /proc/interrupts /proc/uptime; (sleep 0.01; echo late) & cyclictest -q -t 3 -l 50; wait; date +%N"
    )
    outputs = []
    for run in ("first", "second"):
        ran = lull("boot", "-e", "qemu", "-p", "exynos5422", "--out", run, "--exec", f"({work}) | tee /out/all")
        assert ran.returncode == 0, ran.stderr
        files = ("console.log", "stdout", "status", "files/all")
        outputs.append([(tmp_path / run / name).read_bytes() for name in files])
    assert outputs[0] == outputs[1]
    assert b"late" in outputs[0][1]


def test_a_command_that_never_ends_is_ended(lull: Lull, tmp_path: Path) -> None:
    ran = lull(
        "boot", "-e", "qemu", "--sim-limit", "0.5", "--out", "run", "--exec", "echo begun; touch /out/kept; sleep 9999"
    )
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (2, "begun")
    assert "did not end within 0.5 simulated seconds and was stopped; raise --sim-limit" in ran.stderr
    assert (tmp_path / "run" / "files" / "kept").exists()


def test_a_guest_that_takes_too_long_here_is_ended(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--wall-limit", "1", "--sim-limit", "9e5", "--exec", "while :; do :; done")
    assert ran.returncode == 2
    assert "took longer than 1 s of this machine's time and was stopped; raise --wall-limit" in ran.stderr


def test_a_kernel_panic_is_named(lull: Lull) -> None:
    script = "echo 2 >/proc/sys/vm/panic_on_oom; echo 1000000 >/proc/sys/vm/min_free_kbytes; tail /dev/zero"
    ran = lull("boot", "-e", "qemu", "--exec", script)
    assert ran.returncode == 2
    assert "the guest's kernel panicked (Out of memory: compulsory panic_on_oom is enabled)" in ran.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-p", "commodore"), "lull: unknown platform `commodore`; use one of `exynos5422`, "),
        (("-e", "qemu", "--cpu", "detailed"), "--cpu: QEMU has no CPU models to choose from; use --engine gem5"),
        (("-e", "qemu", "--gem5", "x"), "--gem5: has no meaning on QEMU; use --engine gem5"),
        (("-e", "qemu", "--out", "/proc/no"), "/proc/no: cannot be made"),
        (("-e", "gem5", "--gem5", "/no/gem5.opt"), "--gem5=/no/gem5.opt: no executable there"),
        (("-e", "qemu", "--sim-limit", "0"), "--sim-limit 0: give seconds, more than 0 and at most 900000"),
        (("-e", "qemu", "--sim-limit", "1e6"), "--sim-limit 1e+06: give seconds, more than 0 and at most 900000"),
        (("-e", "qemu", "--wall-limit", "nan"), "--wall-limit nan: give seconds, more than 0 and at most 1e+08"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    lull: Lull, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    ran = lull("boot", *words)
    assert ran.returncode == 2
    assert sentence in ran.stderr
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
