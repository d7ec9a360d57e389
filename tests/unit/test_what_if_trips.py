# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if` with another energy of the trips into one state: each number has its size, and only there."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform.load import load_platform
from lull.whatif import chain, grid, hindsight, prediction, settings, source
from lull.whatif.prediction import ALL, CORES, Key
from lull.whatif.settings import Setup
from lull.whatif.several import Question
from lull.whatif.source import Replay
from tests.conftest import Lull

pytestmark = pytest.mark.usefixtures("governors")

RECORDINGS = ROOT / "results" / "recordings"
DRAGS = RECORDINGS / "drags"
TEGRA = Setup(load_platform("tegra-k1"), "menu", {0: "C3"})
TRIP = "power-models.transition"
ENERGY = ("energy", ALL, "all")
FASTER = ("cstates.C3f.kind=core-off", "cstates.C3f.advertised.entry_us=50", "cstates.C3f.advertised.exit_us=50",
          "cstates.C3f.advertised.residency_us=300", "idle.without=C3")  # fmt: skip


@pytest.fixture(scope="module")
def drags() -> Replay:
    return source.load(DRAGS)


@pytest.fixture(scope="module")
def deeper() -> Replay:
    """Of a run up to C4."""
    return source.load(RECORDINGS / "drags-deeper")


def measures(replay: Replay, *words: str) -> dict[Key, float]:
    machine = replay.machine.changed(words)
    return prediction.measures(replay, machine, replay.wakes(machine))


def added_by(replay: Replay, *words: str) -> dict[Key, float]:
    """The joules that settings add, where they are not the same."""
    before, after = measures(replay), measures(replay, *words)
    found = {key: value - before[key] for key, value in after.items() if key[0] in ("energy", "cause")}
    assert all(value == before[key] for key, value in after.items() if key not in found)
    return {key: value for key, value in found.items() if abs(value) > 1e-15}


def trips(replay: Replay, state: str, *words: str) -> dict[int, int]:
    """The sleeps of each CPU that ended after a choice of this state, and were not given up."""
    machine = replay.machine.changed(words)
    woken = replay.chains_of(machine).woken(replay.wakes(machine))
    found = {}
    for cpus, cluster in machine.platform.cpu_ranges():
        number = [str(one.name) for one in cluster.cstates].index(state)
        for cpu in set(cpus) & set(replay.cpus):
            mine = (woken["cpu"] == cpu) & (woken["state"] == number) & (woken["given_up"] == 0)
            found[cpu] = int(mine.sum())
    return found


@pytest.mark.parametrize("state", ["C2", "C3", "C4"])
def test_each_completed_sleep_takes_its_microjoules_on_the_way_out(deeper: Replay, state: str) -> None:
    many = {cpu: count for cpu, count in trips(deeper, state).items() if count}
    assert sum(many.values()) > 5
    found = added_by(deeper, f"{TRIP}.{state}.trip_uj=2")
    assert {key[1]: joules for key, joules in found.items() if key[2] == "exit"} == pytest.approx(
        {cpu: 2e-6 * count for cpu, count in many.items()}
    )
    whole = 2e-6 * sum(many.values())
    assert [found[ENERGY], found["energy", ALL, CORES]] == pytest.approx([whole] * 2)
    assert sum(joules for key, joules in found.items() if key[0] == "cause") == pytest.approx(whole)
    assert not {key[2] for key in found if key[0] == "energy"} - {"exit", CORES, "all"}


def test_a_cluster_that_another_cpu_keeps_on_does_not_change_what_a_trip_costs(deeper: Replay) -> None:
    wakes = deeper.chains.woken(deeper.wakes(deeper.machine))
    chosen = wakes["state"] == 3
    assert 0 < (wakes["refilled_l2"] >= 0).sum() < (chosen & (wakes["given_up"] == 0)).sum()
    assert sum(trips(deeper, "C4").values()) == (chosen & (wakes["given_up"] == 0)).sum()


def test_a_sleep_that_is_given_up_takes_none(drags: Replay) -> None:
    """With an entry of 2 ms many sleeps end before C3 is entered."""
    slow = ("cstates.C3.entry_us=2000",)
    machine = drags.machine.changed(slow)
    given_up = (drags.wakes(machine)["given_up"] == 1).sum()
    joules = [measures(drags, *slow, *more)[ENERGY] for more in ((), (f"{TRIP}.C3.trip_uj=3",))]
    assert given_up > 10
    assert joules[1] - joules[0] == pytest.approx(3e-6 * sum(trips(drags, "C3", *slow).values()))


