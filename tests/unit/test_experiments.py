# SPDX-License-Identifier: BSD-3-Clause
"""Experiments are found, in benchmarks/ and elsewhere, and what is wrong with one is said before anything runs."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from lull.artifacts import cpio, rootfs
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.page import of_results
from lull.scenario import experiments
from lull.scenario.load import load_scenario

GUIDE = ROOT / "tests" / "guides" / "adding-an-experiment" / "after-sleep"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """An experiment outside of the checkout."""
    return Path(shutil.copytree(GUIDE, tmp_path / "my-own"))


@pytest.mark.parametrize("name", experiments.names())
def test_an_experiment_is_one_whole_folder(name: str) -> None:
    folder = experiments.folder_of(name)
    assert load_scenario(name).name == name
    for file in ("README.md", "analysis.py", "test_on_qemu.py"):
        assert (folder / file).is_file(), f"{name} has no {file}"


def test_one_elsewhere_is_found_by_its_folder_and_by_its_file(mine: Path) -> None:
    for path in (mine, mine / "scenario.yaml"):
        scenario = load_scenario(str(path))
        assert (scenario.folder, scenario.programs) == (mine, mine)
        assert experiments.analysis_in(scenario.folder).__file__ == str(mine / "analysis.py")
    assert load_scenario("wake-latency").programs is None, "whose programs are in every image"


def test_two_of_one_name_are_two(mine: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(mine, tmp_path / "elsewhere" / "my-own"))
    assert experiments.analysis_in(mine).__file__ != experiments.analysis_in(other).__file__


def test_a_module_beside_the_analysis_is_imported_by_its_name(mine: Path) -> None:
    (mine / "sums.py").write_text("TOTAL = 7\n")
    (mine / "analysis.py").write_text("from .sums import TOTAL\n\n\ndef analyse(runs):\n    return TOTAL\n")
    assert experiments.analysis_in(mine).analyse(None) == 7


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def analyse(runs:\n", "analysis.py:1: SyntaxError: "),
        ("import os\nimport no_such_module\n", "analysis.py:2: ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1\ny = x / 0\n", "analysis.py:2: ZeroDivisionError: division by zero; mend the analysis"),
        ("def analyze(runs): ...\n", "analysis.py: has no function `analyse(runs)`; write one that returns a Result"),
        (None, "analysis.py: no such file; write one with a function `analyse(runs)`"),
    ],
)
def test_a_faulty_analysis_is_told_of_when_the_scenario_is_loaded(mine: Path, text: str | None, sentence: str) -> None:
    (mine / "analysis.py").unlink()
    if text is not None:
        (mine / "analysis.py").write_text(text)
    with pytest.raises(UserError) as error:
        load_scenario(str(mine))
    assert sentence in str(error.value)


def test_pieces_without_conclude_are_told_of_when_the_scenario_is_loaded(mine: Path, tmp_path: Path) -> None:
    with (mine / "scenario.yaml").open("a") as file:
        file.write("in_pieces: true\n")
    whole = Path(shutil.copytree(mine, tmp_path / "whole" / "my-own"))
    with pytest.raises(UserError, match=r"in_pieces: its analysis\.py has no function `conclude\(tables, points\)`"):
        load_scenario(str(mine))
    with (whole / "analysis.py").open("a") as file:
        file.write("\n\ndef conclude(tables, points): ...\n")
    assert load_scenario(str(whole)).in_pieces


def test_every_headline_is_a_check_of_the_published_result() -> None:
    found = {name: headline for name in experiments.names() if (headline := load_scenario(name).headline)}
    published = [ROOT / "results" / name for name in found if (ROOT / "results" / name).is_dir()]
    ranks = [headline.rank for headline in found.values()]
    assert len(set(ranks)) == len(ranks)
    assert published
    for folder in published:
        names = [check["name"] for check in json.loads((folder / "checks.json").read_text())]
        assert any(name.startswith(found[folder.name].check) for name in names), f"{folder.name} has no such check"
    first = min(published, key=lambda folder: found[folder.name].rank)
    sentences = of_results.sentences(published)
    assert len(sentences) == of_results.SENTENCES
    assert sentences[0].startswith(f"{first.name}: ")


def _run(argv: Sequence[str], cwd: Path) -> None:
    subprocess.run(argv, cwd=cwd, check=True, capture_output=True)


def _added(mine: Path, tmp_path: Path) -> dict[str, cpio.Member]:
    tree = tmp_path / "added"
    rootfs.install(mine, tmp_path, tmp_path, tree, ROOT, _run)
    image = [cpio.directory("usr"), cpio.directory("usr/bin"), cpio.file("usr/bin/lull-loop", b"", executable=True)]
    return {entry.path: entry for entry in rootfs.added(image, tree, mine)}


def test_its_programs_are_added_to_the_image(mine: Path, tmp_path: Path) -> None:
    image = _added(mine, tmp_path)
    assert image["usr/bin/after-sleep-check"].data == (GUIDE / "after-sleep-check").read_bytes()
    assert "usr/bin/lull-loop" in image


def test_a_program_of_the_images_own_name_is_refused(mine: Path, tmp_path: Path) -> None:
    (mine / "after-sleep-check").rename(mine / "lull-loop")
    (mine / "Makefile").write_text("SCRIPTS := lull-loop\ninclude $(LULL_GUEST_MK)\n")
    with pytest.raises(UserError, match=r"Makefile: /usr/bin/lull-loop is in every image already; choose another name"):
        _added(mine, tmp_path)


def test_a_makefile_that_installs_nothing_is_refused(mine: Path, tmp_path: Path) -> None:
    (mine / "Makefile").write_text("install:\n")
    with pytest.raises(UserError, match="Makefile: installs nothing; include"):
        _added(mine, tmp_path)


def test_a_change_to_its_programs_is_another_image_and_one_to_its_analysis_is_not(mine: Path) -> None:
    before = rootfs.inputs_of(mine, ROOT)
    (mine / "analysis.py").write_text("x = 1\n")
    assert rootfs.inputs_of(mine, ROOT) == before
    (mine / "after-sleep-check").write_text("#!/bin/sh\n")
    assert rootfs.inputs_of(mine, ROOT) != before
