# SPDX-License-Identifier: BSD-3-Clause
"""The committed tables: whole, for the machines as they are described, and refused for any other."""

import json
from pathlib import Path

import pytest

from lull.energy import activity, busy, coefficients, events, make_tables, mcpat_run, tables
from lull.errors import UserError
from lull.platform.cores import load_core
from lull.platform.load import list_platforms, load_platform
from lull.platform.schema import Cluster, Platform


def _clusters() -> list[tuple[str, str]]:
    platforms = [load_platform(name) for name in list_platforms()]
    return [
        (platform.name, cluster.name)
        for platform in platforms
        for cluster in (*platform.clusters, platform.shadow.cluster)
    ]


def _find(platform_name: str, cluster_name: str) -> tuple[Platform, Cluster]:
    platform = load_platform(platform_name)
    clusters = (*platform.clusters, platform.shadow.cluster)
    return platform, next(cluster for cluster in clusters if cluster.name == cluster_name)


@pytest.mark.parametrize(("platform_name", "cluster_name"), _clusters())
def test_every_cluster_has_its_table(platform_name: str, cluster_name: str) -> None:
    platform, cluster = _find(platform_name, cluster_name)
    table = tables.load(platform, cluster)
    assert [(opp.mhz, opp.mv) for opp in table.opps] == [(opp.mhz, opp.mv) for opp in cluster.opps.table]
    assert table.manifest.linearity_error <= coefficients.TOLERANCE
    units = events.components(load_core(cluster.core))
    charged = {unit: {events.CYCLES, *(e for group in parts.values() for e in group)} for unit, parts in units.items()}
    charged[events.L2] = set(events.L2_EVENTS)
    for opp in table.opps:
        assert {unit: set(each) for unit, each in opp.joules_per_event.items()} == charged
        assert set(opp.leakage) == {*units, events.L2, events.OTHER}
        assert all(leak.subthreshold_w > 0 and leak.gate_w > 0 for leak in opp.leakage.values())
        for unit, each in opp.joules_per_event.items():
            free = {event for event, joules in each.items() if joules <= 0}
            # A miss of a write-back L1 is charged where the line is written, and an L2's miss is cheaper than a hit.
            assert free <= {"load-store": {"dcache.read_misses"}, "l2": {"read_misses"}}.get(unit, set())
    assert all(area > 0 for area in table.area_mm2.values())


@pytest.mark.parametrize(("platform_name", "cluster_name"), _clusters())
def test_energy_goes_with_the_square_of_the_voltage(platform_name: str, cluster_name: str) -> None:
    """Nearly: McPAT lays out arrays and wires anew for each voltage, and single events jump where it changes its mind.
    Leakage rises faster, and neither knows the clock."""
    platform, cluster = _find(platform_name, cluster_name)
    opps = tables.load(platform, cluster).opps
    slow, fast = opps[0], opps[-1]
    ratio = fast.mv / slow.mv
    of = [sum(activity.joules(opp, busy.per_cycle(cluster.core)).values()) for opp in (slow, fast)]
    assert of[1] == pytest.approx(of[0] * ratio**2, rel=0.06)
    for part, leak in slow.leakage.items():
        assert fast.leakage[part].subthreshold_w >= leak.subthreshold_w * ratio * 0.9, part


def test_an_l2_hit_costs_more_than_its_miss() -> None:
    for opp in tables.load(*_find("tiny", "big")).opps:
        l2 = opp.joules_per_event[events.L2]
        assert l2["read_accesses"] + l2["read_misses"] > 0


def test_wider_cores_cost_more() -> None:
    little, big = (tables.load(*_find("tiny", name)) for name in ("little", "big"))
    assert sum(big.area_mm2.values()) > 1.3 * sum(little.area_mm2.values())
    for event in ("total_instructions", "load_instructions", "int_regfile_reads"):
        of = [
            next(each[event] for each in table.opps[-1].joules_per_event.values() if event in each)
            for table in (little, big)
        ]
        assert of[1] > of[0], event


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ("clusters.big.l2.size_kib=1024", "caches, operating points"),
        ("clusters.big.opps.table.1100.mv=1010", "caches, operating points"),
        ("clusters.big.core=a72", "core: a table for the `a57`, and this cluster has `a72`"),
    ],
)
def test_a_table_for_another_machine_is_refused(changed: str, word: str) -> None:
    platform = load_platform("tiny", [changed])
    with pytest.raises(UserError, match=r"^power-models/tables/tiny/big\.json: ") as refused:
        tables.load(platform, platform.clusters[1])
    assert word in str(refused.value)
    assert "`lull energy tables --platform tiny`" in str(refused.value)


def test_what_changes_no_silicon_changes_no_table() -> None:
    platform = load_platform("tiny", ["cstates.C3.exit_us=5", "clusters.big.dynamic_power_coefficient=1"])
    assert tables.load(platform, platform.clusters[1]).core == "a57"


def test_a_missing_or_broken_table_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    platform, cluster = _find("tiny", "little")
    whole = json.loads(tables.path("tiny", "little").read_text())
    monkeypatch.setattr(tables, "TABLES", tmp_path)
    with pytest.raises(UserError, match="no table for this cluster; make it by `lull energy tables"):
        tables.load(platform, cluster)
    del whole["opps"][0]["leakage"]
    tables.path("tiny", "little").parent.mkdir(parents=True)
    tables.path("tiny", "little").write_text(json.dumps(whole))
    with pytest.raises(UserError, match=r"little\.json: opps\.0\.leakage: Field required; make it by"):
        tables.load(platform, cluster)


def test_operating_points_go_by_frequency() -> None:
    table = tables.load(*_find("tiny", "little"))
    assert table.at(1e6 / 1176).mhz == 850, "gem5's clock of whole picoseconds"
    with pytest.raises(UserError, match=r"little\.json: no operating point of 800 MHz among 450, 575, 700, 775, 850; "):
        table.at(800)


def test_tables_that_are_up_to_date_need_no_mcpat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcpat_run, "find", lambda _: pytest.fail("McPAT was looked for"))
    assert list(make_tables.make([load_platform("tiny")], None, force=False)) == []


def test_a_platform_without_process_says_where_to_add_it() -> None:
    platform = load_platform("tiny").model_copy(update={"name": "mine"})
    with pytest.raises(UserError, match=r"^power-models/technology\.yaml: mine: no entry .* `rk3399`"):
        tables.made_from(platform, platform.clusters[0])