@pytest.mark.parametrize(
    ("number", "value", "row"),
    [("switch_leakage", 0.9, "switch"), ("dirty_share", 0.1, "entry"), ("rail_nf_per_mm2", 6, "exit")],
)
def test_the_numbers_of_single_states_sum_to_that_of_all(deeper: Replay, number: str, value: float, row: str) -> None:
    whole = added_by(deeper, f"{TRIP}.{number}={value}")
    assert {key[2] for key in whole if key[0] == "energy"} == {row, CORES, "all"}
    states = ["C2", "C3", "C4"] if number == "switch_leakage" else ["C3", "C4"]
    parts = [added_by(deeper, f"{TRIP}.{state}.{number}={value}") for state in states]
    assert len({round(part[ENERGY], 12) for part in parts}) == len(parts), "two states differ"
    for key, joules in whole.items():
        assert sum(part.get(key, 0.0) for part in parts) == pytest.approx(joules, rel=1e-6), key
    both = added_by(deeper, *(f"{TRIP}.{state}.{number}={value}" for state in states))
    assert both[ENERGY] == pytest.approx(whole[ENERGY])


def test_the_sizes_follow_from_the_charges_of_the_state(drags: Replay) -> None:
    """Three times as large a rail, and twice the leakage of waiting for the switch."""
    many, rails = trips(drags, "C3"), 0.0
    for (cpus, _), charges in zip(drags.machine.platform.cpu_ranges(), drags.charges(drags.machine), strict=True):
        rails += sum(charges[2].core_rail * many.get(cpu, 0) for cpu in cpus)
    assert added_by(drags, f"{TRIP}.C3.rail_nf_per_mm2=4.5")[ENERGY] == pytest.approx(2 * rails)
    waits = drags.spending(drags.machine, drags.wakes(drags.machine)).waits
    power = drags.watts.kinds
    leaks = added_by(drags, f"{TRIP}.C3.switch_leakage=1")
    assert leaks[ENERGY] == pytest.approx(sum(waits[cpu]["C3"] * power[cpu]["switch"]["static"] / 1e9 for cpu in waits))


def test_the_order_of_a_number_of_all_and_one_of_a_state_does_not_count(deeper: Replay) -> None:
    words = (f"{TRIP}.dirty_share=0.1", f"{TRIP}.C3.dirty_share=0.9", f"{TRIP}.C3.switch_leakage=0.2",
             f"{TRIP}.switch_leakage=0.7")  # fmt: skip
    found = [measures(deeper, *order)[ENERGY] for order in permutations(words)]
    assert found == [found[0]] * len(found)
    one_by_one = deeper.machine
    for word in words:
        one_by_one = one_by_one.changed([word])
    assert prediction.measures(deeper, one_by_one, deeper.wakes(one_by_one))[ENERGY] == found[0]
    assert found[0] != measures(deeper, words[0], words[3])[ENERGY]


def test_the_models_own_numbers_change_nothing(deeper: Replay) -> None:
    words = [f"{TRIP}.C4.{number}" for number in ("switch_leakage=0.5", "dirty_share=0.5", "rail_nf_per_mm2=1.5")]
    assert added_by(deeper, *words, f"{TRIP}.C4.trip_uj=0") == {}


def test_a_new_state_has_the_numbers_of_its_kind_or_its_own(drags: Replay) -> None:
    before = measures(drags, *FASTER)[ENERGY]
    many = sum(trips(drags, "C3f", *FASTER).values())
    assert many > 100
    own = measures(drags, *FASTER, f"{TRIP}.C3f.trip_uj=2")[ENERGY]
    alike = measures(drags, *FASTER, f"{TRIP}.C3.trip_uj=2")[ENERGY]
    both = measures(drags, f"{TRIP}.C3.trip_uj=9", f"{TRIP}.C3f.trip_uj=2", *FASTER)[ENERGY]
    assert own - before == pytest.approx(2e-6 * many)
    assert alike - before >= own - before, "a sleep from before the command stays in C3"
    assert both - own == pytest.approx(9e-6 * sum(trips(drags, "C3", *FASTER).values()))
    other = measures(drags, *FASTER, f"{TRIP}.C3f.dirty_share=0")
    assert other[ENERGY] < before


