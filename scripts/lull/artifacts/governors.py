# SPDX-License-Identifier: BSD-3-Clause
"""Builds the kernel's idle governors as a library for this machine: the kernel's source files with a thin shim.

Only the governors and two headers of the kernel's source are unpacked. Hooks that change a governor are applied, and
the configuration is the kernel's, so that the library decides as the guest does.
"""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from functools import cache as once
from pathlib import Path

from lull.artifacts import cache, kernel, store
from lull.artifacts.cache import Entry
from lull.errors import UserError
from lull.files import digest, paths
from lull.host.process import Run, Runner
from lull.host.progress import Progress

LIBRARY = "governors.so"
FLAVOUR = "default"
NAMES = kernel.GOVERNORS

_FOLDER = "drivers/cpuidle"
_HEADERS = ("include/linux/cpuidle.h", "include/linux/kconfig.h")
_INCLUDE = re.compile(r"^#include <([^>]+)>", re.MULTILINE)
_CHANGES = f"+++ b/{_FOLDER}/governors/"


def build(shim: Path) -> Entry:
    """Build the library, or find it in the cache under the hash of source, configuration, shim and compiler."""
    source = _patched()
    config = kernel.wanted(paths.ROOT, FLAVOUR)
    inputs: dict[str, object] = {
        "source": source.key,
        "config": config,
        "shim": {path.name: digest.of_file(path) for path in sorted(shim.glob("*.[ch]"))},
        "compiler": _compiler_version(),
    }

    def make(out: Path, work: Path, run: Run) -> None:
        include = work / "include"
        shutil.rmtree(include, ignore_errors=True)
        _headers(source.path, config, include)
        _compile(source.path, include, shim, out / LIBRARY, run)

    return _built("governors", "kernel's governors for this machine", 5, inputs, make)


def of_run(made_by: Mapping[str, object]) -> bool | None:
    """Return true if a run's kernel, by its manifest, had the governors that `build` compiles; None if it is not known.

    Manifests of older kernels have no hash of the governors. They have hashes of the whole source and of whole patches,
    which may differ for other reasons.
    """
    if (theirs := made_by.get("governors")) is not None:
        return bool(theirs == kernel.governors(_patched().path))
    files, mine = made_by.get("files"), digest.by_path(paths.ROOT, hooks())
    same = (
        made_by.get("source") == store.kernel_source()[1] and isinstance(files, dict) and mine.items() <= files.items()
    )
    return True if same else None


def version() -> str:
    """Return the hash of the kernel source and hooks from which `build` takes the governors, without unpacking."""
    return cache.key_of(_sources(store.kernel_source()[1]))


def _sources(identity: str) -> dict[str, object]:
    return {"source": identity, "hooks": digest.by_path(paths.ROOT, hooks())}


def _patched() -> Entry:
    """Return the governors' source files, patched as for the kernel."""
    source, identity = store.kernel_source()

    def make(out: Path, work: Path, run: Run) -> None:
        _unpack(source, out, work, run)
        for hook in hooks():
            run(["patch", "--batch", "--forward", "--fuzz=0", "-p1", "-i", str(hook.resolve())], out)

    return _built("governor-sources", "source of the kernel's governors", 6, _sources(identity), make)


def _built(
    kind: str, what: str, lines: int, inputs: dict[str, object], build: Callable[[Path, Path, Run], None]
) -> Entry:
    log = paths.cache_dir() / "logs" / f"{kind}-{cache.key_of(inputs)}.log"

    def make(out: Path, work: Path) -> None:
        with Progress(f"build the {what}", lines) as progress:
            build(out, work, Runner(what, log, progress))

    return cache.get(kind, inputs, make)


def hooks() -> list[Path]:
    """Return the patches of the series that change a governor."""
    return [hook for hook in kernel.series(paths.ROOT) if _CHANGES in hook.read_text(encoding="utf-8")]


def _unpack(source: Path, tree: Path, work: Path, run: Run) -> None:
    if source.is_dir():
        shutil.copytree(source / _FOLDER, tree / _FOLDER)
        for header in _HEADERS:
            (tree / header).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / header, tree / header)
        return
    archive, unpacked = source, work / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    if source.suffix == ".deb":
        run(["dpkg-deb", "-x", str(source), str(unpacked)], tree)
        archive = next((unpacked / "usr" / "src").glob("linux-source-*.tar.xz"))
    elif not tarfile.is_tarfile(source):
        raise UserError(f"KERNEL_SRC={source}: not a tar archive; point it at a Linux 6.12 tree or tarball")
    wanted = [f"*/{_FOLDER}/*", *(f"*/{header}" for header in _HEADERS)]
    run(["tar", "-xf", str(archive), "-C", str(tree), "--strip-components=1", "--wildcards", *wanted], tree)
    shutil.rmtree(unpacked)


def _headers(tree: Path, config: dict[str, str], include: Path) -> None:
    """Write the headers that the governors include: two of the kernel, and empty ones for what the shim replaces."""
    files = [tree / header for header in _HEADERS] + [tree / _FOLDER / "governors" / f"{name}.c" for name in NAMES]
    named = {name for file in files for name in _INCLUDE.findall(file.read_text(encoding="utf-8"))}
    for name in named:
        (include / name).parent.mkdir(parents=True, exist_ok=True)
        (include / name).touch()
    for header in _HEADERS:
        shutil.copyfile(tree / header, include / header.removeprefix("include/"))
    lines = [
        f"#define CONFIG_{name} {1 if value == 'y' else value}\n" for name, value in config.items() if value != "n"
    ]
    lines += [f"#define HZ {name.removeprefix('HZ_')}\n" for name in config if re.fullmatch(r"HZ_\d+", name)]
    (include / "generated" / "autoconf.h").write_text("".join(lines), encoding="utf-8")


def _compile(tree: Path, include: Path, shim: Path, out: Path, run: Run) -> None:
    flags = ["-O2", "-fPIC", "-fwrapv", "-fno-strict-aliasing", "-std=gnu11", "-Wall", "-Werror=implicit"]
    # A governor may leave functions of a header unused.
    flags += ["-Wno-unused-function", "-Wno-unused-variable", f"-I{include}", f"-I{shim}", "-include", "shim.h"]
    objects: list[str] = []
    for file in [*(tree / _FOLDER / "governors" / f"{name}.c" for name in NAMES), *sorted(shim.glob("*.c"))]:
        objects.append(str(include.parent / f"{file.stem}.{len(objects)}.o"))
        run([_compiler(), *flags, "-c", str(file), "-o", objects[-1]], include.parent)
    run([_compiler(), "-shared", "-o", str(out), *objects], include.parent)


def _compiler() -> str:
    return os.environ.get("CC", "gcc")


@once
def _compiler_version() -> str:
    try:
        shown = subprocess.run([_compiler(), "--version"], text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(f"{_compiler()}: no compiler of this machine found; install gcc, or name one in CC") from error
    return shown.splitlines()[0]
