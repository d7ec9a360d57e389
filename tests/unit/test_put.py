# SPDX-License-Identifier: BSD-3-Clause
"""Files that a user puts into a guest: what is taken, what a run's hash has of them, how they are handed over."""

import io
import os
import re
import tarfile
from pathlib import Path
from typing import Literal

import pytest

from lull.artifacts import cpio
from lull.engines import put as handing
from lull.errors import UserError
from lull.files import digest
from lull.platform.load import load_platform
from lull.rundir.folder import RunDir
from lull.runspec.load import load_spec
from lull.runspec.put import PutFile, parse
from lull.runspec.spec import PUT_OFFSET, PUT_TAR, SCRIPT_MAX, EngineName, Limits, RunSpec
from tests.specs import spec

TINY = load_platform("tiny")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(*put: str, engine: EngineName = "qemu") -> RunSpec:
    limits = Limits(simulated_s=1, wall_s=1)
    return load_spec("tiny", [], "true", engine=engine, put=put, limits=limits)


def program(machine: int, bits: int = 2, order: Literal["little", "big"] = "little") -> bytes:
    """The head of an ELF file."""
    return b"\x7fELF" + bytes([bits, 1 if order == "little" else 2]) + bytes(12) + machine.to_bytes(2, order)


@pytest.mark.parametrize(
    ("word", "guest"),
    [
        ("a b", "/a b"),
        ("deep/c", "/c"),
        ("a b:/usr/bin/x", "/usr/bin/x"),
        ("a b:/tmp/", "/tmp/a b"),
        ("a b:/", "/a b"),
        ("a b://tmp///x", "/tmp/x"),
        ("with:colon", "/with:colon"),
        ("with:colon:/x", "/x"),
    ],
)
def test_a_file_goes_to_the_path_that_is_named_or_into_the_root(word: str, guest: str, folder: Path) -> None:
    (folder / "deep").mkdir()
    for name in ("a b", "deep/c", "with:colon"):
        (folder / name).write_text("x")
    (file,) = parse([word], TINY)
    assert file.guest == guest
    assert file.source == str(folder / ("deep/c" if "deep" in word else "with:colon" if "with" in word else "a b"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none"], "--put none: none: no such file; write FILE or FILE:/PATH/IN/THE/GUEST"),
        (["none:/x"], "--put none:/x: none: no such file; write FILE or FILE:/PATH/IN/THE/GUEST"),
        (["folder"], "--put folder: folder is a folder; put its files one by one, or a tar of it"),
        (["pipe"], "--put pipe: pipe is no regular file; copy what it holds to one"),
        (["f/x"], "--put f/x: f/x cannot be read (Not a directory); name a file of yours"),
        (["f:tmp/x"], "--put f:tmp/x: tmp/x is no path from the guest's root behind the colon; write FILE:/tmp/x"),
        (["f:"], "--put f:: there is no path from the guest's root behind the colon; write FILE:/PATH"),
        (["f:/tmp/../x"], "--put f:/tmp/../x: /tmp/../x has a `.` or `..`; write the path without"),
        (["f:/proc/x"], "--put f:/proc/x: /proc is the kernel's, not for files; write FILE:/tmp/x"),
        (["f:/usr"], "--put f:/usr: the guest has something at /usr; write another path, as FILE:/tmp/NAME"),
        (["init"], "--put init: the guest has something at /init; write another path, as FILE:/tmp/NAME"),
        (["f:/" + "x" * 256], "the path in the guest is too long; write one with names of at most 255 bytes"),
        (["f:/" + "x/" * 2048], "the path in the guest is too long; write one with names of at most 255 bytes"),
        (["f\n"], "--put 'f\\n': has a control character or is not UTF-8; rename the file, or put a copy"),
        (["f:/a\udcff"], "--put 'f:/a\\udcff': has a control character or is not UTF-8"),
        (["f", "init:/f"], "--put: two files for /f in the guest; give one of them another path"),
        (["f", "f:/f/g"], "--put: /f is a file, and /f/g wants it to be a folder; change one of the paths"),
        (["host"], "--put host: host is a program for x86-64, and the guest is AArch64; compile it by aarch64-linux-"),
        (["arm"], "--put arm: arm is a program for 32-bit ARM, and the guest is AArch64; compile it by aarch64-linux-"),
        (["sparc"], "--put sparc: sparc is a program for ELF machine 43, and the guest is AArch64; "),
        (["large"], "--put: 64.1 MiB of files, and tiny takes at most 64 MiB, 1/8 of its memory; put less, or have "),
        (["half:/a", "half:/b"], "--put: 64.1 MiB of files, and tiny takes at most 64 MiB, 1/8 of its memory; "),
    ],
)
def test_what_cannot_be_put_is_one_sentence(words: list[str], sentence: str, folder: Path) -> None:
    for name in ("f", "init"):
        (folder / name).write_text("x")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    for name, head in {"host": program(62), "arm": program(40, bits=1), "sparc": program(43, 2, "big")}.items():
        (folder / name).write_bytes(head)
        (folder / name).chmod(0o755)
    for name, size in {"large": (64 << 20) + 1, "half": (32 << 20) + 1}.items():
        (folder / name).touch()
        os.truncate(folder / name, size)
    with pytest.raises(UserError) as caught:
        parse(words, TINY)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unreadable_file_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "f").write_text("x")

    def refuse(*_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("lull.files.digest.of_file", refuse)
    with pytest.raises(UserError, match=r"^--put f: f cannot be read \(Permission denied\); name a file of yours$"):
        parse(["f"], TINY)


def test_programs_for_the_guest_and_data_that_look_like_programs_are_taken(folder: Path) -> None:
    for name, data, mode in [("mine", program(183), 0o755), ("data", program(62), 0o644), ("sh", b"#!/bin/sh", 0o700)]:
        (folder / name).write_bytes(data)
        (folder / name).chmod(mode)
    files = parse(["mine", "data", "sh"], TINY)
    assert {file.guest: file.executable for file in files} == {"/mine": True, "/data": False, "/sh": True}


def test_a_run_that_puts_nothing_has_the_hash_that_it_had(folder: Path) -> None:
    asked = load().model_dump(mode="json")
    assert (asked.pop("put"), asked.pop("peer"), asked.pop("fast_forward_s")) == ([], None, None)
    assert load().hash() == digest.of_json(asked)


def test_the_hash_has_content_path_and_mode_and_not_the_place_here(folder: Path) -> None:
    (folder / "f").write_text("one")
    first = load("f").hash()
    assert first != load().hash()
    assert first != load("f:/g").hash()
    (folder / "f").rename(folder / "g")
    assert load("g:/f").hash() == first
    (folder / "g").chmod(0o755)
    assert load("g:/f").hash() != first
    (folder / "g").chmod(0o644)
    (folder / "g").write_text("two")
    assert load("g:/f").hash() != first


def test_the_order_of_the_words_is_no_part_of_a_run(folder: Path) -> None:
    for name in ("f", "g"):
        (folder / name).write_text(name)
    assert load("f", "g") == load("g", "f")
    assert RunSpec.model_validate_json(load("f", "g").model_dump_json()) == load("f", "g")


def members(archive: bytes) -> dict[str, tuple[bytes, int]]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        found = {}
        for member in tar.getmembers():
            stream = tar.extractfile(member)
            assert stream is not None
            assert (member.uid, member.gid, member.mtime) == (0, 0, 0)
            found[member.name] = (stream.read(), member.mode)
        return found


def put_two(folder: Path, engine: EngineName) -> tuple[RunSpec, RunDir]:
    (folder / "prog").write_text("#!/bin/sh\n")
    (folder / "prog").chmod(0o700)
    (folder / "data").write_bytes(bytes(range(256)) * 100)
    asked = load("prog", f"data:/tmp/{'long/' * 60}data", engine=engine)
    rundir = RunDir.create(folder / f"run-{engine}", asked)
    (rundir / "script").write_text(asked.script())
    return asked, rundir


WANTED = {"prog": (b"#!/bin/sh\n", 0o755), f"tmp/{'long/' * 60}data": (bytes(range(256)) * 100, 0o644)}


def test_on_gem5_they_stand_behind_the_script(folder: Path) -> None:
    asked, rundir = put_two(folder, "gem5")
    with handing.readfile(asked, rundir, rundir / "script") as path:
        handed = path.read_bytes()
    assert handed[: len(asked.script())].decode() == asked.script()
    assert set(handed[len(asked.script()) : PUT_OFFSET]) == {0}
    assert members(handed[PUT_OFFSET:]) == WANTED
    assert f"\nlull-m5 read-file {PUT_OFFSET} | tar -x -C / || " in asked.script()
    assert not path.exists()
    assert (rundir / "put.tar").read_bytes() == handed[PUT_OFFSET:]


def test_on_qemu_they_are_in_an_archive_behind_the_image(folder: Path) -> None:
    asked, rundir = put_two(folder, "qemu")
    (folder / "image").write_bytes(cpio.pack([cpio.file("x", b"y")]))
    image = (folder / "image").read_bytes()
    with handing.initrd(asked, rundir, folder / "image") as path:
        handed = path.read_bytes()
    assert handed.startswith(image)
    (entry,) = cpio.unpack(handed[len(image) :])
    assert f"/{entry.path}" == PUT_TAR
    assert members(entry.data) == WANTED
    assert not path.exists()


def test_a_run_that_puts_nothing_is_handed_what_it_was(folder: Path) -> None:
    rundir = RunDir.create(folder / "run", spec())
    with handing.initrd(spec(), rundir, folder / "image") as path:
        assert path == folder / "image"
    with handing.readfile(spec(), rundir, rundir / "script") as path:
        assert path == rundir / "script"
    assert [path.name for path in rundir.path.iterdir()] == ["run.json"]


@pytest.mark.parametrize("change", ["content", "gone"])
def test_a_file_that_changes_before_the_run_begins_ends_it(change: str, folder: Path) -> None:
    (folder / "f").write_text("one")
    files: tuple[PutFile, ...] = load("f").put
    if change == "gone":
        (folder / "f").unlink()
    else:
        (folder / "f").write_text("two")
    said = r"cannot be read any more \(No such file or directory\)" if change == "gone" else "has changed since the "
    with pytest.raises(UserError, match=f"^--put {re.escape(str(folder / 'f'))}: {said}"):
        handing.write_tar(files, folder / "put.tar")


def test_a_zero_ends_the_longest_script_before_what_follows() -> None:
    assert PUT_OFFSET > SCRIPT_MAX
