# SPDX-License-Identifier: BSD-3-Clause
"""Builds that fail say what a person would look for."""

from pathlib import Path

import pytest

from lull.errors import UserError
from lull.host.process import BuildFailed, Runner, first_error_line
from lull.host.progress import Progress

KERNEL_LOG = """\
  CC      drivers/lull/platform/lull.o
  CC      lib/errname.o
drivers/lull/platform/lull.c:12:9: error: unknown type name 'strct'
drivers/lull/platform/lull.c:14:1: error: expected ';'
make[4]: *** [scripts/Makefile.build:229: drivers/lull/platform/lull.o] Error 1
make: *** [Makefile:224: __sub-make] Error 2
"""


def _runner(tmp_path: Path) -> Runner:
    return Runner("kernel", tmp_path / "logs" / "kernel.log", Progress("build the kernel"))


def test_the_first_error_is_the_one_shown() -> None:
    line = first_error_line(KERNEL_LOG)
    assert line == "drivers/lull/platform/lull.c:12:9: error: unknown type name 'strct'"
    unused = "x.c:3: error: unused variable [-Werror=unused-variable]"
    assert first_error_line(f"gcc -Werror -c x.c\n{unused}\nmake: *** [x.o] Error 1") == unused
    assert first_error_line("gcc -Werror x.c\nall is well\n") == "all is well"
    assert first_error_line("") is None


def test_a_failed_command_names_its_error_and_the_log(tmp_path: Path) -> None:
    run = _runner(tmp_path)
    with pytest.raises(
        BuildFailed, match=r"building the kernel failed: x\.c:1: error: no \(whole log: .*kernel\.log\)"
    ) as caught:
        run(["sh", "-c", "echo fine; echo 'x.c:1: error: no'; exit 2"], tmp_path)
    assert caught.value.exit_status == 1
    assert run.log.read_text().splitlines()[1:] == ["fine", "x.c:1: error: no"]


def test_a_full_disk_under_a_compiler_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the disk is full"):
        _runner(tmp_path)(
            ["sh", "-c", "echo 'fatal error: error writing to /x: No space left on device'; exit 1"], tmp_path
        )


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no-such-program: not found; `lull doctor` says what to install"):
        _runner(tmp_path)(["no-such-program"], tmp_path)
