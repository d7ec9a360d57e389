# SPDX-License-Identifier: BSD-3-Clause
"""What `lull tune` looks through on platforms whose clusters have other residencies."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.cli import tune as command
from lull.cli.app import app
from lull.engines import gem5_binary
from lull.files.paths import ROOT
from lull.platform.load import load_platform
from lull.rundir.folder import RunDir
from lull.whatif import source, tune
from lull.whatif.settings import Setup
from lull.whatif.source import Replay
from lull.whatif.tune import Tuned
from tests.conftest import Lull

pytestmark = pytest.mark.usefixtures("governors")

TINY = Path(__file__).parent / "data" / "trace" / "tiny-gem5"
DRAGS = ROOT / "results" / "recordings" / "drags"


@pytest.fixture(scope="module")
def drags() -> Replay:
    return source.load(DRAGS)


def on(drags: Replay, platform: str, deepest: str = "C4") -> Replay:
    """Only the machine counts for what is looked through."""
    return dataclasses.replace(drags, machine=Setup(load_platform(platform), "teo", {0: deepest}))


def told(replay: Replay, point: tuple[str, ...]) -> dict[tuple[str, str], int]:
    """The residency of each state of each cluster."""
    clusters = replay.machine.changed(point).platform.resolved_clusters()
    return {(one.name, state.name): state.advertised.residency_us for one in clusters for state in one.cstates}


@pytest.mark.parametrize("platform", ["tiny", "exynos5422", "exynos7420", "rk3399", "server", "tegra-k1"])
def test_each_residency_is_a_quarter_to_four_times_the_one_of_its_cluster(drags: Replay, platform: str) -> None:
    replay = on(drags, platform)
    recorded = told(replay, ())
    factors: dict[tuple[str, str], set[float]] = {}
    for point in tune.candidates(replay):
        by_state: dict[str, set[float]] = {}
        for (cluster, state), residency in told(replay, point).items():
            if state == "C1":
                continue  # Linux takes no other
            (factor,) = (one for one in tune.FACTORS if round(one * recorded[cluster, state]) == residency)
            by_state.setdefault(state, set()).add(factor)
            factors.setdefault((cluster, state), set()).add(factor)
        assert all(len(own) == 1 for own in by_state.values()), "one factor for all clusters"
    assert {state for (_, state), own in factors.items() if own > {1}} >= {"C2", "C4"}


@pytest.mark.parametrize("platform", ["tiny", "exynos7420", "tegra-k1"])
def test_the_recorded_settings_are_a_candidate(drags: Replay, platform: str) -> None:
    replay = on(drags, platform)
    of_haltpoll = tune.tunables(["haltpoll.guest_halt_poll_ns=0,50000"])
    for governor in ("menu", "haltpoll"):
        own = dataclasses.replace(replay, machine=dataclasses.replace(replay.machine, governor=governor))
        asked = list(tune.candidates(own, of_haltpoll))
        assert asked[0] == (f"governor={governor}",)
        assert len(asked) == len(set(asked))
        assert own.machine.changed(asked[0]) == own.machine


def test_residencies_that_are_the_same_everywhere_are_one_setting(drags: Replay) -> None:
    assert (
        "governor=menu",
        "clusters.little.cstates.C2.advertised.residency_us=252",
        "clusters.big.cstates.C2.advertised.residency_us=651",
        "shadow.cluster.cstates.C2.advertised.residency_us=252",
        "cstates.C4.advertised.residency_us=5000",
    ) in list(tune.candidates(on(drags, "tiny")))
    assert (
        "governor=menu",
        "cstates.C2.advertised.residency_us=50",
        "clusters.little.cstates.C3.advertised.residency_us=375",
        "clusters.big.cstates.C3.advertised.residency_us=1000",
    ) in list(tune.candidates(on(drags, "exynos7420"))), "the shadow core is off"


def test_a_run_on_gem5_is_given_the_residencies_of_each_cluster(drags: Replay) -> None:
    platform = RunDir.open(TINY).spec().platform
    replay = dataclasses.replace(drags, path=TINY, machine=Setup(platform, "menu", {0: "C2"}))
    (point,) = (one for one in tune.candidates(replay) if one[0] == "governor=teo" and "=651" in " ".join(one))
    spec = tune.spec_of(replay, point)
    assert spec.policy.governor == "teo"
    assert spec.boot_platform() == RunDir.open(TINY).spec().boot_platform(), "the same checkpoint"
    lines = [word for word in spec.script().split() if "cstate=" in word or ":C2:" in word]
    for words in ("0:C2:167:252", "1:C2:161:651", "2:C2:167:252"):
        assert any(words in line for line in lines), (words, lines)


def test_an_answer_is_sure_if_the_bound_holds_with_the_error_bar() -> None:
    one = tune.Tuned((), 1.0, 90.0, 0.1, 15.0)
    assert [one.surely_within(bound) for bound in (100.0, 105.0, 110.0)] == [False, True, True]


def test_the_command_says_which_answers_are_sure(lull: Lull) -> None:
    for bound, sure in (("88", "no"), ("1000", "yes")):
        ran = lull("tune", str(DRAGS), "--p99-us", bound, "--top", "1", "--tunable", "haltpoll.guest_halt_poll_ns=0")
        assert ran.returncode == 0, ran.stderr
        head, recorded, answer, *_ = ran.stdout.splitlines()
        assert head.split()[-1] == "sure"
        assert recorded.startswith("as recorded")
        assert answer.split()[-1] == sure


def test_a_verified_answer_says_whether_its_bars_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drags: Replay
) -> None:
    """gem5's joules are within the bar of the predicted ones, and its p99 is not."""

    def simulated(_replay: Replay, one: Tuned, _engine: object, out: Path, _sink: object) -> Tuned:
        shutil.copytree(DRAGS, out)
        manifest = json.loads((out / "manifest.json").read_text())
        manifest["artifacts"]["kernel"]["key"] = "another"
        (out / "manifest.json").write_text(json.dumps(manifest))
        joules = one.energy_j + 0.9 * one.energy_j_error
        return Tuned(one.settings, joules, one.latency_p99_us + 1.1 * one.latency_p99_us_error)

    monkeypatch.setattr(gem5_binary, "is_there", lambda: True)
    monkeypatch.setattr(command, "choose", lambda _: object())
    monkeypatch.setattr(source, "load", lambda _: drags)
    monkeypatch.setattr(tune, "searched", lambda *_: tune.Tuning([Tuned(("governor=teo",), 1.0, 100.0, 0.2, 10.0)], []))
    monkeypatch.setattr(tune, "verified", simulated)
    words = ["tune", str(DRAGS), "--p99-us", "500", "--verify", "3", "--out", str(tmp_path / "out")]
    said = CliRunner(env={"COLUMNS": "200"}).invoke(app, words)
    assert said.exit_code == 0, said.output
    (row,) = [line.split() for line in said.output.splitlines() if line.startswith("governor=teo")][1:]
    assert row == ["governor=teo", "1.18", "-15.3%", "yes", "111", "-9.9%", "no"]
    assert "of 3" not in said.output, "there is one answer"
    assert "haltpoll keeps the kernel's parameters, because a run on gem5 cannot be given others" in said.output
    theirs = "made with another kernel than the runs on gem5; so a part of the difference is theirs"
    assert f"{DRAGS}: {theirs}" in said.output.replace("\n", "")
