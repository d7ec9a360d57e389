# SPDX-License-Identifier: BSD-3-Clause
"""Downloads packages and sources of one Debian suite, with a private apt state in the cache, on any host.

A downloaded file is used until `lull build --refresh`. So builds do not change when Debian's archive does, and need no
network again.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lull.errors import UserError
from lull.files import digest, disk, json_file, locks, paths, whole
from lull.host.progress import Progress

SUITE = "trixie"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
RECORD = "files.json"

_stale: set[str] = set()
"""Names of the folders in `fetched/` that this command has to download again."""
_forbidden: list[str] = []
"""An item for each active `nothing_new`. While there is one, nothing may be downloaded."""


def binary_packages(packages: Sequence[str], architecture: str, closure: bool = True) -> list[Path]:
    """Return the .deb files of these packages and, with `closure`, of all packages that they depend on."""
    name = f"{architecture}{'' if closure else '-alone'}-{digest.of_json(sorted(packages))[:12]}"
    verb = ["install", "--download-only", "--yes", "--no-install-recommends"] if closure else ["download"]
    return _fetched(name, architecture, [*verb, *packages], " ".join(packages), "*.deb")


def source_package(package: str) -> Path:
    """Return the .dsc file of a source package. The files that the .dsc names lie beside it."""
    files = _fetched(f"source-{package}", "arm64", ["source", "--download-only", package], f"{package} source", "*")
    return next(path for path in files if path.suffix == ".dsc")


def renew() -> None:
    """Make this command download all that it needs again. Old files are kept until the new ones are complete."""
    _stale.update(path.name for path in (_state() / "fetched").glob("*"))


@contextmanager
def nothing_new() -> Iterator[None]:
    """Make it an error to ask for a package that was not downloaded before."""
    _forbidden.append("")
    try:
        yield
    finally:
        _forbidden.pop()


def _state() -> Path:
    return paths.cache_dir() / "debian"


def _fetched(name: str, architecture: str, verb: list[str], what: str, pattern: str) -> list[Path]:
    folder = _state() / "fetched" / name
    record = folder / RECORD
    if _forbidden and not record.is_file():
        raise UserError(f"{what}: not downloaded yet; `lull build all` does")
    if name in _stale or not record.is_file():
        with disk.named_when_full(_state()), locks.exclusive(paths.cache_dir() / "locks" / "debian"):
            if name in _stale or not record.is_file():
                with Progress(f"fetch {what} from Debian {SUITE}"), whole.replaced(folder) as new:
                    _fetch(new, architecture, verb, what, pattern)
                    files = (path for path in sorted(new.glob(pattern)) if path.is_file())
                    json_file.write(new / RECORD, digest.by_path(new, files))
                _stale.discard(name)
    return _checked(folder, record)


def _checked(folder: Path, record: Path) -> list[Path]:
    files = []
    for name, expected in json_file.read(record, f"remove {folder} and run again").items():
        path = folder / name
        if not path.is_file() or digest.of_file(path) != expected:
            raise UserError(f"{path}: the downloaded file is missing or corrupt; remove {folder} and run again")
        files.append(path)
    return files


def _fetch(folder: Path, architecture: str, verb: list[str], what: str, pattern: str) -> None:
    (folder / "partial").mkdir()
    apt = _apt(architecture)
    environment = os.environ | {"APT_CONFIG": str(apt), "LC_ALL": "C"}
    update = ["apt-get", "-qq", "-o", "APT::Update::Error-Mode=any", "update"]
    fetch = ["apt-get", "-qq", "-o", f"Dir::Cache::Archives={folder}", *verb]
    for command in (update, fetch):
        result = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)
        if result.returncode:
            said = (result.stderr + result.stdout).strip()
            if "No space left" in said or "enough free space" in said:
                raise disk.full(_state())
            first = next((line for line in said.splitlines() if line.startswith("E:")), said.partition("\n")[0])
            raise UserError(
                f"{what}: cannot be downloaded from Debian {SUITE} ({first.strip()}); "
                "check the network and the machine's apt sources, or set LULL_DEBIAN_MIRROR"
            )
    shutil.rmtree(folder / "partial", ignore_errors=True)
    (folder / "lock").unlink(missing_ok=True)
    if not any(folder.glob(pattern)):
        raise UserError(f"{what}: Debian {SUITE} answered without a file; remove {_state()} and run again")


def _apt(architecture: str) -> Path:
    """Write the configuration of a private apt and return its path: nothing installed, one suite, no root needed."""
    root = _state() / f"apt-{architecture}"
    for sub in ("state/lists/partial", "cache/archives/partial", "etc/apt.conf.d", "etc/preferences.d"):
        (root / sub).mkdir(parents=True, exist_ok=True)
    signed = f"[signed-by={KEYRING}] " if KEYRING.is_file() else ""
    uri = mirror()
    (root / "sources.list").write_text(f"deb {signed}{uri} {SUITE} main\ndeb-src {signed}{uri} {SUITE} main\n")
    (root / "status").write_text("")
    config = root / "apt.conf"
    config.write_text(
        f"""Dir::State "{root}/state";
Dir::State::status "{root}/status";
Dir::Cache "{root}/cache";
Dir::Etc "{root}/etc";
Dir::Etc::SourceList "{root}/sources.list";
Dir::Etc::SourceParts "-";
APT::Architecture "{architecture}";
APT::Architectures "{architecture}";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
"""
    )
    return config


def mirror() -> str:
    """Return the Debian mirror: `LULL_DEBIAN_MIRROR`, or else the mirror that this machine already uses."""
    if chosen := os.environ.get("LULL_DEBIAN_MIRROR"):
        return chosen
    try:
        listed = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT)", "Created-By: Packages"],
            text=True,
            capture_output=True,
            check=False,
        ).stdout
    except FileNotFoundError:
        listed = ""
    for line in listed.splitlines():
        uri, _, component = line.partition(" ")
        if component == "main" and re.search(r"/debian/?$", uri):
            return uri
    raise UserError(
        "apt: this machine's sources name no Debian mirror; set LULL_DEBIAN_MIRROR to one that carries "
        f"{SUITE} (and KERNEL_SRC to use a kernel tree of your own)"
    )
