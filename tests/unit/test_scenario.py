# SPDX-License-Identifier: BSD-3-Clause
"""Scenario files, and what becomes of them and a user's wishes."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.platform.devicetree import ENGINES
from lull.scenario import experiments, published
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, divide, resolve, select
from lull.scenario.schema import Scenario
from tests.conftest import Lull

SMALL: dict[str, Any] = {
    "name": "small",
    "title": "A scenario of a test",
    "platform": "tiny",
    "cpu": "timing",
    "parameters": {
        "state": {"default": "C2", "choices": ["C1", "C2", "C3"], "help": "which"},
        "count": {"default": 7, "at_least": 1, "at_most": 100, "help": "how many"},
        "exit_us": {"default": 0.0, "at_least": 0, "help": "how long"},
        "words": {"default": "a b", "pattern": "[a-z ;]*", "help": "something to quote"},
        "fast": {"default": False, "help": "or not"},
    },
    "command": "echo {state} {count} {words} {fast} ${{HOME}}",
    "overrides": ["memory.size_mib=256"],
    "limits": {"simulated_s": 1.0, "wall_s": 60.0},
    "groups": [
        {"name": "plain", "help": "as it is"},
        {
            "name": "exit",
            "help": "varied",
            "matrix": {"state": ["C2", "C3"], "exit_us": [0.0, 12.5]},
            "parameters": {"count": 3},
            "overrides": ["cstates.{state}.exit_us={exit_us}"],
        },
    ],
    "analysis": "wake_latency",
}


def _file(tmp_path: Path, **changes: object) -> str:
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump({**SMALL, **changes}, sort_keys=False))
    return str(path)


def _small(tmp_path: Path, **changes: object) -> Scenario:
    return load_scenario(_file(tmp_path, **changes))


def _exit_us(point: Any, state: str) -> float:
    states = point.spec.platform.clusters[0].cstates
    return float(next(found.actual.exit_us for found in states if found.name == state))


def test_a_matrix_becomes_points_with_their_overrides(tmp_path: Path) -> None:
    points = resolve(_small(tmp_path), Wishes("gem5"))
    assert [point.name for point in points] == ["plain", "exit/C2-0", "exit/C2-12.5", "exit/C3-0", "exit/C3-12.5"]
    assert _exit_us(points[2], "C2") == 12.5
    assert _exit_us(points[4], "C3") == 12.5
    assert _exit_us(points[4], "C2") == 43, "the platform's own"
    assert points[2].spec.command == "echo C2 3 'a b' false ${{HOME}}"
    assert points[2].spec.platform.memory.size_mib == 256
    assert {point.spec.cpu for point in points} == {"timing"}
    assert len({point.spec.hash() for point in points}) == len(points)


def test_a_parameter_that_the_user_sets_holds_everywhere(tmp_path: Path) -> None:
    points = resolve(_small(tmp_path), Wishes("qemu", settings=("exit_us=5", "count=9", "memory.size_mib=512")))
    assert [point.name for point in points] == ["plain", "exit/C2-5", "exit/C3-5"]
    assert {point.values["count"] for point in points} == {9}
    assert {point.spec.platform.memory.size_mib for point in points} == {512}
    assert {point.spec.cpu for point in points} == {None}


def test_a_group_has_no_points_where_a_user_sets_what_it_is_about(tmp_path: Path) -> None:
    groups: list[dict[str, object]] = [
        {"name": "all", "help": "x", "matrix": {"state": ["C1", "C2"]}},
        {"name": "fast", "help": "x", "about": {"state": "C3", "fast": True}},
    ]
    scenario = _small(tmp_path, groups=groups)
    points = resolve(scenario, Wishes("qemu"))
    assert [point.name for point in points] == ["all/C1", "all/C2", "fast"]
    assert (points[2].values["state"], points[2].values["fast"]) == ("C3", True)
    for state, names in {"C1": ["all/C1"], "C3": ["all/C3", "fast"]}.items():
        assert [point.name for point in resolve(scenario, Wishes("qemu", settings=(f"state={state}",)))] == names
    with pytest.raises(UserError, match=r"small: no group is about state=C1; leave some of it out"):
        resolve(_small(tmp_path, groups=groups[1:]), Wishes("qemu", settings=("state=C1",)))


def test_a_groups_own_command_may_run_before_that_of_all(tmp_path: Path) -> None:
    scenario = _small(tmp_path, groups=[{"name": "one", "help": "x", "before": "sleep {count}"}])
    (point,) = resolve(scenario, Wishes("qemu"))
    assert point.spec.command == "sleep 7; echo C2 7 'a b' false ${{HOME}}"


def test_words_of_a_user_cannot_leave_their_place_in_the_command(tmp_path: Path) -> None:
    points = resolve(_small(tmp_path), Wishes("qemu", settings=("words=x; reboot",)))
    assert "'x; reboot'" in points[0].spec.command


def _without_c2(tmp_path: Path, *clusters: str) -> str:
    """`tiny`, these of whose clusters have no C2. Their CPUs are 0, 1 and the shadow's 2."""
    machine = yaml.safe_load((ROOT / "platforms" / "tiny.yaml").read_text())
    for cluster in (*machine["clusters"], machine["shadow"]["cluster"]):
        if cluster["name"] in clusters:
            cluster["cstates"] = [state for state in cluster["cstates"] if state["name"] != "C2"]
    path = tmp_path / "shallow.yaml"
    path.write_text(yaml.safe_dump(machine))
    return str(path)


