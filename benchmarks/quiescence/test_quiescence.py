# SPDX-License-Identifier: BSD-3-Clause
"""The way back from what the user sees, on made wake-ups; and the verdict on energy and time, on made tables."""

from typing import Any

import pyarrow as pa

from lull_experiments.quiescence import analysis, causes
from lull_experiments.quiescence.causes import Action, Waking

UI, NETWORK, PARSER, HELPER, LOGGER = 10, 11, 12, 20, 21

LOAD = (
    Waking(0, UI, None),
    Waking(5, NETWORK, UI),
    Waking(6, LOGGER, UI),
    Waking(40, HELPER, None),
    Waking(100, NETWORK, None),
    Waking(105, PARSER, NETWORK),
    Waking(110, UI, PARSER),
    Waking(150, HELPER, None),
)


def action(*chain: int) -> Action:
    return Action(1, 200, UI, frozenset({UI, *chain}))


def test_the_way_back_goes_through_what_waited_for_the_network() -> None:
    assert causes.critical(LOAD, action()) == {UI, NETWORK, PARSER}


def test_who_was_woken_in_vain_is_not_on_the_way() -> None:
    row = causes.compare(LOAD, [action(NETWORK, PARSER, LOGGER)])
    assert row == {"actions": 1, "right": 3, "found": 3, "needless": 1}


def test_who_is_missing_is_not_found() -> None:
    assert causes.compare(LOAD, [action(NETWORK)])["found"] == 2


def test_an_action_of_one_task_is_its_own() -> None:
    assert causes.critical([Waking(0, UI, None), Waking(50, UI, None)], action()) == {UI}


def test_what_is_after_the_next_key_is_another_action() -> None:
    assert causes.critical(LOAD, Action(1, 104, UI, frozenset({UI}))) == {UI}


def point(way: str) -> dict[str, Any]:
    return {"point": f"ways/0-{way}", "group": "ways", "way": way, "page": "page", "background": 0, "wait_us": 100000,
            "governor": "menu", "helpers": 1, "power_w": 1.0}  # fmt: skip


def verdicts(watts: list[float], responses: list[float]) -> dict[str, bool]:
    """Of `big`, where nothing done needs 1 W in each window, and 100 ms for each load."""
    values = {"ways/0-none": ([1.0] * len(watts), [100000.0] * len(watts)), "ways/0-big": (watts, responses)}
    windows = [{"point": name, "power_w": one, "cpus_w": one} for name, (own, _) in values.items() for one in own]
    loads = [{"point": name, "response_us": one} for name, (_, own) in values.items() for one in own]
    savings = analysis.df_savings(
        {
            "points": pa.Table.from_pylist([point("none"), point("big")]),
            "windows": pa.Table.from_pylist(windows),
            "loads": pa.Table.from_pylist(loads),
        }
    )
    return {check.name.partition(": ")[2]: check.passed for check in analysis.checks(savings)}


SAVES, SLOWER = "at least 6 % of the machine's energy is saved", "a load is at most 1 % slower"


def test_a_goal_is_reached_by_the_whole_interval() -> None:
    assert verdicts([0.9, 0.901, 0.899], [100100.0, 100200.0, 100150.0]) == {SAVES: True, SLOWER: True}


def test_a_mean_beyond_the_goal_does_not_do() -> None:
    assert verdicts([0.86, 0.99, 0.93], [100100.0, 102000.0, 100000.0]) == {SAVES: False, SLOWER: False}
