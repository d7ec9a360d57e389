# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy mcpat-xml`: a run as McPAT's input."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

import pytest

from lull.energy import activity, events, run_xml, tables
from lull.energy.mcpat_xml import render
from lull.errors import UserError
from lull.rundir.folder import STATS_TABLE, RunDir
from tests import energy_runs
from tests.specs import spec
from tests.unit.test_energy_mapping import windows


def _run(folder: Path, found: Sequence[dict[str, float]] | None = None) -> RunDir:
    """A run of `tiny` without its shadow, whose windows are the recorded ones, put one after the other."""
    end, following = 0.0, []
    for window in found or windows():
        end += window["simTicks"]
        following.append({**window, "finalTick": end})
    return energy_runs.rundir(folder, energy_runs.run_spec("shadow.enabled=false"), following)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return _run(tmp_path / "run")


def _values(file: Path, kind: str, under: str) -> dict[str, str]:
    found = next(part for part in ElementTree.parse(file).iter("component") if part.get("id") == under)
    return {str(item.get("name")): str(item.get("value")) for item in found.findall(kind)}


def test_one_file_for_each_operating_point(run: RunDir, tmp_path: Path) -> None:
    files = run_xml.write(run, tmp_path / "xml")
    assert [file.name for file in files] == ["little-575.xml", "little-850.xml", "big-450.xml", "big-1100.xml"]
    big = tmp_path / "xml" / "big-1100.xml"
    busy = windows()[0]
    cpu = "system.cluster1.cpu0"
    core = _values(big, "stat", "system.core0")
    assert float(core["total_instructions"]) == busy[f"{cpu}.decode.decodedInsts"]
    total = busy["simTicks"] / energy_runs.HZ * 1.1e9
    assert float(core["total_cycles"]) == pytest.approx(total)
    assert float(core["pipeline_duty_cycle"]) * total == pytest.approx(busy[f"{cpu}.numCycles"])
    assert float(_values(big, "stat", "system.L20")["read_misses"]) == busy["system.cluster1.l2.overallMisses::total"]
    assert _values(big, "param", "system.core0")["vdd"] == "1.0"


def test_mcpat_has_every_component_that_it_wants_in_its_order(run: RunDir, tmp_path: Path) -> None:
    """A file that lacks one is an error of McPAT's that names no component."""
    system = ElementTree.parse(run_xml.write(run, tmp_path)[0]).getroot().find("component")
    assert system is not None
    assert [part.get("id") for part in system.findall("component")] == [
        f"system.{name}"
        for name in ("core0", "L1Directory0", "L2Directory0", "L20", "L30", "NoC0", "mc", "niu", "pcie", "flashc")
    ]


def test_windows_of_an_operating_point_add_up(run: RunDir, tmp_path: Path) -> None:
    """The energy adds up as well: McPAT is linear."""
    platform = run.spec().platform
    of_both = run_xml.spent(_run(tmp_path / "twice", windows() * 2))
    for (_, once), (chip, both) in zip(run_xml.spent(run), of_both, strict=True):
        table = tables.load(platform, chip.cluster).at(chip.opp.mhz)
        ours = [sum(activity.joules(table, spent.cores[0]).values()) for spent in (once, both)]
        assert ours[1] == pytest.approx(2 * ours[0])
        assert both.seconds == pytest.approx(2 * once.seconds)


def test_cores_of_a_cluster_keep_their_own_counts(run: RunDir) -> None:
    """McPAT takes cores for equal unless told otherwise."""
    chip, spent = next(iter(run_xml.spent(run)))
    root = ElementTree.fromstring(render(chip, [spent.cores[0], {events.CYCLES: 5}], spent.l2, 1e6))
    system = root.find("component")
    assert system is not None
    params = {str(item.get("name")): item.get("value") for item in system.findall("param")}
    assert (params["number_of_cores"], params["homogeneous_cores"]) == ("2", "0")


def test_a_dump_without_a_reset_is_not_counted_twice(run: RunDir, tmp_path: Path) -> None:
    """It repeats what the dump before it has."""
    busy, asleep = windows()
    again = _run(tmp_path / "again")
    first = {**busy, "finalTick": busy["simTicks"]}
    asleep["finalTick"] = first["finalTick"] + asleep["simTicks"]
    energy_runs.statistics(again / STATS_TABLE, [first, first, asleep])
    assert [spent for _, spent in run_xml.spent(again)] == [spent for _, spent in run_xml.spent(run)]


def test_a_run_without_what_energy_needs_is_refused(run: RunDir, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a run on qemu is functional only and has no energy"):
        run_xml.write(energy_runs.rundir(tmp_path / "qemu", spec(), windows()), tmp_path / "out")
    (run / STATS_TABLE).unlink()
    with pytest.raises(UserError, match=r"stats\.parquet: missing; run it again"):
        run_xml.write(run, tmp_path / "out")
    assert not (tmp_path / "out").exists(), "nothing half-written"
