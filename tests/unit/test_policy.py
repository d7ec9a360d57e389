# SPDX-License-Identifier: BSD-3-Clause
"""What a run asks of Linux: what is refused on the host, what the guest is told, and what it does with it."""

import subprocess
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.paths import ROOT
from lull.policy import Policy
from lull.runspec import RunSpec
from lull.settings import resolve
from tests.specs import spec

GUEST = ROOT / "benchmarks" / "guest"


def applied(*words: str, platform: str = "tiny") -> str | None:
    """The line of the script that applies the policy, if there is one."""
    lines = [line for line in spec(*words, platform=platform).script().splitlines() if "lull-policy" in line]
    assert len(lines) <= 1
    return lines[0].removeprefix("lull-policy ").removesuffix(" || exit 125") if lines else None


def test_nothing_asked_changes_nothing() -> None:
    assert applied() is None
    assert applied("cstates.C3.exit_us=50", "memory.size_mib=256") is None


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["governor=teo"], "governor=teo"),
        (["governor=teo", "governor=haltpoll"], "governor=haltpoll"),
        (["cpufreq=schedutil"], "cpufreq=schedutil"),
        (["cpufreq=775000"], "cpufreq=userspace cpufreq.0=775000 cpufreq.1=800000 cpufreq.2=700000"),
        (["idle.deepest=C3"], "idle.deepest=C3"),
        (["routing=none"], "routing=none"),
        (["routing=none", "shadow.enabled=false"], "routing=none"),
        (["routing.depth=C4", "routing=shadow-when-asleep"], "routing.depth=C4 routing=shadow-when-asleep"),
        (
            ["idle.deepest=C4", "routing=always-shadow", "cpufreq=performance", "governor=menu"],
            "governor=menu cpufreq=performance routing=always-shadow idle.deepest=C4",
        ),
    ],
)
def test_what_the_guest_is_told(words: list[str], line: str) -> None:
    assert applied(*words) == line


def test_a_frequency_of_every_cluster_by_its_first_cpu() -> None:
    assert applied("cpufreq=1800000", platform="exynos5422") == "cpufreq=userspace cpufreq.0=1400000 cpufreq.4=1800000"
    assert applied("cpufreq=2014500", platform="tegra-k1") == "cpufreq=userspace cpufreq.0=2014500 cpufreq.4=1092000"


def test_the_policy_comes_before_the_trace_and_the_trace_before_the_command() -> None:
    script = spec("governor=teo", trace=("sched",)).script()
    assert script.startswith("#lull limit_s=1\nlull-policy governor=teo || exit 125\ntrace-cmd start ")
    assert script.index("trace-cmd start") < script.index("sh -c true")


def test_the_hash_covers_the_policy_and_what_linux_is_told() -> None:
    specs = [spec(), spec("governor=teo"), spec("idle.deepest=C3"), spec("cstates.C4.advertised.exit_us=1300")]
    assert len({one.hash() for one in specs}) == len(specs)


def test_a_run_without_a_policy_in_its_file_can_be_read() -> None:
    data = spec().model_dump(mode="json")
    del data["policy"], data["told_at_boot"]
    assert RunSpec.model_validate(data) == spec()


def test_a_policy_as_it_was_asked_for() -> None:
    words = ["governor=teo", "cpufreq=450000", "idle.deepest=C3", "routing=always-shadow"]
    assert resolve("tiny", words).policy.words() == words
    assert Policy().words() == []


BAD = {
    "governor=ladder": "--set governor=ladder: unknown; use `menu`, `teo`, `haltpoll`",
    "governor=": "--set governor=: unknown; use `menu`, `teo`, `haltpoll`",
    "governor": "--set governor: no `=`; write key=value, such as governor=teo",
    "governer=teo": "--set governer: unknown key; use `governor`",
    "idle.depest=C3": "--set idle.depest: unknown key; use `idle.deepest`",
    "cpufreq=ondemand": "--set cpufreq=ondemand: unknown; use `performance`, `powersave`, `schedutil`, `userspace` "
    "or the kHz of an OPP",
    "cpufreq=-450000": "--set cpufreq=-450000: unknown; use `performance`, `powersave`, `schedutil`, `userspace` "
    "or the kHz of an OPP",
    "cpufreq=600000": "--set cpufreq=600000: no cluster of tiny has an OPP of 600000 kHz; use 575000 or 625000",
    "cpufreq=850": "--set cpufreq=850: no cluster of tiny has an OPP of 850 kHz; use 450000",
    "cpufreq=9999999": "--set cpufreq=9999999: no cluster of tiny has an OPP of 9999999 kHz; use 1100000",
    "idle.deepest=3": "--set idle.deepest=3: unknown; use `C1`, `C2`, `C3`, `C4`",
    "routing=always": "--set routing=always: unknown; use `none`, `shadow-when-asleep`, `always-shadow`",
    "routing.depth=C1": "--set routing.depth=C1: unknown; use `C2`, `C3`, `C4`",
    "routing.depth=C3": "--set routing.depth=C3: nothing looks at it; add --set routing=shadow-when-asleep",
}


