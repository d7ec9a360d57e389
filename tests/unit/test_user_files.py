# SPDX-License-Identifier: BSD-3-Clause
"""Files that never end or that explode, where a user may name one: one sentence, at once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.files import regular
from lull.platform.load import load_platform
from lull.runspec.schedule import load_schedule

READERS: dict[str, Callable[[Path], object]] = {
    "platform": lambda path: load_platform(str(path)),
    "schedule": load_schedule,
}
readers = pytest.mark.parametrize("reader", READERS)


@readers
def test_a_pipe_is_not_waited_for(reader: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(UserError, match=r"pipe.yaml: cannot read it \(not a regular file\)"):
        READERS[reader](pipe)


@readers
def test_a_device_is_not_read(reader: str) -> None:
    with pytest.raises(UserError, match=r"/dev/zero: cannot read it \(not a regular file\)"):
        READERS[reader](Path("/dev/zero"))


@readers
def test_links_in_a_loop(reader: str, tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    with pytest.raises(UserError, match=r"loop.yaml: cannot read it \(Too many levels of symbolic links\)"):
        READERS[reader](loop)


def test_a_huge_platform_file(tmp_path: Path) -> None:
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as stream:
        stream.truncate(regular.MOST_BYTES + 1)
    with pytest.raises(UserError, match=r"huge.yaml: larger than 1 MiB"):
        load_platform(str(huge))


def test_aliases_that_explode(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.yaml"
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
    bomb.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"bomb.yaml: its aliases expand to more than 100000 values"):
        load_platform(str(bomb))


def test_merges_are_refused_before_they_are_written_out(tmp_path: Path) -> None:
    """Forty of them within each other would be a million million keys."""
    nested = "".join(f"a{number}: &a{number}\n  <<: [*a{number - 1}, *a{number - 1}]\n" for number in range(1, 41))
    file = tmp_path / "merges.yaml"
    file.write_text("name: x\na0: &a0 {k: 1}\n" + nested)
    with pytest.raises(UserError, match=r"merges\.yaml: line 4: a merge \(`<<`\) of blocks"):
        load_platform(str(file))


def test_a_value_nested_without_end_is_refused() -> None:
    with pytest.raises(UserError, match="is not a value; write a number, true, false or a name"):
        load_platform("tiny", ["memory.size_mib=" + "[" * 20_000])
