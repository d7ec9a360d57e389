# SPDX-License-Identifier: BSD-3-Clause
"""The choice of gem5: which one is taken and which refused, shown on programs that answer as gem5 does."""

import subprocess
from pathlib import Path

import pytest

from lull.engines import gem5_binary
from lull.engines.choose import choose
from lull.errors import UserError
from lull.files import paths
from tests.fake_gem5 import install


@pytest.fixture(autouse=True)
def no_gem5(empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEM5", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_the_option_beats_the_variable_beats_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = install(tmp_path)
    assert gem5_binary.find().path == str(on_path)
    monkeypatch.setenv("GEM5", str(install(tmp_path, "24.1.0.0", name="by-variable")))
    assert gem5_binary.find().version == "24.1.0.0"
    assert gem5_binary.find(str(install(tmp_path, "25.0.0.0", name="by-option"))).version == "25.0.0.0"


def test_a_binary_is_asked_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path)
    first = gem5_binary.find()
    with monkeypatch.context() as forbidden:
        forbidden.delattr(subprocess, "run")
        assert gem5_binary.find() == first
    install(tmp_path, "24.1.0.99")
    assert gem5_binary.find().version == "24.1.0.99"


def test_no_gem5(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gem5: no binary found .* use --engine qemu"):
        gem5_binary.find()
    with pytest.raises(UserError, match="--gem5=/nowhere: no executable there"):
        gem5_binary.find("/nowhere")


def test_a_gem5_without_arm(tmp_path: Path) -> None:
    path = install(tmp_path, isas=("X86",))
    with pytest.raises(UserError, match=f"{path}: this gem5 was built without ARM"):
        gem5_binary.find()


@pytest.mark.parametrize("version", ["23.1.0.0", "9.0", "unknown"])
def test_a_gem5_too_old(tmp_path: Path, version: str) -> None:
    path = install(tmp_path, version)
    with pytest.raises(UserError, match=rf"{path}: gem5 {version} is too old; lull needs 24\.0 or newer"):
        gem5_binary.find()


def test_something_else_by_that_name(tmp_path: Path) -> None:
    path = tmp_path / "gem5.opt"
    path.write_text("#!/bin/sh\necho what do you want >&2\nexit 1\n")
    path.chmod(0o755)
    with pytest.raises(UserError, match=rf"{path}: does not answer as gem5 does \(what do you want\)"):
        gem5_binary.find()


@pytest.mark.parametrize("answer", ["{}", "[]", '{"version": "24.0"}', '{"version": "24.0", "isas": "ARM"}'])
def test_something_else_that_answers(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "gem5.opt"
    path.write_text(f"#!/bin/sh\necho '{answer}' >\"$4\"\n")
    path.chmod(0o755)
    with pytest.raises(UserError, match=rf"{path}: does not answer as gem5 does \(no output\)"):
        gem5_binary.find()


@pytest.mark.parametrize("record", ["", "{}", "[]", '{"version": "24.0.0.1", "isas": ["ARM"]}'])
def test_an_answer_that_is_damaged_is_asked_for_again(tmp_path: Path, record: str) -> None:
    install(tmp_path)
    first = gem5_binary.find()
    (kept,) = (paths.cache_dir() / "gem5").iterdir()
    kept.write_text(record)
    assert gem5_binary.find() == first


def test_the_engine_follows_what_is_found(tmp_path: Path) -> None:
    install(tmp_path)
    assert choose(None).name == "gem5"


def test_a_program_that_prints_no_text(tmp_path: Path) -> None:
    program = tmp_path / "noise"
    program.write_text("#!/bin/sh\nprintf '\\377\\376' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(UserError, match=r"noise: does not answer as gem5 does .* name another binary"):
        gem5_binary.find(str(program))
