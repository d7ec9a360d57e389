# SPDX-License-Identifier: BSD-3-Clause
"""`--set key=value` changes what it names and nothing else."""

import pytest

from lull.errors import UserError
from lull.platform.cstates import CState
from lull.platform.load import load_platform
from lull.platform.schema import Platform
from lull.runspec.values import text_of


def state(platform: Platform, cluster: str, name: str) -> CState:
    clusters = [*platform.clusters, platform.shadow.cluster]
    return next(s for c in clusters if c.name == cluster for s in c.cstates if s.name == name)


def changed(*overrides: str, name: str = "rk3399") -> set[str]:
    """The dotted keys whose values differ after overrides, sources aside."""

    def flat(data: object, key: str = "") -> dict[str, object]:
        if isinstance(data, dict):
            pairs = [flat(v, f"{key}.{k}") for k, v in data.items() if k != "source"]
        elif isinstance(data, list):
            pairs = [flat(v, f"{key}.{n}") for n, v in enumerate(data)]
        else:
            return {key.lstrip("."): data}
        return {k: v for pair in pairs for k, v in pair.items()}

    before = flat(load_platform(name).model_dump())
    after = flat(load_platform(name, overrides).model_dump())
    return {key for key in before if before[key] != after[key]}


@pytest.mark.parametrize(
    ("override", "keys"),
    [
        ("memory.size_mib=256", {"memory.size_mib"}),
        ("shadow.enabled=true", {"shadow.enabled"}),
        ("clusters.little.cpus=2", {"clusters.0.cpus"}),
        ("clusters.big.capacity_dmips_mhz=900", {"clusters.1.capacity_dmips_mhz.value"}),
        ("clusters.big.capacity_dmips_mhz.value=900", {"clusters.1.capacity_dmips_mhz.value"}),
        ("clusters.big.core=a57", {"clusters.1.core"}),
        ("clusters.big.socket=1", {"clusters.1.socket"}),
        ("clusters.big.opps.table.1800.mv=1250", {"clusters.1.opps.table.7.mv"}),
        ("clusters.little.cstates.C3.advertised.exit_us=251", {"clusters.0.cstates.2.advertised.exit_us"}),
        ("shadow.cluster.cstates.C3.actual.exit_us=1", {"shadow.cluster.cstates.2.actual.exit_us"}),
        ("devices.event_timers.event.clock_khz=32", {"devices.event_timers.1.clock_khz"}),
        (
            "cstates.C3.exit_us=50",
            {f"{home}.cstates.2.actual.exit_us" for home in ("clusters.0", "clusters.1", "shadow.cluster")},
        ),
        (
            "cstates.C3.advertised.exit_us=251",
            {f"{home}.cstates.2.advertised.exit_us" for home in ("clusters.0", "clusters.1", "shadow.cluster")},
        ),
    ],
)
def test_what_an_override_changes(override: str, keys: set[str]) -> None:
    assert changed(override) == keys


@pytest.mark.parametrize("text", ["50", "5e1", "+5E+1", ".5e2", "500.e-1", text_of(50.0)])
def test_a_number_is_a_number_however_it_is_written(text: str) -> None:
    assert state(load_platform("tiny", [f"cstates.C3.exit_us={text}"]), "little", "C3").actual.exit_us == 50


def test_what_only_begins_as_a_number_is_none() -> None:
    with pytest.raises(UserError, match="'5e1x' is not a number; write a number"):
        load_platform("tiny", ["cstates.C3.exit_us=5e1x"])


def test_states_shared_in_the_file_are_not_shared_in_memory() -> None:
    """The little cluster and the shadow repeat one block by a YAML alias."""
    platform = load_platform("rk3399", ["clusters.little.cstates.C4.advertised.exit_us=600"])
    assert state(platform, "little", "C4").advertised.exit_us == 600
    assert state(platform, "shadow", "C4").advertised.exit_us == 500


def test_a_frequency_with_a_dot_addresses_its_opp() -> None:
    assert changed("clusters.main.opps.table.2014.5.mv=1225", name="tegra-k1") == {"clusters.0.opps.table.18.mv"}


