# SPDX-License-Identifier: BSD-3-Clause
"""Every mistake in a platform file gets one sentence: the file, the key, what is wrong, what to do."""

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform.load import load_platform
from tests import nested

Data = dict[str, Any]


@pytest.fixture(scope="module")
def good() -> Data:
    data: Data = yaml.safe_load((ROOT / "platforms" / "rk3399.yaml").read_text())
    return data


@pytest.fixture
def complaint(good: Data, tmp_path: Path) -> Callable[[Callable[[Data], object]], str]:
    """Return a function that gives the complaint about a good file after one change, without the file's name."""

    def of(change: Callable[[Data], object]) -> str:
        data = copy.deepcopy(good)
        change(data)
        file = tmp_path / "mine.yaml"
        file.write_text(yaml.safe_dump(data))
        with pytest.raises(UserError) as caught:
            load_platform(str(file))
        assert caught.value.exit_status == 2
        said = str(caught.value)
        assert said.startswith(f"{file}: ")
        assert "\n" not in said
        return said.removeprefix(f"{file}: ")

    return of


def put(*path: str | int, value: object) -> Callable[[Data], None]:
    return lambda data: nested.put(data, path, value)


def drop(*path: str | int) -> Callable[[Data], None]:
    return lambda data: nested.drop(data, path)


BIG = ("clusters", 1)
TIMERS = ("devices", "event_timers")

