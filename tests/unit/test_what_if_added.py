# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if` with states that the recorded machine does not have."""

import dataclasses
from collections.abc import Sequence

import pytest

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform.load import load_platform
from lull.platform.schema import Platform
from lull.whatif import added, bars, chain, grid, hindsight, prediction, settings, source
from lull.whatif.prediction import ALL, CORES, Key, Predicted
from lull.whatif.settings import Setup
from lull.whatif.several import Question
from lull.whatif.source import Replay
from tests.conftest import Lull

pytestmark = pytest.mark.usefixtures("governors")

DRAGS = ROOT / "results" / "recordings" / "drags"
TEGRA = Setup(load_platform("tegra-k1"), "menu", {0: "C3"})
FASTER = ("cstates.C3f.kind=core-off", "cstates.C3f.advertised.entry_us=50", "cstates.C3f.advertised.exit_us=50",
          "cstates.C3f.advertised.residency_us=300", "cstates.C3f.exit_us=5")  # fmt: skip
"""A faster way to turn a core off. It is lighter than C3, as Linux sees it."""


@pytest.fixture(scope="module")
def drags() -> Replay:
    return source.load(DRAGS)


def table(replay: Replay, *words: str) -> dict[Key, Predicted]:
    return {(row.what, row.cpu, row.of): row for row in prediction.rows(replay, replay.machine.changed(words))}


def many(count: int) -> list[str]:
    states = [f"cstates.C3-{number}" for number in range(count)]
    kinds = [f"{state}.kind=core-off" for state in states]
    return [*kinds, *(f"{state}.advertised.residency_us={4900 + number}" for number, state in enumerate(states))]


def names(machine: Setup) -> list[str]:
    return [state.name for state in machine.platform.clusters[0].cstates]


def test_a_new_state_has_its_place_by_kind_and_residency() -> None:
    words = ["cstates.C2b.kind=retention", "cstates.C2b.advertised.residency_us=200", *FASTER]
    assert names(TEGRA.changed(words)) == ["C1", "C2", "C2b", "C3f", "C3", "C4"]
    deeper = ["cstates.C3b.kind=core-off", "cstates.C3b.advertised.residency_us=4800"]
    assert names(TEGRA.changed(deeper)) == ["C1", "C2", "C3", "C3b", "C4"]


def test_numbers_that_are_not_set_are_those_of_the_state_of_its_kind_in_each_cluster() -> None:
    machine = TEGRA.changed(["cstates.C3b.kind=core-off", "idle.without=C3", "cstates.C3.exit_us=7"])
    for cluster in machine.platform.resolved_clusters():
        one, other = (next(state for state in cluster.cstates if state.name == name) for name in ("C3", "C3b"))
        assert other.actual.exit_us == one.actual.exit_us == 7
        assert other.advertised.residency_us == one.advertised.residency_us
        assert other.actual.source == "added by a what-if"


def test_a_state_may_be_added_to_one_cluster() -> None:
    tiny, key = Setup(load_platform("tiny"), "menu", {0: "C3"}), "clusters.big.cstates.C3b"
    machine = tiny.changed([f"{key}.kind=core-off", f"{key}.advertised.residency_us=2100"])
    having = [cluster.name for cluster in machine.platform.clusters if "C3b" in {one.name for one in cluster.cstates}]
    assert having == ["big"]


def test_settings_of_a_new_state_may_come_one_after_the_other() -> None:
    machine = TEGRA.changed(FASTER).changed(["cstates.C3f.exit_us=9", "cstates.C3.exit_us=40"])
    by_name = {str(state.name): state.actual.exit_us for state in machine.platform.clusters[0].cstates}
    assert (by_name["C3f"], by_name["C3"]) == (9, 40)
    assert added.without(machine.platform) == TEGRA.changed(["cstates.C3.exit_us=40"]).platform


