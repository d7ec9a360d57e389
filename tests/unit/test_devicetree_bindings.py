# SPDX-License-Identifier: BSD-3-Clause
"""The trees pass the kernel's own bindings, and ours for what the kernel has no binding for.

Needs the kernel's source as the artifacts need it.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lull.artifacts import store
from lull.files.paths import ROOT
from lull.platform import devicetree
from lull.platform.devicetree import ENGINES, Engine, Part
from lull.platform.load import list_platforms, load_peer, load_platform

OURS = sorted((ROOT / "platforms" / "bindings").glob("*.yaml"))

KERNEL = (
    *("arm/cpus.yaml", "arm/linux,dummy-virt.yaml", "arm/primecell.yaml", "arm/psci.yaml"),
    *("clock/fixed-clock.yaml", "cpu/idle-states.yaml", "dvfs/performance-domain.yaml"),
    *("firmware/qemu,fw-cfg-mmio.yaml", "interrupt-controller/arm,gic-v3.yaml"),
    *("opp/opp-v2-base.yaml", "opp/opp-v2.yaml", "rtc/arm,pl031.yaml", "rtc/rtc.yaml"),
    "pci/host-generic-pci.yaml",
    *("serial/pl011.yaml", "serial/serial.yaml", "timer/arm,arch_timer.yaml"),
    *("vendor-prefixes.yaml", "virtio/mmio.yaml"),
)
"""The bindings of what our trees contain; all others would only take minutes to read."""

KNOWN = (
    # Linux registers vendors; we are none. Our own bindings say which properties of ours may be where.
    re.compile(r"[\w@-]+: 'lull,[\w-]+'(, 'lull,[\w-]+')* do(es)? not match any of the regexes: .*"),
    # The generic cache node of every mainline tree has no binding of its own.
    re.compile(r".*/cpus/l2-cache\d: failed to match any schema with compatible: \['cache'\]"),
)


def tool(name: str) -> str:
    """One of dtschema's, which stand beside this Python."""
    return str(Path(sys.executable).parent / name)


@pytest.fixture(scope="session")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = store.device_tree_bindings()
    out = tmp_path_factory.mktemp("schemas") / "schemas.json"
    made = subprocess.run(
        [tool("dt-mk-schema"), "-j", "-o", str(out), *(str(folder / name) for name in KERNEL), *map(str, OURS)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "error" not in made.stderr, made.stderr
    return out


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shadow", ["true", "false"])
@pytest.mark.parametrize("name", list_platforms())
def test_tree_passes_the_bindings(name: str, shadow: str, engine: Engine, schemas: Path, tmp_path: Path) -> None:
    platform = load_platform(name, [f"shadow.enabled={shadow}"])
    assert (
        complaints(
            devicetree.render(platform, engine, "console=ttyAMA0", (0x8800_0000, 0x8900_0000)), schemas, tmp_path
        )
        == []
    )


@pytest.mark.parametrize(("engine", "part"), [("gem5", "machine"), ("gem5", "peer"), ("qemu", "machine")])
def test_a_tree_with_a_network_passes_the_bindings(engine: Engine, part: Part, schemas: Path, tmp_path: Path) -> None:
    platform = load_peer() if part == "peer" else load_platform("tiny")
    text = devicetree.render(platform, engine, "console=ttyAMA0", (0x8800_0000, 0x8900_0000), part)
    assert complaints(text, schemas, tmp_path) == []
    for good, bad in (("pci-host-ecam-generic", "pci-host-generic"), (f'network = "{part}"', 'network = "hub"')):
        assert good in text
        assert complaints(text.replace(good, bad), schemas, tmp_path) != []


@pytest.mark.parametrize(
    ("engine", "good", "bad"),
    [
        ("gem5", "min-residency-us", "max-residency-us"),
        ("gem5", "#performance-domain-cells = <1>", "#performance-domain-cells = <0>"),
        ("gem5", "\t\t\tlabel = ", "\t\t\tlabels = "),
        ("gem5", 'compatible = "lull,event-timer"', 'compatible = "lull,virtual-event-timer"'),
        ("gem5", "arm,psci-1.0", "arm,psci-9.0"),
        ("gem5", 'engine = "gem5"', 'engine = "bochs"'),
        ("gem5", 'enable-method = "psci"', 'enable-method = "magic"'),
        ("qemu", 'lull,kind = "retention"', 'lull,kind = "napping"'),
        ("qemu", "lull,exit-ns", "lull,exit-us"),
        ("qemu", "lull,idle-state", "arm,idle-state"),
        ("qemu", "min-residency-us", "max-residency-us"),
    ],
)
def test_the_bindings_are_really_read(engine: Engine, good: str, bad: str, schemas: Path, tmp_path: Path) -> None:
    text = devicetree.render(load_platform("tiny"), engine, "")
    assert good in text
    assert complaints(text.replace(good, bad), schemas, tmp_path) != []


def test_our_bindings_are_well_formed(schemas: Path) -> None:
    for file in OURS:
        done = subprocess.run(
            [tool("dt-doc-validate"), "-u", str(file.parent), str(file)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout + done.stderr) == (0, ""), file.name


def complaints(dts: str, schemas: Path, folder: Path) -> list[str]:
    """Return the unknown complaints of dt-validate, one entry per complaint."""
    dtb = folder / "tree.dtb"
    devicetree.compile(dts, dtb)
    done = subprocess.run(
        [tool("dt-validate"), "-m", "-s", str(schemas), str(dtb)], capture_output=True, text=True, check=False
    )
    said: list[str] = []
    for line in (done.stdout + done.stderr).splitlines():
        text = line.strip().removeprefix(f"{dtb}: ")
        if line.startswith("\t") and said:
            said[-1] += "" if text.startswith("From schema:") else f" {text}"
        elif text:
            said.append(text)
    return [text for text in said if not any(known.fullmatch(text) for known in KNOWN)]
