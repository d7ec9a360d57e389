# SPDX-License-Identifier: BSD-3-Clause
"""The kernel: a Linux 6.12 tree, our series, our systems and a config made of fragments.

Everything that decides the result is under `kernel-patches/`, in the source tree and in the compiler; the
time, the user, the host and the directory are not. The build directory lies inside the tree, because the
kernel then names its own files by relative paths: the image is the same wherever the tree is, and ccache
finds what was compiled in another tree.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from lull.artifacts.series import patches
from lull.artifacts.toolchain import CROSS_COMPILE
from lull.errors import UserError
from lull.files import digest
from lull.host.process import Run

SOURCE_PACKAGE = "linux-source-6.12"
_COMMON = ("base", "power", "trace", "input", "net")
FRAGMENTS = {"default": _COMMON, "debug": (*_COMMON, "debug"), "race": (*_COMMON, "race")}
PRODUCTS = {
    "Image": "arch/arm64/boot/Image",
    "vmlinux": "vmlinux",
    "System.map": "System.map",
    "config": ".config",
}

# Folders of kernel-patches/ that are not systems.
_NOT_SYSTEMS = ("config", "hooks")
_SOURCE_FILES = re.compile(r"Kconfig|Makefile|.*\.[chS]")
_SET = re.compile(r'CONFIG_(\w+)=(y|-?[0-9]+|0x[0-9a-f]+|"[^"]*")')
_UNSET = re.compile(r"# CONFIG_(\w+) is not set")


def detect_version(tree: Path, called: Path | None = None) -> str:
    """The version of a kernel tree, which must be 6.12: the series is written against no other.

    `called` is what the user knows the tree by.
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
    return patches(root / "kernel-patches" / "series")


def systems(root: Path) -> list[Path]:
    """The folders whose code is linked into the kernel."""
    folders = (path.parent for path in (root / "kernel-patches").glob("*/Kconfig"))
    return sorted(folder for folder in folders if folder.name not in _NOT_SYSTEMS)


def linked_files(root: Path) -> dict[str, Path]:
    """Each file of ours by its path in the kernel tree; notes and editor leftovers stay out."""
    top = root / "kernel-patches"
    files = [top / "Kconfig", top / "Makefile"]
    for system in systems(root):
        files += (path for path in sorted(system.rglob("*")) if _SOURCE_FILES.fullmatch(path.name))
    return {f"drivers/lull/{path.relative_to(top)}": path for path in files if path.is_file()}


def fragments(root: Path, flavour: str) -> list[Path]:
    """The config fragments of a flavour, in the order in which they are read."""
    if flavour not in FRAGMENTS:
        raise UserError(f"kernel flavour {flavour!r} is unknown: choose {' or '.join(FRAGMENTS)}.")
    return [root / "kernel-patches" / "config" / f"{name}.config" for name in FRAGMENTS[flavour]]


def requested(files: Iterable[Path]) -> dict[str, str]:
    """What the fragments ask for, by symbol; "n" for what must stay off. No symbol may be asked for twice."""
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
            if symbol in wanted:
                raise UserError(f"{file}:{number}: CONFIG_{symbol} is in {origin[symbol]} too: keep one.")
            wanted[symbol], origin[symbol] = value, file
    return wanted


def check_config(wanted: dict[str, str], config: Path) -> None:
    """Kconfig drops what it cannot grant without a word; here that is an error which names each symbol."""
    text = config.read_text(encoding="utf-8")
    got: dict[str, str] = dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))
    refused = (
        f"CONFIG_{symbol}={value} (it is {got.get(symbol, 'n')})"
        for symbol, value in wanted.items()
        if got.get(symbol, "n") != value
    )
    if report := ", ".join(refused):
        raise UserError(f"{config}: Kconfig refused {report}: mend the fragment in kernel-patches/config.")


def inputs(root: Path, flavour: str) -> dict[str, str]:
    """What a kernel of this flavour is made of, besides source tree and compiler: path to SHA-256."""
    return digest.by_path(root, [root / "kernel-patches" / "series", *fragments(root, flavour), *_code(root)])


def build_directory(tree: Path, flavour: str) -> Path:
    """Where `prepare` puts the config and `build` compiles: one step below the tree."""
    return tree / f"build-{flavour}"


def prepare(tree: Path, root: Path, flavour: str, run: Run) -> None:
    """Make a pristine tree ours, or a tree that is ours already ready for one more flavour.

    The caller discards a tree on which this did not return: it may be half patched.
    """
    detect_version(tree)
    ours = tree / "drivers" / "lull" / ".prepared"
    state = "".join(f"{digest.of_file(file)} {file.relative_to(root)}\n" for file in _code(root))
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
        ours.write_text(state, encoding="utf-8")
    _configure(tree, root, flavour, run)


def build(tree: Path, build_dir: Path, out: Path, root: Path, flavour: str, run: Run, jobs: int) -> None:
    """Compile a prepared tree. Called again on the same directory after a kill, it continues."""
    if build_dir.resolve().parent != tree.resolve():
        raise UserError(f"{build_dir} is not directly below {tree}: the image would depend on its place.")
    check_config(requested(fragments(root, flavour)), build_dir / ".config")
    run([*_make(tree, build_dir), f"-j{jobs}", "vmlinux", "Image"], tree)
    out.mkdir(parents=True, exist_ok=True)
    for name, product in PRODUCTS.items():
        shutil.copyfile(build_dir / product, out / name)


def _code(root: Path) -> list[Path]:
    return [*series(root), *linked_files(root).values()]


def _configure(tree: Path, root: Path, flavour: str, run: Run) -> None:
    files = fragments(root, flavour)
    wanted = requested(files)
    build_dir = build_directory(tree, flavour)
    build_dir.mkdir(exist_ok=True)
    merged = build_dir / "fragments.config"
    merged.write_text("".join(file.read_text(encoding="utf-8") for file in files), encoding="utf-8")
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
