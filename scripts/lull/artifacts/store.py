# SPDX-License-Identifier: BSD-3-Clause
"""Builds the artifacts of a run, or finds them in the cache: firmware, kernel, root file system."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from lull.artifacts import buildroot, cache, debian, firmware, kernel, rootfs
from lull.artifacts.cache import Entry
from lull.artifacts.toolchain import compiler_version
from lull.errors import UserError
from lull.files import digest, paths
from lull.host.process import Run, Runner
from lull.host.progress import Progress

RootfsSource = Literal["debian", "buildroot"]
BINDINGS = Path("Documentation") / "devicetree" / "bindings"


def keys() -> dict[str, str]:
    """Return the keys of this checkout's firmware, kernel and image. Nothing is built or downloaded."""
    with debian.nothing_new():
        found = {
            "firmware": _firmware_inputs(debian.source_package(firmware.SOURCE_PACKAGE)),
            "kernel": _kernel_inputs(kernel_source()[1], "default"),
            "rootfs": _rootfs_inputs(_image_packages(), None),
        }
    return {name: cache.key_of(inputs) for name, inputs in found.items()}


def build_firmware() -> Entry:
    dsc = debian.source_package(firmware.SOURCE_PACKAGE)

    def build(out: Path, work: Path, run: Run) -> None:
        tree = work / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        run(["dpkg-source", "--no-check", "-x", str(dsc), str(tree)], work)
        firmware.build(paths.ROOT, tree, out, run)

    return _built("firmware", "firmware", _firmware_inputs(dsc), build, lines=200)


def _firmware_inputs(dsc: Path) -> dict[str, object]:
    return {
        "source": digest.of_file(dsc),
        "compiler": compiler_version(),
        "files": firmware.inputs(paths.ROOT),
    }


def build_kernel(flavour: str, without: Sequence[str] = ()) -> Entry:
    """Build the kernel, or find it in the cache. The systems that `without` names are left out, to measure their
    cost."""
    source, identity = kernel_source()
    wanted = kernel.wanted(paths.ROOT, flavour, without)  # a mistake is reported before anything is unpacked
    inputs = _kernel_inputs(identity, flavour)
    if without:
        inputs["wanted"] = wanted

    def build(out: Path, work: Path, run: Run) -> None:
        tree, prepared = work / "tree", work / "prepared"
        if not prepared.is_file():
            _unpack_kernel(source, work, run)
            kernel.prepare(tree, paths.ROOT, flavour, run, without)
            prepared.touch()
        build_directory = kernel.build_directory(tree, flavour)
        kernel.build(tree, build_directory, out, paths.ROOT, flavour, run, os.cpu_count() or 1, without)

    return _built("kernel", f"kernel ({', without '.join([flavour, *without])})", inputs, build, lines=2600)


def _kernel_inputs(identity: str, flavour: str) -> dict[str, object]:
    return {
        "source": identity,
        "compiler": compiler_version(),
        "flavour": flavour,
        "files": kernel.inputs(paths.ROOT, flavour),
    }


def build_rootfs(source: RootfsSource = "debian", programs: Path | None = None) -> Entry:
    """Build the image of Debian's packages, or the same image through the Buildroot tree that the user names.

    `programs` is one more folder of guest programs for the image: `selftests()`, or the folder of an experiment outside
    of the checkout.
    """
    if source == "buildroot":
        return _rootfs_from_buildroot()
    debs = _image_packages()
    return _rootfs_with(programs, debs) if programs else _rootfs_from_debian(debs)


def selftests() -> Path:
    """Return the folder of the kernel systems' selftests, which an image has if it is given as `programs`."""
    return paths.ROOT / rootfs.SELFTESTS


def _rootfs_from_debian(debs: list[Path]) -> Entry:
    def build(out: Path, _work: Path, run: Run) -> None:
        rootfs.build(debs, paths.ROOT, out, run)

    return _built("rootfs", "root file system", _rootfs_inputs(debs, None), build, lines=797)


def _rootfs_with(programs: Path, debs: list[Path]) -> Entry:
    """Build the image that has the guest programs of one more folder. The image without them is looked up, and built,
    only if this one is not in the cache."""

    def build(out: Path, _work: Path, run: Run) -> None:
        image = _rootfs_from_debian(debs).file("rootfs.cpio")
        rootfs.build_with(programs, image, _material(), paths.ROOT, out, run)

    what, lines = ("the selftests", 78) if programs == selftests() else (str(programs), None)
    return _built("rootfs", f"root file system with {what}", _rootfs_inputs(debs, programs), build, lines)


def _image_packages() -> list[Path]:
    return [*debian.binary_packages(rootfs.PACKAGES, "arm64"), *_material()]


def _material() -> list[Path]:
    return debian.binary_packages(rootfs.MATERIAL, "arm64", closure=False)