@pytest.mark.parametrize("name", ["drags", "deeper"])
def test_a_near_ideal_governor_avoids_a_state_whose_trips_cost_much(name: str, request: pytest.FixtureRequest) -> None:
    replay: Replay = request.getfixturevalue(name)
    taken, dear = [], [f"{TRIP}.C3.trip_uj=1000000"]
    for words in ((), dear):
        wakes = replay.chains.woken(hindsight.least(replay, replay.machine.changed(words)))
        taken.append(int((wakes["state"] == 2).sum()))
    assert taken[0] > 20
    assert taken[1] <= len(replay.cpus), "but for sleeps from before the command"
    rows = prediction.rows(replay, replay.machine.changed(dear))
    energy = next(row for row in rows if (row.what, row.cpu, row.of) == ENERGY)
    assert energy.ideal is not None
    assert energy.ideal < energy.predicted / 2


def test_the_error_bar_is_for_the_number_of_trips(drags: Replay) -> None:
    def of(*words: str) -> prediction.Predicted:
        rows = prediction.rows(drags, drags.machine.changed(words))
        return next(row for row in rows if (row.what, row.cpu, row.of) == ENERGY)

    before, after = of("governor=menu"), of(f"{TRIP}.C3.trip_uj=1000")
    joules = 1e-3 * sum(trips(drags, "C3").values())
    assert after.predicted - before.predicted == pytest.approx(joules)
    assert 0.1 * joules < after.error - before.error < 0.5 * joules
    assert after.chance > before.chance + 1e-3, "one more trip"


def test_one_more_trip_may_be_into_a_lighter_state(drags: Replay) -> None:
    """Of the states that are allowed, C2 then has the dearest trip. C4 is not allowed."""
    found = {}
    for state in ("C2", "C3", "C4"):
        machine = drags.machine.changed([f"{TRIP}.{state}.trip_uj=500"])
        found[state] = prediction._one_more(drags, machine)[0]
    plain = prediction._one_more(drags, drags.machine)[0]
    assert found["C3"] - plain == pytest.approx(500e-6)
    assert 500e-6 < found["C2"] < found["C3"]
    assert found["C4"] == plain


def test_a_grid_has_the_points_of_its_tables(drags: Replay) -> None:
    common = [*FASTER[:-1], f"{TRIP}.C3f.trip_uj=1"]
    words = [f"{TRIP}.C3.trip_uj=0,5", f"{TRIP}.switch_leakage=0.2,0.5"]
    Question(common, words).check(drags.machine)
    rows = grid.table(drags, common, words).to_pylist()
    assert len({row["energy_j"] for row in rows}) == 4
    for row in rows:
        table = prediction.rows(drags, drags.machine.changed(row["settings"].split()))
        energy = next(one for one in table if (one.what, one.cpu, one.of) == ENERGY)
        assert (row["energy_j"], row["energy_j_error"]) == pytest.approx((energy.predicted, energy.error))
    assert [row["settings"] for row in rows if row["pareto"]] == [rows[0]["settings"]]


