# SPDX-License-Identifier: BSD-3-Clause
"""The kernel: a Linux 6.12 tree, our series, our systems and a config made of fragments.

The result depends on `kernel-patches/`, the source tree and the compiler. The result does not depend on the time, the
user, the host or the directory. The build directory lies inside the tree, because the kernel then names its own files
by relative paths. So the image is the same wherever the tree is, and ccache finds what was compiled in another tree.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path

from lull.artifacts.toolchain import CROSS_COMPILE
from lull.errors import UserError
from lull.files import digest
from lull.host.process import Run
from lull.systems import folder as systems_of
from lull.systems.folder import System

SOURCE_PACKAGE = "linux-source-6.12"
_COMMON = ("base", "power", "trace", "input", "net")
_PREEMPT = (*_COMMON, "preempt")
FRAGMENTS = {
    "default": _PREEMPT,
    "debug": (*_PREEMPT, "debug"),
    "race": (*_PREEMPT, "race"),
    "torture": (*_PREEMPT, "torture"),
    "rt": (*_COMMON, "rt"),
}
GOVERNORS = ("menu", "teo", "haltpoll")
GOVERNORS_HASH = "governors.sha256"
"""The file of a built kernel with the hash of its governors (`governors`)."""
PRODUCTS = {
    "Image": "arch/arm64/boot/Image",
    "vmlinux": "vmlinux",
    "System.map": "System.map",
    "config": ".config",
}

_TOP = ("Kconfig", "Makefile")
"""The files of `drivers/lull` that all systems share. The builder replaces the line `_PLACE` in each by a line per
system."""
_PLACE = "# The systems: the builder puts a line for each folder here.\n"
_NOT_KERNEL = ("hooks", "selftests")
"""Folders of a system that are not linked into the kernel tree."""
_SOURCE_FILES = re.compile(r"Kconfig|Makefile|.*\.[chS]")
_SET = re.compile(r'CONFIG_(\w+)=(y|-?[0-9]+|0x[0-9a-f]+|"[^"]*")')
_UNSET = re.compile(r"# CONFIG_(\w+) is not set")


def detect_version(tree: Path, called: Path | None = None) -> str:
    """Return the version of a kernel tree. It must be 6.12: the series is written against no other.

    `called` is the tree's name in error messages: the path that the user knows.
    """
    makefile = tree / "Makefile"
    remedy = "set KERNEL_SRC to a Linux 6.12 tree or tarball"
    try:
        head = makefile.read_text(encoding="utf-8")[:1000]
    except (OSError, UnicodeDecodeError):
        head = ""
    values: dict[str, str] = dict(re.findall(r"^([A-Z]+) *=[ \t]*(\S*)", head, re.MULTILINE))
    try:
        version = ".".join(values[key] for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    except KeyError as error:
        raise UserError(f"{called or tree} has no Makefile of a kernel: {remedy}.") from error
    if not version.startswith("6.12."):
        raise UserError(f"{called or tree} is Linux {version}: {remedy}.")
    return version + values.get("EXTRAVERSION", "")


def series(root: Path) -> list[Path]:
    """Return the patches (hooks) of all systems, in the order in which they apply."""
    return [hook for system in systems_of.systems(root) for hook in system.hooks]


def linked_files(root: Path) -> dict[str, Path]:
    """Return each file of the systems by its path in the kernel tree, without notes and editor leftovers."""
    files = [file for system in systems_of.systems(root) for file in _sources(system)]
    return {f"drivers/lull/{path.relative_to(root / systems_of.TOP)}": path for path in files}


def _sources(system: System) -> list[Path]:
    inside = (path for path in sorted(system.folder.rglob("*")) if _SOURCE_FILES.fullmatch(path.name))
    return [path for path in inside if path.relative_to(system.folder).parts[0] not in _NOT_KERNEL and path.is_file()]


def top_files(root: Path) -> dict[str, str]:
    """Return Kconfig and Makefile of `drivers/lull` by name. Each has a line for each system, in the systems' order."""
    found = systems_of.systems(root)
    lines = {
        "Kconfig": [f'source "drivers/lull/{system.name}/Kconfig"\n' for system in found],
        "Makefile": [f"obj-$(CONFIG_{system.manifest.option})\t+= {system.name}/\n" for system in found],
    }
    texts = {name: (root / systems_of.TOP / name).read_text(encoding="utf-8") for name in _TOP}
    for name, text in texts.items():
        if text.count(_PLACE) != 1:
            raise UserError(f"{systems_of.TOP}/{name}: the line `{_PLACE.strip()}` has to be there once; put it back")
    return {name: text.replace(_PLACE, "".join(lines[name])) for name, text in texts.items()}