def test_what_a_new_state_does_not_set_may_follow_from_no_state_of_its_kind() -> None:
    """A platform without retention: all numbers of C2 have to be given."""
    data = TEGRA.platform.model_dump(mode="json")
    for cluster in (*data["clusters"], data["shadow"]["cluster"]):
        del cluster["cstates"][1]
    machine = Setup(Platform.model_validate(data), "menu", {0: "C3"})
    with pytest.raises(UserError, match=r"^--set cstates\.C2 on main: advertised\.entry_us: missing; add it"):
        machine.changed(["cstates.C2.kind=retention"])
    told = [f"cstates.C2.advertised.{key}={us}" for key, us in (("entry_us", 1), ("exit_us", 2), ("residency_us", 90))]
    asked = ["cstates.C2.kind=retention", *told, "cstates.C2.entry_us=0", "cstates.C2.exit_us=2"]
    assert names(machine.changed(asked)) == ["C1", "C2", "C3", "C4"]
    with pytest.raises(UserError, match="C2 is retention on every platform; choose another name"):
        machine.changed(["cstates.C2.kind=core-off"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cstates.C5.exit_us=4"],
         "--set cstates.C5.exit_us: no cluster has `C5`; use `C1`, `C2`, `C3`, `C4`, or add the state by "
         "cstates.C5.kind=core-off"),
        (["cstates.C1b.kind=wfi"],
         "--set cstates.C1b.kind=wfi: not a kind of a new state; use `retention`, `core-off`, `cluster-off`"),
        (["cstates.deep.kind=core-off"], "--set cstates.deep.kind: not a name of a state; write C, a digit and 13"),
        (["cstates.C3.kind=retention"], "--set cstates.C3.kind: unknown key `kind`"),
        (["clusters.none.cstates.C2b.kind=retention"], "--set clusters.none.cstates.C2b.kind: no such cluster in this"),
        (["cstates.C2b.kind=retention"],
         "--set cstates.C2b.advertised.residency_us: 100 on main is not above the 100 of C2, a lighter state; "
         "raise it"),
        (["cstates.C2b.kind=retention", "cstates.C2b.advertised.residency_us=100000"],
         "--set cstates.C2b.advertised.residency_us: 100000 on main is not below the"),
        (["cstates.C3b.kind=core-off", "cstates.C3b.advertised.residency_us=4900",
          "cstates.C3b.advertised.exit_us=0"],
         "--set cstates.C3b.advertised.exit_us: 0 on main is not above or equal to the"),
        (["cstates.C3b.kind=core-off", "cstates.C3b.advertised.residency_us=4900",
          "cstates.C3b.advertised.entry_us=1000"],
         "--set cstates.C3b.advertised.entry_us: entry + exit, "),
        (["cstates.C2b.kind=retention", "cstates.C2b.flush_us=3", "cstates.C2b.fill_us=9"],
         "--set cstates.C2b on main: actual: retention keeps the caches; leave flush_us and refill_us 0"),
        ([*FASTER, "cstates.C3f.leakage=0.1"], "--set cstates.C3f on main: actual.leakage: unknown key; remove it"),
        ([*FASTER, "cstates.C3f.exit_us=fast"], "--set cstates.C3f on main: actual.exit_us: 'fast' is not a number"),
        ([*FASTER, "cstates.C3f.advertised.residency_us=9"], "advertised.residency_us: 9 is below entry + exit, 100"),
        ([*FASTER, "power-models.core.C3g.leakage=0.1"], "--set power-models.core.C3g.leakage: not a number of"),
        ([*FASTER, "idle.deepest=C3f"], "--set idle.deepest=C3f: unknown; choose C1, C2, C3, C4"),
        (["clusters.main.cstates.C2b.kind=retention", "clusters.main.cstates.C2b.advertised.residency_us=700",
          "shadow.cluster.cstates.C2b.kind=core-off", "shadow.cluster.cstates.C2b.advertised.residency_us=4900"],
         "--set cstates.C2b.kind: retention on one cluster and core-off on another; use two names"),
        (many(7),
         "--set cstates: 11 states on main, and Linux has 10 at most; add fewer"),
    ],
)  # fmt: skip
def test_a_wrong_state_is_one_sentence(words: Sequence[str], message: str) -> None:
    with pytest.raises(UserError, match=r"^--set") as error:
        TEGRA.changed(words)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_linux_may_have_ten_states() -> None:
    assert len(names(TEGRA.changed(many(6)))) == added.MOST_STATES == chain.MAX_STATES


