# SPDX-License-Identifier: BSD-3-Clause
"""How `lull tune` searches: made-up loads, whose best settings are known, and a recording."""

import math
from collections.abc import Callable, Sequence

import pytest

from lull.files.paths import ROOT
from lull.platform.cstates import Advertised
from lull.whatif import grid as grids
from lull.whatif import search, source, tune
from lull.whatif.search import FACTORS, LATENCY, RESIDENCY, Candidate, Outcome, Space
from lull.whatif.source import Replay
from tests.conftest import Lull

DRAGS = ROOT / "results" / "recordings" / "drags"
SPACE = Space(("menu", "teo"), ("C2", "C3"), ((),), Candidate("menu"))
POLLS = [(f"haltpoll.a={a}", f"haltpoll.b={b}") for a in (1, 2) for b in (1, 2)]


class Made:
    """A load whose outcome is a function of the settings. It counts what is asked."""

    def __init__(self, outcome: Callable[[Candidate], Outcome | None]) -> None:
        self.outcome, self.asked = outcome, 0

    def __call__(self, asked: Sequence[Candidate]) -> dict[Candidate, Outcome]:
        self.asked += len(asked)
        answers = ((one, self.outcome(one)) for one in asked)
        return {one: found for one, found in answers if found is not None}


def off(one: Candidate, state: str, what: str, best: float) -> float:
    return abs(math.log2(one.factor((state, what)) / best))


def bowl(one: Candidate) -> Outcome:
    """The least energy: teo, C2 with twice the latency, C3 with half the residency and four times the latency."""
    joules = 10 + (one.governor == "menu") + off(one, "C2", RESIDENCY, 1) + off(one, "C2", LATENCY, 2)
    return joules + off(one, "C3", RESIDENCY, 0.5) + off(one, "C3", LATENCY, 4), 100.0


def best(space: Space, ask: Made, bound_us: float = 1000) -> Candidate:
    return search.within(search.descend(space, ask, bound_us), bound_us)[0]


def test_the_best_numbers_are_found_without_a_grid_of_all() -> None:
    ask = Made(bowl)
    found = best(SPACE, ask)
    assert found == Candidate("teo").scaled((("C2", LATENCY), 2), (("C3", RESIDENCY), 0.5), (("C3", LATENCY), 4))
    assert ask.asked < 2 * len(FACTORS) ** 4


def test_half_a_step_of_a_residency_is_tried() -> None:
    def outcome(one: Candidate) -> Outcome:
        return 1 + abs(one.factor(("C3", RESIDENCY)) - 2.82), 0.0

    assert best(SPACE, Made(outcome)).factor(("C3", RESIDENCY)) == pytest.approx(2.82)


def test_the_least_latency_is_looked_for_until_the_bound_holds() -> None:
    """In the grid the bound never holds. It does with a short latency of C3, which costs energy."""

    def outcome(one: Candidate) -> Outcome:
        late = 400 * one.factor(("C3", LATENCY))
        return 2 - late / 1000, late

    found = search.descend(SPACE, Made(outcome), 150)
    assert found[search.within(found, 150)[0]][1] == 100
    assert search.within(found, 50) == []


def test_numbers_that_no_file_may_have_are_passed_over() -> None:
    def outcome(one: Candidate) -> Outcome | None:
        return None if one.factor(("C3", LATENCY)) > 1 else bowl(one)

    assert best(SPACE, Made(outcome)) == Candidate("teo").scaled((("C2", LATENCY), 2), (("C3", RESIDENCY), 0.5))


def test_of_equal_answers_the_one_with_the_fewest_changes_is_first() -> None:
    assert best(SPACE, Made(lambda _: (1.0, 1.0))).factors == ()


def test_an_answer_has_no_change_that_saves_nothing_and_no_other_answer_is_like_it() -> None:
    def outcome(one: Candidate) -> Outcome:
        return 1 - 0.1 * (one.factor(("C3", LATENCY)) == 4) - 1e-6 * one.factor(("C2", RESIDENCY)), 1.0

    ask = Made(outcome)
    found = search.answers(search.descend(SPACE, ask, 10), ask, 10, 5)
    assert found == [Candidate("menu").scaled((("C3", LATENCY), 4)), Candidate("menu")]