MISTAKES = {
    "wrong type": (
        put("memory", "size_mib", value="512"),
        "memory.size_mib: '512' is not a whole number; write a whole number",
    ),
    "fraction": (
        put(*BIG, "cpus", value=1.5),
        "clusters[1].cpus: 1.5 is not a whole number; write a whole number",
    ),
    "a number for a block": (
        put(*BIG, "l2", value=1024),
        "clusters[1].l2: 1024 is not a block of keys; write a block of keys",
    ),
    "a block for a list": (
        put("clusters", value={}),
        "clusters: a block of keys is not a list; write a list",
    ),
    "nothing": (
        put("memory", "channels", value=None),
        "memory.channels: nothing is not known here; use 1, 2, 4 or 8",
    ),
    "unknown key": (
        put(*BIG, "cores", value=2),
        "clusters[1].cores: unknown key; remove it or use `core`, `cstates`",
    ),
    "unknown key at the top": (
        put("frobnicate", value=2),
        "frobnicate: unknown key; "
        "remove it or use `boot_seed`, `clusters`, `devices`, `memory`, `name`, `network`, `shadow`, `system`, "
        "`title`",
    ),
    "missing key": (
        drop(*BIG, "opps", "table", 2, "mv"),
        "clusters[1].opps.table[2].mv: missing; add it",
    ),
    "no source": (
        drop(*BIG, "capacity_dmips_mhz", "source"),
        "clusters[1].capacity_dmips_mhz.source: missing; add it",
    ),
    "empty source": (
        put(*BIG, "l2", "source", value=" "),
        "clusters[1].l2.source: empty; say where the number is from, or `assumed: ` and why",
    ),
    "assumed without a reason": (
        put(*BIG, "l2", "source", value="assumed"),
        "clusters[1].l2.source: `assumed` without a reason; write `assumed: ` and why",
    ),
    "unknown memory": (
        put("memory", "kind", value="sdram"),
        "memory.kind: 'sdram' is not known here; use 'ddr3-1600', 'ddr4-2400' or 'lpddr3-1600'",
    ),
    "too much memory": (
        put("memory", "size_mib", value=4096),
        "memory.size_mib: 4096 is too large; give 2032 or less",
    ),
    "timer on a device": (
        put(*TIMERS, 1, "base", value=0x1C09_0000),
        "devices.event_timers[1].base: 0x1c090000 overlaps the UART 0 at 0x1c090000; "
        "choose a free address, such as 0x1c110000",
    ),
    "timer in memory": (
        put(*TIMERS, 0, "base", value=0x8000_1000),
        "devices.event_timers[0].base: 0x80001000 overlaps the DRAM at 0x80000000; "
        "choose a free address, such as 0x1c110000",
    ),
    "timer on a timer": (
        put(*TIMERS, 1, "base", value=0x1C11_0000),
        "devices.event_timers[1].base: 0x1c110000 overlaps event timer wall-clock; choose another address",
    ),
    "timer where nothing listens": (
        put(*TIMERS, 0, "base", value=0x2C00_0000),
        "devices.event_timers[0].base: 0x2c000000 is outside the peripherals' 0x1c000000-0x20000000; move it inside",
    ),
    "timer off a page": (
        put(*TIMERS, 0, "base", value=0x1C11_0800),
        "devices.event_timers[0].base: 0x1c110800 is not a multiple of 0x1000; align it",
    ),
    "timer on a device's interrupt": (
        put(*TIMERS, 0, "spi", value=5),
        "devices.event_timers[0].spi: SPI 5 is the UART 0's; choose a free one, such as 2",
    ),
    "timers on one interrupt": (
        put(*TIMERS, 1, "spi", value=2),
        "devices.event_timers[1].spi: SPI 2 is also event timer wall-clock's; choose another",
    ),
    "timers of one name": (
        put(*TIMERS, 1, "name", value="wall-clock"),
        "devices.event_timers[1].name: `wall-clock` is used twice; rename one",
    ),
    "storage without a timer": (
        put(*TIMERS, 2, "name", value="another"),
        "devices.storage: storage needs an event timer named ssd; add one",
    ),
    "a storage timer without storage": (
        put("devices", "storage", value=[]),
        "devices.storage: the event timer ssd stands for storage, and none is named; name one",
    ),
    "an accelerator without a timer": (
        put("devices", "accelerator", value=["kmeans"]),
        "devices.accelerator: accelerator needs an event timer named accel; add one",
    ),
    "C-states out of depth": (
        lambda data: data["clusters"][1]["cstates"].reverse(),
        "clusters[1].cstates[0].kind: the first C-state is not wfi; start with C1",
    ),
    "C-states in disorder": (
        lambda data: data["clusters"][1]["cstates"].append(data["clusters"][1]["cstates"].pop(1)),
        "clusters[1].cstates[3].kind: C2 (retention) comes after C4 (cluster-off); order C-states from light to deep",
    ),
    "a C-state twice": (
        lambda data: data["clusters"][1]["cstates"].insert(1, data["clusters"][1]["cstates"][0]),
        "clusters[1].cstates[1].kind: C1 (wfi) comes after C1 (wfi); order C-states from light to deep",
    ),
    "residency not increasing": (
        put(*BIG, "cstates", 3, "advertised", "residency_us", value=900),
        "clusters[1].cstates[3].advertised.residency_us: 900 is not above the 900 of C3; "
        "a deeper C-state needs a longer residency, so raise it or reorder",
    ),
    "exit falling": (
        put(*BIG, "cstates", 3, "advertised", "exit_us", value=249),
        "clusters[1].cstates[3].advertised.exit_us: 249 is below the 250 of C3; "
        "a deeper C-state takes no less time to leave, so raise it or reorder",
    ),
    "residency below entry and exit": (
        put(*BIG, "cstates", 2, "advertised", "residency_us", value=369),
        "clusters[1].cstates[2].advertised.residency_us: 369 is below entry + exit, 370; raise it or lower those",
    ),
    "entry and exit falling": (
        put(
            *BIG, "cstates", 3, "advertised", value={"entry_us": 9, "exit_us": 300, "residency_us": 2000, "source": "x"}
        ),
        "clusters[1].cstates[3].advertised.entry_us: entry + exit, 309, is below the 370 of C3; "
        "Linux takes the sum for the time to leave, so raise one or reorder",
    ),
    "a latency out of range": (
        put(*BIG, "cstates", 2, "actual", "exit_us", value=1e7),
        "clusters[1].cstates[2].actual.exit_us: 10000000.0 is too large; give 1e+06 or less",
    ),
    "a negative latency": (
        put(*BIG, "cstates", 2, "actual", "refill_us", value=-1.0),
        "clusters[1].cstates[2].actual.refill_us: -1.0 is too small; give 0 or more",
    ),
    "a cache that is never full": (
        put(*BIG, "cstates", 2, "actual", "fill_us", value=0),
        "clusters[1].cstates[2].actual.fill_us: 0, while flush_us and refill_us are charged in proportion to it; "
        "give the active time after which the cache is full",
    ),
    "a flush of caches that are kept": (
        put(
            *BIG,
            "cstates",
            1,
            "actual",
            value={"entry_us": 0, "exit_us": 5, "flush_us": 1, "fill_us": 1, "source": "x"},
        ),
        "clusters[1].cstates[1].actual: C2 keeps the caches; leave flush_us and refill_us 0",
    ),
    "a slow WFI": (
        put(*BIG, "cstates", 0, "actual", "exit_us", value=1),
        "clusters[1].cstates[0].actual: nothing stands between a core and WFI that could wait; "
        "leave entry_us and exit_us 0",
    ),
    "a state by the wrong name": (
        put(*BIG, "cstates", 2, "kind", value="cluster-off"),
        "clusters[1].cstates[2].kind: cluster-off is C4, not C3; change name or kind",
    ),
    "numbers for WFI": (
        put(*BIG, "cstates", 0, "advertised", "residency_us", value=10),
        "clusters[1].cstates[0].advertised: Linux takes no numbers for WFI from a device tree; "
        "leave entry_us 0, exit_us 1, residency_us 1",
    ),
    "OPPs not ascending": (
        put(*BIG, "opps", "table", 2, "mhz", value=600),
        "clusters[1].opps.table[2].mhz: 600 is not above the 600 before it; list OPPs in ascending order",
    ),
    "voltage falling": (
        put(*BIG, "opps", "table", 3, "mv", value=800),
        "clusters[1].opps.table[3].mv: 800 is below the 825 of a slower OPP; gem5 takes voltages that do not fall "
        "with frequency, so raise it or drop the OPP",
    ),
    "no OPPs": (
        put(*BIG, "opps", "table", value=[]),
        "clusters[1].opps.table: the list is empty; give 1 or more",
    ),
    "clusters of one name": (
        put(*BIG, "name", value="little"),
        "clusters[1].name: `little` is used twice; rename one",
    ),
    "a shadow by a cluster's name": (
        put("shadow", "cluster", "name", value="big"),
        "shadow.cluster.name: `big` is also a cluster's name; choose another",
    ),
    "a bad name": (
        put(*BIG, "name", value="Big Cores"),
        "clusters[1].name: 'Big Cores' does not match ^[a-z][a-z0-9-]{0,15}$; rename it",
    ),
    "nine CPUs": (
        put(*BIG, "cpus", value=9),
        "clusters[1].cpus: 9 is too large; give 8 or less",
    ),
    "no CPUs": (
        put(*BIG, "cpus", value=0),
        "clusters[1].cpus: 0 is too small; give 1 or more",
    ),
    "two shadows": (
        put("shadow", "cluster", "cpus", value=2),
        "shadow.cluster.cpus: 2 CPUs, but a shadow is one core; set 1",
    ),
    "five clusters": (
        lambda data: data["clusters"].extend({**data["clusters"][0], "name": name} for name in ("b", "c", "d")),
        "clusters: 5 clusters; use 4 or fewer",
    ),
    "five clusters with the shadow": (
        lambda data: (
            data["clusters"].extend({**data["clusters"][0], "name": name} for name in ("b", "c")),
            data["shadow"].update(enabled=True),
        ),
        "clusters: 5 clusters with the shadow; use 4 or fewer",
    ),
    "a socket left out": (
        put(*BIG, "socket", value=2),
        "clusters: sockets [0, 2] leave a gap; number them from 0",
    ),
    "a cache that is no cache": (
        put(*BIG, "l2", "ways", value=12),
        "clusters[1].l2.ways: 1024 KiB in 12 ways of 64-byte lines is not a power of two of sets; "
        "change size_kib or ways",
    ),
    "unknown core": (
        put(*BIG, "core", value="a99"),
        "clusters[1].core: unknown core `a99`; use one of `a15`, `a15-shadow`, `a53`, `a57`, `a7`, `a72`",
    ),
    "unknown DRAM": (
        put("memory", "parts", "device", value="sram"),
        "memory.parts.device: unknown DRAM device `sram`; use one of `ddr3l-4gb-x16`, `ddr4-8gb-x8`, `lpddr3-4gb-x32`, "
        "`lpddr4-6gb-x16`",
    ),
    "DRAM of another kind": (
        put("memory", "parts", "device", value="ddr4-8gb-x8"),
        "memory.parts.device: ddr4-8gb-x8 has the timing of ddr4-2400, and memory.kind is lpddr3-1600; "
        "name a device of that kind",
    ),
    "three ranks": (put("memory", "parts", "ranks", value=3), "memory.parts.ranks: 3 is not known here; use 1, 2 or 4"),
    "unknown core of the shadow": (
        put("shadow", "cluster", "core", value="a99"),
        "shadow.cluster.core: unknown core `a99`; use one of `a15`, `a15-shadow`, `a53`, `a57`, `a7`, `a72`",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_file(mistake: str, complaint: Callable[[Callable[[Data], object]], str]) -> None:
    change, sentence = MISTAKES[mistake]
    assert complaint(change) == sentence


def test_of_several_mistakes_the_first_and_how_many_more(
    complaint: Callable[[Callable[[Data], object]], str],
) -> None:
    def change(data: Data) -> None:
        data["memory"]["size_mib"] = "512"
        data["clusters"][0]["cpus"] = 9
        data["clusters"][1]["cores"] = 2

    assert complaint(change) == "memory.size_mib: '512' is not a whole number; write a whole number (and 2 more)"


UNREADABLE = {
    "a tab": ("name: x\n\ttitle: y\n", "line 2: found character '\\t' that cannot start any token, which is not"),
    "an unclosed list": ("clusters: [1, 2\nmemory: 3\n", "line 2: expected ',' or ']', but got ':', which is not"),
    "a key twice": ("name: x\nmemory: 1\nmemory: 2\n", "line 3: key `memory` again, which is not"),
    "a number as a key": ("1: x\n", "line 1: key 1 is not a word, which is not"),
    "an undefined alias": ("name: *x\n", "line 1: found undefined alias 'x', which is not"),
    "a date that is none": ("name: x\ntitle: 2026-13-45\n", "line 2: `2026-13-45` is no timestamp and has no quotes"),
    "bits that are none": ("title: 0b_\n", "line 1: `0b_` is no int and has no quotes, which is not"),
    "a number without end": (f"name: {'9' * 5000}\n", f"line 1: `{'9' * 40}` is no int and has no quotes"),
    "another type": ("name: !!bool x\n", "line 1: `x` is no bool and has no quotes"),
    "a Python object": ("name: !!python/object/apply:os.getcwd []\n", "line 1: could not determine a constructor"),
}


ENDLESS = "blocks without end; write out the alias that stands within what it names, or nest less"


@pytest.mark.parametrize("case", UNREADABLE)
def test_broken_yaml_names_the_line(case: str, tmp_path: Path) -> None:
    text, start = UNREADABLE[case]
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=re.escape(f"{file}: {start}")) as caught:
        load_platform(str(file))
    assert str(caught.value).endswith("valid YAML; mend that line")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"- a\n- b\n", "not a block of keys; start with `name: ` and see platforms/README.md"),
        (b"", "not a block of keys; start with `name: ` and see platforms/README.md"),
        (b"\xff\xfe\x00", "not a text file; give the path of a platform file"),
        (b"name: \x07\n", "characters that YAML does not allow; write plain text"),
        (b"name: &name [*name]\n", ENDLESS),
        (b"name: " + b"[" * 5000, ENDLESS),
    ],
)
def test_not_a_platform_file_at_all(content: bytes, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(content)
    with pytest.raises(UserError) as caught:
        load_platform(str(file))
    assert str(caught.value) == f"{file}: {sentence}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load_platform(f"{tmp_path}/none.yaml")
    assert str(caught.value) == (
        f"{tmp_path}/none.yaml: cannot read it (No such file or directory); give the path of a platform file"
    )


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read it \(Is a directory\); give the path of a platform file$"):
        load_platform(f"{tmp_path}/")


def test_unknown_platform() -> None:
    with pytest.raises(UserError) as caught:
        load_platform("exynos9999")
    assert str(caught.value) == (
        "unknown platform `exynos9999`; use one of `exynos5422`, `exynos7420`, `rk3399`, `server`, `tegra-k1`, `tiny`, "
        "or the path of a YAML file"
    )


def test_a_file_of_the_project_is_named_from_its_root() -> None:
    with pytest.raises(UserError, match=r"^platforms/tiny\.yaml: memory\.size_mib: 1 is too small; give 256 or more$"):
        load_platform("tiny", ["memory.size_mib=1"])
