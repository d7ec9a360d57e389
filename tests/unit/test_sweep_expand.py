# SPDX-License-Identifier: BSD-3-Clause
"""From a sweep file or options to points: every combination once, and mistakes told before anything starts."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lull.errors import UserError
from lull.runspec.values import Value
from lull.scenario.load import load_scenario
from lull.sweep.asked import SweepAsked, load, parse_grid, parse_set
from lull.sweep.expand import Planned, expand, keyed
from tests.conftest import Lull

MADE_OF = "engine, kernel and image"


def _points(made_of: str = MADE_OF, engine: Any = "qemu", **asked: object) -> list[Planned]:
    wanted = SweepAsked.model_validate({"scenario": "wake-latency", "points": ["states/C3"], **asked})
    found = expand(wanted, load_scenario(wanted.scenario), engine, lambda key: f"--grid {key}")
    return keyed(found.planned, made_of)


def _exit_us(planned: Planned) -> list[float]:
    clusters = planned.spec.platform.resolved_clusters()
    return [state.actual.exit_us for cluster in clusters for state in cluster.cstates if state.name == "C3"]


def test_every_combination_and_seed_is_a_point() -> None:
    points = _points(grid={"cstates.C3.exit_us": [10, 50], "governor": ["menu", "teo"]}, seeds=2)
    assert [planned.entry.full_title for planned in points] == [
        f"states/C3 cstates.C3.exit_us={exit_us} governor={governor} seed={seed}"
        for exit_us in (10, 50)
        for governor in ("menu", "teo")
        for seed in (1, 2)
    ]
    assert len({planned.entry.key for planned in points}) == 8
    last = points[-1]
    assert set(_exit_us(last)) == {50}
    assert (last.spec.policy.governor, last.spec.seed) == ("teo", 2)
    assert last.entry.settings == {"cstates.C3.exit_us": 50, "governor": "teo"}
    assert last.entry.hash == last.spec.hash()


def test_a_setting_of_a_kernel_system_is_an_axis() -> None:
    points = _points(grid={"esm.enabled": [0, 1]}, set={"esm.fifo": 64})
    assert [planned.spec.policy.words() for planned in points] == [
        ["esm.fifo=64", f"esm.enabled={enabled}"] for enabled in (0, 1)
    ]
    with pytest.raises(UserError, match=r"^--grid esm\.enabled=2: unknown; use `0`, `1`$"):
        _points(grid={"esm.enabled": [0, 2]})


def test_a_seed_of_the_guest_program_follows_the_sweeps() -> None:
    assert [planned.entry.values["seed"] for planned in _points(seeds=3)] == [1, 2, 3]
    assert [planned.entry.values["seed"] for planned in _points(set={"seed": 7})] == [7]
    with pytest.raises(UserError, match="seeds: wake-latency has its own `seed`, which is set as well; give one"):
        _points(seeds=2, grid={"seed": [1, 2]})


def test_platform_and_cpu_are_axes_too() -> None:
    points = _points(engine="gem5", grid={"platform": ["tiny", "rk3399"], "cpu": ["atomic", "detailed"]})
    found = [(planned.spec.platform.name, planned.spec.cpu) for planned in points]
    assert found == [("tiny", "atomic"), ("tiny", "detailed"), ("rk3399", "atomic"), ("rk3399", "detailed")]


def test_a_key_is_of_all_that_a_result_depends_on() -> None:
    (first,) = _points(set={"count": 5})
    assert _points(set={"count": 5})[0].entry.key == first.entry.key
    assert _points(set={"count": 6})[0].entry.key != first.entry.key
    (other,) = _points("another kernel", set={"count": 5})
    assert other.entry.hash == first.entry.hash
    assert other.entry.key != first.entry.key


def test_the_same_settings_give_the_same_run_however_they_were_asked_for() -> None:
    """A sweep that grows finds what it has."""
    (alone,) = _points(set={"governor": "teo"})
    assert alone.entry.key in {planned.entry.key for planned in _points(grid={"governor": ["menu", "teo"]})}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"grid": {"cstates.C9.exit_us": [1, 2]}}, "--grid cstates.C9.exit_us: no cluster has `C9`; use `C1`"),
        ({"grid": {"governor": ["menu", "best"]}}, "--grid governor=best: unknown; use `menu`, `teo`"),
        (
            {"grid": {"governer": ["menu", "teo"]}},
            "--set governer: unknown key; use `governor`|--grid governer: unknown",
        ),
        ({"grid": {"count": [5, 0]}}, "--grid count: 0 is too small; give 1 or more"),
        ({"grid": {"governor": ["menu", "menu"]}}, "--grid governor: menu is there twice; drop one"),
        ({"grid": {"cpu": ["fast"]}}, "--grid cpu: `fast` is not known here; use `atomic`, `timing`, `detailed`"),
        ({"grid": {"platform": [5]}}, "--grid platform: 5 is not a name; use those of `lull platform list`"),
        (
            {"grid": {"cstates.C3.exit_us": list(range(50))}, "seeds": 10_000},
            "grid: 500000 combinations of its values and seeds; give 100000 or fewer",
        ),
        ({"points": ["states/C9"]}, "--points states/C9: no such point"),
        (
            {"points": ["exit/C3-50"], "grid": {"cstates.C3.exit_us": [10, 20]}},
            "--grid cstates.C3.exit_us: exit/C3-50 runs the same with 10 and 20; choose the points that it is for",
        ),
    ],
)
def test_what_does_not_fit_is_told_by_its_axis(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        _points(**asked)


def test_words_of_options_become_values() -> None:
    grid: dict[str, list[Value]] = {"a.b": [10, 0.5, -3, True, "C3", "010", "1e3"]}
    assert parse_grid(["a.b=10,0.5,-3,true,C3,010,1e3"]) == grid
    assert parse_set(["a=1", "b=x=y,z", "a=2"]) == {"a": 2, "b": "x=y,z"}
    for endless in ("9" * 5000, "9" * 5000 + ".5"):
        assert parse_grid([f"a={endless}"]) == {"a": [endless]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["governor"], "--grid governor: no `=`; write --grid key=value, such as --grid cstates.C3.exit_us=10,50"),
        (["governor=menu,"], "--grid governor=menu,: an empty value; write values with a comma between them"),
        (["governor=menu", "governor=teo"], "--grid governor: is there twice; give all its values at once"),
    ],
)
def test_options_that_are_no_grid(words: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_grid(words)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grid": {"governor": []}}, "grid.governor: the list is empty; give 1 or more"),
        ({"grid": {"governor": "menu"}}, "grid.governor: 'menu' is not a list; write a list"),
        ({"seeds": 0}, "seeds: 0 is too small; give 1 or more"),
        ({"axes": {}}, "axes: unknown key; remove it or use"),
        ({"scenario": 5}, "scenario: 5 is not text; write text"),
    ],
)
def test_a_wrong_file_is_told_by_its_key(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"scenario": "wake-latency", **changes}))
    with pytest.raises(UserError, match=f"mine.yaml: {said}"):
        load(path)


def test_a_date_in_a_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("scenario: wake-latency\nset: {count: 2026-02-30}\n")
    with pytest.raises(UserError, match=r"mine\.yaml: line 2: `2026-02-30` is no timestamp and has no quotes"):
        load(path)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(UserError, match=r"^'a/\\x00\.yaml': no file has such a name; give the path of a"):
        load_scenario("a/\0.yaml")


def test_a_bad_key_ends_the_command_before_anything_starts(tmp_path: Path, lull: Lull) -> None:
    (tmp_path / "mine.yaml").write_text(
        "scenario: wake-latency\npoints: [states/C3]\ngrid: {cstates.C9.exit_us: [1]}\n"
    )
    for words, where in (
        (("mine.yaml",), "mine.yaml: grid.cstates.C9.exit_us"),
        (("--scenario", "wake-latency", "--grid", "cstates.C9.exit_us=1"), "--grid cstates.C9.exit_us"),
    ):
        ran = lull("sweep", *words, "-e", "qemu")
        assert (ran.returncode, ran.stderr) == (
            2,
            f"lull: {where}: no cluster has `C9`; use `C1`, `C2`, `C3`, `C4`\n",
        )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_options_win_over_the_file(tmp_path: Path, lull: Lull) -> None:
    (tmp_path / "mine.yaml").write_text(
        "scenario: wake-latency\npoints: [states/C3]\nset: {count: 5}\nseeds: 2\n"
        "grid: {governor: [menu, teo], cstates.C3.exit_us: [10]}\n"
    )
    ran = lull("sweep", "mine.yaml", "-e", "qemu", "--grid", "governor=teo", "--seeds", "1", "--list")
    assert ran.stdout == "states/C3 governor=teo cstates.C3.exit_us=10 seed=1\n", ran.stderr


def test_an_unknown_executor_is_told_before_anything_starts(tmp_path: Path, lull: Lull) -> None:
    ran = lull("sweep", "--scenario", "wake-latency", "-e", "qemu", "--executor", "nowhere")
    assert ran.returncode == 2
    assert ran.stderr.startswith("lull: --executor nowhere: Snakemake has no such executor here; use `local`, `slurm`")
    assert list(tmp_path.iterdir()) == []