def test_a_number_of_a_state_that_is_not_entered_is_told_of(drags: Replay) -> None:
    words = [f"{TRIP}.C4.trip_uj=2"]
    said = f"{TRIP}.C4.trip_uj changes nothing while the deepest state is C3; add idle.deepest=C4"
    assert settings.idle_words(drags.machine, words) == [said]
    assert settings.idle_words(drags.machine, [*words, "idle.deepest=C3,C4"]) == []
    assert added_by(drags, *words) == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["C5.trip_uj=2"], "C5.trip_uj: no cluster has `C5`; use `C2`, `C3`, `C4`"),
        (["C3f.trip_uj=2"], "C3f.trip_uj: no cluster has `C3f`; use `C2`, `C3`, `C4`"),
        (["C1.trip_uj=2"], "C1.trip_uj: C1 is WFI, which has no trip; use `C2`, `C3`, `C4`"),
        (["C1.switch_leakage=0"], "C1.switch_leakage: C1 is WFI, which has no trip; use `C2`, `C3`, `C4`"),
        (["C2.dirty_share=0"], "C2.dirty_share: C2 keeps its caches, so that no line and no rail is charged; use "
                               "`switch_leakage`, `trip_uj`"),
        (["C2.rail_nf_per_mm2=1"], "C2.rail_nf_per_mm2: C2 keeps its caches"),
        (["C3.exit_uj=2"], "C3.exit_uj: not a number of a trip; use `switch_leakage`, `dirty_share`, "
                           "`rail_nf_per_mm2`, `trip_uj`"),
        (["C3.trip_uj=-1"], "C3.trip_uj=-1: write a number from 0 to 1e+06"),
        (["C3.trip_uj=nan"], "C3.trip_uj=nan: write a number from 0 to 1e+06"),
        (["C3.trip_uj=1000001"], "C3.trip_uj=1000001: write a number from 0 to 1e+06"),
        (["C3.switch_leakage=1.1"], "C3.switch_leakage=1.1: write a number from 0 to 1"),
        (["C3.dirty_share=2"], "C3.dirty_share=2: write a number from 0 to 1"),
        (["C3.rail_nf_per_mm2=101"], "C3.rail_nf_per_mm2=101: write a number from 0 to 100"),
        (["trip_uj=2"], "trip_uj: not a number of power-models/states.yaml that this machine has"),
    ],
)  # fmt: skip
def test_a_wrong_number_of_a_trip_is_one_sentence(words: Sequence[str], message: str) -> None:
    with pytest.raises(UserError) as error:
        TEGRA.changed([f"{TRIP}.{word}" for word in words])
    assert str(error.value).startswith(f"--set {TRIP}.{message}")
    assert "\n" not in str(error.value)


def test_a_new_state_that_keeps_its_caches_has_no_lines(drags: Replay) -> None:
    new = ["cstates.C2b.kind=retention", "cstates.C2b.advertised.residency_us=300"]
    assert drags.machine.changed([*new, f"{TRIP}.C2b.switch_leakage=0.1", f"{TRIP}.C2b.trip_uj=1"]).model
    with pytest.raises(UserError, match=r"C2b keeps its caches, so that no line and no rail is charged; use"):
        drags.machine.changed([*new, f"{TRIP}.C2b.dirty_share=0.1"])


def test_the_command_takes_and_refuses_them(lull: Lull) -> None:
    ran = lull("what-if", str(DRAGS), "--set", f"{TRIP}.C3.trip_uj=100")
    assert ran.returncode == 0, ran.stderr
    (row,) = (line.split() for line in ran.stdout.splitlines() if line.split()[:4] == ["energy", "J", "all", "all"])
    recorded, said, _, ideal = (float(number) for number in row[4:])
    assert recorded < ideal < said
    ran = lull("what-if", str(DRAGS), "--grid", f"{TRIP}.C1.trip_uj=1,2")
    assert ran.returncode == 2
    assert "C1 is WFI, which has no trip" in ran.stderr


def test_numbers_of_trips_are_for_as_many_states_as_linux_has(drags: Replay) -> None:
    new = [f"cstates.C2-{at}.kind=retention" for at in range(6)]
    words = [*new, *(f"cstates.C2-{at}.advertised.residency_us={200 + at}" for at in range(6))]
    machine = drags.machine.changed([*words, f"{TRIP}.C2-5.trip_uj=7"])
    assert max(len(cluster.cstates) for cluster in machine.platform.resolved_clusters()) == chain.MAX_STATES
    assert [charge.trip for charge in drags.charges(machine)[0]] == [0.0] * 7 + [7e-6, 0.0, 0.0]


def test_caches_that_fill_more_slowly_are_charged_less(drags: Replay) -> None:
    """With a state's `fill_us` the ledger of a run counts fuller or emptier caches, and so does a what-if."""
    fast, slow = (drags.charges(drags.machine.changed([f"cstates.C3.fill_us={us}"]))[0][2] for us in (0.001, 1_000_000))
    assert fast.l1_fill_ns == 1
    assert slow.l1_fill_ns == 1e9
    assert fast.l2_fill_ns == slow.l2_fill_ns
    flushed = [
        drags.spending(drags.machine.changed([f"cstates.C3.fill_us={us}"]), drags.as_recorded).charges[0]["entry"]
        for us in (0.001, 1_000_000)
    ]
    assert 0 < 10 * flushed[1] < flushed[0]