def _rootfs_inputs(debs: Sequence[Path], programs: Path | None) -> dict[str, object]:
    inputs: dict[str, object] = {
        "packages": _hashes(debs),
        "compiler": compiler_version(),
        "files": rootfs.inputs(paths.ROOT),
    }
    if programs:
        inputs["programs"] = rootfs.inputs_of(programs, paths.ROOT)
    return inputs


def _hashes(debs: Sequence[Path]) -> dict[str, str]:
    return {path.name: digest.of_file(path) for path in debs}


def _rootfs_from_buildroot() -> Entry:
    tree, debs = buildroot.tree(), _material()
    inputs: dict[str, object] = {"files": buildroot.inputs(paths.ROOT, tree), "packages": _hashes(debs)}

    def build(out: Path, work: Path, run: Run) -> None:
        buildroot.build(tree, debs, paths.ROOT, out, work, run)

    return _built("rootfs", "root file system (Buildroot)", inputs, build)


def device_tree_bindings() -> Path:
    """Return the device tree schemas of the kernel's source, against which our trees are checked."""
    source, identity = kernel_source()

    def build(out: Path, work: Path, run: Run) -> None:
        _unpack_kernel(source, work, run)
        shutil.copytree(work / "tree" / BINDINGS, out, dirs_exist_ok=True)

    return _built("bindings", "device tree schemas", {"source": identity}, build, lines=4).path


def kernel_source() -> tuple[Path, str]:
    """Return the kernel's tree or archive, and its identity: that of `KERNEL_SRC`, else Debian's."""
    chosen = os.environ.get("KERNEL_SRC")
    if not chosen:
        try:
            deb = debian.binary_packages([kernel.SOURCE_PACKAGE], "arm64", closure=False)[0]
        except UserError as error:
            raise UserError(f"KERNEL_SRC is not set, and {error}") from error
        return deb, digest.of_file(deb)
    path = Path(chosen).resolve()
    if path.is_file():
        return path, digest.of_file(path)
    if path.is_dir():
        kernel.detect_version(path)
        return path, _tree_identity(path)
    raise UserError(f"KERNEL_SRC={chosen}: neither a kernel tree nor a tarball; point it at a Linux 6.12 one")


def _built(
    kind: str,
    what: str,
    inputs: dict[str, object],
    build: Callable[[Path, Path, Run], None],
    lines: int | None = None,
) -> Entry:
    """Return the artifact. `lines` is the number of lines that a full build prints, counted once. Progress is shown as
    a share of these, or without a share."""
    log = paths.cache_dir() / "logs" / f"{kind}-{cache.key_of(inputs)}.log"

    def make(out: Path, work: Path) -> None:
        with Progress(f"build the {what}", lines) as progress:
            build(out, work, Runner(what, log, progress))

    return cache.get(kind, inputs, make)


def _tree_identity(tree: Path) -> str:
    """Return the identity of a tree: commit and changes in a git tree, names, sizes and times of files in any other."""
    if (tree / ".git").exists():
        questions = (["rev-parse", "HEAD"], ["diff", "HEAD"], ["ls-files", "--others", "--exclude-standard", "-z"])
        try:
            *answers, added = [
                os.fsdecode(subprocess.run(["git", "-C", str(tree), *words], capture_output=True, check=True).stdout)
                for words in questions
            ]
            files = (tree / name for name in added.split("\0"))
            return digest.of_json([*answers, added, digest.by_path(tree, (path for path in files if path.is_file()))])
        except (FileNotFoundError, subprocess.CalledProcessError):
            pass  # no git, or one that does not trust the owner of the tree
    entries = [
        (str(path.relative_to(tree)), path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in sorted(tree.rglob("*"))
        if not path.is_dir()
    ]
    return digest.of_json(entries)


def _unpack_kernel(source: Path, work: Path, run: Run) -> None:
    """Make a private copy of the kernel's sources as `work/tree`."""
    tree, unpacked = work / "tree", work / "unpacked"
    for old in (tree, unpacked):
        shutil.rmtree(old, ignore_errors=True)
    if source.is_dir():
        run(["cp", "-a", "--reflink=auto", str(source), str(tree)], work)
        return
    if source.suffix != ".deb" and not tarfile.is_tarfile(source):
        raise UserError(f"KERNEL_SRC={source}: not a tar archive; point it at a Linux 6.12 tree or tarball")
    archive, content = source, unpacked / "content"
    content.mkdir(parents=True)
    try:
        if source.suffix == ".deb":
            run(["dpkg-deb", "-x", str(source), str(unpacked)], work)
            archive = next((unpacked / "usr" / "src").glob("linux-source-*.tar.xz"))
        run(["tar", "-xf", str(archive), "-C", str(content)], work)
        tops = [path for path in content.iterdir() if path.is_dir()]
        if len(tops) != 1:
            raise UserError(f"{source}: expected one folder with a Linux 6.12 tree inside, found {len(tops)}")
        kernel.detect_version(tops[0], called=source)
        tops[0].rename(tree)
    finally:
        shutil.rmtree(unpacked)
