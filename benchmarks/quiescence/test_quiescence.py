# SPDX-License-Identifier: BSD-3-Clause
"""The way back from what the user sees, on made wake-ups; and the verdict on energy and time, on made tables."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from lull.errors import UserError
from lull.figures import boots
from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull.rundir.run import Run
from lull.trace import events
from lull.trace.datfile import TraceFile
from lull_experiments.quiescence import ahead, analysis, causes, parts, saved
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


class TracedEvents:
    """Events of one CPU: of each name, when, and which task by which other one, in an interrupt or not."""

    def __init__(self, rows: list[tuple[str, int, int, int, bool]]) -> None:
        self.rows = rows
        self.time = np.array([time for _, time, _, _, _ in rows])

    def of(self, name: str) -> NDArray[np.int64]:
        return np.array([place for place, row in enumerate(self.rows) if row[0] == name], np.int64)

    def numbers(self, name: str, field: str, which: NDArray[np.int64]) -> NDArray[np.int64]:
        column = {"pid": 2, "common_pid": 3, "common_flags": 4}[field]
        own = [self.rows[place] for place in which]
        assert all(row[0] == name for row in own)
        return np.array([int(row[column]) * (causes.IN_INTERRUPT if column == 4 else 1) for row in own])


def test_the_way_back_goes_through_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user interface wakes the parser, which forks. The child asks the network, and tells the user interface."""
    child = 99
    first = TracedEvents([("sched_waking", 3, PARSER, UI, False), ("sched_wakeup_new", 5, child, PARSER, False),
                   ("sched_switch", 6, child, PARSER, False), ("sched_waking", 110, UI, child, False)])  # fmt: skip
    second = TracedEvents([("sched_waking", 7, NETWORK, child, False), ("sched_waking", 100, NETWORK, 0, True),
                    ("sched_waking", 105, child, NETWORK, False)])  # fmt: skip
    monkeypatch.setattr(events, "batches", lambda _, cpu: [first, second][cpu : cpu + 1])
    wakes = causes._wakes(cast("TraceFile", SimpleNamespace(cpus=[0, 1])))
    assert wakes[:3] == [Waking(3, PARSER, UI), Waking(5, child, PARSER), Waking(7, NETWORK, child)]
    assert causes.critical(wakes, action()) == {UI, PARSER, child, NETWORK}