def test_the_parameters_of_haltpoll_are_searched_with_haltpoll_alone() -> None:
    space = Space(("menu", "haltpoll"), ("C2",), POLLS, Candidate("menu"))
    ask = Made(lambda one: (2.0 - ("haltpoll.b=2" in one.own), 1.0))
    found = search.descend(space, ask, 10)
    assert all(bool(one.own) == (one.governor == "haltpoll") for one in found)
    assert "haltpoll.b=2" in best(space, ask).own


def test_what_matters_is_told_of_each_number_alone() -> None:
    space = Space(("menu", "haltpoll"), ("C2",), POLLS, Candidate("menu"))

    def outcome(one: Candidate) -> Outcome:
        joules = 10 - 2 * one.factor(("C2", RESIDENCY)) - ("haltpoll.b=2" in one.own)
        return joules, 100 * one.factor(("C2", RESIDENCY))

    one = Candidate("haltpoll", (), POLLS[1]).scaled((("C2", RESIDENCY), 2))
    rows = {row.number: row for row in search.matters(space, Made(outcome), one)}
    assert list(rows) == ["governor", "C2 residency", "C2 latency", "haltpoll.a", "haltpoll.b"]
    assert rows["C2 residency"].best == "x 2"
    assert rows["C2 residency"].recorded == (7, 100)
    assert rows["C2 residency"].energy_j == (1, 8.5)
    assert rows["C2 residency"].latency_p99_us == (25, 400)
    assert rows["C2 latency"].recorded is None, "it is as recorded"
    assert rows["C2 latency"].energy_j == (5, 5)
    assert rows["haltpoll.a"].energy_j == (5, 5)
    assert (rows["haltpoll.b"].best, rows["haltpoll.b"].energy_j) == ("2", (5, 6))
    assert rows["governor"].recorded == (6, 200)


@pytest.fixture(scope="module")
def drags(governors: None) -> Replay:
    return source.load(DRAGS)


def test_an_answer_is_no_worse_than_the_grid_and_may_set_latencies(drags: Replay) -> None:
    found = tune.searched(drags, 500, 3)
    grid = grids.numbers(drags, list(tune.candidates(drags)))
    least = min(row["energy_j"] for row in grid if row["latency_p99_us"] <= 500)
    assert found.answers[0].energy_j <= least * (1 + search.ALIKE)
    assert {row.number for row in found.matters} == {
        "governor", "C2 residency", "C2 latency", "C3 residency", "C3 latency"
    }  # fmt: skip
    space = tune.space_of(drags)
    slower = space.recorded.scaled((("C3", LATENCY), 0.5))
    words = tune._allowed(drags, slower)
    assert words == (
        "governor=menu", "cstates.C3.advertised.entry_us=125", "cstates.C3.advertised.exit_us=125",
    )  # fmt: skip
    (state,) = {one.latency_us for one in _told(drags, words, "C3")}
    assert state == 250
    assert tune._allowed(drags, space.recorded.scaled((("C3", LATENCY), 4))) is None, "longer than the residency"


def _told(drags: Replay, words: tuple[str, ...], name: str) -> list[Advertised]:
    clusters = drags.machine.changed(words).platform.resolved_clusters()
    return [state.advertised for cluster in clusters for state in cluster.cstates if state.name == name]


def test_a_run_on_gem5_is_told_the_latencies(drags: Replay) -> None:
    words = tune._allowed(drags, Candidate("teo").scaled((("C3", LATENCY), 0.5)))
    assert words is not None
    lines = " ".join(tune.spec_of(drags, words).script().split())
    assert ":C3:250:1000" in lines


@pytest.mark.usefixtures("governors")
def test_the_command_says_which_numbers_matter(lull: Lull) -> None:
    ran = lull("tune", str(DRAGS), "--p99-us", "1000", "--top", "2", "--tunable", "haltpoll.guest_halt_poll_ns=0,50000")
    assert ran.returncode == 0, ran.stderr
    _, table = ran.stdout.split("Energy is against that of the best answer.")
    assert table.split()[:4] == ["number", "best", "as", "recorded"]
    for number in ("governor", "C2 residency", "C2 latency", "C3 residency", "C3 latency"):
        assert f"\n{number} " in table
