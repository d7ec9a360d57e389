# SPDX-License-Identifier: BSD-3-Clause
"""`lull boot --put`: a file of the user's in the guest, and what comes back."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from lull.artifacts.toolchain import CROSS_COMPILE
from lull.engines.execute import execute
from lull.engines.qemu import Qemu
from lull.files.paths import ROOT
from lull.runspec.put import FULL
from lull.runspec.spec import Limits
from tests.conftest import Lull
from tests.specs import spec

pytestmark = pytest.mark.guest

PROGRAM = r"""
#include <stdio.h>
int main(int argc, char *argv[])
{
	char line[64];
	FILE *data = fopen(argv[1], "r");
	if (argc != 2 || !data || !fgets(line, sizeof(line), data))
		return 1;
	printf("read: %s", line);
	return 5;
}
"""


def test_a_program_and_its_data_run_in_the_guest_and_come_back(lull: Lull, tmp_path: Path) -> None:
    (tmp_path / "prog.c").write_text(PROGRAM)
    subprocess.run([f"{CROSS_COMPILE}gcc", "-static", "prog.c", "-o", "prog"], cwd=tmp_path, check=True)
    (tmp_path / "it's data").write_text("a line\n")
    words = (
        "--put",
        "prog",
        "--put",
        "it's data",
        "--put",
        "it's data:/usr/share/mine/x",
        "--put",
        "prog:/usr/bin/hackbench",
    )
    script = 'cp prog /usr/share/mine/x /out; ls /; hackbench "it\'s data"; ./prog "it\'s data"'
    ran = lull("boot", "-e", "qemu", *words, "--out", "run", "--exec", script)
    *listed, first, second = ran.stdout.splitlines()
    assert (ran.returncode, first, second) == (5, "read: a line", "read: a line"), ran.stderr
    assert set(listed) == {*FULL, "it's data", "prog"}, "what no file may take the place of"
    run = tmp_path / "run"
    assert (run / "files" / "prog").read_bytes() == (tmp_path / "prog").read_bytes()
    assert (run / "files" / "x").read_text() == "a line\n"
    assert not (run / "initrd").exists()
    shown = lull("show", "run").stdout
    assert "/it's data, /prog, /usr/bin/hackbench, /usr/share/mine/x" in " ".join(shown.split())


def test_the_example_of_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guest.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^## A file or program of your own$.*?^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "prog.c").write_text(PROGRAM.replace("return 5", "return 0"))
    (tmp_path / "input.txt").write_text("a line\n")
    assert example.count("./lull boot ") == 1
    script = "set -e\n" + example.replace("./lull boot ", f"{ROOT}/lull boot -e qemu ")
    ran = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "read: a line\n"), ran.stderr


def test_what_is_larger_than_a_script_arrives_whole_and_runs_repeat(lull: Lull, tmp_path: Path) -> None:
    data = b"".join(hashlib.sha256(number.to_bytes(4)).digest() for number in range(1 << 18))
    (tmp_path / "data").write_bytes(data)
    outputs = []
    for run in ("first", "second"):
        ran = lull("boot", "-e", "qemu", "--put", "data", "--out", run, "--exec", "sha256sum data; cat /proc/uptime")
        assert ran.returncode == 0, ran.stderr
        outputs.append([(tmp_path / run / name).read_bytes() for name in ("console.log", "stdout", "put.tar")])
    assert outputs[0][1].decode().split()[0] == hashlib.sha256(data).hexdigest()
    assert outputs[0] == outputs[1]


def test_a_place_that_the_guest_refuses_ends_the_run_before_the_command(lull: Lull, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    ran = lull("boot", "-e", "qemu", "--put", "data:/usr/bin", "--exec", "echo on")
    said = ran.stdout.splitlines()
    assert (ran.returncode, said[-1]) == (125, "lull: the files of --put cannot be put there"), ran.stderr
    assert "usr/bin" in said[0]
    assert "on" not in said


def test_what_cannot_be_put_leaves_nothing(lull: Lull, tmp_path: Path) -> None:
    ran = lull("boot", "-e", "qemu", "--put", "none")
    assert (ran.returncode, ran.stderr) == (
        2,
        "lull: --put none: none: no such file; write FILE or FILE:/PATH/IN/THE/GUEST\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_zero_byte_ends_the_script(tmp_path: Path) -> None:
    """On gem5 the files stand behind one in the same file; init has the same code for either engine."""
    engine = Qemu()
    for folder, script in {
        "short": "echo on; exit 5\n\0echo never\n",
        "long": f"#{'x' * 8191}\nexit 5\0exit 6\n",
    }.items():
        asked = spec(command=script, limits=Limits(simulated_s=10, wall_s=3000))
        run, outcome = execute(asked, engine, tmp_path / folder, lambda data: None)
        assert outcome.status == 5
        assert b"never" not in (run / "stdout").read_bytes()
