# SPDX-License-Identifier: BSD-3-Clause
"""Latencies per run: one boot serves them all."""

import json
from pathlib import Path
from typing import Any

import pytest

from lull.artifacts.cache import Entry
from lull.engines import gem5_binary
from lull.engines.base import Artifacts
from lull.engines.gem5 import Gem5
from lull.engines.gem5_binary import Gem5Binary
from lull.errors import UserError
from lull.files import digest
from lull.files.paths import ROOT
from lull.platform import devicetree
from lull.platform.load import load_platform
from lull.platform.schema import Platform
from lull.runspec import advertised
from lull.runspec.settings import Settings, resolve


def boot_of(settings: Settings) -> Platform:
    return advertised.boot_platform(settings.platform, settings.told_at_boot)


@pytest.fixture
def key_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The key of the checkpoint that a run restores, from an engine that has no binary behind it."""

    def entry(kind: str, *names: str) -> Entry:
        folder = tmp_path / kind
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes(b"x" * 1000)
        files = {name: digest.of_file(folder / name) for name in names}
        (folder / "entry.json").write_text(json.dumps({"kind": kind, "inputs": {}, "files": files}))
        return Entry(kind, kind, folder)

    monkeypatch.setattr(gem5_binary, "find", lambda chosen: Gem5Binary("/nowhere", "24.0.0.1", "0"))
    engine = Gem5()
    artifacts = Artifacts(entry("kernel", "Image"), entry("rootfs", "rootfs.cpio"), entry("firmware", "bl31.bin"))
    return lambda *words, platform="tiny": digest.of_json(
        engine.checkpoint_inputs(boot_of(resolve(platform, words)), artifacts)
    )


@pytest.mark.parametrize("part", ["kernel", "rootfs", "firmware"])
def test_a_checkpoint_belongs_to_its_artifacts(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of equal size have different keys; the device tree, in which the image's size is, does not tell them."""
    monkeypatch.setattr(gem5_binary, "find", lambda chosen: Gem5Binary("/nowhere", "24.0.0.1", "0"))
    engine, platform = Gem5(), boot_of(resolve("tiny", ()))

    def inputs(changed: str) -> dict[str, object]:
        entries = []
        for kind, name in (("kernel", "Image"), ("rootfs", "rootfs.cpio"), ("firmware", "bl31.bin")):
            key = "other" if kind == changed else "same"
            folder = tmp_path / kind
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(b"x" * 1000)
            files = {name: digest.of_file(folder / name)}
            (folder / "entry.json").write_text(json.dumps({"kind": kind, "inputs": {}, "files": files}))
            entries.append(Entry(kind, key, folder))
        return engine.checkpoint_inputs(platform, Artifacts(*entries))

    assert inputs(part) != inputs("none")


@pytest.mark.parametrize(
    "word",
    [
        *(f"cstates.C3.{key}=50" for key in ("entry_us", "exit_us", "flush_us", "refill_us", "fill_us")),
        "clusters.big.cstates.C3.actual.exit_us=50",
        "shadow.cluster.cstates.C4.actual.entry_us=7.5",
        "cstates.C4.advertised.exit_us=1300",
        "cstates.C4.advertised.residency_us=9000",
        "clusters.big.cstates.C4.advertised.entry_us=450",
        "governor=teo",
        "idle.deepest=C4",
        "routing=always-shadow",
    ],
)
def test_what_needs_no_new_boot(word: str, key_of: Any) -> None:
    assert key_of(word) == key_of()


@pytest.mark.parametrize("word", ["memory.size_mib=256", "shadow.enabled=false", "clusters.big.capacity_dmips_mhz=900"])
def test_what_needs_one(word: str, key_of: Any) -> None:
    assert key_of(word) != key_of()
    assert key_of(word, "cstates.C4.advertised.exit_us=1300") == key_of(word)


def test_the_files_own_advertised_latencies_are_booted(tmp_path: Path, key_of: Any) -> None:
    file = tmp_path / "mine.yaml"
    text = (ROOT / "platforms" / "tiny.yaml").read_text()
    file.write_text(text.replace("residency_us: 2500", "residency_us: 2600"))
    assert key_of(platform=str(file)) != key_of()
    assert key_of("cstates.C4.advertised.residency_us=2500", platform=str(file)) == key_of(platform=str(file))


def test_the_device_tree_is_that_of_the_file() -> None:
    words = ["cstates.C3.advertised.exit_us=1100", "clusters.big.cstates.C4.advertised.entry_us=500"]
    settings = resolve("tiny", words)
    assert set(settings.told_at_boot) == {"little", "big", "shadow"}
    for engine in devicetree.ENGINES:
        assert devicetree.render(boot_of(settings), engine, "") == devicetree.render(load_platform("tiny"), engine, "")
    assert boot_of(resolve("tiny")) == load_platform("tiny")


def test_what_is_the_same_after_all_is_not_told_again() -> None:
    assert resolve("tiny", ["cstates.C3.advertised.exit_us=1200"]).told_at_boot == {}


def test_a_cluster_that_is_not_there_is_told_nothing() -> None:
    settings = resolve("tiny", ["shadow.enabled=false", "cstates.C3.advertised.residency_us=2100"])
    assert set(settings.told_at_boot) == {"little", "big"}
    assert advertised.lines(settings.platform, settings.told_at_boot) == ["0:C3:1500:2100", "1:C3:1500:2100"]


def test_linux_is_told_entry_and_exit_as_one() -> None:
    settings = resolve("exynos5422", ["clusters.big.cstates.C3.advertised.exit_us=40"])
    assert advertised.lines(settings.platform, settings.told_at_boot) == ["4-7:C3:55:1000"]


def test_linux_is_told_what_differs_and_nothing_else() -> None:
    words = ["cstates.C3.advertised.residency_us=2200", "clusters.big.cstates.C4.advertised.entry_us=500"]
    settings = resolve("tiny", words)
    assert advertised.lines(settings.platform, settings.told_at_boot) == [
        "0:C3:1500:2200",
        "1:C3:1500:2200",
        "1:C4:1700:2500",
        "2:C3:1500:2200",
    ]


def test_what_is_told_is_checked_as_a_platform_file_is() -> None:
    for word, sentence in {
        "cstates.C3.advertised.residency_us=1499": "clusters[0].cstates[2].advertised.residency_us: 1499 is below "
        "entry + exit, 1500; raise it or lower those (and 2 more)",
        "clusters.big.cstates.C3.advertised.exit_us=1201": "clusters[1].cstates[3].advertised.exit_us: 1200 is below "
        "the 1201 of C3; a deeper C-state takes no less time to leave, so raise it or reorder",
        "shadow.cluster.cstates.C3.advertised.residency_us=2500": "shadow.cluster.cstates[3].advertised.residency_us: "
        "2500 is not above the 2500 of C3; a deeper C-state needs a longer residency, so raise it or reorder",
        "cstates.C3.advertised.exit_us=99999999": "clusters[0].cstates[2].advertised.exit_us: 99999999 is too large; "
        "give 1e+06 or less (and 2 more)",
    }.items():
        with pytest.raises(UserError) as caught:
            resolve("tiny", [word])
        assert str(caught.value) == f"platforms/tiny.yaml: {sentence}"
