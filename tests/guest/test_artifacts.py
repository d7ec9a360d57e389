# SPDX-License-Identifier: BSD-3-Clause
"""Builds that are killed, starved of disk or cut off from the network."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lull import digest, paths
from lull.artifacts import store
from tests.conftest import Lull

LAUNCHER = str(paths.ROOT / "lull")


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
    environment = {**os.environ, "LULL_CACHE": str(seeded_cache)}
    for attempt in range(12):
        child = subprocess.Popen(
            [LAUNCHER, "build", "rootfs"], env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(0.3 * attempt)
        child.send_signal(signal.SIGKILL)
        child.wait()
    ran = lull("build", "rootfs", env={"LULL_CACHE": str(seeded_cache)})
    assert ran.returncode == 0, ran.stderr
    built = list((seeded_cache / "rootfs").glob("[!.]*/rootfs.cpio"))
    assert [digest.of_file(path) for path in built] == [digest.of_file(store.build_rootfs().file("rootfs.cpio"))]


def test_a_full_disk_is_one_sentence_and_the_next_build_succeeds(
    seeded_cache: Path, tmp_path: Path, lull: Lull
) -> None:
    source = next((seeded_cache / "debian" / "fetched").glob("source-arm-trusted-firmware"))
    full = (
        'mount -t tmpfs -o size=40m none "$1" && mkdir -p "$1/debian/fetched" && cp -r "$2" "$1/debian/fetched" && '
        'LULL_CACHE="$1" exec "$3" build firmware'
    )
    (tmp_path / "small").mkdir()
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    ran = subprocess.run(
        [*unshare, "sh", "-c", full, "sh", str(tmp_path / "small"), str(source), LAUNCHER],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 2, ran.stderr
    sentence = ran.stderr.strip().splitlines()[-1]
    assert "the disk is full" in sentence
    assert "LULL_CACHE" in sentence
    again = lull("build", "firmware", env={"LULL_CACHE": str(seeded_cache)})
    assert again.returncode == 0, again.stderr


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
