# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run's kernel had the governors that a what-if asks."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lull.artifacts import cache, governors, kernel, store
from lull.artifacts.cache import Entry
from lull.engines.base import Artifacts
from lull.files import digest, paths
from lull.rundir.folder import RunDir
from lull.whatif import source

RECORDINGS = sorted(path.parent for path in (paths.ROOT / "results" / "recordings").glob("*/manifest.json"))


def made_by(folder: Path) -> dict[str, Any]:
    about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    kernel_of: dict[str, Any] = about["artifacts"]["kernel"]
    return kernel_of


@pytest.fixture(scope="module")
def mine(request: pytest.FixtureRequest) -> str:
    """The hash of the governors that this checkout makes."""
    request.getfixturevalue("governors")
    return kernel.governors(governors._patched().path)


def test_the_recordings_kernel_had_the_governors_of_this_checkout(mine: str) -> None:
    assert len(RECORDINGS) == 4
    for folder in RECORDINGS:
        assert governors.of_run(made_by(folder)) is True, folder


def test_the_hash_that_a_manifest_keeps_decides(mine: str) -> None:
    own = made_by(RECORDINGS[0])
    assert governors.of_run({**own, "governors": mine}) is True
    assert governors.of_run({**own, "governors": digest.of_text("another")}) is False


def test_a_kernel_of_the_same_inputs_has_the_same_governors_and_another_is_not_known(mine: str) -> None:
    _, identity = store.kernel_source()
    files = digest.by_path(paths.ROOT, kernel.series(paths.ROOT))
    assert governors.of_run({"source": identity, "files": files}) is True
    assert governors.of_run({"source": digest.of_text("another"), "files": files}) is None
    assert governors.of_run({"source": identity, "files": dict.fromkeys(files, digest.of_text("another"))}) is None
    assert governors.of_run({"source": identity}) is None
    assert governors.of_run({}) is None


def test_a_manifest_has_the_hash_of_a_kernel_that_keeps_it(tmp_path: Path) -> None:
    """And the kernel's key is that of the inputs alone."""
    inputs: dict[str, object] = {"source": "a", "files": {"x": "1"}}
    entries = []
    for name in ("kernel", "rootfs"):
        (tmp_path / name).mkdir()
        record = {"kind": name, "inputs": inputs, "files": {}}
        (tmp_path / name / cache.MANIFEST).write_text(json.dumps(record), encoding="utf-8")
        entries.append(Entry(name, cache.key_of(inputs), tmp_path / name))
    artifacts = Artifacts(entries[0], entries[1], None)
    assert artifacts.manifest()["kernel"] == {"key": cache.key_of(inputs), **inputs}
    (tmp_path / "kernel" / kernel.GOVERNORS_HASH).write_text("cafe\n", encoding="utf-8")
    assert artifacts.manifest()["kernel"] == {"key": cache.key_of(inputs), **inputs, "governors": "cafe"}
    assert artifacts.manifest()["rootfs"] == {"key": cache.key_of(inputs), **inputs}


def test_a_what_if_says_what_is_known_of_the_governors(tmp_path: Path, mine: str) -> None:
    replay = source.load(RECORDINGS[0])
    about = json.loads((RECORDINGS[0] / "manifest.json").read_text(encoding="utf-8"))
    shutil.copytree(RECORDINGS[0], tmp_path / "run")
    said = {}
    unknown = {"source": "cafe", "governors": None}
    for name, own in (("same", {"governors": mine}), ("other", {"governors": "cafe"}), ("unknown", unknown)):
        changed = {**about["artifacts"], "kernel": {**about["artifacts"]["kernel"], **own}}
        (tmp_path / "run" / "manifest.json").write_text(json.dumps({**about, "artifacts": changed}), encoding="utf-8")
        rundir = RunDir.open(tmp_path / "run")
        notes = source._kept(rundir, rundir.spec().platform, replay.chains, replay.entries, replay.again)
        said[name] = [note.partition(" built with")[0] for note in notes if "kernel" in note]
    assert said == {"same": [], "other": ["the run's kernel was"], "unknown": ["the run's kernel may have been"]}
