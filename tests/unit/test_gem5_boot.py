# SPDX-License-Identifier: BSD-3-Clause
"""Boots that fail, with a program in gem5's place: what is said, and what is kept of them."""

import json
import subprocess
from pathlib import Path

import pytest

from lull.artifacts import cache
from lull.engines import gem5
from lull.engines.base import Artifacts
from lull.errors import LimitReached, UserError
from lull.platform import machine
from lull.platform.load import load_platform
from lull.rundir.folder import RunDir
from lull.runspec.load import load_spec
from lull.runspec.spec import Limits
from tests import fake_gem5


def _entry(kind: str, name: str) -> cache.Entry:
    def build(out: Path, _work: Path) -> None:
        (out / name).write_text(name)

    return cache.get(kind, {}, build)


@pytest.fixture
def logs(empty_cache: Path) -> Path:
    return empty_cache / "logs"


def _artifacts() -> Artifacts:
    parts = {"kernel": "Image", "rootfs": "rootfs.cpio", "firmware": "bl31.bin"}
    return Artifacts(**{kind: _entry(kind, name) for kind, name in parts.items()})


def _boot(folder: Path) -> None:
    gem5.Gem5(str(fake_gem5.install(folder))).checkpoint_of(load_platform("tiny"), _artifacts())


def test_a_gem5_that_ends_before_there_is_a_console_is_quoted(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fake_gem5.BEHAVIOUR, fake_gem5.FAILS_IN_CHECKPOINT[fake_gem5.BEHAVIOUR])
    with pytest.raises(UserError, match=r"gem5 ended with status 1: no disk \(whole log: .*engine\.log\)"):
        _boot(tmp_path)
    (kept,) = logs.glob("checkpoint-*")
    assert (kept / "engine.log").read_text() == "lull-gem5: no disk\n"


