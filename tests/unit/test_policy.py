# SPDX-License-Identifier: BSD-3-Clause
"""A run's policy: what is refused on the host, what the guest is told, and what the guest does with it."""

import subprocess
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.runspec.policy import Policy, parse
from lull.runspec.settings import resolve
from lull.runspec.spec import RunSpec
from tests.specs import spec


def applied(*words: str, platform: str = "tiny") -> str | None:
    """The line of the script that applies the policy, if there is one."""
    lines = [line for line in spec(*words, platform=platform).script().splitlines() if "lull-policy" in line]
    assert len(lines) <= 1
    return lines[0].removeprefix("lull-policy ").removesuffix(" || exit 125") if lines else None


def test_nothing_asked_changes_nothing() -> None:
    assert applied() is None
    assert spec().script() == "#lull limit_s=1\ntrue\n"
    assert applied("cstates.C3.exit_us=50", "memory.size_mib=256") is None


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["governor=teo"], "governor=teo"),
        (["governor=teo", "governor=haltpoll"], "governor=haltpoll"),
        (["cpufreq=schedutil"], "cpufreq=schedutil"),
        (["cpufreq=775000"], "cpufreq=userspace cpufreq.0=775000 cpufreq.1=800000 cpufreq.2=700000"),
        (["idle.deepest=C3"], "idle.deepest=C3"),
        (["idle.shadow=C1", "idle.deepest=C3"], "idle.deepest=C3 idle.deepest.2=C1"),
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
    order = ("#lull limit_s=1", "lull-policy governor=teo", "lull-trace start sched ", "sh -c true")
    places = [script.index(part) for part in order]
    assert places == sorted(places)
    assert script.startswith(order[0])


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


def test_a_frequency_has_so_many_digits() -> None:
    with pytest.raises(UserError, match=r"^--set cpufreq=9+: unknown; use .* or the kHz of an OPP$"):
        resolve("tiny", [f"cpufreq={'9' * 5000}"])


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


def test_the_depth_of_routing_is_a_state_of_a_main_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that only the shadow core has is none that the application's CPU can sleep in."""
    platform = resolve("tiny", ()).platform
    own = platform.resolved_clusters()
    shallow = [
        cluster
        if platform.role(cluster) == "shadow"
        else cluster.model_copy(update={"cstates": tuple(one for one in cluster.cstates if one.name != "C4")})
        for cluster in own
    ]
    assert len(shallow) > 1
    assert any(one.name == "C4" for one in shallow[-1].cstates)
    monkeypatch.setattr(type(platform), "resolved_clusters", lambda _: shallow)
    with pytest.raises(UserError, match=r"^--set routing\.depth=C4: no cluster of tiny has it"):
        parse(["routing=shadow-when-asleep", "routing.depth=C4"], platform)


# The guest's side, on a tree of plain files that stands for sysfs.


