# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import pytest

from lull.cli.options import period
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.runspec.load import load_spec
from lull.runspec.spec import SCRIPT_MAX, Limits, RunSpec


@pytest.mark.parametrize(("text", "seconds"), [("1ms", 1e-3), ("250us", 250e-6), ("0.5s", 0.5), (None, None)])
def test_a_period_has_a_unit(text: str | None, seconds: float | None) -> None:
    assert period(text) == (seconds if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize("text", ["1", "ms", "0ms", "0.5us", "-1ms", "1 ms", "1e3s", "nan s", "", "1000000s"])
def test_another_period_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=rf"^--stats-period {text}: not a time from 1us to 900000s; write one as 1ms"):
        period(text)


def test_there_is_none_on_qemu() -> None:
    with pytest.raises(UserError, match=r"^--stats-period: QEMU has no statistics; use --engine gem5"):
        load_spec("tiny", [], "true", engine="qemu", stats_period_s=1e-3, limits=Limits(simulated_s=1, wall_s=1))


def test_a_fast_forward_is_gem5s_and_has_a_unit() -> None:
    limits = Limits(simulated_s=1, wall_s=1)
    with pytest.raises(UserError, match=r"^--fast-forward 5: not a time from 1us to 900000s; write one as 1ms"):
        period("5", "--fast-forward")
    with pytest.raises(UserError, match=r"^--fast-forward: QEMU has one CPU model and no other to change to; use"):
        load_spec("tiny", [], "true", engine="qemu", fast_forward_s=0.01, limits=limits)
    plain = load_spec("tiny", [], "true", engine="gem5", cpu="atomic", limits=limits)
    forwarded = plain.model_copy(update={"fast_forward_s": 0.01})
    assert forwarded.hash() != plain.hash()
    assert (forwarded.forwards, forwarded.script()) == (False, plain.script()), "atomic CPUs need not be replaced"
    assert forwarded.model_copy(update={"cpu": "detailed"}).forwards


def test_only_qemu_runs_its_cpus_at_once() -> None:
    limits = Limits(simulated_s=1, wall_s=1)
    assert load_spec("tiny", [], "true", engine="qemu", limits=limits).cpu is None
    assert load_spec("tiny", [], "true", engine="qemu", cpu="parallel", limits=limits).cpu == "parallel"
    with pytest.raises(UserError, match=r"^--cpu parallel: gem5 simulates one CPU at a time; use --engine qemu"):
        load_spec("tiny", [], "true", engine="gem5", cpu="parallel", limits=limits)


@pytest.mark.parametrize(
    ("option", "words"), [("--exec", {"command": "echo \udcff"}), ("--trace", {"command": "true", "trace": ["\udcff"]})]
)
def test_bytes_that_are_no_text_are_refused(option: str, words: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=rf"^{option}: not UTF-8; have the guest make such bytes, by its printf$"):
        load_spec("tiny", [], engine="qemu", limits=Limits(simulated_s=1, wall_s=1), **words)


def test_a_script_is_no_longer_than_the_guest_takes() -> None:
    source = (ROOT / "benchmarks" / "guest" / "script.c").read_text()
    assert f"#define SCRIPT_MAX (1 << {SCRIPT_MAX.bit_length() - 1})\n" in source

    def load(command: str) -> RunSpec:
        return load_spec("tiny", [], command, engine="qemu", limits=Limits(simulated_s=1, wall_s=1))

    room = SCRIPT_MAX - len(load("").script())
    assert len(load("é" * (room // 2) + "x" * (room % 2)).script().encode()) == SCRIPT_MAX
    with pytest.raises(UserError, match="--exec: the guest takes a script of at most 1 MiB; shorten it, or split it"):
        load("é" * (room // 2 + 1))
