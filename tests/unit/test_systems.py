# SPDX-License-Identifier: BSD-3-Clause
"""Settings of kernel systems: what a manifest may say, what a run may ask for, and what comes of it elsewhere."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.cli.app import app
from lull.cli.options import complete_setting
from lull.errors import UserError
from lull.files.blocks import explained
from lull.files.paths import ROOT
from lull.platform.schema import Platform
from lull.runspec import policy
from lull.runspec.settings import resolve
from lull.runspec.spec import RunSpec
from lull.scenario.points import Wishes
from lull.scenario.points import resolve as points_of
from lull.scenario.schema import Scenario
from lull.systems import folder, page
from lull.systems.manifest import Setting, SystemManifest
from tests.specs import spec

SETTING = {"path": "/sys/kernel/lull/doze/enabled", "choices": [0, 1], "default": 0, "help": "the switch"}
MANIFEST = {"name": "doze", "title": "a test", "option": "LULL_DOZE", "settings": {"enabled": SETTING}}


@pytest.fixture
def doze(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that works on one engine."""
    setting = Setting.model_validate(SETTING | {"not_on": {"qemu": "nothing dozes there"}})
    monkeypatch.setattr(folder, "settings", lambda: {"doze.enabled": setting})


def applied(*words: str) -> str:
    return spec(*words).script().splitlines()[1]


# What a run may ask for.


def test_what_the_guest_is_told_in_the_order_of_the_manifest() -> None:
    line = applied("idle.deepest=C3", "esm.enabled=1", "esm.fifo=8", "governor=teo", "esm.dispatch=thread")
    assert line == (
        "lull-policy governor=teo file=esm.dispatch:/sys/kernel/lull/esm/dispatch:thread "
        "file=esm.fifo:/sys/kernel/lull/esm/fifo:8 file=esm.enabled:/sys/kernel/lull/esm/enabled:1 "
        "idle.deepest=C3 || exit 125"
    )


def test_a_run_that_sets_nothing_of_a_system_is_the_run_that_it_was() -> None:
    for words in ([], ["governor=teo"]):
        policy_of_file = spec(*words).model_dump(mode="json")["policy"]
        assert set(policy_of_file) == {"governor", "cpufreq", "idle_deepest", "routing", "routing_depth"}


def test_a_run_that_sets_something_is_another_and_can_be_read_again() -> None:
    on = spec("esm.enabled=1")
    assert len({spec().hash(), spec("esm.enabled=0").hash(), on.hash()}) == 3
    assert RunSpec.model_validate(on.model_dump(mode="json")) == on
    assert RunSpec.model_validate_json(on.model_dump_json()).script() == on.script()
    assert on.policy.words() == ["esm.enabled=1"]


def test_the_last_one_for_a_key_wins() -> None:
    assert resolve("tiny", ["esm.fifo=8", "esm.fifo=65536"]).policy.words() == ["esm.fifo=65536"]


BAD = {
    "esm.enabled=2": "--set esm.enabled=2: unknown; use `0`, `1`",
    "esm.enabled=": "--set esm.enabled=: unknown; use `0`, `1`",
    "esm.enabled": "--set esm.enabled: no `=`; write key=value, such as esm.enabled=1",
    "esm.dispatch=fast": "--set esm.dispatch=fast: unknown; use `direct`, `thread`",
    "esm.fifo=7": "--set esm.fifo=7: unknown; use a whole number from 8 to 65536",
    "esm.fifo=65537": "--set esm.fifo=65537: unknown; use a whole number from 8 to 65536",
    "esm.fifo=010": "--set esm.fifo=010: unknown; use a whole number from 8 to 65536",
    "esm.fifo=+9": "--set esm.fifo=+9: unknown; use a whole number from 8 to 65536",
    "esm.fifo=\uff19": "--set esm.fifo=\uff19: unknown; use a whole number from 8 to 65536",
    "esm.dispach=direct": "--set esm.dispach: unknown key; use `esm.dispatch`",
    "esm.colour=red": "--set esm.colour: unknown key; use `esm.dispatch`, `esm.fifo`, `esm.enabled`",
    "ems.fifo=8": "--set ems.fifo: unknown key; use `esm.fifo`",
}


