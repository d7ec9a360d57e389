# SPDX-License-Identifier: BSD-3-Clause
"""Boots that fail, with a program in gem5's place: what is said, and what is kept of them."""

from pathlib import Path

import pytest

from lull.artifacts import cache
from lull.engines import gem5
from lull.engines.base import Artifacts
from lull.errors import LimitReached, UserError
from lull.platform import machine
from lull.platform.load import load_platform
from tests import fake_gem5


def _entry(kind: str, name: str) -> cache.Entry:
    def build(out: Path, _work: Path) -> None:
        (out / name).write_text(name)

    return cache.get(kind, {}, build)


@pytest.fixture
def logs(empty_cache: Path) -> Path:
    return empty_cache / "logs"


def _boot(folder: Path) -> None:
    parts = {"kernel": "Image", "rootfs": "rootfs.cpio", "firmware": "bl31.bin"}
    artifacts = Artifacts(**{kind: _entry(kind, name) for kind, name in parts.items()})
    gem5.Gem5(str(fake_gem5.install(folder))).checkpoint_of(load_platform("tiny"), artifacts)


def test_a_gem5_that_ends_before_there_is_a_console_is_quoted(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fake_gem5.BEHAVIOUR, fake_gem5.FAILS_IN_CHECKPOINT[fake_gem5.BEHAVIOUR])
    with pytest.raises(UserError, match=r"gem5 ended with status 1: no disk \(whole log: .*engine\.log\)"):
        _boot(tmp_path)
    (kept,) = logs.glob("checkpoint-*")
    assert (kept / "engine.log").read_text() == "lull-gem5: no disk\n"


def test_no_option_lengthens_a_boot_so_none_is_named(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point whose machine does not boot has failed. It did not hang, and is run again without being asked to."""
    monkeypatch.setenv(fake_gem5.BEHAVIOUR, fake_gem5.HANGS_IN_CHECKPOINT[fake_gem5.BEHAVIOUR])
    monkeypatch.setattr(gem5, "BOOT_WALL_S", 0.0)
    with pytest.raises(UserError, match="tiny did not boot within 0 s here; run it on a machine") as raised:
        _boot(tmp_path)
    assert not isinstance(raised.value, LimitReached)
    assert list(logs.glob("checkpoint-*/engine.log"))


def test_settings_are_refused_in_the_words_of_gem5_configs(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program in gem5's place reads them as gem5 does, so a stand-in boots nothing that gem5 would not."""
    told = machine.describe
    monkeypatch.setattr(machine, "describe", lambda platform: {**told(platform), "voltage": 1})
    with pytest.raises(UserError, match=r"gem5 ended with status 1: .*: soc\.voltage: unknown key; remove it"):
        _boot(tmp_path)
    assert list(logs.glob("checkpoint-*/engine.log"))