def test_a_group_may_be_of_several_platforms(tmp_path: Path) -> None:
    groups: list[dict[str, object]] = [
        {"name": "both", "help": "x", "platforms": ["tiny", "rk3399"], "matrix": {"count": [1, 2]}},
        {"name": "one", "help": "x"},
    ]
    scenario = _small(tmp_path, groups=groups)
    points = resolve(scenario, Wishes("qemu"))
    assert [point.name for point in points] == ["both/tiny-1", "both/tiny-2", "both/rk3399-1", "both/rk3399-2", "one"]
    assert [point.spec.platform.name for point in points] == ["tiny", "tiny", "rk3399", "rk3399", "tiny"]
    points = resolve(scenario, Wishes("qemu", platform="exynos5422"))
    assert [point.name for point in points] == ["both/1", "both/2", "one"]
    assert {point.spec.platform.name for point in points} == {"exynos5422"}
    with pytest.raises(UserError, match=r"groups\[0\]\.platforms\[1\]: `tiny` is there twice; drop one"):
        _small(tmp_path, groups=[{**groups[0], "platforms": ["tiny", "tiny"]}])


def test_a_platform_without_the_state_has_no_such_point(tmp_path: Path) -> None:
    scenario = _small(tmp_path, needs_state="{state}")
    platform = _without_c2(tmp_path, "little", "big", "shadow")
    names = [point.name for point in resolve(scenario, Wishes("qemu", platform=platform))]
    assert names == ["exit/C3-0", "exit/C3-12.5"]
    with pytest.raises(UserError, match=r"no point can run, .*shallow\.yaml has no idle state C2; change the platform"):
        resolve(scenario, Wishes("qemu", platform=platform, settings=("state=C2",)))


def test_a_state_of_a_cluster_that_is_not_there_does_not_count(tmp_path: Path) -> None:
    scenario, platform = _small(tmp_path, needs_state="{state}"), _without_c2(tmp_path, "little", "big")
    for settings, names in ((), ["plain", "exit/C2-0", "exit/C3-0"]), (("shadow.enabled=false",), ["exit/C3-0"]):
        wishes = Wishes("qemu", platform=platform, settings=("exit_us=0", *settings))
        assert [point.name for point in resolve(scenario, wishes)] == names


def test_a_cpu_without_the_state_has_no_such_point(tmp_path: Path) -> None:
    parameters = {**SMALL["parameters"], "cpus": {"default": "", "pattern": "[0-9,-]*", "help": "where"}}
    scenario = _small(tmp_path, needs_state="{state}", needs_cpus="{cpus}", parameters=parameters)
    platform = _without_c2(tmp_path, "little")
    of_c2, of_c3 = ["plain", "exit/C2-0"], ["exit/C3-0"]
    for cpus, names in {"": of_c2 + of_c3, "1-2": of_c2 + of_c3, "0": of_c3, "0-1": of_c3, "2,0": of_c3}.items():
        wishes = Wishes("qemu", platform=platform, settings=("exit_us=0", f"cpus={cpus}"))
        assert [point.name for point in resolve(scenario, wishes)] == names
        assert list(divide(scenario, wishes).left_out) == [name for name in of_c2 if name not in names]
    wishes = Wishes("qemu", platform=platform, settings=("cpus=0",))
    sentence = r"--points plain: cannot run, CPU 0 of .*shallow\.yaml \(little\) has no idle state C2; change"
    with pytest.raises(UserError, match=sentence):
        resolve(scenario, wishes, ["plain"])
    with pytest.raises(UserError, match=sentence):
        select(resolve(scenario, wishes), ["exit/C3-*", "plain"], divide(scenario, wishes).left_out)


