# SPDX-License-Identifier: BSD-3-Clause
"""The cache: built once, whole or absent, usable after a kill at any moment."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lull.artifacts import cache
from lull.errors import UserError

INPUTS = {"source": "a", "files": {"x": "1"}}


def _write(text: str) -> cache.Build:
    def build(out: Path, work: Path) -> None:
        (out / "product").write_text(text)

    return build


def _refuse(out: Path, work: Path) -> None:
    raise AssertionError("built again")


def test_same_inputs_are_built_once(empty_cache: Path) -> None:
    first = cache.get("thing", INPUTS, _write("one"))
    again = cache.get("thing", dict(reversed(INPUTS.items())), _refuse)
    assert again == first
    assert again.file("product").read_text() == "one"
    assert first.inputs() == INPUTS


def test_other_inputs_are_another_entry(empty_cache: Path) -> None:
    one = cache.get("thing", INPUTS, _write("one"))
    two = cache.get("thing", {**INPUTS, "source": "b"}, _write("two"))
    assert one.path != two.path
    assert one.file("product").read_text() == "one"


def test_a_failed_build_leaves_no_entry_and_keeps_its_work(empty_cache: Path) -> None:
    def fail(out: Path, work: Path) -> None:
        (out / "half").write_text("half")
        (work / "progress").write_text("kept")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        cache.get("thing", INPUTS, fail)
    assert cache.find("thing", INPUTS) is None

    def go_on(out: Path, work: Path) -> None:
        assert list(out.iterdir()) == []
        (out / "product").write_text((work / "progress").read_text())

    assert cache.get("thing", INPUTS, go_on).file("product").read_text() == "kept"
    assert not any((empty_cache / "work").iterdir())


@pytest.mark.parametrize("damage", [lambda path: path.write_text("other"), lambda path: path.unlink()])
def test_a_corrupt_file_is_refused_by_name(empty_cache: Path, damage: object) -> None:
    entry = cache.get("thing", INPUTS, _write("one"))
    damage(entry.path / "product")  # type: ignore[operator]
    with pytest.raises(UserError, match=f"{entry.path}/product: the cached thing is corrupt .* remove {entry.path}"):
        entry.file("product")


def test_a_corrupt_manifest_is_refused_by_name(empty_cache: Path) -> None:
    entry = cache.get("thing", INPUTS, _write("one"))
    (entry.path / cache.MANIFEST).write_text("{")
    with pytest.raises(UserError, match=r"entry\.json: Invalid JSON: .*; remove .* and run the command again"):
        entry.file("product")


def test_a_full_disk_is_one_sentence(empty_cache: Path) -> None:
    def fill(out: Path, work: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(UserError, match=r"the disk is full \(\d+ MiB left\); free some space or point LULL_CACHE"):
        cache.get("thing", INPUTS, fill)
    assert cache.get("thing", INPUTS, _write("one")).file("product").read_text() == "one"


def test_a_killed_build_is_waited_for_and_taken_up(empty_cache: Path) -> None:
    """The build's own child outlives the kill and still holds the lock, so nobody shares its folder meanwhile."""
    killed = textwrap.dedent("""
        import os, signal, sys
        from lull.artifacts import cache
        from lull.files import locks
        from lull.host import process

        def build(out, work):
            (work / "progress").write_text("kept")
            child = process.start(
                ["python3", "-c", "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
                 "open('ready', 'w').close(); time.sleep(1); open('late', 'w').close()"],
                cwd=work,
            )
            while not (work / "ready").exists():
                pass
            os.kill(os.getpid(), signal.SIGKILL)

        cache.get("thing", {"source": "a", "files": {"x": "1"}}, build)
    """)
    victim = subprocess.run([sys.executable, "-c", killed], check=False)
    assert victim.returncode == -signal.SIGKILL
    assert cache.find("thing", INPUTS) is None

    def go_on(out: Path, work: Path) -> None:
        assert (work / "late").exists(), "the orphan was still at work"
        (out / "product").write_text((work / "progress").read_text())

    assert cache.get("thing", INPUTS, go_on).file("product").read_text() == "kept"