def fragments(root: Path, flavour: str) -> list[Path]:
    """Return the config fragments of a flavour, in the order in which they are read."""
    if flavour not in FRAGMENTS:
        raise UserError(f"kernel flavour {flavour!r} is unknown: choose {' or '.join(FRAGMENTS)}.")
    shared = [root / systems_of.TOP / "config" / f"{name}.config" for name in FRAGMENTS[flavour]]
    return [*shared, *(file for system in systems_of.systems(root) for file in system.config)]


def wanted(root: Path, flavour: str, without: Collection[str] = ()) -> dict[str, str]:
    """Return the configuration that a kernel must have. The systems that `without` names are not compiled in.

    Options of Linux that such a system needs stay on, so that two kernels differ only by the systems.
    """
    found = systems_of.systems(root)
    for system in found:
        if stands := [name for name in system.manifest.after if name in without and system.name not in without]:
            raise UserError(
                f"system {stands[0]} cannot be left out: {system.name} stands on it; name one that nothing stands on"
            )
    left_out = {system.manifest.option: "n" for system in found if system.name in without}
    return requested(fragments(root, flavour)) | left_out


def requested(files: Iterable[Path]) -> dict[str, str]:
    """Return the values that the fragments ask for, by symbol; "n" is for a symbol that must stay off.

    No symbol may be asked for twice. The files of systems are an exception: each names all symbols that its system
    needs, and these files have to agree.
    """
    wanted: dict[str, str] = {}
    origin: dict[str, Path] = {}
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if match := _SET.fullmatch(line) or _UNSET.fullmatch(line):
                symbol, value = match[1], match[2] if match.re is _SET else "n"
            elif not line or (line.startswith("#") and "CONFIG_" not in line):
                continue
            else:
                raise UserError(f"{file}:{number}: write CONFIG_X=value or '# CONFIG_X is not set', not {line!r}.")
            again = symbol in wanted and (file.name != "config" or file == origin[symbol])
            if again or wanted.get(symbol, value) != value:
                raise UserError(f"{file}:{number}: CONFIG_{symbol} is in {origin[symbol]} too: keep one.")
            wanted[symbol], origin[symbol] = value, file
    return wanted


def check_config(wanted: dict[str, str], config: Path) -> None:
    """Raise an error that names each symbol that Kconfig did not grant. Kconfig itself drops such symbols silently."""
    text = config.read_text(encoding="utf-8")
    got: dict[str, str] = dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))
    refused = (
        f"CONFIG_{symbol}={value} (it is {got.get(symbol, 'n')})"
        for symbol, value in wanted.items()
        if got.get(symbol, "n") != value
    )
    if report := ", ".join(refused):
        raise UserError(f"{config}: Kconfig refused {report}: mend the fragment in kernel-patches.")


def inputs(root: Path, flavour: str) -> dict[str, str]:
    """Return path to SHA-256 for all that a kernel of this flavour is made of, besides source tree and compiler."""
    return digest.by_path(root, [*fragments(root, flavour), *_code(root)]) | {
        f"{systems_of.TOP}/{name}": digest.of_text(text) for name, text in top_files(root).items()
    }


def governors(tree: Path) -> str:
    """Return the hash of the files from which the idle governors of a patched tree are compiled.

    Two kernels with the same hash have the same governors, even if other sources and patches differ.
    """
    folder = tree / "drivers" / "cpuidle" / "governors"
    files = [folder / "gov.h", *(folder / f"{name}.c" for name in GOVERNORS), tree / "include" / "linux" / "cpuidle.h"]
    return digest.of_files(tree, (file for file in files if file.is_file()))