def test_a_value_that_would_leave_its_folder_is_refused(tmp_path: Path) -> None:
    groups = [{"name": "said", "help": "x", "matrix": {"words": ["a"]}}]
    parameters = {**SMALL["parameters"], "words": {"default": "a", "pattern": ".*", "help": "anything"}}
    scenario = _small(tmp_path, groups=groups, parameters=parameters)
    for word in ("../..", "..", "/etc", "a b"):
        with pytest.raises(UserError, match=r"--set words: .* cannot name a folder"):
            resolve(scenario, Wishes("qemu", settings=(f"words={word}",)))


def test_points_are_chosen_by_pattern(tmp_path: Path) -> None:
    points = resolve(_small(tmp_path), Wishes("qemu"))
    assert [point.name for point in select(points, ["plain", "exit/C3-*"])] == ["plain", "exit/C3-0", "exit/C3-12.5"]
    assert select(points, []) == points
    with pytest.raises(UserError, match=r"--points exit/C4-\*: no such point; `--list` names all 5"):
        select(points, ["plain", "exit/C4-*"])


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("count", "--set count: no `=`; write key=value, such as state=C2"),
        ("count=0", "--set count: 0 is too small; give 1 or more"),
        ("count=101", "--set count: 101 is too large; give 100 or less"),
        ("count=many", "--set count: 'many' is not a whole number; write a whole number"),
        ("count=1.5", "--set count: '1.5' is not a whole number; write a whole number"),
        ("exit_us=-1", "--set exit_us: -1 is too small; give 0 or more"),
        ("exit_us=nan", "--set exit_us: nan is not a number; write a number"),
        ("fast=maybe", "--set fast: 'maybe' is not true or false; write true or false"),
        ("state=C9", "--set state: `C9` is not known here; use `C1`, `C2`, `C3`"),
        ("exit_us=1e300000", "--set exit_us: inf is not a number; write a number"),
        ("words=UP", "--set words: `UP` does not match [a-z ;]*; change it"),
        ("colour=red", "--set colour: unknown key `colour`"),
        ("cstates.C3.exit_us=-5", "exit_us: -5 is too small; give 0 or more"),
    ],
)
def test_bad_settings_are_one_sentence(tmp_path: Path, setting: str, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        resolve(_small(tmp_path), Wishes("qemu", settings=(setting,)))


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_beyond_all_numbers_is_none(tmp_path: Path, digits: int) -> None:
    with pytest.raises(UserError, match=r"--set count: '?9+'? is not a (whole )?number; write a (whole )?number$"):
        resolve(_small(tmp_path), Wishes("qemu", settings=(f"count={'9' * digits}",)))


def _with(group: dict[str, object]) -> dict[str, object]:
    return {"groups": [{"name": "one", "help": "x", **group}]}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"colour": "red"}, "colour: unknown key"),
        ({"command": "run {speed}"}, "command: no parameter `speed`; add it or use `count`"),
        ({"overrides": ["a={b}"]}, "overrides[0]: no parameter `b`"),
        ({"groups": []}, "groups: the list is empty"),
        ({"groups": [SMALL["groups"][0]] * 2}, "groups[1].name: `plain` is used twice"),
        (_with({"before": "run {speed}"}), "groups[0].before: no parameter `speed`; add it or use `count`"),
        (_with({"matrix": {"speed": [1]}}), "groups[0].matrix.speed[0]: no parameter `speed`"),
        (_with({"matrix": {"count": [1, 500]}}), "groups[0].matrix.count[1]: 500 is too large; give 100 or less"),
        (_with({"matrix": {"count": [1, 1]}}), "groups[0].matrix.count[1]: 1 is there twice"),
        (_with({"matrix": {"count": []}}), "groups[0].matrix.count: the list is empty"),
        (_with({"matrix": {"words": ["a b"]}}), "groups[0].matrix.words[0]: 'a b' cannot name a folder"),
        (_with({"about": {"state": "C9"}}), "groups[0].about.state: `C9` is not known here"),
        (_with({"about": {"count": 1}, "matrix": {"count": [1]}}), "groups[0].about.count: said by the group in"),
        (_with({"parameters": {"state": "C9"}}), "groups[0].parameters.state: `C9` is not known here"),
        ({"parameters": {"x": {"default": "y", "help": "z"}}}, "parameters.x.default: a word that may be anything"),
        ({"parameters": {"x": {"default": "y", "pattern": "(", "help": "z"}}}, "parameters.x.pattern: not a regular"),
        ({"parameters": {"x": {"default": 5, "at_most": 4, "help": "z"}}}, "parameters.x.default: 5 is too large"),
        (
            {"parameters": {"x": {"default": [5], "help": "z"}}},
            "parameters.x.default: not a value; write a number",
        ),
        ({"parameters": {"x": {"default": 5, "hlep": "z"}}}, "parameters.x.help: missing; add it"),
        ({"limits": {"simulated_s": 0, "wall_s": 1}}, "limits.simulated_s: 0 is too small; give more than 0"),
        ({"analysis": "no_such"}, "analysis: no experiment `no_such`; use `cold-caches`"),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_key(tmp_path: Path, changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        _small(tmp_path, **changes)
    assert "scenario.yaml: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_scenario_of_the_project_resolves_on_every_engine() -> None:
    assert {"wake-latency", "platform-check", "energy-validation", "multicore-power"} <= set(experiments.names())
    for name in experiments.names():
        scenario = load_scenario(name)
        assert scenario.name == name
        for engine in ENGINES:
            points = resolve(scenario, Wishes(engine))
            assert len({point.name for point in points}) == len(points)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run",), "no scenario given; name one of"),
        (("run", "tea"), "unknown scenario `tea`; use one of `"),
        (("run", "/no/such.yaml"), "/no/such.yaml: cannot read it"),
        (("run", "wake-latency", "-e", "qemu", "-p", "commodore"), "unknown platform `commodore`"),
        (("run", "wake-latency", "-e", "qemu", "--cpu", "detailed"), "--cpu: QEMU has no CPU models"),
        (("run", "wake-latency", "-e", "qemu", "--set", "count=0"), "--set count: 0 is too small; give 1 or more"),
        (("run", "wake-latency", "-e", "qemu", "--points", "x"), "--points x: no such point"),
        (
            ("run", "wake-latency", "-e", "qemu", "--set", "cpus=0,9"),
            "wake-latency: no point can run, tiny has no CPU 9; change the platform or the settings",
        ),
        (("figures", "/no/such"), "/no/such: not a folder of a scenario's runs"),
    ],
)
def test_bad_words_are_one_sentence_and_leave_nothing(
    lull: Lull, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    ran = lull(*words)
    assert ran.returncode == 2
    assert sentence in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_says_what_its_groups_and_parameters_are(lull: Lull) -> None:
    ran = lull("run", "wake-latency", "--describe")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    scenario = load_scenario("wake-latency")
    assert lines[0] == scenario.title
    for group in scenario.groups:
        assert lines[lines.index(f"  {group.name}") + 1].strip() == group.help
    for key, parameter in scenario.parameters.items():
        (at,) = [number for number, line in enumerate(lines) if line.startswith(f"  {key}=")]
        assert lines[at + 1].strip() == parameter.help
    assert {"  state=C3   (C1, C2, C3, C4)", "  count=1100   (1 to 1000000)", "  seed=1   (at least 0)"} <= set(lines)


def test_points_that_the_machine_cannot_run_are_refused_before_anything_boots(lull: Lull, tmp_path: Path) -> None:
    platform = _without_c2(tmp_path, "little")
    words = ("run", "wake-latency", "-e", "qemu", "-p", platform, "--set", "cpus=0")
    ran = lull(*words, "--points", "states/C2")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(r"lull: --points states/C2: cannot run, CPU 0 of .* has no idle state C2; .*\n", ran.stderr)
    ran = lull(*words, "--list")
    assert ran.returncode == 0
    assert "states/C2\n" not in ran.stdout
    assert "states/C3\n" in ran.stdout
    assert ran.stderr.startswith("states/C2 and 10 more points: left out, CPU 0 of "), "said, and once"
    assert len(ran.stderr.splitlines()) == 1
    grid = ("--grid", "governor=menu,teo", "--points", "states/*", "--list")
    ran = lull("sweep", "--scenario", "wake-latency", *words[2:], *grid)
    assert ran.returncode == 0
    assert [line.partition(" ")[0] for line in ran.stdout.splitlines()] == ["states/C1", "states/C3", "states/C4"] * 2
    assert re.fullmatch(r"states/C2: left out, CPU 0 of .* has no idle state C2\n", ran.stderr), "of both, once"


def test_a_scenarios_trace_and_windows_are_those_of_its_points(tmp_path: Path) -> None:
    asked = {"trace": ["sched"], "trace_kib": 4096, "stats_period_s": 0.001}
    scenario = _small(tmp_path, **asked)
    (point, *_) = resolve(scenario, Wishes("gem5"))
    assert point.spec.model_dump(include=set(asked)) == {**asked, "trace": ("sched",)}
    assert resolve(scenario, Wishes("gem5", stats_period_s=0.5))[0].spec.stats_period_s == 0.5
    assert resolve(scenario, Wishes("qemu"))[0].spec.stats_period_s is None, "QEMU has no statistics"


def test_a_point_says_how_much_of_it_is_fast_forward(tmp_path: Path) -> None:
    scenario = _small(tmp_path, fast_forward_us="{count}000")
    (point, *_) = resolve(scenario, Wishes("gem5"))
    assert point.spec.fast_forward_s == pytest.approx(1e-3 * int(point.values["count"]))
    assert resolve(scenario, Wishes("qemu"))[0].spec.fast_forward_s is None, "QEMU has one CPU model"
    (point, *_) = resolve(_small(tmp_path, fast_forward_us="0"), Wishes("gem5"))
    assert point.spec.fast_forward_s is None
    with pytest.raises(UserError, match=r"fast_forward_us: soon is not a number; write microseconds$"):
        resolve(_small(tmp_path, fast_forward_us="soon"), Wishes("gem5"))


SLOPE: dict[str, Any] = {"result": "lines", "table": "slopes", "row": {"group": "little", "size": 7}, "column": "slope"}


def _with_slope(tmp_path: Path, *slopes: tuple[str, int, float | None]) -> Scenario:
    """A scenario with a parameter that another experiment measures, and what that has published."""
    (tmp_path / "lines").mkdir()
    rows = [{"group": group, "size": size, "slope": slope} for group, size, slope in slopes]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "lines" / "slopes.parquet")
    slope = {"default": 1.0, "at_most": 100, "help": "how steep", "published": SLOPE}
    return _small(tmp_path, parameters={**SMALL["parameters"], "slope": slope})


