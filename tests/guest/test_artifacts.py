# SPDX-License-Identifier: BSD-3-Clause
"""Builds that are killed, starved of disk or cut off from the network."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.artifacts import store
from lull.files import digest, paths
from tests.conftest import LAUNCHER, Lull
from tests.killing import kill_when


@pytest.fixture
def seeded_cache(tmp_path: Path) -> Path:
    """An empty cache that has what Debian gave, so that a build of it needs no network."""
    store.build_rootfs()
    store.build_firmware()
    place = tmp_path / "cache"
    kernel = shutil.ignore_patterns("*-alone-*")  # large, and not built here
    shutil.copytree(paths.cache_dir() / "debian" / "fetched", place / "debian" / "fetched", ignore=kernel)
    return place


def test_a_build_killed_again_and_again_ends_in_the_same_artifact(seeded_cache: Path, lull: Lull) -> None:
    cache = {"LULL_CACHE": str(seeded_cache)}
    for moment in ("+ dpkg-deb -x", "+ make -C"):

        def reached(moment: str = moment) -> bool:
            return any(moment in log.read_text() for log in seeded_cache.glob("logs/rootfs-*.log"))

        kill_when(reached, "build", "rootfs", env=cache)
        shutil.rmtree(seeded_cache / "logs")
    ran = lull("build", "rootfs", env=cache)
    assert ran.returncode == 0, ran.stderr
    built = list((seeded_cache / "rootfs").glob("[!.]*/rootfs.cpio"))
    assert [digest.of_file(path) for path in built] == [digest.of_file(store.build_rootfs().file("rootfs.cpio"))]


FULL_THEN_NOT = """
mount -t tmpfs -o size=40m none "$1" && mkdir -p "$1/debian/fetched" && cp -r "$2" "$1/debian/fetched" || exit
export LULL_CACHE="$1"
"$3" build firmware
echo $?
mount -o remount,size=1g "$1"
exec "$3" build firmware
"""


def test_a_full_disk_is_one_sentence_and_the_next_build_goes_on(seeded_cache: Path, tmp_path: Path) -> None:
    source = next((seeded_cache / "debian" / "fetched").glob("source-arm-trusted-firmware"))
    (tmp_path / "small").mkdir()
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    ran = subprocess.run(
        [*unshare, "sh", "-c", FULL_THEN_NOT, "sh", str(tmp_path / "small"), str(source), LAUNCHER],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "2\n"), ran.stderr
    (sentence,) = [line for line in ran.stderr.splitlines() if line.startswith("lull: ")]
    assert "the disk is full" in sentence
    assert "LULL_CACHE" in sentence


def test_no_kernel_source_and_no_network(tmp_path: Path, lull: Lull) -> None:
    cut_off = {
        "LULL_CACHE": str(tmp_path / "cache"),
        "LULL_DEBIAN_MIRROR": "http://127.0.0.1:1/debian",
        "KERNEL_SRC": "",
    }
    ran = lull("build", "kernel", env=cut_off)
    assert ran.returncode == 2
    sentence = ran.stderr.strip().splitlines()[-1]
    assert sentence.startswith("lull: KERNEL_SRC is not set, and linux-source-6.12: cannot be downloaded")
