# SPDX-License-Identifier: BSD-3-Clause
"""The manager's command line on the host: wrong options and wrong models are refused before anything is done."""

import subprocess
from pathlib import Path

import pytest

MODEL = """\
cluster little 0 1 1 0 0 1 0
cluster big 1 1 1 0 0 1 0
opp little 100 900
opp big 100 900
"""


def refused(native: Path, folder: Path, *words: str, model: str = MODEL, status: int = 2) -> list[str]:
    """Return what it says when it ends with this status."""
    (folder / "model").write_text(model)
    ran = subprocess.run([native / "eanemd-native", *words], cwd=folder, text=True, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (status, "")
    return ran.stderr.splitlines()


@pytest.mark.parametrize(
    ("option", "value", "least", "most"),
    [
        ("interval-us", "999", 1000, 10_000_000),
        ("interval-us", "10000001", 1000, 10_000_000),
        ("room", "0", 1, 100),
        ("room", "101", 1, 100),
        ("saves", "101", 0, 100),
        ("patience", "0", 1, 1000),
        ("patience", "1001", 1, 1000),
        ("beats", "0", 1, 1_000_000),
        ("beats", "16.5", 1, 1_000_000),
        ("reach", "0", 1, 100),
        ("reach", "-1", 1, 100),
        ("rest", "1001", 0, 1000),
        ("rest", "", 0, 1000),
    ],
)
def test_a_number_out_of_its_range_is_named(
    native: Path, tmp_path: Path, option: str, value: str, least: int, most: int
) -> None:
    said = refused(native, tmp_path, "--model", "model", f"--{option}", value)
    assert said == [f"eanemd-native: '{value}' is not a number from {least} to {most}"]


@pytest.mark.parametrize(
    "words",
    [(), ("--model",), ("--model", "model", "--users", "nobody"), ("--model", "model", "--speed", "1"), ("model",)],
    ids=["no model", "no file", "other users", "an unknown option", "a word too many"],
)
def test_wrong_words_are_answered_by_the_usage(native: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert refused(native, tmp_path, *words)[0].startswith("usage: eanemd --model FILE")


@pytest.mark.parametrize(
    ("model", "line"), [("", 1), (MODEL.replace("cluster big 1 1", "cluster big 63 2"), 2), (MODEL + "limit x\n", 5)]
)
def test_a_model_that_is_none_is_named_with_its_line(native: Path, tmp_path: Path, model: str, line: int) -> None:
    said = refused(native, tmp_path, "--model", "model", model=model)
    assert said == [f"eanemd: model:{line}: not a line of a model; see model.h"]


def test_a_model_that_is_not_there_is_named(native: Path, tmp_path: Path) -> None:
    said = refused(native, tmp_path, "--model", "none", status=1)
    assert said == ["eanemd: none: No such file or directory"]