def totals(replay: Replay, *words: str) -> dict[str, float]:
    return prediction.totals(replay, replay.machine.changed(words))


NEVER_LONG_ENOUGH = ("cstates.C4.advertised.residency_us=10000000", "cstates.C3b.kind=core-off",
                     "cstates.C3b.advertised.residency_us=9999999")  # fmt: skip
"""Linux is told to take C3b for no sleep shorter than ten seconds."""


def test_a_state_that_linux_may_not_take_changes_nothing(drags: Replay) -> None:
    """A cluster-off, and the deepest state of the run is C3."""
    words = ["cstates.C4b.kind=cluster-off", "cstates.C4b.advertised.residency_us=30000"]
    before, after = table(drags, "governor=menu"), table(drags, *words)
    assert after["entries", 0, "C4b"].predicted == after["residency", 0, "C4b"].predicted == 0
    for key, row in before.items():
        assert after[key] == row


def test_a_copy_that_is_taken_in_place_of_its_equal_changes_no_total(drags: Replay) -> None:
    """Linux is told one more microsecond of residency, so that it takes the copy, which is no better."""
    words = ("cstates.C3b.kind=core-off", "cstates.C3b.advertised.residency_us=1001")
    before, after = totals(drags), totals(drags, *words)
    assert after == pytest.approx(before, rel=1e-9)
    assert table(drags, *words)["entries", 0, "C3b"].predicted > 0


@pytest.mark.parametrize("governor", ["menu", "teo"])
def test_a_state_that_is_never_taken_may_keep_ticks(drags: Replay, governor: str) -> None:
    """Linux's menu keeps the tick if a sleep is too short for a deeper state. teo then takes a lighter state."""
    before, after = (totals(drags, f"governor={governor}", *words) for words in ((), NEVER_LONG_ENOUGH))
    assert after["wake_ups"] > 2 * before["wake_ups"]


@pytest.mark.parametrize(("taken", "kind"), [("C3", "core-off"), ("C2", "retention")])
def test_a_state_in_place_of_an_equal_one_gives_the_recorded_answer(drags: Replay, taken: str, kind: str) -> None:
    before, after = table(drags, "governor=menu"), table(drags, f"idle.without={taken}", f"cstates.C9.kind={kind}")
    for key, row in before.items():
        what, cpu, of = key
        if of == taken:
            mine, other = after[what, cpu, "C9"].predicted, after[key].predicted
            assert mine + other == pytest.approx(row.predicted, rel=0.03), key
        elif what != "cause":
            assert after[key].predicted == pytest.approx(row.predicted, abs=1e-12), key
    assert after["entries", 0, "C9"].predicted > 0.9 * before["entries", 0, taken].predicted > 0


def test_the_bars_of_a_new_state_are_wide_if_it_is_entered(drags: Replay) -> None:
    before, after = table(drags, "governor=menu"), table(drags, "idle.without=C3", "cstates.C3b.kind=core-off")
    cores = ("energy", ALL, CORES)
    asleep = sum(row.predicted for (what, cpu, of), row in after.items() if what == "energy" and of == "C3b")
    wider = after[cores].error - before[cores].error
    assert wider == pytest.approx(bars.factor("sums", drags.circumstances) * bars.SHARE_OF_CHANGE * asleep, rel=1e-6)
    own = after["energy", 0, "C3b"]
    assert own.error > bars.SHARE_OF_UNSEEN * own.predicted


def test_the_power_of_a_new_state_is_that_of_its_kind_or_as_set(drags: Replay) -> None:
    power = drags.watts.of(0)
    asked = [*FASTER, "power-models.core.C3.leakage=0.06"]
    assert drags.power(drags.machine.changed(FASTER)).of(0)["C3f"] == power["C3"]
    both = drags.power(drags.machine.changed(asked)).of(0)
    assert both["C3f"] == both["C3"] == pytest.approx(2 * power["C3"])
    own = drags.power(drags.machine.changed([*asked, "power-models.core.C3f.leakage=0.015"])).of(0)
    assert own["C3f"] == pytest.approx(0.5 * power["C3"])
    assert own["C3"] == pytest.approx(2 * power["C3"])
    assert drags.power(drags.machine).of(0) == power