def test_the_last_of_two_wins() -> None:
    assert load_platform("tiny", ["memory.size_mib=256", "memory.size_mib=300"]).memory.size_mib == 300


def test_a_number_that_is_set_says_so() -> None:
    platform = load_platform("rk3399", ["clusters.big.capacity_dmips_mhz=900", "cstates.C3.exit_us=50"])
    assert platform.clusters[1].capacity_dmips_mhz.source == "set on the command line"
    assert state(platform, "big", "C3").actual.source.endswith("; exit_us set on the command line")
    assert state(platform, "big", "C3").advertised.source == "Linux rk3399-base.dtsi, CPU_SLEEP"


def test_an_opp_that_is_set_says_so_in_its_table() -> None:
    platform = load_platform("rk3399", ["clusters.big.opps.table.1800.mv=1250"])
    assert platform.clusters[1].opps.source == "Linux rk3399.dtsi, cluster1_opp; table[7].mv set on the command line"


def test_a_file_is_checked_after_it_is_changed() -> None:
    with pytest.raises(
        UserError, match=r"^platforms/rk3399\.yaml: clusters\[0\]\.cpus: 9 is too large; give 8 or less$"
    ):
        load_platform("rk3399", ["clusters.little.cpus=9"])


BAD = {
    "memory.size_mib": "--set memory.size_mib: no `=`; write key=value, such as memory.size_mib=256",
    "=4": "--set =4: no `=`; write key=value, such as memory.size_mib=256",
    "memory.size=4": "--set memory.size: unknown key `size`; use `size_mib`",
    "clusters.huge.cpus=4": "--set clusters.huge.cpus: no `huge` in clusters; "
    "use `big`, `little`, `shadow (as shadow.cluster)`",
    "clusters.litle.cpus=4": "--set clusters.litle.cpus: no `litle` in clusters; use `little`",
    "clusters.big.cpu=4": "--set clusters.big.cpu: unknown key `cpu`; use `cpus`",
    "clusters.big.cpus.value=4": "--set clusters.big.cpus.value: `clusters.big.cpus` is a single value; use that key",
    "clusters.big.l2=4": "--set clusters.big.l2: a block, not a single value; go on with one of "
    "`latency_cycles`, `mshrs`, `size_kib`, `source`, `ways`",
    "clusters=4": "--set clusters: a block, not a single value; go on with one of `big`, `little`",
    "cstates.C3=4": "--set cstates.C3: incomplete; write cstates.C3.exit_us or cstates.C3.advertised.exit_us",
    "cstates.C7.exit_us=4": "--set cstates.C7.exit_us: no cluster has `C7`; use `C1`, `C2`, `C3`, `C4`",
    "cstates.C3.exits=4": "--set cstates.C3.exits: unknown key `exits`; use `exit_us`",
    "memory.size_mib=": "--set memory.size_mib: `` is not a single value; write a number, true, false or a name",
    "memory.size_mib=[1]": "--set memory.size_mib: `[1]` is not a single value; write a number, true, false or a name",
    "memory.size_mib='": "--set memory.size_mib: `'` is not a value; write a number, true, false or a name",
    "memry.size_mib=4": "--set memry.size_mib: unknown key `memry`; use `memory`",
}


@pytest.mark.parametrize("override", BAD)
def test_an_override_that_cannot_be(override: str) -> None:
    with pytest.raises(UserError) as caught:
        load_platform("rk3399", [override])
    assert str(caught.value) == BAD[override]


@pytest.mark.parametrize(
    ("text", "times"),
    [("2026-13-45", 1), ("!!bool x", 1), ("!!timestamp x", 1), ("!!float ''", 1), ("0b_", 1), ("9", 5000), ("[", 5000)],
)
def test_a_value_that_yaml_does_not_have(text: str, times: int) -> None:
    with pytest.raises(UserError) as caught:
        load_platform("rk3399", [f"memory.size_mib={text * times}"])
    shown = (text * times)[:40]
    assert str(caught.value) == (
        f"--set memory.size_mib: `{shown}` is not a value; write a number, true, false or a name"
    )
