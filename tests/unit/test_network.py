# SPDX-License-Identifier: BSD-3-Clause
"""A run with a peer: its spec, its settings, its device tree, and where it boots. Without one, all is as ever."""

from pathlib import Path
from typing import Any

import pytest

from lull.engines import gem5
from lull.engines.base import Artifacts
from lull.engines.gem5_settings import boots_as
from lull.errors import UserError
from lull.platform import devicetree, memory_map
from lull.platform.devicetree import Engine
from lull.platform.load import load_peer, load_platform
from lull.platform.network import PEER, Network
from lull.runspec.load import load_spec
from lull.runspec.spec import PUT_OFFSET, SCRIPT_MAX, EngineName, Limits, RunSpec
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, resolve
from lull.sweep import expand
from tests import fake_gem5
from tests.unit.test_gem5_boot import _entry

LIMITS = Limits(simulated_s=1, wall_s=1)


def load(*settings: str, engine: EngineName = "gem5", peer: str | None = "serve", **words: Any) -> RunSpec:
    return load_spec("tiny", settings, "true", engine=engine, peer=peer, limits=LIMITS, **words)


def test_a_run_without_a_peer_is_what_it_was() -> None:
    plain = load(peer=None)
    asked = plain.model_dump(mode="json")
    assert (asked.pop("peer"), asked.pop("put")) == (None, [])
    assert "network" not in asked["platform"]
    assert "network" not in load_platform("tiny").model_dump(mode="json")
    assert "lull-peer" not in plain.script()
    for engine in devicetree.ENGINES:
        text = devicetree.render(plain.platform, engine, "")
        assert "pcie" not in text
        assert "network" not in text


def test_the_peer_and_the_link_are_part_of_the_hash() -> None:
    specs = [load(peer=None), load(), load(peer="other"), load("network.delay_us=20"), load("network.mbit_s=100")]
    assert len({spec.hash() for spec in specs}) == len(specs)
    assert load("network.delay_us=10", "network.mbit_s=1000").platform.network.delay_us == 10


def test_the_link_can_be_set_where_there_is_one() -> None:
    network = load("network.delay_us=2.5").platform.network
    assert (network.delay_us, network.mbit_s) == (2.5, Network().mbit_s)
    assert network.source.endswith("delay_us set on the command line")
    with pytest.raises(UserError, match=r"^--set network\.mbit_s=10: the run has no network; give .* by --peer$"):
        load("network.mbit_s=10", peer=None)
    with pytest.raises(UserError, match=r"network\.mbit_s: 0 is too small; give 1 or more"):
        load("network.mbit_s=0")
    with pytest.raises(UserError, match=r"network\.delay_us: -1 is too small"):
        load("network.delay_us=-1")
    with pytest.raises(UserError, match=r"--set network\.jitter: unknown key `jitter`"):
        load("network.jitter=1")


