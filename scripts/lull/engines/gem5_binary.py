# SPDX-License-Identifier: BSD-3-Clause
"""Finds the user's gem5 and checks it: unmodified, 24.0 or newer, with ARM."""

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.errors import UserError
from lull.files import digest, json_file, paths

OLDEST = (24, 0)
NAMES = ("gem5.opt", "gem5.fast", "gem5")
PROBE = paths.ROOT / "gem5-configs" / "probe.py"


@dataclass(frozen=True)
class Gem5Binary:
    path: str
    version: str
    sha256: str


class _Answer(TypedDict):
    """The answer of `gem5-configs/probe.py`."""

    version: str
    isas: list[str]


class _Facts(_Answer):
    sha256: str


_ANSWER, _FACTS = TypeAdapter(_Answer), TypeAdapter(_Facts)


def find(chosen: str | None = None) -> Gem5Binary:
    """Return the binary of `--gem5`, `$GEM5` or `PATH`, in this order, after checking its version and ISA."""
    path = _located(chosen)
    facts = _probed(path)
    version = facts["version"]
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers < OLDEST:
        raise UserError(f"{path}: gem5 {version} is too old; lull needs {'.'.join(map(str, OLDEST))} or newer")
    if "ARM" not in facts["isas"]:
        raise UserError(f"{path}: this gem5 was built without ARM; build its ARM configuration and name it by --gem5")
    return Gem5Binary(str(path), version, facts["sha256"])


def is_there() -> bool:
    """Return true if there is a gem5 in `$GEM5` or `PATH`, working or not."""
    return bool(os.environ.get("GEM5")) or any(shutil.which(name) for name in NAMES)


def _located(chosen: str | None) -> Path:
    for origin, value in (("--gem5", chosen), ("GEM5", os.environ.get("GEM5"))):
        if value:
            found = shutil.which(value)
            if found is None:
                raise UserError(f"{origin}={value}: no executable there; name a gem5 binary built for ARM")
            return Path(found).resolve()
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found).resolve()
    raise UserError(
        "gem5: no binary found (looked at --gem5, GEM5 and PATH); "
        "build gem5 24.0 or newer for ARM by its own documentation, or use --engine qemu"
    )


def _probed(path: Path) -> _Facts:
    """Return what gem5 says about itself. The answer is cached until the file changes: asking takes a second."""
    stat = path.stat()
    key = digest.of_json([str(path), stat.st_size, stat.st_mtime_ns, digest.of_file(PROBE)])[:20]
    record = paths.cache_dir() / "gem5" / f"{key}.json"
    with suppress(OSError, ValidationError):
        return _FACTS.validate_json(record.read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        answer = Path(scratch) / "answer.json"
        try:
            result = subprocess.run(
                [str(path), "-d", scratch, str(PROBE), str(answer)],
                capture_output=True, text=True, errors="replace", timeout=120, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(f"{path}: cannot be run as gem5 ({error}); name another binary by --gem5") from error
        try:
            facts = _ANSWER.validate_json(answer.read_bytes())
        except (OSError, ValidationError) as error:
            said = (result.stderr.strip() or result.stdout.strip()).splitlines()
            raise UserError(
                f"{path}: does not answer as gem5 does ({said[-1] if said else 'no output'}); "
                "name another binary by --gem5"
            ) from error
    found: _Facts = {**facts, "sha256": digest.of_file(path)}
    record.parent.mkdir(parents=True, exist_ok=True)
    json_file.write(record, dict(found))
    return found


def as_manifest(binary: Gem5Binary) -> dict[str, object]:
    return {"name": "gem5", **asdict(binary)}
