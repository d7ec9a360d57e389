# SPDX-License-Identifier: BSD-3-Clause
"""The root file system, from packages made here; and the guest's C that a host can run, under the sanitisers."""

import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from lull.artifacts import cpio, pages, rootfs
from lull.artifacts.toolchain import CROSS_COMPILE
from lull.errors import UserError
from lull.files.paths import ROOT
from tests.selftests import names

cross = pytest.mark.skipif(
    shutil.which(f"{CROSS_COMPILE}gcc") is None or shutil.which("dpkg-deb") is None,
    reason="no AArch64 compiler or no dpkg-deb",
)

LIBRARIES = "usr/lib/aarch64-linux-gnu"

MANUAL = ".TH sleep 3\nsleep \\- wait " + 100 * "for a time "

SQLITE = """typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
enum { SQLITE_OK, SQLITE_ROW = 100, SQLITE_DONE, SQLITE_OPEN_READONLY = 1, SQLITE_CONFIG_MULTITHREAD,
       SQLITE_CONFIG_MEMSTATUS };
#define SQLITE_STATIC 0
"""
RETURNED = {
    "sqlite3_errstr": "const char *", "sqlite3_errmsg": "const char *", "sqlite3_column_int64": "long long",
    "sqlite3_column_text": "const unsigned char *",
}  # fmt: skip


def run(argv: Sequence[str], cwd: Path) -> None:
    subprocess.run(argv, cwd=cwd, check=True, capture_output=True)


def compile_elf(output: Path, *flags: str) -> None:
    """A tiny AArch64 object; without an interpreter, as no C library is linked."""
    output.parent.mkdir(parents=True, exist_ok=True)
    source = output.parent / "empty.c"
    source.write_text("int lull_nothing(void) { return 0; }\nvoid _start(void) { for (;;) ; }\n")
    run([f"{CROSS_COMPILE}gcc", "-nostdlib", "-Wl,--no-as-needed", *flags, "-o", str(output), str(source)], ROOT)
    source.unlink()


def sqlite(tree: Path) -> None:
    """What the search server asks of SQLite, by a library that does nothing."""
    names = set(re.findall(r"\b(sqlite3_\w+)\(", (ROOT / "benchmarks/staged-bursts/pages.c").read_text()))
    names |= set(re.findall(r"\b(sqlite3_\w+)\(", (ROOT / "benchmarks/staged-bursts/search-server.c").read_text()))
    header, source = tree / "usr/include/sqlite3.h", tree / "sqlite.c"
    header.parent.mkdir(parents=True)
    header.write_text(SQLITE + "".join(f"{RETURNED.get(name, 'int')} {name}();\n" for name in sorted(names)))
    source.write_text(
        '#include "usr/include/sqlite3.h"\n'
        + "".join(f"{RETURNED.get(name, 'int')} {name}() {{ return 0; }}\n" for name in sorted(names))
    )
    run([f"{CROSS_COMPILE}gcc", "-c", "sqlite.c"], tree)
    run([f"{CROSS_COMPILE}ar", "rcsD", str(tree / LIBRARIES / "libsqlite3.a"), "sqlite.o"], tree)
    for left in (source, tree / "sqlite.o"):
        left.unlink()


