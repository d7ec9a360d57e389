# SPDX-License-Identifier: BSD-3-Clause
"""The initramfs writer, checked by cpio itself where it is installed."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.artifacts import cpio

ENTRIES = [
    cpio.directory("dev"),
    cpio.character_device("dev/console", 5, 1),
    cpio.directory("usr"),
    cpio.directory("usr/bin"),
    cpio.file("usr/bin/tool", b"\x7fELF\0\n" * 7, executable=True),
    cpio.file("usr/bin/empty", b""),
    cpio.symlink("bin", "usr/bin"),
]


def test_what_is_packed_comes_out_again() -> None:
    assert cpio.unpack(cpio.pack(ENTRIES)) == sorted(ENTRIES, key=lambda entry: entry.path)


def test_order_of_entries_does_not_matter() -> None:
    shuffled = ENTRIES[:]
    random.Random(1).shuffle(shuffled)
    assert shuffled != ENTRIES
    assert cpio.pack(shuffled) == cpio.pack(ENTRIES)


def test_archive_is_whole_blocks_and_never_looks_compressed() -> None:
    archive = cpio.pack(ENTRIES)
    assert len(archive) % 512 == 0
    assert archive.startswith(b"070701")


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        (cpio.file("lib/x", b""), "'lib/x' lies in 'lib', which is no directory"),
        (cpio.file("bin/x", b""), "'bin/x' lies in 'bin', which is no directory"),
        (cpio.file("dev/console", b""), "'dev/console' is there twice"),
        (cpio.file("/etc", b""), "'/etc' is no plain relative path"),
        (cpio.file("usr/../etc", b""), "'usr/../etc' is no plain relative path"),
        (cpio.file("usr//x", b""), "'usr//x' is no plain relative path"),
        (cpio.directory("."), "'.' is no plain relative path"),
        (cpio.file("a\0b", b""), "is no plain relative path"),
    ],
)
def test_what_the_kernel_would_drop_silently_is_an_error(extra: cpio.Member, complaint: str) -> None:
    with pytest.raises(ValueError, match=r"no plain|twice|no directory") as caught:
        cpio.pack([*ENTRIES, extra])
    assert complaint in str(caught.value)


@pytest.mark.parametrize("cut", [0, 50, 200])
def test_a_cut_archive_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="no newc header"):
        cpio.unpack(cpio.pack(ENTRIES)[:cut])


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_cpio_reads_it(tmp_path: Path) -> None:
    command = ["cpio", "--list", "--verbose", "--numeric-uid-gid", "--quiet"]
    listing = subprocess.run(command, input=cpio.pack(ENTRIES), capture_output=True, check=True, cwd=tmp_path)
    lines = listing.stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == [
        "lrwxrwxrwx",
        "drwxr-xr-x",
        "crw-------",
        "drwxr-xr-x",
        "drwxr-xr-x",
        "-rw-r--r--",
        "-rwxr-xr-x",
    ]
    assert "5,   1" in lines[2]
    assert lines[0].endswith("bin -> usr/bin")
    assert all(line.split()[2:4] == ["0", "0"] for line in lines)

    extract = ["cpio", "--extract", "--quiet", "--make-directories", "usr/bin/tool"]
    subprocess.run(extract, input=cpio.pack(ENTRIES), check=True, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "usr/bin/tool").read_bytes() == ENTRIES[4].data