@pytest.mark.parametrize("word", BAD)
def test_a_setting_that_cannot_be(word: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve("tiny", [word])
    assert str(caught.value) == BAD[word]


@pytest.mark.parametrize(
    ("words", "other"),
    [
        (["routing=none", "platform.routing.policy=none"], "routing"),
        (["routing=none", "platform.routing.enabled=1"], "routing"),
        (["routing=always-shadow", "routing.depth=C3", "platform.routing.depth=C3"], "routing"),
    ],
)
def test_one_file_is_set_by_one_key(words: list[str], other: str) -> None:
    with pytest.raises(UserError, match=rf"`{other}(\.depth)?` sets the same file; give one of the two$"):
        resolve("tiny", words)


@pytest.mark.usefixtures("doze")
def test_an_engine_without_it_says_why() -> None:
    asked = policy.Policy(systems=(policy.SystemSetting(key="doze.enabled", path="/sys/x", value="1"),))
    policy.check_engine(asked, "gem5")
    with pytest.raises(
        UserError, match=r"^--set doze\.enabled=1: not on qemu, because nothing dozes there; use another engine$"
    ):
        policy.check_engine(asked, "qemu")


def test_a_scenario_uses_it_as_any_setting() -> None:
    """In overrides, as a template, by a matrix; and a user's `--set` is checked like it."""
    scenario = Scenario.model_validate(
        {
            "name": "mine",
            "title": "t",
            "platform": "tiny",
            "cpu": "atomic",
            "command": "true",
            "parameters": {"on": {"default": 0, "help": "h"}},
            "groups": [{"name": "g", "help": "h", "matrix": {"on": [0, 1]}, "overrides": ["esm.enabled={on}"]}],
            "overrides": ["esm.fifo=64"],
            "limits": {"simulated_s": 1.0, "wall_s": 1.0},
        }
    )
    found = points_of(scenario, Wishes(engine="qemu"))
    assert [point.spec.policy.words() for point in found] == [
        ["esm.fifo=64", "esm.enabled=0"],
        ["esm.fifo=64", "esm.enabled=1"],
    ]
    with pytest.raises(UserError, match=r"^--set esm\.dispatch=x: unknown; use `direct`, `thread`$"):
        points_of(scenario, Wishes(engine="qemu", settings=["esm.dispatch=x"]))


# What a manifest may say.


def test_names_of_systems_are_no_keys_of_anything_else() -> None:
    for name in (system.name for system in folder.known()):
        assert name not in {*Platform.model_fields, "cstates", *(key.partition(".")[0] for key in policy.KEYS)}


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "none": ({"choices": []}, "choices: give one of `choices` and `range`"),
    "both": ({"range": [0, 1]}, "choices: give one of `choices` and `range`"),
    "twice": ({"choices": [0, "0"]}, "choices: a value is there twice; drop one"),
    "words": ({"choices": ["a b"]}, "choices: 'a b' is not one word of letters, digits and `_.,-`; rename it"),
    "colon": ({"choices": ["a:b"]}, "choices: 'a:b' is not one word of letters, digits and `_.,-`; rename it"),
    "default": ({"default": 2}, "default: 2 is none of its values; use `0`, `1`"),
    "range": (
        {"choices": [], "range": [5, 1]},
        "range: not two whole numbers, the smaller one first; write [least, greatest]",
    ),
    "path": ({"path": "/proc/x"}, "path: '/proc/x' does not match ^/sys/[A-Za-z0-9_./-]+$; rename it"),
    "unknown": ({"defualt": 0}, "defualt: unknown key; remove it or use `default`"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_setting_with_a_mistake_is_one_sentence(case: str) -> None:
    change, sentence = WRONG[case]
    data = MANIFEST | {"settings": {"enabled": SETTING | change}}
    with pytest.raises(UserError) as caught, explained("system.yaml", SystemManifest):
        SystemManifest.model_validate(data)
    assert str(caught.value) == f"system.yaml: settings.enabled.{sentence}"


def test_a_range_takes_its_ends_and_nothing_beyond() -> None:
    setting = Setting.model_validate(SETTING | {"choices": [], "range": [2, 4], "default": 2})
    assert [value for value in ("1", "2", "3", "4", "5", "02", "2.0", "", "-2") if setting.takes(value)] == [
        "2",
        "3",
        "4",
    ]


# What is made of the manifests.


def test_the_page_is_up_to_date() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert text == page.renewed(text, folder.settings()), f"run `{page.COMMAND}`"
    for key in folder.settings():
        assert f"| `{key}` |" in text


@pytest.mark.usefixtures("doze")
def test_the_page_follows_the_manifests() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    new = page.renewed(text, folder.settings())
    assert "| `doze.enabled` | `0`, `1` | `0` | the switch; not on qemu, because nothing dozes there |\n" in new
    assert "esm.fifo" not in new
    assert page.renewed(new, folder.settings()) == new
    with pytest.raises(UserError, match=r"^docs/settings\.md: the lines around the generated part are not there once"):
        page.renewed(text.replace(page.END, ""), folder.settings())


def test_the_command_lists_and_updates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["settings"], env={"COLUMNS": "200"})
    assert all(key in shown.output for key in folder.settings())
    copy = tmp_path / "docs" / "settings.md"
    copy.parent.mkdir()
    monkeypatch.setattr(page, "PAGE", copy)
    original = (ROOT / "docs" / "settings.md").read_text()
    copy.write_text(original.replace("| `esm.fifo` |", "| `old` |"))
    assert CliRunner().invoke(app, ["settings", "--update"]).exit_code == 0
    assert copy.read_text() == original


def test_a_shell_completes_keys_and_values() -> None:
    assert complete_setting("esm.d") == ["esm.dispatch="]
    assert complete_setting("esm.dispatch=t") == ["esm.dispatch=thread"]
    assert complete_setting("gov") == ["governor="]
    assert complete_setting("routing=n") == ["routing=none"]
    assert complete_setting("esm.fifo=") == []
    assert {f"{key}=" for key in policy.all_keys()} == set(complete_setting(""))