def test_a_faster_state_is_left_faster_and_hindsight_takes_it_too(drags: Replay) -> None:
    words = [*FASTER, "idle.without=C3"]
    before, after = table(drags, "governor=menu"), table(drags, *words)
    late = ("latency", 0, "p99")
    assert before[late].predicted - after[late].predicted == pytest.approx(30 - 5, abs=0.5)
    machine = drags.machine.changed(words)
    taken = hindsight.least(drags, machine)
    number = names(machine).index("C3f")
    assert (taken["state"] == number).any()
    energy = after["energy", ALL, "all"]
    assert energy.ideal is not None
    assert energy.ideal <= energy.predicted


def test_a_cluster_that_stays_on_costs_what_the_recorded_core_off_costs(drags: Replay) -> None:
    """The hardware turns a core off in its own way while another core keeps the cluster on."""
    machine = drags.machine.changed([*FASTER, "cstates.C4b.kind=cluster-off", "idle.without=C4"])
    states = machine.platform.clusters[0].cstates
    alone = {state.name: states[chain._alone(states, number)].name for number, state in enumerate(states)}
    assert alone == {"C1": "C1", "C2": "C2", "C3f": "C3f", "C3": "C3", "C4": "C3", "C4b": "C3"}


def test_a_state_too_deep_to_be_chosen_is_told_of(drags: Replay) -> None:
    words = ["cstates.C4b.kind=cluster-off", "idle.without=C4"]
    said = "C4b changes nothing while the deepest state is C3; add idle.deepest=C4"
    assert settings.idle_words(drags.machine, words) == [said]
    assert settings.idle_words(drags.machine, [*words, "idle.deepest=C4"]) == []
    assert settings.idle_words(drags.machine, FASTER) == []


def test_a_grid_goes_over_numbers_and_kinds_of_a_new_state(drags: Replay) -> None:
    """A copy of C2 without another residency is no machine, so that only points are checked."""
    common = ["cstates.C2b.kind=retention", "power-models.core.C2b.leakage=0.2"]
    words = ["cstates.C2b.advertised.residency_us=200,400"]
    Question(common, words).check(drags.machine)
    rows = grid.table(drags, common, words).to_pylist()
    said = [row["settings"].split()[-1] for row in rows]
    assert said == [f"cstates.C2b.advertised.residency_us={us}" for us in (200, 400)]
    with pytest.raises(UserError, match=r"^--set governor=ladder: unknown"):
        Question([*common, "governor=ladder"], words).check(drags.machine)
    with pytest.raises(UserError, match=r"^--grid: .* is no machine: cstates\.C2b\.advertised\.residency_us: 1500 on"):
        grid.table(drags, common, ["cstates.C2b.advertised.residency_us=1500,400"])


def test_the_command_adds_a_state_and_takes_one_away(lull: Lull) -> None:
    words = [word for one in (*FASTER, "idle.without=C2") for word in ("--set", one)]
    ran = lull("what-if", str(DRAGS), *words)
    assert ran.returncode == 0, ran.stderr
    rows = {tuple(line.split()[:3]): line.split()[3:] for line in ran.stdout.splitlines() if line.startswith("entries")}
    assert float(rows["entries", "0", "C3f"][1]) > 0
    assert float(rows["entries", "0", "C2"][1]) == 0
    ran = lull("what-if", str(DRAGS), "--set", "cstates.C5.exit_us=4")
    assert ran.returncode == 2
    assert "or add the state by cstates.C5.kind=core-off" in ran.stderr


def test_memory_is_for_the_states_of_one_point(drags: Replay) -> None:
    other = ["cstates.C2b.kind=retention", "cstates.C2b.advertised.residency_us=300"]
    own = dataclasses.replace(drags)
    for words in (FASTER, other, FASTER):
        machine = own.machine.changed(words)
        assert own.chains_of(machine) is own.chains_of(machine)
    assert len(own._by_layout) == 1