def test_no_option_lengthens_a_boot_so_none_is_named(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point whose machine does not boot has failed. It did not hang, and is run again without being asked to."""
    monkeypatch.setenv(fake_gem5.BEHAVIOUR, fake_gem5.HANGS_IN_CHECKPOINT[fake_gem5.BEHAVIOUR])
    monkeypatch.setattr(gem5, "BOOT_WALL_S", 0.0)
    with pytest.raises(UserError, match="tiny did not boot within 0 s here; run it on a machine") as raised:
        _boot(tmp_path)
    assert not isinstance(raised.value, LimitReached)
    assert list(logs.glob("checkpoint-*/engine.log"))


def test_settings_are_refused_in_the_words_of_gem5_configs(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program in gem5's place reads them as gem5 does, so a stand-in boots nothing that gem5 would not."""
    told = machine.describe
    monkeypatch.setattr(machine, "describe", lambda platform: {**told(platform), "voltage": 1})
    with pytest.raises(UserError, match=r"gem5 ended with status 1: .*: soc\.voltage: unknown key; remove it"):
        _boot(tmp_path)
    assert list(logs.glob("checkpoint-*/engine.log"))


def _forwarded(folder: Path) -> RunDir:
    asked = load_spec(
        "tiny", [], "true", engine="gem5", cpu="detailed", fast_forward_s=0.01, limits=Limits(simulated_s=1, wall_s=60)
    )
    rundir = RunDir.create(folder / "run", asked)
    outcome = gem5.Gem5(str(fake_gem5.install(folder))).run(asked, _artifacts(), rundir, lambda _: None)
    assert outcome.instructions == 5, "those of the detailed CPUs"
    assert outcome.details["fast_forward"] == {"ticks": 10**9, "instructions": 7, "host_seconds": 1.0}
    return rundir


def test_a_fast_forward_is_a_run_of_its_own_before_the_run(logs: Path, tmp_path: Path) -> None:
    rundir = _forwarded(tmp_path)
    first, second = (json.loads((path / "gem5.json").read_text()) for path in (rundir / "fast-forward", rundir.path))
    assert (first["cpu"], second["cpu"]) == ("atomic", "detailed")
    assert first["readfile"] == str(rundir / "script")
    assert second["checkpoint"] == str(rundir / "fast-forward" / "cpt")
    assert (rundir / "console.log").read_text() == "run\ngoes on\n", "the guest has its word"
    changed = {"cpu", "checkpoint", "readfile"}
    assert {key for key in first if first[key] != second[key]} == changed
    assert (rundir / "stdout").read_text() == "begun\nfrom the guest\n"
    left = {path.name for path in (rundir / "fast-forward").iterdir()}
    assert left == {"gem5.json", "outcome.json", "console.log", "engine.log"}, "and no checkpoint of 100 MB"


def test_a_fast_forward_in_which_the_command_ends_is_refused(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fake_gem5.BEHAVIOUR, fake_gem5.ENDS_IN_FORWARD[fake_gem5.BEHAVIOUR])
    with pytest.raises(
        UserError, match=r"console\.log: the command ended, or its limit came, within its fast-forward of"
    ):
        _forwarded(tmp_path)


def test_a_forwarded_script_asks_until_it_has_its_word() -> None:
    asked = load_spec(
        "tiny", [], "echo 'it is'; exit 3", engine="gem5", cpu="detailed", trace=["sched"], fast_forward_s=0.02,
        limits=Limits(simulated_s=1, wall_s=60),
    )  # fmt: skip
    script = asked.script()
    order = (
        "exec 3>/dev/cpu_dma_latency", "lull-trace start sched", "echo 0 >/sys/kernel/tracing/tracing_on", "3>&- &",
        "sleep 0.020000", "lull-m5 checkpoint", "echo 1 >/sys/kernel/tracing/tracing_on", "exec 3>&-",
        "wait $command", "lull-trace stop", "exit $status",
    )  # fmt: skip
    places = [script.index(part) for part in order]
    assert places == sorted(places)
    assert "lull-trace" not in asked.model_copy(update={"trace": ()}).script()
    ran = subprocess.run(["sh", "-n", "-c", script], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr


def _traced(folder: Path, name: str, *settings: str) -> RunDir:
    asked = load_spec(
        "tiny",
        settings,
        "true",
        engine="gem5",
        cpu="detailed",
        trace=["sched"],
        limits=Limits(simulated_s=1, wall_s=60),
    )
    rundir = RunDir.create(folder / name, asked)
    gem5.Gem5(str(fake_gem5.install(folder))).run(asked, _artifacts(), rundir, lambda _: None)
    return rundir


def test_a_trace_starts_once_for_all_runs_with_the_same(logs: Path, tmp_path: Path) -> None:
    first, second = _traced(tmp_path, "first"), _traced(tmp_path, "second", "idle.deepest=C3")
    (entry,) = (logs.parent / "trace").iterdir()
    for rundir in (first, second):
        settings = json.loads((rundir / "gem5.json").read_text())
        assert settings["checkpoint"] == str(entry / "cpt")
        assert settings["readfile"] == str(rundir / "script")
        assert (rundir / "stdout").read_text() == "begun\nfrom the guest\n", "gem5 goes on where the guest had come to"
    assert "lull-trace start" not in (first / "script").read_text()


def test_a_trace_that_does_not_start_is_refused_with_what_the_guest_says(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fake_gem5.BEHAVIOUR, fake_gem5.ENDS_IN_FORWARD[fake_gem5.BEHAVIOUR])
    with pytest.raises(UserError, match=r"trace-\w+: the trace of tiny did not start \(begun\)"):
        _traced(tmp_path, "run")
    assert list(logs.glob("trace-*/engine.log"))


def test_the_script_with_a_trace_asks_until_it_has_the_rest() -> None:
    asked = load_spec(
        "tiny", ["idle.deepest=C3"], "true", engine="gem5", cpu="detailed", trace=["sched"],
        limits=Limits(simulated_s=1, wall_s=60),
    )  # fmt: skip
    start, rest = asked.start_script(), asked.script()
    order = (
        "#lull limit_s=3\n",
        "exec 3>/dev/cpu_dma_latency",
        "lull-trace start sched",
        "sleep 2\n",
        "lull-m5 checkpoint",
        "/run/lull-rest",
    )
    then = (
        "#lull rest\n",
        "lull-policy idle.deepest=C3",
        "tracing_on",
        "exec 3>&-",
        "sh -c true",
        "lull-trace stop",
        "#lull end\n",
    )
    for script, parts in ((start, order), (rest, then)):
        places = [script.index(part) for part in parts]
        assert places == sorted(places)
        assert places[0] == 0
        ran = subprocess.run(["sh", "-n", "-c", script], capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr
