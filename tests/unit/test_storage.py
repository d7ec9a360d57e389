# SPDX-License-Identifier: BSD-3-Clause
"""The drives in platforms/storage: what their files say, where a guest finds it, and what is refused."""

from pathlib import Path

import pytest
import yaml

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform import devicetree, storage
from lull.platform.load import load_platform
from lull.systems import folder


@pytest.mark.parametrize("name", storage.list_storage())
def test_a_read_alone_is_what_the_maker_says(name: str) -> None:
    """The maker's reads and writes a second at queue depth 1, of 4 KiB each."""
    published = {"sata-850-pro": (10_000, 36_000), "nvme-980-pro": (22_000, 60_000)}[name]
    drive = storage.load_storage(name)
    for operation, a_second in zip((drive.read, drive.write), published, strict=True):
        assert 1e9 / (operation.ns + 4 * operation.ns_per_kib) == pytest.approx(a_second, rel=0.01)


@pytest.mark.parametrize("engine", ["gem5", "qemu"])
def test_the_guest_finds_each_drive(engine: devicetree.Engine) -> None:
    platform = load_platform("server")
    tree = devicetree.render(platform, engine, "")
    assert tree.count('label = "ssd"') == 1
    for name in platform.devices.storage:
        drive = storage.load_storage(name)
        assert f'label = "{name}"' in tree
        assert f"lull,read-ns = <{drive.read.ns} {drive.read.ns_per_kib}>" in tree
        assert f"lull,channels = <{drive.channels}>" in tree


def test_a_platform_without_storage_has_none() -> None:
    assert "model-0" not in devicetree.render(load_platform("tiny"), "gem5", "")


def test_the_setting_has_every_drive() -> None:
    assert set(folder.settings()["ssd.model"].choices or []) == set(storage.list_storage())


def test_an_unknown_drive_is_refused(tmp_path: Path) -> None:
    data = yaml.safe_load((ROOT / "platforms" / "server.yaml").read_text())
    data["devices"]["storage"] = ["floppy"]
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(UserError, match=r"devices\.storage\[0\]: unknown storage device `floppy`; use one of"):
        load_platform(str(file))
    with pytest.raises(UserError, match="unknown storage device `floppy`; use one of `nvme-980-pro`, `sata-850-pro`"):
        storage.load_storage("floppy")
