# SPDX-License-Identifier: BSD-3-Clause
"""The six platforms that come with the project say what they should, and say where it is from."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lull.errors import UserError
from lull.platform import machine
from lull.platform.cores import load_core
from lull.platform.load import list_platforms, load_platform
from lull.platform.schema import Cluster, Platform, cpu_list, cpus_of_list

SHAPES = {
    "exynos5422": [("little", "a7", 4), ("big", "a15", 4)],
    "exynos7420": [("little", "a53", 4), ("big", "a57", 4)],
    "rk3399": [("little", "a53", 4), ("big", "a72", 2)],
    "server": [("socket0", "a72", 6), ("socket1", "a72", 6)],
    "tegra-k1": [("main", "a15", 4)],
    "tiny": [("little", "a53", 1), ("big", "a57", 1)],
}
SHADOWS = {
    "exynos5422": "a7",
    "exynos7420": "a53",
    "rk3399": "a53",
    "server": "a53",
    "tegra-k1": "a15-shadow",
    "tiny": "a53",
}


def test_the_six_are_there() -> None:
    assert list_platforms() == sorted(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    platform = load_platform(name, ["shadow.enabled=false"])
    assert platform.name == name
    assert [(c.name, c.core, c.cpus) for c in platform.resolved_clusters()] == SHAPES[name]
    assert platform.cpu_count == sum(cpus for _, _, cpus in SHAPES[name])


@pytest.mark.parametrize("name", SHAPES)
def test_every_platform_can_have_a_shadow(name: str) -> None:
    platform = load_platform(name, ["shadow.enabled=true"])
    *mains, shadow = platform.resolved_clusters()
    assert (shadow.core, shadow.cpus, platform.role(shadow)) == (SHADOWS[name], 1, "shadow")
    assert {platform.role(cluster) for cluster in mains} == {"main"}
    assert _peak(shadow) < max(map(_peak, mains))


@pytest.mark.parametrize("name", SHAPES)
def test_who_has_a_shadow_by_default(name: str) -> None:
    assert load_platform(name).shadow.enabled == (name in ("tegra-k1", "tiny"))


def test_the_server_has_two_sockets() -> None:
    platform = load_platform("server")
    assert platform.socket_count == 2
    assert [cluster.socket for cluster in platform.clusters] == [0, 1]


@pytest.mark.parametrize("name", SHAPES)
def test_every_number_has_a_source(name: str) -> None:
    data = load_platform(name).model_dump(exclude={"devices": {"event_timers": {"__all__": {"base", "spi"}}}})
    counts = {("clusters", "cpus"), ("clusters", "socket"), ("cluster", "cpus"), ("cluster", "socket")}
    bare = [path for path, sourced in _numbers(data) if not sourced and path[-2:] not in counts]
    assert bare == []


@pytest.mark.parametrize("name", SHAPES)
def test_all_four_c_states(name: str) -> None:
    for cluster in load_platform(name, ["shadow.enabled=true"]).resolved_clusters():
        assert [state.name for state in cluster.cstates] == ["C1", "C2", "C3", "C4"]


def _cache_cost(lines: int, line_ns: float) -> tuple[float, float]:
    """Bringing these lines back, and how long it takes to use them all, by the rule in platforms/README.md."""
    return lines * line_ns / 1000, lines * 64 / 1000


@pytest.mark.parametrize("name", SHAPES)
def test_lost_cache_content_costs_what_the_rule_says(name: str) -> None:
    platform = load_platform(name, ["shadow.enabled=true"])
    for cluster in platform.resolved_clusters():
        core, actual = load_core(cluster.core), {state.name: state.actual for state in cluster.cstates}
        hit_ns = 7.5 if core.name == "a7" else cluster.l2.latency_cycles * 1000 / cluster.opps.table[-1].mhz
        miss_ns = 70 if core.pipeline == "in-order" else 100 / 4
        off = _cache_cost((core.l1i.size_kib + core.l1d.size_kib) * 16, hit_ns)
        lost = _cache_cost(cluster.l2.size_kib * 16, miss_ns)
        if name == "server" and platform.role(cluster) == "main":
            lost = _cache_cost(256 * 16, hit_ns)
        if platform.role(cluster) == "main" or name == "tegra-k1":  # elsewhere the shadow's C3 is another cluster's
            assert (actual["C3"].refill_us, actual["C3"].fill_us) == pytest.approx(off, abs=0.51)
        assert (actual["C4"].refill_us, actual["C4"].fill_us) == pytest.approx(lost, abs=0.51)


PUBLISHED_MW = [
    ("rk3399", "little", {408: 28, 1008: 86, 1416: 179}),
    ("rk3399", "big", {408: 121, 1008: 336, 1416: 649, 1800: 1130}),
    ("exynos5422", "little", {600: 54, 1000: 109, 1400: 205}),
    ("exynos5422", "big", {600: 151, 1000: 310, 1800: 855, 2000: 1068}),
    ("exynos7420", "big", {1900: 4120 / 4, 2100: 5490 / 4}),
]


@pytest.mark.parametrize(("name", "cluster", "published"), PUBLISHED_MW)
def test_dynamic_power_is_the_published_one(name: str, cluster: str, published: dict[int, float]) -> None:
    """Coefficient and voltages come from different places; only if both are right is their product."""
    found = next(c for c in load_platform(name).clusters if c.name == cluster)
    volts = {opp.mhz: opp.mv / 1000 for opp in found.opps.table}
    for mhz, milliwatts in published.items():
        computed = found.dynamic_power_coefficient.value * mhz * volts[mhz] ** 2 / 1000
        assert computed == pytest.approx(milliwatts, rel=0.02)


def test_tiny_voltages_follow_the_published_energy_table() -> None:
    published = {
        "little": {450: 33, 575: 46, 700: 61, 775: 76, 850: 93},
        "big": {450: 168, 625: 251, 800: 359, 950: 479, 1100: 616},
    }
    for cluster in load_platform("tiny").clusters:
        power = {opp.mhz: opp.mhz * opp.mv**2 for opp in cluster.opps.table}
        table = published[cluster.name]
        for mhz, relative in table.items():
            assert power[mhz] / power[max(table)] == pytest.approx(relative / table[max(table)], rel=0.01)


def test_idle_states_of_the_rk3399_are_those_of_linux() -> None:
    for cluster in load_platform("rk3399").clusters:
        told = {state.name: state.advertised for state in cluster.cstates}
        assert [(told[n].entry_us, told[n].exit_us, told[n].residency_us) for n in ("C3", "C4")] == [
            (120, 250, 900),
            (400, 500, 2000),
        ]


def test_the_machine_for_gem5() -> None:
    soc = machine.describe(load_platform("tiny"))
    assert {key: soc[key] for key in ("name", "memory", "event_timers", "system")} == {
        "name": "tiny",
        "memory": {
            "kind": "ddr3-1600",
            "channels": 1,
            "size_bytes": 512 << 20,
            "parts": {
                "ranks": 1,
                "devices": 4,
                "bits": 16,
                "bytes": 512 << 20,
                "row_bytes": 2048,
                "refresh_ps": 260_000,
                "powerdown_exit_ps": 24_000,
                "self_refresh_exit_ps": 270_000,
                "rails": [
                    {
                        "uv": 1_350_000,
                        "ua": {
                            "idd0": 66_000,
                            "idd2n": 32_000,
                            "idd2p": 18_000,
                            "idd3n": 47_000,
                            "idd3p": 38_000,
                            "idd4r": 235_000,
                            "idd4w": 171_000,
                            "idd5": 235_000,
                            "idd6": 20_000,
                        },
                    }
                ],
            },
            "powerdown": True,
        },
        "event_timers": [
            {"name": "wall-clock", "base": 0x1C11_0000, "spi": 2, "clock_hz": 1_000_000},
            {"name": "event", "base": 0x1C12_0000, "spi": 3, "clock_hz": 100_000_000},
        ],
        "system": {"clock_hz": 533_000_000, "voltage_uv": 1_000_000},
    }
    clusters: Any = soc["clusters"]
    assert [(c["name"], c["core"]["name"], c["cpus"]) for c in clusters] == [
        ("little", "a53", 1),
        ("big", "a57", 1),
        ("shadow", "a53", 1),
    ]
    assert "source" not in json.dumps(soc)
    big = clusters[1]
    assert big["l2"] == {"size_kib": 2048, "ways": 16, "latency_cycles": 15, "mshrs": 16}
    assert big["opps"][-1] == {"hz": 1_100_000_000, "uv": 1_000_000}
    assert big["transition_latency_ns"] == 140_000
    assert big["cstates"][3] == {
        "name": "C4",
        "kind": "cluster-off",
        "actual": {
            "entry_ns": 200_000,
            "exit_ns": 600_000,
            "flush_ns": 180_000,
            "refill_ns": 819_000,
            "fill_ns": 2_097_000,
        },
    }


def test_fractions_become_whole_base_units() -> None:
    platform = load_platform("exynos5422", ["cstates.C3.exit_us=0.5"])
    clusters: Any = machine.describe(platform)["clusters"]
    assert clusters[1]["opps"][-1] == {"hz": 2_000_000_000, "uv": 1_312_500}
    assert clusters[0]["cstates"][2]["actual"]["exit_ns"] == 500


def test_a_platform_survives_its_own_json() -> None:
    platform = load_platform("tegra-k1")
    assert Platform.model_validate_json(platform.model_dump_json()) == platform


def _peak(cluster: Cluster) -> float:
    return cluster.capacity_dmips_mhz.value * cluster.opps.table[-1].mhz


def _numbers(data: object, path: tuple[str, ...] = (), sourced: bool = False) -> Iterator[tuple[tuple[str, ...], bool]]:
    if isinstance(data, dict):
        here = sourced or "source" in data
        for key, value in data.items():
            yield from _numbers(value, (*path, key), here)
    elif isinstance(data, list):
        for item in data:
            yield from _numbers(item, path, sourced)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield path, sourced


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", []),
        ("3", [3]),
        ("4-7", [4, 5, 6, 7]),
        ("1,3", [1, 3]),
        ("0-2,4", [0, 1, 2, 4]),
        ("3-1,2", [2]),
        ("1,3-4,3", [1, 3, 4]),
    ],
)
def test_a_list_of_cpus_is_as_linux_writes_it(text: str, cpus: list[int]) -> None:
    assert cpus_of_list(text) == cpus


@pytest.mark.parametrize("text", ["x", "4-", "-4", "4-5-6", "1 2"])
def test_what_is_no_list_of_cpus_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=f"^`{text}` is no list of CPUs; give one such as 0-2,4$"):
        cpus_of_list(text)


def test_a_range_of_cpus_is_written_and_read() -> None:
    assert cpus_of_list(cpu_list(range(2, 6))) == [2, 3, 4, 5]
    assert cpus_of_list(cpu_list(range(2, 3))) == [2]