@pytest.fixture
def sys(tmp_path: Path) -> Path:
    """/sys of a machine with two CPUs in one cluster, which lacks C2."""
    files = {
        "devices/system/cpu/possible": "0-1",
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
    return tmp_path / "sys"


class Guest:
    """`lull-policy`, built for the host, in the folder that has this sys."""

    def __init__(self, program: Path, sys: Path) -> None:
        self.program = program
        self.sys = sys

    def applies(self, *words: str) -> tuple[int, str]:
        done = subprocess.run([self.program, *words], cwd=self.sys.parent, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    def says(self, name: str) -> str:
        return (self.sys / name).read_text().strip()

    def disabled(self) -> str:
        files = sorted((self.sys / "devices/system/cpu").glob("cpu*/cpuidle/state*/disable"))
        return "".join(file.read_text().strip() for file in files)

    def replace(self, name: str, by: str) -> None:
        (self.sys / name).unlink()
        (self.sys / name).symlink_to(by)


@pytest.fixture
def guest(programs: Path, sys: Path) -> Guest:
    return Guest(programs / "policy", sys)


def test_the_guest_applies_each_setting(guest: Guest) -> None:
    words = ["governor=teo", "cpufreq=userspace", "cpufreq.0=450000", "routing.depth=C3", "routing=shadow-when-asleep"]
    assert guest.applies(*words) == (0, "")
    assert guest.says("devices/system/cpu/cpuidle/current_governor") == "teo"
    assert guest.says("devices/system/cpu/cpufreq/policy0/scaling_governor") == "userspace"
    assert guest.says("devices/system/cpu/cpufreq/policy0/scaling_setspeed") == "450000"
    assert guest.says("kernel/lull/routing/depth") == "C3"
    assert guest.says("kernel/lull/routing/policy") == "shadow-when-asleep"
    assert guest.says("kernel/lull/routing/enabled") == "1"
    assert guest.applies("routing=none") == (0, "")
    assert guest.says("kernel/lull/routing/enabled") == "0"


@pytest.mark.parametrize(
    ("deepest", "states"), [("C1", "011011"), ("C2", "011011"), ("C3", "001001"), ("C4", "000000"), ("C9", "000000")]
)
def test_the_deepest_state_is_the_same_on_a_cpu_that_lacks_a_lighter_one(
    guest: Guest, deepest: str, states: str
) -> None:
    for before in ("C9", "C1"):
        assert guest.applies(f"idle.deepest={before}", f"idle.deepest={deepest}") == (0, "")
        assert guest.disabled() == states


def test_one_cpu_may_sleep_otherwise(guest: Guest) -> None:
    assert guest.applies("idle.deepest=C4", "idle.deepest.1=C1") == (0, "")
    assert guest.disabled() == "000011"


def test_a_cpu_that_is_not_there(guest: Guest) -> None:
    said = "lull: idle.deepest.9=C1: there is no such CPU\n"
    assert guest.applies("idle.deepest.9=C1") == (125, said)
    assert guest.applies("idle.deepest.x=C1") == (125, "lull: idle.deepest.x=C1: not known here\n")


@pytest.mark.parametrize("word", ["", "C", "C0", "deep", "C3x", "3", "-1"])
def test_no_state_at_all(guest: Guest, word: str) -> None:
    assert guest.applies(f"idle.deepest={word}") == (125, f"lull: idle.deepest={word}: there is no such state\n")
    assert guest.disabled() == "011011"


def test_a_state_that_stays_off(guest: Guest) -> None:
    guest.replace("devices/system/cpu/cpu1/cpuidle/state2/disable", "/dev/null")
    assert guest.applies("idle.deepest=C1") == (125, "lull: idle.deepest=C1: not every CPU takes it\n")


def test_a_machine_without_idle_states(guest: Guest) -> None:
    for cpu in (0, 1):
        (guest.sys / f"devices/system/cpu/cpu{cpu}/cpuidle").rename(guest.sys / f"cpuidle{cpu}")
    assert guest.applies("idle.deepest=C1") == (
        125,
        "lull: idle.deepest=C1: this kernel or device tree has no idle states\n",
    )


def test_what_a_kernel_lacks_or_refuses_is_one_line_and_status_125(guest: Guest) -> None:
    file = "devices/system/cpu/cpuidle/current_governor"
    guest.replace(file, "/dev/full")
    assert guest.applies("governor=teo", "idle.deepest=C4") == (125, f"lull: governor=teo: sys/{file} refuses teo\n")
    assert guest.disabled() == "011011", "nothing after it is applied"
    (guest.sys / file).unlink()
    assert guest.applies("governor=teo") == (125, f"lull: governor=teo: this kernel has no sys/{file}\n")
    assert guest.applies("cpufreq.7=1") == (
        125,
        "lull: cpufreq.7=1: this kernel has no sys/devices/system/cpu/cpufreq/policy7/scaling_setspeed\n",
    )
    (guest.sys / "devices/system/cpu/cpufreq/policy0/scaling_governor").unlink()
    assert guest.applies("cpufreq=userspace") == (
        125,
        "lull: cpufreq=userspace: this kernel has no frequency driver\n",
    )


def test_a_write_without_effect_is_noticed(guest: Guest) -> None:
    file = "devices/system/cpu/cpufreq/policy0/scaling_setspeed"
    guest.replace(file, "/dev/null")
    assert guest.applies("cpufreq=userspace", "cpufreq.0=450000") == (
        125,
        f"lull: cpufreq.0=450000: sys/{file} says  after 450000 was written\n",
    )


@pytest.mark.parametrize("word", ["colour=red", "governor", "cpufreq.0", "routing.deep=C3", ""])
def test_a_word_from_another_version_is_refused(guest: Guest, word: str) -> None:
    assert guest.applies(word) == (125, f"lull: {word}: not known here\n")


def test_a_setting_of_a_system_by_its_file(guest: Guest) -> None:
    word = "file=platform.routing.depth:/sys/kernel/lull/routing/depth:C4"
    assert guest.applies(word) == (0, "")
    assert guest.says("kernel/lull/routing/depth") == "C4"
    file = "kernel/lull/routing/depth"
    guest.replace(file, "/dev/full")
    assert guest.applies(word) == (125, f"lull: platform.routing.depth=C4: sys/{file} refuses C4\n")
    guest.replace(file, "/dev/null")
    assert guest.applies(word) == (125, f"lull: platform.routing.depth=C4: sys/{file} says  after C4 was written\n")
    (guest.sys / file).unlink()
    assert guest.applies(word) == (125, f"lull: platform.routing.depth=C4: this kernel has no sys/{file}\n")


@pytest.mark.parametrize("word", ["file=", "file=a:b", "file=a:/proc/b:c", f"file=a:/sys/b:{'c' * 600}"])
def test_a_setting_of_a_system_that_is_none(guest: Guest, word: str) -> None:
    assert guest.applies(word) == (125, f"lull: {word}: not KEY:PATH:VALUE\n")


def test_latencies_are_written_at_once_and_looked_up(guest: Guest) -> None:
    """A plain file then holds what was written, of which one line reads like the kernel's."""
    assert guest.applies("cstate=0:C3:600:1000", "governor=teo") == (0, "")
    assert guest.says("kernel/lull/cstates") == "0 C3 600 1000"
    status, said = guest.applies("cstate=0-1:C3:600:1000", "cstate=0-1:C4:700:2000", "governor=menu")
    assert guest.says("kernel/lull/cstates") == "0-1 C3 600 1000\n0-1 C4 700 2000"
    assert (status, said) == (
        125,
        "lull: cstate=0-1:C3:600:1000: sys/kernel/lull/cstates does not list C3 on all of these CPUs\n",
    )
    assert guest.says("devices/system/cpu/cpuidle/current_governor") == "teo"


def test_latencies_that_the_kernel_does_not_keep(guest: Guest) -> None:
    """A plain file keeps the first of two lines of one state."""
    assert guest.applies("cstate=0:C3:600:1000", "cstate=0:C3:600:1001") == (
        125,
        "lull: cstate=0:C3:600:1001: CPU 0 says 600 1000 after it was written\n",
    )


@pytest.mark.parametrize("word", ["cstate=", "cstate=0:C3:600", "cstate=0:C3:600:1000:1"])
def test_latencies_that_are_none(guest: Guest, word: str) -> None:
    assert guest.applies("governor=teo", word) == (125, f"lull: {word}: not CPUS:STATE:LATENCY:RESIDENCY\n")
    assert guest.says("devices/system/cpu/cpuidle/current_governor") == "menu"


def test_latencies_that_the_kernel_does_not_take(guest: Guest) -> None:
    (guest.sys / "kernel/lull/cstates").rename(guest.sys / "elsewhere")
    assert guest.applies("cstate=0:C3:600:1000") == (
        125,
        "lull: advertised latencies: this kernel has no sys/kernel/lull/cstates\n",
    )
    (guest.sys / "kernel/lull/cstates").symlink_to("/dev/full")
    assert guest.applies("cstate=0:C3:600:1000") == (
        125,
        "lull: advertised latencies: sys/kernel/lull/cstates refuses them\n",
    )
