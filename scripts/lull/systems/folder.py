# SPDX-License-Identifier: BSD-3-Clause
"""Finds the kernel systems: folders of `kernel-patches/` with a `system.yaml`. They are in no other list.

A folder has `system.yaml`, `Kconfig`, `Makefile` and code. It may also have `hooks/` (patches to existing files of
Linux, in the order of their names), `config` (a fragment with the symbols that it needs) and `selftests/`.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import explained, quoted
from lull.files.paths import ROOT
from lull.systems.manifest import Setting, SystemManifest

TOP = "kernel-patches"
FILE = "system.yaml"
MANUAL = "docs/adding-a-mechanism.md"
NOT_SYSTEMS = ("config",)


@dataclass(frozen=True)
class System:
    folder: Path
    manifest: SystemManifest

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def config(self) -> list[Path]:
        """Return the system's fragment of the configuration, if it has one."""
        return [file for file in (self.folder / "config",) if file.is_file()]

    @property
    def hooks(self) -> list[Path]:
        return sorted((self.folder / "hooks").glob("*.patch"))

    @property
    def selftests(self) -> Path:
        return self.folder / "selftests"


def systems(root: Path) -> list[System]:
    """Return the systems. Each is after those in its `after`; otherwise they are ordered by name."""
    folders = sorted(path.parent for path in (root / TOP).glob("*/Kconfig"))
    found = {folder.name: _load(folder) for folder in folders if folder.name not in NOT_SYSTEMS}
    for system in found.values():
        if unknown := [name for name in system.manifest.after if name not in found]:
            raise UserError(
                f"{_shown(system.folder)}: after: there is no system `{unknown[0]}`; use {quoted(sorted(found))}"
            )
    ordered: list[System] = []
    while len(ordered) < len(found):
        there = {system.name for system in ordered}
        ready = [one for one in found.values() if one.name not in there and there.issuperset(one.manifest.after)]
        if not ready:
            rest = [one for one in found.values() if one.name not in there]
            raise UserError(
                f"{_shown(rest[0].folder)}: after: {quoted(one.name for one in rest)} wait for each other; drop one"
            )
        ordered.append(ready[0])
    return ordered


@cache
def known() -> tuple[System, ...]:
    """Return the systems of this checkout, which stays as it is while a command runs."""
    return tuple(systems(ROOT))


def standing_on(name: str) -> list[str]:
    """Return the systems that depend on this one: a kernel without this one cannot have them."""
    found: list[str] = []
    for system in known():
        if {name, *found} & set(system.manifest.after):
            found.append(system.name)
    return found


@cache
def settings() -> dict[str, Setting]:
    """Return the settings of all systems by `<system>.<key>`, in the order in which a run applies them."""
    return {f"{system.name}.{key}": setting for system in known() for key, setting in system.manifest.settings.items()}


def find(name: str) -> System:
    for system in known():
        if system.name == name:
            return system
    raise UserError(f"unknown system `{name}`; use one of {quoted(system.name for system in known())}")


def _load(folder: Path) -> System:
    file = folder / FILE
    name = _shown(folder)
    if not file.is_file():
        raise UserError(f"{name}: missing; write what the system is and what may be set ({MANUAL})")
    data = yaml_file.read(file, name, "system", MANUAL)
    with explained(name, SystemManifest):
        manifest = SystemManifest.model_validate(data)
    if manifest.name != folder.name:
        raise UserError(f"{name}: name: `{manifest.name}` is not the name of its folder; write {folder.name}")
    if not (folder / "Makefile").is_file():
        raise UserError(f"{name}: no Makefile beside it; add one that says which files are compiled ({MANUAL})")
    return System(folder, manifest)


def _shown(folder: Path) -> str:
    return yaml_file.shown(folder / FILE)
