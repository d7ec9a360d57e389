# SPDX-License-Identifier: BSD-3-Clause
"""McPAT's own answers beside ours: recorded ones, and those of a binary where there is one."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

from lull.energy import activity, coefficients, events, mcpat_run, tables
from lull.energy.events import L2
from lull.energy.mcpat_run import Heading, McPatBinary
from lull.energy.mcpat_xml import Chip, render
from lull.errors import UserError
from lull.platform.load import load_platform
from tests.unit.test_energy_mapping import windows

DATA = Path(__file__).parent / "data"
SECONDS = windows()[0]["simSeconds"]
CLUSTERS = ("little", "big")


def chip(name: str) -> Chip:
    """A cluster of `tiny` at its fastest OPP, which the recorded window ran at."""
    platform = load_platform("tiny")
    cluster = next(cluster for cluster in platform.clusters if cluster.name == name)
    return Chip(platform, cluster, cluster.opps.table[-1])


def said(name: str) -> str:
    """Return the words of McPAT 1.3 on the input that `xml` renders."""
    return gzip.decompress((DATA / f"mcpat-1.3-tiny-{name}.txt.gz").read_bytes()).decode()


def recorded(name: str) -> Heading:
    return mcpat_run.parse(said(name))


def xml(name: str) -> str:
    counts, l2 = counted(name)
    return render(chip(name), [counts], l2, SECONDS * chip(name).clock_mhz * 1e6)


def counted(name: str) -> tuple[dict[str, float], dict[str, float]]:
    cluster = f"system.cluster{CLUSTERS.index(name)}"
    stats = windows()[0]
    return activity.core_counts(stats, f"{cluster}.cpu0"), activity.l2_counts(stats, f"{cluster}.l2")


def assert_same(name: str, theirs: Heading) -> None:
    """To 0.1 %, in each component and each kind of power."""
    table = tables.load(chip(name).platform, chip(name).cluster).at(chip(name).opp.mhz)
    counts, l2 = counted(name)
    core = theirs.find("Core")
    for component, joules in activity.joules(table, counts).items():
        watts = core.find(events.UNITS[component])["Runtime Dynamic"]
        assert joules / SECONDS == pytest.approx(watts, rel=1e-3), component
    l2_joules = sum(each * l2[event] for event, each in table.joules_per_event[L2].items())
    assert l2_joules / SECONDS == pytest.approx(theirs.find("L2")["Runtime Dynamic"], rel=1e-3)
    own = [leak for component, leak in table.leakage.items() if component != L2]
    for part, leaks in ((core, own), (theirs.find("L2"), [table.leakage[L2]])):
        assert sum(leak.subthreshold_w for leak in leaks) == pytest.approx(part["Subthreshold Leakage"], rel=1e-3)
        assert sum(leak.gate_w for leak in leaks) == pytest.approx(part["Gate Leakage"], rel=1e-3)


@pytest.mark.parametrize("name", CLUSTERS)
def test_recorded_answers_are_ours(name: str) -> None:
    assert_same(name, recorded(name))


@pytest.mark.skipif(
    not (os.environ.get("MCPAT") or shutil.which("mcpat")), reason="no McPAT: set MCPAT to test with it"
)
@pytest.mark.parametrize("name", CLUSTERS)
def test_mcpats_answers_are_ours(name: str) -> None:
    assert_same(name, mcpat_run.run(mcpat_run.find(), xml(name)))


def test_a_table_that_is_not_linear_is_refused() -> None:
    """A McPAT that says the same to every input is no sum over events."""
    asked = []

    def ask(text: str) -> Heading:
        asked.append(text)
        return recorded("little")

    with pytest.raises(UserError, match=r"tiny: little at 850 MHz: McPAT's energy of `[a-z-]+` is no sum .* no table"):
        coefficients.derive(chip("little"), ask, seed=1)
    assert len(set(asked)) == coefficients.runs(chip("little"))


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_part_that_is_charged_is_in_the_answer(name: str) -> None:
    """And the parts and the pipeline's share make the unit."""
    core = recorded(name).find("Core")
    for unit, parts in events.components(chip(name).core).items():
        of_parts = sum(core.find(part)["Runtime Dynamic"] for part in parts)
        assert 0 < of_parts < core.find(events.UNITS[unit])["Runtime Dynamic"]


def test_what_is_no_answer_names_the_version() -> None:
    with pytest.raises(UserError, match=r"no `Core` below `McPAT`; lull reads that of McPAT 1\.3"):
        mcpat_run.parse("Processor:\n  Area = 1 mm^2\n").find("Core")
    with pytest.raises(UserError, match=r"no `Gate Leakage` for `Core`"):
        mcpat_run.parse("Core:\n  Area = 1 mm^2\n").find("Core")["Gate Leakage"]


@pytest.mark.parametrize(("banner", "version"), [("(version 0.8 ", "0.8"), ("(", "of unknown version")])
def test_a_mcpat_of_another_version_is_refused(tmp_path: Path, banner: str, version: str) -> None:
    program, answer = tmp_path / "mcpat", tmp_path / "answer"
    program.write_text(f'#!/bin/sh\ncat "{answer}"\n')
    program.chmod(0o755)
    answer.write_text(said("little"))
    assert mcpat_run.run(McPatBinary(str(program), ""), "") == recorded("little")
    answer.write_text(said("little").replace("(version 1.3 ", banner))
    with pytest.raises(UserError, match=rf"^{program}: McPAT {version}; lull reads 1\.3, name such a binary"):
        mcpat_run.run(McPatBinary(str(program), ""), "")


def test_a_binary_that_is_not_mcpat_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="not a McPAT binary"):
        mcpat_run.find("/bin/true")
    monkeypatch.delenv("MCPAT", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=r"looked at --mcpat, MCPAT and PATH"):
        mcpat_run.find()


def test_twins_differ_in_their_process_alone() -> None:
    """The Tegra's companion core is the Cortex-A15 with other transistors."""
    platform = load_platform("tegra-k1")
    main, shadow = platform.clusters[0], platform.shadow.cluster
    opp = shadow.opps.table[0]
    texts = [
        render(Chip(platform, cluster.model_copy(update={"l2": shadow.l2}), opp), [{}], {}, 1e6).splitlines()
        for cluster in (main, shadow)
    ]
    changed = [(ours, theirs) for ours, theirs in zip(*texts, strict=True) if ours != theirs]
    assert all("device_type" in ours for ours, _ in changed[1:]), "the first is the title"
    assert len(changed) == 3


@pytest.mark.parametrize(
    ("key", "param"),
    [
        ("clusters.big.l2.size_kib=1024", '"L2_config" value="1048576,'),
        ("clusters.big.opps.table.1100.mv=1050", '"vdd" value="1.05"'),
        ("clusters.big.core=a72", '"global_predictor_entries" value="16384"'),
    ],
)
def test_mcpats_input_follows_the_platform(key: str, param: str) -> None:
    platform = load_platform("tiny", [key])
    cluster = platform.clusters[1]
    assert param in render(Chip(platform, cluster, cluster.opps.table[-1]), [{}], {}, 1e6)
    assert param not in xml("big")
