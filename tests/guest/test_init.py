# SPDX-License-Identifier: BSD-3-Clause
"""The guest's first process survives whatever a script does to it."""

from pathlib import Path

import pytest

from lull.files import paths
from tests.conftest import Lull

pytestmark = pytest.mark.guest

BEHAVIOUR = {
    "daemons end with the script": (
        'setsid sh -c "while :; do sleep 0.01; done" & (sleep 5; echo late) & echo main; exit 3',
        3,
        "main\n",
    ),
    "closed streams": ("exec >/dev/null 2>&1 <&-; exec 1>&- 2>&-; sleep 0.2; exit 9", 9, ""),
    "a signal is a status": ("kill -TERM $$; sleep 1", 143, ""),
    "an unblockable one too": ("kill -KILL $$; sleep 1", 137, ""),
    "a status that looks like the limit's": ("echo mine; exit 124", 124, "mine\n"),
    "a crash of init is told": (
        "kill -SEGV 1; sleep 1; echo alive",
        125,
        "lull: init got signal 11 (Segmentation fault)\n",
    ),
    "a file beyond any host": ("truncate -s 100G /out/sparse", 125, "lull: cannot send /out/sparse: File too large\n"),
    "a file system torn away": ("umount /sys/kernel/tracing /proc; mount -t tmpfs none /run; echo on", 0, "on\n"),
    "a script of several lines": ("for word in a b; do\n  echo $word\ndone\n# the end", 0, "a\nb\n"),
    "one that is larger than most pipes": ("#" + "x" * 100_000 + "\necho on; exit 5", 5, "on\n"),
    "one that is none": (
        "echo on\nif",
        2,
        'on\n/run/lull-script: line 4: syntax error: unexpected end of file (expecting "then")\n',
    ),
    "its input is empty": ("cat; echo over", 0, "over\n"),
    "a CPU taken offline": ("echo 0 > /sys/devices/system/cpu/cpu1/online; nproc", 0, "1\n"),
}


@pytest.mark.parametrize("case", BEHAVIOUR)
def test_the_script_ends_and_its_status_comes_back(lull: Lull, case: str) -> None:
    script, status, output = BEHAVIOUR[case]
    ran = lull("boot", "-e", "qemu", "--exec", script)
    assert (ran.returncode, ran.stdout) == (status, output), ran.stderr


def test_ten_megabytes_of_output_arrive_whole(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--exec", "yes 0123456789abcde | head -c 10485760")
    assert ran.returncode == 0
    assert ran.stdout == "0123456789abcde\n" * (10485760 // 16)


def test_endless_output_meets_the_limit(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--sim-limit", "0.1", "--exec", "yes")
    assert ran.returncode == 2
    assert "did not end within 0.1 simulated seconds" in ran.stderr


def test_the_image_has_every_applet_that_it_links(lull: Lull) -> None:
    listed = (paths.ROOT / "benchmarks" / "guest" / "busybox-applets.txt").read_text().splitlines()
    wanted = {line for line in listed if line and not line.startswith("#")}
    ran = lull("boot", "-e", "qemu", "--exec", "busybox --list")
    assert wanted - set(ran.stdout.split()) == set()


def test_the_tools_of_the_image_run(lull: Lull, tmp_path: Path) -> None:
    script = (
        "set -e; cyclictest --default-system -q -t 2 -l 20 2>/dev/null | grep -c 'T: ';"
        "hackbench -l 5 -g 1 | grep -c Time;"
        "trace-cmd record -q -e sched_switch -o /out/t.dat sleep 0.01 >/dev/null; lull-policy idle.deepest=C4;"
        "cat /sys/devices/system/cpu/cpu*/cpuidle/state3/disable"
    )
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", script)
    assert (ran.returncode, ran.stdout.split()) == (0, ["2", "1", "0", "0", "0"]), ran.stderr
    assert (tmp_path / "run" / "files" / "t.dat").stat().st_size > 0
