# SPDX-License-Identifier: BSD-3-Clause
"""Files of the user's in a guest that goes on from a checkpoint: they come through the host's script file."""

import hashlib
from pathlib import Path

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.gem5


@pytest.mark.parametrize(("cpu", "size"), [("atomic", 3_000_001), ("detailed", 200_001)])
def test_a_program_and_data_larger_than_a_script_arrive_whole(lull: Lull, tmp_path: Path, cpu: str, size: int) -> None:
    """Detailed CPUs hold stores back, which gem5 must not find missing, nor be overwritten by."""
    data = b"".join(hashlib.sha256(number.to_bytes(4)).digest() for number in range(size // 32 + 1))[:size]
    (tmp_path / "data").write_bytes(data)
    (tmp_path / "prog").write_text("#!/bin/sh\nsha256sum /tmp/data\ncp prog /tmp/data /out\nexit 5\n")
    (tmp_path / "prog").chmod(0o755)
    ran = lull(
        "boot",
        "-e",
        "gem5",
        "--cpu",
        cpu,
        "--put",
        "prog",
        "--put",
        "data:/tmp/data",
        "--out",
        "run",
        "--exec",
        "./prog",
    )
    assert (ran.returncode, ran.stdout.split()[0]) == (5, hashlib.sha256(data).hexdigest()), ran.stderr
    run = tmp_path / "run"
    assert (run / "files" / "prog").read_bytes() == (tmp_path / "prog").read_bytes()
    assert (run / "files" / "data").read_bytes() == data
    assert not list(run.glob("*.readfile"))


def test_without_files_nothing_stands_behind_the_script(lull: Lull) -> None:
    ran = lull("boot", "-e", "gem5", "--exec", "lull-m5 read-file 2097152 | wc -c; lull-m5 read-file 0")
    assert ran.stdout == ("0\n#lull limit_s=60\nlull-m5 read-file 2097152 | wc -c; lull-m5 read-file 0\n"), ran.stderr