@pytest.fixture(scope="module")
def debs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two packages: trace-cmd needs libone, which needs libtwo; nobody needs libthree or the manual."""
    top = tmp_path_factory.mktemp("debs")
    libs, programs = top / "libs", top / "programs"
    shared = ["-shared", f"-L{libs / LIBRARIES}"]
    compile_elf(libs / LIBRARIES / "libtwo.so.2", *shared, "-Wl,-soname,libtwo.so.2")
    compile_elf(libs / LIBRARIES / "libone.so.1.5", *shared, "-Wl,-soname,libone.so.1", "-l:libtwo.so.2")
    (libs / LIBRARIES / "libone.so.1").symlink_to("libone.so.1.5")
    for name in ("libthree.so.3", "libgcc_s.so.1"):
        compile_elf(libs / LIBRARIES / name, *shared, f"-Wl,-soname,{name}")
    for name in rootfs.PROGRAMS:
        needs = ["-l:libone.so.1"] if name == "trace-cmd" else []
        link = ["-static"] if name == "busybox" else [f"-L{libs / LIBRARIES}", "-Wl,--allow-shlib-undefined", *needs]
        compile_elf(programs / "usr/bin" / name, *link)
    (programs / "usr/share/man/man3").mkdir(parents=True)
    (programs / "usr/share/man/busybox.1").write_text("manual")
    manual = gzip.compress(MANUAL.encode(), mtime=0)
    (programs / "usr/share/man/man3/sleep.3.gz").write_bytes(manual)
    sqlite(libs)
    result = []
    for tree in (libs, programs):
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN/control").write_text(
            f"Package: {tree.name}\nVersion: 1\nArchitecture: arm64\nMaintainer: nobody <n@example.org>\n"
            "Description: test\n"
        )
        result.append(top / f"{tree.name}.deb")
        run(["dpkg-deb", "--root-owner-group", "--build", str(tree), str(result[-1])], top)
    return result


@pytest.fixture(scope="module")
def image(debs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("image") / "out"
    rootfs.build(debs, ROOT, out, run)
    return out


@pytest.fixture(scope="module")
def with_selftests(debs: list[Path], image: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, cpio.Member]:
    out = tmp_path_factory.mktemp("selftests") / "out"
    rootfs.build_with(ROOT / rootfs.SELFTESTS, image / "rootfs.cpio", debs, ROOT, out, run)
    return {entry.path: entry for entry in cpio.unpack((out / "rootfs.cpio").read_bytes())}


@pytest.fixture(scope="module")
def entries(image: Path) -> dict[str, cpio.Member]:
    return {entry.path: entry for entry in cpio.unpack((image / "rootfs.cpio").read_bytes())}


@cross
def test_libraries_are_those_that_programs_load(entries: dict[str, cpio.Member]) -> None:
    libraries = {path.rpartition("/")[2] for path in entries if path.startswith(f"{LIBRARIES}/")}
    assert libraries == {"libone.so.1", "libtwo.so.2", "libgcc_s.so.1"}
    assert stat.S_ISREG(entries[f"{LIBRARIES}/libone.so.1"].mode)


@cross
def test_nothing_else_of_the_packages_is_kept(entries: dict[str, cpio.Member]) -> None:
    assert not [path for path in entries if "usr/share/man" in path or "libthree" in path or "DEBIAN" in path]


@cross
def test_the_manuals_are_there_to_be_searched(entries: dict[str, cpio.Member], tmp_path: Path) -> None:
    (tmp_path / "pages.db").write_bytes(entries[pages.PLACE].data)
    database = sqlite3.connect(tmp_path / "pages.db")
    assert database.execute("SELECT rowid FROM page WHERE page MATCH 'time'").fetchall() == [(1,)]


@cross
def test_what_the_kernel_needs_to_start_is_there(entries: dict[str, cpio.Member]) -> None:
    console = entries["dev/console"]
    assert stat.S_ISCHR(console.mode)
    assert console.device == (5, 1)
    assert entries["init"].data == b"usr/bin/lull-init"
    for name in ("lull-init", "lull-cpus", "lull-m5", "lull-policy", "lull-selftest", "busybox"):
        assert entries[f"usr/bin/{name}"].mode == stat.S_IFREG | 0o755
    for name in ("proc", "sys", "dev", "tmp", "run", "out"):
        assert stat.S_ISDIR(entries[name].mode)


@cross
def test_guest_programs_are_static_and_stripped(entries: dict[str, cpio.Member], tmp_path: Path) -> None:
    for name in ("lull-init", "lull-cpus", "lull-m5"):
        (tmp_path / name).write_bytes(entries[f"usr/bin/{name}"].data)
        readelf = [f"{CROSS_COMPILE}readelf", "--wide", "--segments", "--sections", str(tmp_path / name)]
        listing = subprocess.run(readelf, capture_output=True, text=True, check=True).stdout
        assert "INTERP" not in listing
        assert ".symtab" not in listing


@cross
def test_nothing_lies_about(entries: dict[str, cpio.Member]) -> None:
    assert {path for path in entries if "/" not in path} == {
        *("bin", "dev", "etc", "init", "lib", "out", "proc", "run", "sbin", "sys", "tmp", "usr"),
    }


@cross
def test_every_selftest_is_in_the_image_of_selftests_and_in_no_other(
    entries: dict[str, cpio.Member], with_selftests: dict[str, cpio.Member]
) -> None:
    folder = "usr/lib/lull/selftests"
    added = {path: entry for path, entry in with_selftests.items() if path not in entries}
    assert {path: entry for path, entry in with_selftests.items() if path in entries} == entries
    assert added.keys() == {folder, *(f"{folder}/{name}" for name in (*names(), "tap.sh"))}
    assert {added[f"{folder}/{name}"].mode for name in (*names(), "tap.sh")} == {stat.S_IFREG | 0o755}


@cross
def test_applets_are_links_to_busybox(entries: dict[str, cpio.Member]) -> None:
    for applet in rootfs.applets(ROOT):
        assert cpio.is_symlink(entries[f"usr/bin/{applet}"])
        assert entries[f"usr/bin/{applet}"].data == b"busybox"


@cross
def test_overlay_is_in_the_image(entries: dict[str, cpio.Member]) -> None:
    overlay = ROOT / rootfs.OVERLAY
    files = [path for path in overlay.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert entries[str(path.relative_to(overlay))].data == path.read_bytes()


@cross
def test_image_is_the_same_elsewhere_and_under_another_umask(debs: list[Path], image: Path, tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    for folder in ("benchmarks", "buildroot-overlay", "kernel-patches"):
        shutil.copytree(ROOT / folder, copy / folder, copy_function=shutil.copy)
    before = os.umask(0o077)
    try:
        rootfs.build(list(reversed(debs)), copy, tmp_path / "out", run)
    finally:
        os.umask(before)
    assert (tmp_path / "out/rootfs.cpio").read_bytes() == (image / "rootfs.cpio").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"checkout", "out"}


@cross
def test_contents_lists_every_entry(image: Path, entries: dict[str, cpio.Member]) -> None:
    lines = (image / "contents.txt").read_text().splitlines()
    assert len(lines) == len(entries)
    assert "        7 120777 bin -> usr/bin" in lines
    sizes = [int(line.split()[0]) for line in lines]
    assert sizes == sorted(sizes, reverse=True)


@cross
def test_a_missing_package_is_one_sentence(debs: list[Path], tmp_path: Path) -> None:
    def unpack_only(argv: Sequence[str], cwd: Path) -> None:
        if argv[0] != "make":
            run(argv, cwd)

    with pytest.raises(UserError, match=r"^usr/lib/.*\.so\.\d is in none of the Debian packages"):
        rootfs.build([debs[1]], ROOT, tmp_path / "out", unpack_only)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of all that an image is made of, free to be changed."""
    for folder in ("benchmarks", "buildroot-overlay", "kernel-patches", "scripts/lull/artifacts"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_inputs_change_with_the_sources(checkout: Path) -> None:
    before = rootfs.inputs(checkout)
    assert before == rootfs.inputs(ROOT)
    assert "scripts/lull/artifacts/cpio.py" in before
    changed = checkout / "benchmarks/lib/m5.c"
    changed.write_text(changed.read_text() + "\n")
    after = rootfs.inputs(checkout)
    assert {path for path in before if before[path] != after[path]} == {"benchmarks/lib/m5.c"}


def test_a_selftest_changes_the_inputs_of_its_own_image_alone(checkout: Path) -> None:
    changed = checkout / "kernel-patches/esm/selftests/esm.c"
    changed.write_text(changed.read_text() + "\n")
    assert rootfs.inputs(checkout) == rootfs.inputs(ROOT)
    before, after = (rootfs.inputs_of(root / rootfs.SELFTESTS, root) for root in (ROOT, checkout))
    assert {path for path in before if before[path] != after[path]} == {"kernel-patches/esm/selftests/esm.c"}


def test_applets_are_sorted_once_and_leave_the_end_to_init() -> None:
    names = rootfs.applets(ROOT)
    assert names == sorted(set(names))
    assert {"sh", "tar", "mount", "taskset", "timeout"} <= set(names)
    assert not {"halt", "poweroff", "reboot", "init", "linuxrc"} & set(names)


# The guest's C on the host.


def tar_of(programs: Path, tree: Path) -> bytes:
    return subprocess.run([programs / "tar-directory", tree], capture_output=True, check=True).stdout


def test_json_values_of_every_kind(programs: Path) -> None:
    output = subprocess.run([programs / "jsonl-sample"], capture_output=True, check=True).stdout
    assert json.loads(output) == {
        "smallest": -(2**63),
        "tenth": 0.1,
        "nan": None,
        "yes": True,
        "none": None,
        "list": [1, {"a": "b", "c": False}, []],
    }


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (b"plain", "plain"),
        (b"", ""),
        (b'quote " and \\ backslash', 'quote " and \\ backslash'),
        (bytes(range(1, 128)), bytes(range(1, 128)).decode()),
        ("größe €\U0001f4a4".encode(), "größe €\U0001f4a4"),
        (b"latin \xe4 byte", "latin \N{REPLACEMENT CHARACTER} byte"),
        (b"overlong \xc0\xaf", "overlong \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"),
        (b"surrogate \xed\xa0\x80", "surrogate " + 3 * "\N{REPLACEMENT CHARACTER}"),
        (b"too far \xf4\x90\x80\x80", "too far " + 4 * "\N{REPLACEMENT CHARACTER}"),
        (b"cut \xe2\x82", "cut " + 2 * "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_json_strings_take_any_bytes(programs: Path, given: bytes, read: str) -> None:
    output = subprocess.run([bytes(programs / "jsonl-sample"), given], capture_output=True, check=True).stdout
    line = output.decode("utf-8").splitlines()[1]
    assert json.loads(line) == {"text": read}


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0", [0]), ("0-4", [0, 1, 2, 3, 4]), ("1,3-4,3", [1, 3, 4]), ("", []), ("63", [63])],
)
def test_cpu_lists(programs: Path, text: str, cpus: list[int]) -> None:
    output = subprocess.run([programs / "cpulist-print", text], capture_output=True, check=True, text=True).stdout
    assert [int(line) for line in output.split()] == cpus


@pytest.mark.parametrize("text", ["64", "0-64", "3-1", "1,", ",1", "1-", "-1", "a", "1 2", "99999999999999999999"])
def test_bad_cpu_lists(programs: Path, text: str) -> None:
    assert subprocess.run([programs / "cpulist-print", text], capture_output=True).returncode == 1


def test_tar_holds_the_tree_and_nothing_of_its_making(programs: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "b" / "deep").mkdir(parents=True)
    (tree / "b" / "deep" / "file").write_bytes(b"x" * 513)
    (tree / "b.txt").write_bytes(b"")
    (tree / "a").write_bytes(bytes(range(256)) * 1000)
    (tree / "a").chmod(0o640)
    (tree / "link").symlink_to("b/nowhere")
    os.mkfifo(tree / "fifo")
    archive = tar_of(programs, tree)

    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = tar.getmembers()
        assert [member.name for member in members] == ["a", "b", "b/deep", "b/deep/file", "b.txt", "link"]
        assert {(member.mtime, member.uid, member.gid, member.uname) for member in members} == {(0, 0, 0, "")}
        assert members[0].mode == 0o640
        assert members[-1].linkname == "b/nowhere"
        content = tar.extractfile("a")
        assert content is not None
        assert content.read() == bytes(range(256)) * 1000
    assert len(archive) % 512 == 0

    twin = tmp_path / "twin"
    shutil.copytree(tree, twin, symlinks=True, ignore=shutil.ignore_patterns("fifo"))
    os.utime(twin / "a", (1, 1))
    assert tar_of(programs, twin) == archive


@pytest.mark.parametrize("length", [99, 100, 101, 200])
def test_tar_of_long_names(programs: Path, tmp_path: Path, length: int) -> None:
    (tmp_path / ("n" * length)).write_text("content")
    (tmp_path / "zlink").symlink_to("t" * length)
    folder = tmp_path / ("d" * length)
    folder.mkdir()
    (folder / "leaf").write_text("below")
    with tarfile.open(fileobj=io.BytesIO(tar_of(programs, tmp_path))) as tar:
        assert tar.getnames() == ["d" * length, f"{'d' * length}/leaf", "n" * length, "zlink"]
        assert tar.getmember("zlink").linkname == "t" * length


def test_tar_of_an_empty_directory_is_nothing(programs: Path, tmp_path: Path) -> None:
    assert tar_of(programs, tmp_path) == b""


def test_tar_names_what_it_cannot_take(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    with (tmp_path / "sub" / "sparse").open("wb") as file:
        file.truncate(2**33)
    done = subprocess.run([programs / "tar-directory", tmp_path], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "sub/sparse: File too large\n"