@pytest.mark.parametrize("word", BAD)
def test_a_policy_that_cannot_be(word: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve("tiny", [word])
    assert str(caught.value) == BAD[word]
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("routing", ["shadow-when-asleep", "always-shadow"])
def test_routing_needs_a_shadow_core(routing: str) -> None:
    with pytest.raises(UserError, match=rf"^--set routing={routing}: tiny has no shadow core here; add --shadow$"):
        resolve("tiny", [f"routing={routing}", "shadow.enabled=false"])


def test_a_state_that_the_platform_lacks(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    text = (ROOT / "platforms" / "tegra-k1.yaml").read_text()
    kept = []
    for block in text.split("      - name: "):
        head, separator, tail = block.partition("\n\n")
        kept.append(separator + tail if head.startswith("C4") else block)
    file.write_text("      - name: ".join(kept).replace("      - name: \n\n", "\n"))
    assert resolve(str(file), ["idle.deepest=C3"]).policy.idle_deepest == "C3"
    with pytest.raises(
        UserError, match=r"^--set idle\.deepest=C4: no cluster of tegra-k1 has it; use `C1`, `C2`, `C3`$"
    ):
        resolve(str(file), ["idle.deepest=C4"])
    with pytest.raises(UserError, match=r"^--set routing\.depth=C4: no cluster of tegra-k1 has it; use `C1`"):
        resolve(str(file), ["routing=shadow-when-asleep", "routing.depth=C4"])


# The guest's side, on a tree of plain files that stands for sysfs.


@pytest.fixture
def guest(tmp_path: Path) -> Path:
    """/sys of a machine with two CPUs in one cluster, and our scripts with its path in them."""
    (tmp_path / "bin").mkdir()
    for name in ("lull-policy", "lull-idle"):
        script = tmp_path / "bin" / name
        script.write_text((GUEST / name).read_text().replace("/sys/", f"{tmp_path}/sys/"))
        script.chmod(0o755)
    files = {
        "devices/system/cpu/cpuidle/current_governor": "menu",
        "devices/system/cpu/cpufreq/policy0/scaling_governor": "performance",
        "devices/system/cpu/cpufreq/policy0/scaling_setspeed": "<unsupported>",
        "kernel/lull/cstates": "0 C3 500 900\n1 C3 500 900",
        "kernel/lull/routing/policy": "none",
        "kernel/lull/routing/depth": "C2",
        "kernel/lull/routing/enabled": "0",
    }
    for cpu in (0, 1):
        for state, name in enumerate(("WFI", "C3", "C4")):
            files[f"devices/system/cpu/cpu{cpu}/cpuidle/state{state}/disable"] = str(min(state, 1))
            files[f"devices/system/cpu/cpu{cpu}/cpuidle/state{state}/desc"] = name
    for name, text in files.items():
        path = tmp_path / "sys" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path


def run(guest: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", guest / "bin" / words[0], *words[1:]],
        env={"PATH": f"{guest}/bin:/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).replace(str(guest), "")


def content(guest: Path, name: str) -> str:
    return (guest / "sys" / name).read_text().strip()


def test_the_guest_applies_each_setting(guest: Path) -> None:
    words = ["governor=teo", "cpufreq=userspace", "cpufreq.0=450000", "routing.depth=C3", "routing=shadow-when-asleep"]
    assert run(guest, "lull-policy", *words) == (0, "")
    assert content(guest, "devices/system/cpu/cpuidle/current_governor") == "teo"
    assert content(guest, "devices/system/cpu/cpufreq/policy0/scaling_governor") == "userspace"
    assert content(guest, "devices/system/cpu/cpufreq/policy0/scaling_setspeed") == "450000"
    assert content(guest, "kernel/lull/routing/depth") == "C3"
    assert content(guest, "kernel/lull/routing/policy") == "shadow-when-asleep"
    assert content(guest, "kernel/lull/routing/enabled") == "1"
    assert run(guest, "lull-policy", "routing=none") == (0, "")
    assert content(guest, "kernel/lull/routing/enabled") == "0"


def disabled(guest: Path) -> str:
    files = sorted((guest / "sys" / "devices/system/cpu").glob("cpu*/cpuidle/state*/disable"))
    return "".join(file.read_text().strip() for file in files)


@pytest.mark.parametrize(
    ("deepest", "states"),
    [("C1", "011011"), ("C2", "011011"), ("C3", "001001"), ("C4", "000000"), ("0", "011011"), ("1", "001001")],
)
def test_the_deepest_state_by_name_and_by_number(guest: Path, deepest: str, states: str) -> None:
    """By name it is the same state on every CPU; this machine has no C2, so that C3 is number 1."""
    assert run(guest, "lull-idle", "deepest", "9") == (0, "")
    assert run(guest, "lull-idle", "deepest", deepest) == (0, "")
    assert disabled(guest) == states


@pytest.mark.parametrize("word", ["", "C", "deep", "C3x", "-1"])
def test_no_state_at_all(guest: Path, word: str) -> None:
    assert run(guest, "lull-idle", "deepest", word) == (2, "usage: lull-idle deepest N|CN\n")
    assert disabled(guest) == "011011"


def test_what_a_kernel_lacks_or_refuses_is_one_line_and_status_125(guest: Path) -> None:
    governor = guest / "sys/devices/system/cpu/cpuidle/current_governor"
    governor.unlink()
    governor.symlink_to("/dev/full")
    status, said = run(guest, "lull-policy", "governor=teo", "idle.deepest=C4")
    assert (status, said) == (
        125,
        "lull: governor=teo: /sys/devices/system/cpu/cpuidle/current_governor refuses teo\n",
    )
    assert disabled(guest) == "011011", "nothing after it is applied"
    governor.unlink()
    governor.symlink_to("/dev/zero")
    governor.unlink()
    status, said = run(guest, "lull-policy", "governor=teo")
    assert (status, said.count("\n")) == (125, 1)
    assert said.startswith("lull: governor=teo: this kernel has no ")


def test_a_write_without_effect_is_noticed(guest: Path) -> None:
    speed = guest / "sys/devices/system/cpu/cpufreq/policy0/scaling_setspeed"
    speed.unlink()
    speed.symlink_to("/dev/null")
    status, said = run(guest, "lull-policy", "cpufreq=userspace", "cpufreq.0=450000")
    assert status == 125
    assert said.startswith("lull: cpufreq.0=450000: ")
    assert said.count("\n") == 1


def test_a_word_from_another_version_is_refused(guest: Path) -> None:
    assert run(guest, "lull-policy", "colour=red") == (125, "lull: colour=red: not known here\n")


def test_latencies_are_written_at_once_and_looked_up(guest: Path) -> None:
    """A plain file then holds what was written, of which one line reads like the kernel's."""
    words = ("cstate=0:C3:600:1000", "governor=teo")
    assert run(guest, "lull-policy", *words) == (0, "")
    assert content(guest, "kernel/lull/cstates") == "0 C3 600 1000"
    status, said = run(guest, "lull-policy", "cstate=0-1:C3:600:1000", "cstate=0-1:C4:700:2000", "governor=menu")
    assert content(guest, "kernel/lull/cstates") == "0-1 C3 600 1000\n0-1 C4 700 2000"
    assert status == 125
    assert "lull: cstate=0-1:C3:600:1000: " in said
    assert content(guest, "devices/system/cpu/cpuidle/current_governor") == "teo"


def test_latencies_that_the_kernel_does_not_take(guest: Path) -> None:
    file = guest / "sys/kernel/lull/cstates"
    file.unlink()
    assert run(guest, "lull-policy", "cstate=0:C3:600:1000") == (
        125,
        "lull: advertised latencies: this kernel has no /sys/kernel/lull/cstates\n",
    )
    file.symlink_to("/dev/full")
    assert run(guest, "lull-policy", "cstate=0:C3:600:1000") == (
        125,
        "lull: advertised latencies: /sys/kernel/lull/cstates refuses them\n",
    )