def test_a_load_that_is_not_over_when_its_key_is_released_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second release, at 280, wakes the user interface, and the parser finds it awake at 285."""
    rows = [("sched_waking", 0, UI, 0, True), ("lull_quiet_action", 1, UI, UI, False)]
    rows += [("sched_waking", 5, PARSER, UI, False), ("lull_quiet_join", 6, PARSER, UI, False)]
    rows += [("sched_waking", 110, UI, PARSER, False), ("sched_waking", 130, UI, 0, True)]
    rows += [("sched_waking", 149, UI, 0, True), ("lull_quiet_action", 150, UI, UI, False)]
    rows += [("sched_waking", 155, PARSER, UI, False), ("lull_quiet_join", 156, PARSER, UI, False)]
    rows += [("sched_waking", 280, UI, 0, True), ("lull_quiet_action", 300, UI, UI, False)]
    trace = SimpleNamespace(cpus=[0])
    monkeypatch.setattr(events, "batches", lambda *_: [TracedEvents(rows)])
    monkeypatch.setattr(causes, "TraceFile", lambda _: trace)
    of_trace = cast("TraceFile", trace)
    everything = causes.compare(causes._wakes(of_trace), causes._actions(of_trace))
    assert everything == {"actions": 2, "right": 3, "found": 3, "needless": 1}, (
        "the trace has no way back to the parser"
    )
    release, press = 127 * 10**6, 130 * 10**6
    loads = [
        {"pressed_ns": 0, "loaded_ns": release - 1},
        {"pressed_ns": press, "loaded_ns": press + release + 1},
        {"pressed_ns": 2 * press, "loaded_ns": 3 * press},
    ]
    run = SimpleNamespace(path=Path("run"), lines=lambda _: loads, understanding=lambda _: nullcontext())
    chains = causes.df_chains([cast("Run", run)], lambda _: {}, "loads.jsonl")
    assert chains is not None
    assert chains.to_pylist() == [{"actions": 1, "right": 2, "found": 2, "needless": 0}]


def test_a_load_is_over_in_time_if_it_was_over_at_the_release_that_was_read() -> None:
    ms = 10**6
    read = {"pressed_ns": 0, "released_ns": 120 * ms, "loaded_ns": 119 * ms}
    assert causes.over_in_time([read, {"pressed_ns": 130 * ms}]) == [True]
    assert causes.over_in_time([{**read, "loaded_ns": 121 * ms}, {"pressed_ns": 130 * ms}]) == [False]
    older = {"pressed_ns": 0, "loaded_ns": 121 * ms}
    assert causes.over_in_time([older, {"pressed_ns": 130 * ms}]) == [True], "3 ms before the next press"


def point(way: str) -> dict[str, Any]:
    return {"point": f"ways/0-{way}", "group": "ways", "way": way, "page": "page", "background": 0, "wait_us": 100000,
            "pause_us": 30000,
            "governor": "menu", "helpers": 1, "boot": 0, "windows": 4, "power_w": 1.0, "undone": 0}  # fmt: skip


def verdicts(watts: list[float], responses: list[float], undone: int = 0) -> dict[str, bool]:
    """Of `big`, where nothing done needs 1 W in each window, and 100 ms for each load."""
    values = {"ways/0-none": ([1.0] * len(watts), [100000.0] * len(watts)), "ways/0-big": (watts, responses)}
    windows = [{"point": name, "power_w": one, "cpus_w": one} for name, (own, _) in values.items() for one in own]
    loads = [
        {"point": name, "response_us": one, "work_us": one - 95000} for name, (_, own) in values.items() for one in own
    ]
    savings = saved.df_savings(
        {
            "points": pa.Table.from_pylist([point("none"), {**point("big"), "undone": undone}]),
            "windows": pa.Table.from_pylist(windows),
            "loads": pa.Table.from_pylist(loads),
        }
    )
    assert savings[0]["work_slower"] == pytest.approx(20 * savings[0]["slower"])
    return {check.name.partition(": ")[2]: check.passed for check in saved.checks(savings)}


SAVES, SLOWER = "at least 6 % of the machine's energy is saved", "a load is at most 1 % slower"


def test_a_goal_is_reached_by_the_whole_interval() -> None:
    assert verdicts([0.9, 0.901, 0.899], [100100.0, 100200.0, 100150.0]) == {SAVES: True, SLOWER: True}


def test_energy_is_not_saved_by_work_that_is_not_done() -> None:
    assert verdicts([0.5, 0.501, 0.499], [100000.0] * 3, undone=1) == {SAVES: False, SLOWER: True}


def test_a_mean_beyond_the_goal_does_not_do() -> None:
    assert verdicts([0.86, 0.99, 0.93], [100100.0, 102000.0, 100000.0]) == {SAVES: False, SLOWER: False}


def best(*others: tuple[str, float, float, dict[str, Any]], undone: int = 0) -> list[dict[str, Any]]:
    """Of `all`, which needs 0.9 W, beside nothing done and other ways, each with its watts and its microseconds."""
    every = (("ways/0-none", 1.0, 100000.0, {}), ("ways/0-all", 0.9, 100000.0, {"undone": undone}), *others)
    points = [{**point(name.rpartition("-")[2]), "point": name, "power_w": watts, "power_w_pm": 0.0, "undone": 0,
               **more} for name, watts, _, more in every]  # fmt: skip
    windows = [{"point": name, "power_w": watts, "cpus_w": watts} for name, watts, _, _ in every for _ in range(2)]
    loads = [{"point": name, "response_us": long, "work_us": long} for name, _, long, _ in every for _ in range(2)]
    return saved.df_best(
        {
            name: pa.Table.from_pylist(rows)
            for name, rows in (("points", points), ("windows", windows), ("loads", loads))
        }
    )


def test_the_best_of_today_has_the_least_power_of_those_that_are_quick_enough() -> None:
    (row,) = best(
        ("others/0-idle", 0.97, 100500.0, {}), ("others/0-max", 0.95, 100900.0, {}),
        ("others/0-capped", 0.8, 101100.0, {}), ("teo/0-none", 0.96, 100000.0, {"governor": "teo"}),
        ("shares/2-idle", 0.5, 100000.0, {"background": 2}),
    )  # fmt: skip
    assert (row["point"], row["best"], row["ran"], row["kept"]) == ("ways/0-all", "others/0-max", 5, 4)
    assert row["saved"] == pytest.approx(1 - 0.9 / 0.95)
    assert row["best_slower"] == pytest.approx(0.009)
    assert "| ways/0-all | 5 | 4 | others/0-max | 950" in saved.best_text([row])
    (check,) = saved.best_checks([row])
    assert check.passed
    assert "others/0-max" in check.says


def test_who_leaves_more_work_undone_is_not_the_best_of_today() -> None:
    rows = best(
        ("others/0-max", 0.7, 100000.0, {"undone": 1}), ("others/0-idle", 0.97, 100000.0, {}),
    )  # fmt: skip
    assert [(row["best"], row["ran"], row["kept"]) for row in rows] == [("others/0-idle", 3, 2)]


def test_less_energy_for_less_work_is_not_less_than_the_best_of_today() -> None:
    (row,) = best(("others/0-max", 0.95, 100000.0, {}), undone=50)
    assert (row["best"], row["put_off"], row["saved"] > 0) == ("others/0-max", 50, True)
    (check,) = saved.best_checks([row])
    assert not check.passed
    assert check.says.endswith("; 50 jobs fewer are done")
    (row,) = best(("others/0-max", 0.95, 100000.0, {"undone": 50}), undone=50)
    assert [check.passed for check in saved.best_checks([row])] == [True]


def test_nothing_done_with_another_idle_governor_may_be_the_best_of_today() -> None:
    (row,) = best(("teo/0-none", 0.85, 100000.0, {"governor": "teo"}))
    assert row["best"] == "teo/0-none"
    assert [check.passed for check in saved.best_checks([row])] == [False]


def test_where_nothing_else_has_run_there_is_no_best_of_today() -> None:
    assert best() == []
    assert saved.best_text([]) == ""


def over_boots(*shares: float, way: str = "big", slower: float = 0.0) -> pa.Table | None:
    rows = [
        {**point(way), "boot": boot, "saved": one, "cpus_saved": one, "slower": slower * boot}
        for boot, one in enumerate(shares)
    ]
    return boots.df_boots(rows, saved.SAME, saved.OVER_BOOTS)


def test_a_goal_is_judged_over_boots() -> None:
    table = over_boots(0.1, 0.11, 0.12)
    assert table is not None
    (row,) = table.to_pylist()
    assert (row["boots"], row["saved"], row["saved_least"]) == (3, pytest.approx(0.11), 0.1)
    assert row["saved_pm"] == pytest.approx(0.01 * 4.3027 / 3**0.5, rel=1e-4)
    assert "| big | 0 | 3 | 11.0 ± 2.5 (10 to 12) |" in boots.text(table, {"background": "updates"}, saved.OVER_BOOTS)
    assert [check.passed for check in saved.boots_checks(table)] == [True, True]
    assert [check.passed for check in saved.boots_checks(over_boots(0.037, -0.0875, 0.11))] == [False, True]
    assert [check.passed for check in saved.boots_checks(over_boots(0.1, 0.11, 0.12, slower=0.01))] == [True, False]
    assert saved.boots_checks(over_boots(0.1, 0.11, 0.12, way="capped")) == []


def test_one_boot_says_nothing_of_others() -> None:
    assert over_boots(0.1) is None
    assert boots.text(None, {}, saved.OVER_BOOTS) == ""
    assert saved.boots_checks(None) == []


def test_one_load_reaches_no_goal() -> None:
    assert verdicts([0.5], [100000.0]) == {SAVES: False, SLOWER: False}


def test_loads_without_a_partner_are_told_of() -> None:
    rows = [{"point": "ways/0-big", "power_w": 1.0}] * 2 + [{"point": "ways/0-none", "power_w": 1.0}]
    with pytest.raises(UserError, match="ways/0-big: has 2 loads and ways/0-none 1; run both with the same `windows`"):
        saved._ratios(pa.Table.from_pylist(rows), "power_w", point("big"), point("none"))


def planned(timed: bool = True, **counted: int) -> list[dict[str, Any]]:
    """Of `all_ahead`, whose answers are taken 500 µs sooner than those of `all` from the third load on."""
    counts = dict.fromkeys(ahead.COUNTS, 0) | {"planned": 3, "plan_hits": 3, "unsure": 1} | counted
    watts = {"power_w": 1.0, "cpus_w": 0.5} if timed else {}
    points = [{**point(way), **counts} for way in ("none", "all", "all_ahead")]
    loads, windows = [], []
    for row in points:
        for load in range(1, 5):
            soon = 500.0 if row["way"] == "all_ahead" and load >= ahead.FIRST else 0.0
            loads.append(
                {"point": row["point"], "load": load, "response_us": 101000.0 + load - soon, "late_us": 600.0 - soon}
            )
            more = {name: value * (1.1 if load == 1 else 0.98 if soon else 1.0) for name, value in watts.items()}
            windows.append({"point": row["point"], "window": load - 1, **more})
    tables = {
        name: pa.Table.from_pylist(rows) for name, rows in (("points", points), ("loads", loads), ("windows", windows))
    }
    if not timed:
        tables["points"] = tables["points"].drop_columns(["power_w"])
    return ahead.df_ahead(tables, saved.SAME)


def test_plans_are_compared_over_the_loads_that_have_one() -> None:
    (row,) = planned()
    assert (row["point"], row["other"], row["loads"]) == ("ways/0-all_ahead", "ways/0-all", 3)
    assert (row["late_us"], row["other_late_us"]) == (100.0, 600.0)
    assert (row["faster_us"], row["faster_us_pm"]) == (pytest.approx(500.0), pytest.approx(0.0))
    assert row["saved"] == row["cpus_saved"] == pytest.approx(0.02)
    assert "| ways/0-all_ahead | ways/0-all | 3 | 3 | 3 | 0 | 0 | 0 | 1 | 0 | 100 | 600 |" in ahead.text([row])
    assert [check.passed for check in ahead.checks([row])] == [True, True]
    assert [check.passed for check in ahead.checks(planned(plan_hits=2, plan_misses=1))] == [False, True]
    assert [check.passed for check in ahead.checks(planned(planned=0, plan_hits=0))] == [False, True]


def test_plans_without_watts_have_counts_and_no_joules() -> None:
    (row,) = planned(timed=False)
    assert "saved" not in row
    assert "energy" not in ahead.text([row]).partition("| point |")[2]
    assert ahead.text([]) == ""


def kernel_verdicts(alone: bool = False, **counted: int) -> dict[str, bool]:
    common: dict[str, Any] = {
        "undone": 0, "mistaken": 0, "waits": 5, "loads": 4, "slack_us": 100000, "late_us": 50.0,
    }  # fmt: skip
    rows = [{**point("big"), **common, "holds": 4, "held_sum_us": 400000, **counted}]
    if not alone:
        rows.append({**point("none"), **common, "holds": 0, "held_sum_us": 0})
    found = analysis.kernel_checks(pa.Table.from_pylist(rows))
    return {check.name.partition(": ")[2]: check.passed for check in found if check.name.startswith("ways/0-big")}


def test_a_kernel_that_holds_nobody_has_no_false_hold_and_is_told_of() -> None:
    fine = {"all jobs are done": True, "a hold begins in each load": True, "no false hold": True}
    assert kernel_verdicts() == fine
    assert kernel_verdicts(holds=0, held_sum_us=0) == {**fine, "a hold begins in each load": False}
    assert kernel_verdicts(held_sum_us=500000) == {**fine, "no false hold": False}
    assert kernel_verdicts(undone=1) == {**fine, "all jobs are done": False}


def test_where_nothing_was_held_beside_it_the_length_of_holds_is_not_judged() -> None:
    assert kernel_verdicts(alone=True, held_sum_us=500000)["no false hold"]
    assert not kernel_verdicts(alone=True, mistaken=1)["no false hold"]


def test_a_hold_may_not_last_longer_because_the_path_wakes_late_under_it() -> None:
    common = {"undone": 0, "mistaken": 0, "holds": 4, "waits": 5, "loads": 4, "slack_us": 100000}
    rows = [{**point("none"), **common, "held_sum_us": 0, "late_us": 50.0}]
    rows += [{**point("big"), **common, "held_sum_us": 402000, "late_us": late_us} for late_us in (50.0, 9000.0)]
    found = [check for check in analysis.kernel_checks(pa.Table.from_pylist(rows)) if "false hold" in check.name]
    assert [check.passed for check in found] == [False, False]


def test_power_is_divided_by_who_caused_it() -> None:
    watts = {f"task:browser/{pid}": 0.001 * pid for pid in range(40, 49)}
    others = {"idle": 0.1, "transition": 0.2, "platform": 1.0, "task:rcu_preempt/16": 0.3, "irq:arch_timer": 0.4}
    found = parts.divided(watts | others, helpers=1, updates=2)
    assert found == pytest.approx(
        {"browser": 0.040, "path": 0.215, "helpers": 0.046, "updates": 0.095, "idle": 0.3, "platform": 1.0,
         "kernel": 0.7}
    )  # fmt: skip
    assert sum(found.values()) == pytest.approx(sum((watts | others).values()))
    assert parts.divided(watts, helpers=1, updates=0) == pytest.approx({"browser": sum(watts.values())})


def test_power_and_time_of_a_load_are_drawn() -> None:
    rows = [{**point(way), "cpus_w": 0.5, "median_us": 110000.0, "slack_us": 100000} for way in ("none", "big")]
    stored = Stored(Origin("gem5", "24", "detailed", "exynos5422"), {"points": pa.Table.from_pylist(rows)})
    (drawing,) = analysis.draw(stored)
    assert len(drawing.figure.axes) == 2