def build_directory(tree: Path, flavour: str) -> Path:
    """Return the folder where `prepare` puts the config and `build` compiles: one step below the tree."""
    return tree / f"build-{flavour}"


def prepare(tree: Path, root: Path, flavour: str, run: Run, without: Collection[str] = ()) -> None:
    """Patch and configure a pristine tree, or configure an already patched tree for one more flavour.

    If this function fails, the caller must discard the tree: it may be half patched.
    """
    detect_version(tree)
    ours = tree / "drivers" / "lull" / ".prepared"
    state = "".join(f"{digest.of_file(file)} {file.relative_to(root)}\n" for file in _code(root))
    state += "".join(f"{digest.of_text(text)} {name}\n" for name, text in top_files(root).items())
    if not ours.is_file() or ours.read_text(encoding="utf-8") != state:
        if ours.parent.exists():
            raise UserError(f"{ours.parent} exists: set KERNEL_SRC to a Linux 6.12 tree without our series.")
        if (tree / ".config").exists() or (tree / "include" / "config").exists():
            raise UserError(f"{tree} was built in: run `make mrproper` in KERNEL_SRC.")
        for patch in series(root):
            strict = ("--batch", "--forward", "--no-backup-if-mismatch", "--fuzz=0")
            run(["patch", *strict, "-p1", "-i", str(patch.resolve())], tree)
        for target, file in linked_files(root).items():
            (tree / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, tree / target)
        for name, text in top_files(root).items():
            (ours.parent / name).write_text(text, encoding="utf-8")
        ours.write_text(state, encoding="utf-8")
    _configure(tree, wanted(root, flavour, without), build_directory(tree, flavour), run)


def build(
    tree: Path,
    build_dir: Path,
    out: Path,
    root: Path,
    flavour: str,
    run: Run,
    jobs: int,
    without: Collection[str] = (),
) -> None:
    """Compile a prepared tree. After a kill, another call on the same directory continues the build."""
    if build_dir.resolve().parent != tree.resolve():
        raise UserError(f"{build_dir} is not directly below {tree}: the image would depend on its place.")
    check_config(wanted(root, flavour, without), build_dir / ".config")
    run([*_make(tree, build_dir), f"-j{jobs}", "vmlinux", "Image"], tree)
    out.mkdir(parents=True, exist_ok=True)
    for name, product in PRODUCTS.items():
        shutil.copyfile(build_dir / product, out / name)
    (out / GOVERNORS_HASH).write_text(f"{governors(tree)}\n", encoding="utf-8")


def _code(root: Path) -> list[Path]:
    return [*series(root), *linked_files(root).values()]


def _configure(tree: Path, wanted: dict[str, str], build_dir: Path, run: Run) -> None:
    build_dir.mkdir(exist_ok=True)
    merged = build_dir / "fragments.config"
    lines = (
        f"# CONFIG_{symbol} is not set\n" if value == "n" else f"CONFIG_{symbol}={value}\n"
        for symbol, value in wanted.items()
    )
    merged.write_text("".join(lines), encoding="utf-8")
    # A symbol that Kconfig does not know is an error of the fragment, even where it asks for "n".
    strict = (f"KCONFIG_ALLCONFIG={merged.resolve()}", "KCONFIG_WARN_UNKNOWN_SYMBOLS=1", "KCONFIG_WERROR=1")
    run([*_make(tree, build_dir), *strict, "allnoconfig"], tree)
    check_config(wanted, build_dir / ".config")


def _make(tree: Path, build_dir: Path) -> list[str]:
    compiler = f"{CROSS_COMPILE}gcc"
    if shutil.which("ccache"):
        compiler = f"ccache {compiler}"
    # An empty LOCALVERSION keeps a git tree from adding a "+" to the release.
    when = ("KBUILD_BUILD_TIMESTAMP=2026-01-01", "KBUILD_BUILD_VERSION=1", "LOCALVERSION=")
    return [
        *("make", "-C", str(tree.resolve()), f"O={build_dir.resolve()}", "ARCH=arm64"),
        *(f"CROSS_COMPILE={CROSS_COMPILE}", f"CC={compiler}"),
        *(*when, "KBUILD_BUILD_USER=lull", "KBUILD_BUILD_HOST=lull"),
    ]