def test_a_file_may_have_its_own_link(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    own = "\nnetwork: {delay_us: 50, mbit_s: 100, source: 'assumed: an older network'}\n"
    file.write_text(PEER.read_text() + own)
    asked: dict[str, Any] = {"engine": "gem5", "limits": LIMITS}
    assert load_spec(str(file), [], "true", peer="serve", **asked).platform.network.mbit_s == 100
    assert load_spec(str(file), [], "true", **asked).platform.network == Network(), "no link, no part of the run"


def test_each_end_has_its_script(tmp_path: Path) -> None:
    assert (
        load(peer="echo 'x'", engine="qemu").script().endswith("lull-peer 'echo '\"'\"'x'\"'\"'' || exit 125\ntrue\n")
    )
    spec = load(peer="echo 'x'")
    assert spec.script() == "#lull limit_s=1\ntrue\n"
    assert spec.peer_script() == "echo 'x'\n"
    (tmp_path / "f").write_text("x")
    with_files = load(peer="cat f", put=[str(tmp_path / "f")])
    for script in (with_files.script(), with_files.peer_script()):
        assert f"lull-m5 read-file {PUT_OFFSET} | tar -x -C /" in script
    with pytest.raises(UserError, match=r"^--peer: a peer takes a script of at most 1 MiB; shorten it$"):
        load(peer="x" * SCRIPT_MAX)
    with pytest.raises(UserError, match=r"^--peer: not UTF-8"):
        load(peer="echo \udcff")


@pytest.mark.parametrize("engine", devicetree.ENGINES)
def test_both_ends_have_a_card_in_their_tree(engine: Engine, tmp_path: Path) -> None:
    platform = load_platform("tiny")
    text = devicetree.render(platform, engine, "", None, "machine")
    devicetree.compile(text, tmp_path / "machine.dtb")
    assert 'network = "machine"' in text
    host = {"gem5": memory_map.FOUNDATION_PCI, "qemu": memory_map.VIRT_PCI}[engine]
    assert f"pcie@{host.config.base:x}" in text
    cards = {"gem5": 1, "qemu": 2}
    assert text.count("0x1 &gic") == len(host.spis) == cards[engine]
    # Nothing else of the tree depends on the network.
    plain = devicetree.render(platform, engine, "").splitlines()
    assert [line for line in plain if line not in text.splitlines()] == []


def test_the_interrupts_of_the_cards_are_those_of_the_machines() -> None:
    assert all(memory_map.FOUNDATION_SPIS[spi] == "PCI" for spi in memory_map.FOUNDATION_PCI.spis.values())
    assert [memory_map.FOUNDATION_PCI.spis[slot] for slot in (1,)] == [100 - 32 + 1]
    assert memory_map.VIRT_PCI.spis == {slot: 3 + slot % 4 for slot in (1, 2)}


def test_the_peer_is_a_machine_without_deep_sleep(tmp_path: Path) -> None:
    peer = load_peer()
    assert all(not cluster.deep_states for cluster in peer.resolved_clusters())
    devicetree.compile(devicetree.render(peer, "gem5", "", None, "peer"), tmp_path / "peer.dtb")


def test_two_machines_boot_together_and_to_another_checkpoint(empty_cache: Path, tmp_path: Path) -> None:
    parts = {"kernel": "Image", "rootfs": "rootfs.cpio", "firmware": "bl31.bin"}
    artifacts = Artifacts(**{kind: _entry(kind, name) for kind, name in parts.items()})
    engine = gem5.Gem5(str(fake_gem5.install(tmp_path)))
    both = engine.checkpoint_inputs(load("network.delay_us=5").platform, artifacts, True)
    assert both == engine.checkpoint_inputs(load().platform, artifacts, True), "the link is no part of a boot"
    alone = engine.checkpoint_inputs(load_platform("tiny"), artifacts)
    assert set(both) - set(alone) == {"peer"}
    assert both["machine"] != alone["machine"]
    assert engine.checkpoint_of(load().platform, artifacts, True).path.is_dir()
    assert boots_as(load()) == boots_as(load("network.delay_us=5")) != boots_as(load(peer=None))


def test_a_sweep_plans_for_the_memory_of_both() -> None:
    sizes = [expand._memory_mib(spec) for spec in (load(peer=None), load(engine="qemu"), load())]
    assert sizes == [512, 512, 512 + load_peer().memory.size_mib]


SCENARIO = """
name: talk
title: x
platform: tiny
cpu: timing
parameters: {gap: {default: 5, help: x}, word: {default: a, pattern: .*, help: x}}
command: hear {gap}
peer: say {gap} {word}
limits: {simulated_s: 1, wall_s: 1}
analysis: wake-latency
groups: [{name: one, help: x, matrix: {gap: [1, 2]}}, {name: two, help: x, peer: "shout {word}"}]
"""


def test_a_scenario_says_what_the_peer_runs(tmp_path: Path) -> None:
    file = tmp_path / "talk.yaml"
    file.write_text(SCENARIO)
    points = resolve(load_scenario(str(file)), Wishes("qemu", settings=("word=b; c",)))
    assert [point.spec.peer for point in points] == ["say 1 'b; c'", "say 2 'b; c'", "shout 'b; c'"]
    file.write_text(SCENARIO.replace("say {gap}", "say {gaps}"))
    with pytest.raises(UserError, match="peer: no parameter `gaps`; add it or use `gap`, `word`"):
        load_scenario(str(file))
    file.write_text(SCENARIO.replace("peer: say {gap} {word}\n", ""))
    assert [point.spec.peer for point in resolve(load_scenario(str(file)), Wishes("qemu"))] == [None, None, "shout a"]
