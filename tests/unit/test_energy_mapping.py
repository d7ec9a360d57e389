# SPDX-License-Identifier: BSD-3-Clause
"""gem5's statistics as McPAT's events: on windows that gem5 24.0 wrote, and on ones that it should not have."""

import gzip
import re
from pathlib import Path

import pytest

from lull.energy import activity, events, mapping
from lull.errors import UserError
from lull.rundir import stats

DATA = Path(__file__).parent / "data"
RECORDED = {"minor": "system.cluster0.cpu0", "o3": "system.cluster1.cpu0"}
"""In stats-24.0.txt.gz (data/README.md): two windows of `tiny`, one busy and one in which the O3 CPU sleeps."""


def windows() -> list[dict[str, float]]:
    path = DATA / "stats-24.0.txt.gz"
    found: list[dict[str, float]] = []
    with gzip.open(path, "rt") as lines:
        for sample in stats.samples(lines, path):
            if sample.window == len(found):
                found.append({})
            found[-1][sample.statistic] = sample.value
    return found


@pytest.fixture
def busy() -> dict[str, float]:
    return windows()[0]


@pytest.mark.parametrize(("model", "cpu"), RECORDED.items())
def test_every_event_of_a_core_is_counted(model: str, cpu: str, busy: dict[str, float]) -> None:
    kind = events.IN_ORDER if model == "minor" else events.OUT_OF_ORDER
    counts = activity.core_counts(busy, cpu)
    assert set(counts) == set(events.core_events(kind))
    assert all(count >= 0 for count in counts.values())
    assert set(activity.l2_counts(busy, "system.cluster0.l2")) == set(events.L2_EVENTS)


@pytest.mark.parametrize("cpu", RECORDED.values())
def test_counts_agree_with_each_other(cpu: str, busy: dict[str, float]) -> None:
    counts = activity.core_counts(busy, cpu)
    committed = busy[f"{cpu}.commitStats0.numOps"]
    assert committed <= counts["total_instructions"] <= 2 * committed
    memory = counts["load_instructions"] + counts["store_instructions"]
    assert counts["dcache.read_accesses"] + counts["dcache.write_accesses"] == pytest.approx(memory, rel=0.25)
    assert counts["branch_mispredictions"] < counts["branch_instructions"] < counts["BTB.read_accesses"]
    assert counts["icache.read_misses"] < counts["icache.read_accesses"] < counts["total_instructions"]
    assert counts["int_regfile_writes"] < counts["int_regfile_reads"]
    for cache in ("dcache.read", "dcache.write"):
        assert counts[f"{cache}_misses"] < counts[f"{cache}_accesses"]


def test_a_core_that_sleeps_does_nothing() -> None:
    asleep = windows()[1]
    assert asleep["system.cluster1.cpu0.numCycles"] == 0, "the record is of another kind"
    assert not any(activity.core_counts(asleep, "system.cluster1.cpu0").values())


@pytest.mark.parametrize(
    ("cpu", "statistic"),
    [
        ("system.cluster0.cpu0", "numCycles"),
        ("system.cluster0.cpu0", "fetch2.loadInstructions"),
        ("system.cluster1.cpu0", "branchPred.BTBLookups"),
        ("system.cluster1.cpu0", "mmu.dtb.accesses"),
    ],
)
def test_a_missing_statistic_is_named_with_the_version(cpu: str, statistic: str, busy: dict[str, float]) -> None:
    del busy[f"{cpu}.{statistic}"]
    with pytest.raises(UserError, match=rf"^{re.escape(f'{cpu}.{statistic}')}: not among .* gem5 24\.0\.0\.1; .*24\.0"):
        activity.core_counts(busy, cpu, "24.0.0.1")


def test_zeros_are_left_out_by_tested_versions_only(busy: dict[str, float]) -> None:
    cpu = RECORDED["o3"]
    busy.pop(f"{cpu}.executeStats0.numFpRegReads", None)
    assert activity.core_counts(busy, cpu, "24.0.0.1")["float_regfile_reads"] > 0
    with pytest.raises(UserError, match=r"not among the statistics of gem5 26\.1"):
        activity.core_counts(busy, cpu, "26.1")


@pytest.mark.parametrize("name", ["dcache.WriteReq.accesses::total", "dcache.overallAccesses::total"])
def test_a_renamed_statistic_that_zeros_are_left_out_of_is_noticed(name: str, busy: dict[str, float]) -> None:
    cpu = RECORDED["minor"]
    busy[f"{cpu}.renamed"] = busy.pop(f"{cpu}.{name}")
    with pytest.raises(UserError, match=r"dcache\.overallAccesses::total: .* parts .* make"):
        activity.core_counts(busy, cpu)


def test_a_class_of_instructions_that_no_table_knows_is_noticed(busy: dict[str, float]) -> None:
    cpu = RECORDED["o3"]
    busy[f"{cpu}.statIssuedInstType_0::SimdDotProd"] = 7
    busy[f"{cpu}.statIssuedInstType_0::total"] += 7
    with pytest.raises(UserError, match=r"statIssuedInstType_0::total"):
        activity.core_counts(busy, cpu)


@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_a_count_below_zero_is_an_error(value: float, busy: dict[str, float]) -> None:
    cpu = RECORDED["minor"]
    busy[f"{cpu}.branchPred.condPredicted"] = value
    with pytest.raises(UserError, match=r"branchPred\.condPredicted: (-1|nan) in gem5 24\.0"):
        activity.core_counts(busy, cpu)


def test_other_cpu_models_are_refused() -> None:
    with pytest.raises(UserError, match=r"fetch2\.intInstructions and .*rob\.reads: .* --cpu detailed"):
        activity.core_counts({"system.cluster0.cpu0.numCycles": 1.0}, "system.cluster0.cpu0")


@pytest.mark.parametrize("name", ["minor", "o3", "caches", "l2"])
def test_what_may_be_left_out_is_used(name: str) -> None:
    """A name that is only in the list would hide nothing, and mislead."""
    table = mapping.load(name)
    used = {term for event in table.events.values() for term in event.from_}
    used |= {term for check in table.checks for term in (check.whole, *check.parts)}
    assert set(table.silent_when_zero) <= used