def test_a_default_is_what_another_experiment_has_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "RESULTS", tmp_path)
    scenario = _with_slope(tmp_path, ("little", 3, 1.5), ("little", 7, 2.5), ("big", 7, 3.5))
    assert resolve(scenario, Wishes("gem5"))[0].values["slope"] == 2.5


def test_a_default_is_assumed_until_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "RESULTS", tmp_path)
    scenario = _with_slope(tmp_path, ("big", 7, 3.5))
    assert resolve(scenario, Wishes("gem5"))[0].values["slope"] == 1.0


def test_a_published_null_is_not_measured_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "RESULTS", tmp_path)
    scenario = _with_slope(tmp_path, ("little", 7, None), ("big", 7, 3.5))
    assert resolve(scenario, Wishes("gem5"))[0].values["slope"] == 1.0


@pytest.mark.parametrize(
    ("slopes", "sentence"),
    [
        ([("little", 7, 200.0)], "parameters: slope: published: 200 is too large"),
        ([("little", 7, 1.0), ("little", 7, 2.0)], "slope: not one number of one row; publish lines again"),
        ([("little", 7, float("nan"))], "slope: not one number of one row; publish lines again"),
    ],
)
def test_what_is_published_and_no_default_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slopes: list[tuple[str, int, float]], sentence: str
) -> None:
    monkeypatch.setattr(published, "RESULTS", tmp_path)
    with pytest.raises(UserError, match=re.escape(sentence)):
        _with_slope(tmp_path, *slopes)


def test_a_published_table_without_the_column_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "RESULTS", tmp_path)
    monkeypatch.setitem(SLOPE, "column", "height")
    with pytest.raises(UserError, match="no column `height`; publish lines again"):
        _with_slope(tmp_path, ("little", 7, 1.0))
