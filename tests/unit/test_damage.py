# SPDX-License-Identifier: BSD-3-Clause
"""Folders of runs and sweeps that were copied half, cut off or edited: each command tells so in one sentence.

Every file of a folder is removed, emptied, cut in half, replaced by junk and by a folder, one at a time. Keys of its
records are removed, and replaced by values of other types. Then the commands that read folders run. A command may work
without what is damaged. It may not end in a traceback, nor in more than one sentence, nor leave a file half-written.
"""

import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import lull
from lull.cli.app import app
from lull.energy import run_ledger
from lull.energy.run_ledger import Options
from lull.errors import UserError
from lull.rundir.folder import RunDir
from tests import sweeps
from tests.confirmations import Place

RECORDED = Path(__file__).parent / "data" / "trace" / "tiny-gem5"
OTHERS: tuple[object, ...] = (None, "text", -1, 0.5, [], {}, True)
RECORDS = (".json", ".jsonl")

Command = Callable[[Path], list[str]]
Damage = tuple[str, Callable[[Path], None]]


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    shutil.copytree(RECORDED, folder)
    run_ledger.make_ledger(RunDir.open(folder), Options())
    return folder


@pytest.fixture(scope="module")
def whole_sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("whole") / "sweep"
    return sweeps.make(place, {"menu": [(100, 5.0)], "teo": [(80, 7.0)]}, seeds=(1,))


def _remove(file: Path) -> None:
    file.unlink()


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _halve(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _junk(file: Path) -> None:
    file.write_bytes(bytes(range(256)) * 8)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


FILES: dict[str, Callable[[Path], None]] = {
    "removed": _remove, "emptied": _empty, "cut in half": _halve, "junk": _junk, "a folder": _folder,
}  # fmt: skip


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every key, and the first item of every list: the others are like it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from _places(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield (*path, 0)
        yield from _places(value[0], (*path, 0))


def _edited(record: Any, path: tuple[str | int, ...], change: object) -> Any:
    """A copy with another value at a place; without the key if `change` is Ellipsis."""
    found = copy.deepcopy(record)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    if change is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = change
    return found


def _records(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield damaged versions of a file of JSON: a text for the message, and the new content."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.suffix == ".jsonl" else None
    record = lines[0] if lines else json.loads(file.read_text())
    for number, path in enumerate(_places(record)):
        # Each key is removed, and gets one value of another type, by turns.
        for change in (..., OTHERS[number % len(OTHERS)]):
            edited = _edited(record, path, change)
            text = "\n".join(map(json.dumps, [edited, *lines[1:]])) if lines else json.dumps(edited)
            yield f"{'.'.join(map(str, path))} {'removed' if change is ... else repr(change)}", text


def _survives(folder: Path, commands: dict[str, Command], damage: str) -> list[str]:
    """Return the faults of the commands' reaction to a damage."""
    faults = []
    for name, words in commands.items():
        before = {path for path in folder.rglob("*") if ".partial" in path.name}
        told = CliRunner().invoke(app, words(folder), standalone_mode=False)
        error = told.exception
        if isinstance(error, UserError | typer.TyperException):
            said = str(error)
            if "\n" in said or not said:
                faults.append(f"{damage}: lull {name}: not one sentence: {said!r}")
            # What is wrong with a statistic or a power table, beside a machine that was edited, is said of it.
            if str(folder) not in said and not said.startswith(("system.", "window ", "power-models/")):
                faults.append(f"{damage}: lull {name}: names no file of the folder: {said!r}")
        elif isinstance(error, OSError) and error.filename:
            pass  # the command line makes its sentence of it
        elif error is not None and not (isinstance(error, SystemExit) and error.code in (0, 1, 2)):
            faults.append(f"{damage}: lull {name}: {type(error).__name__}: {error}")
        if {path for path in folder.rglob("*") if ".partial" in path.name} - before:
            faults.append(f"{damage}: lull {name}: left a half-written file")
    return faults


def _views(folder: Path) -> str | None:
    """The notebook's; a fault, if there is one."""
    try:
        run = lull.open(folder)
        run.idle.df_residency()
        run.idle.df_entries()
        run.stats.df_windows()
        run.stats.df_values("*CLK_GATED")
        run.wakes.df_wake_ups()
        run.energy.df_joules()
        run.trace.df_event("power:cpu_idle")
    except UserError as error:
        return f"not one sentence: {error}" if "\n" in str(error) else None
    except OSError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _of_run(out: Path) -> dict[str, Command]:
    return {
        "show": lambda folder: ["show", str(folder)],
        "energy": lambda folder: ["energy", str(folder)],
        "timeline": lambda folder: ["timeline", str(folder), "--out", str(out / "timeline.json.gz")],
        "report": lambda folder: ["report", str(folder), "--no-what-if", "--out", str(out / "page.html")],
        "compare": lambda folder: ["compare", str(folder), str(RECORDED)],
        "what-if": lambda folder: ["what-if", str(folder), "--set", "governor=teo"],
    }


def _of_sweep(out: Path) -> dict[str, Command]:
    return {
        "report": lambda folder: ["report", str(folder), "--no-what-if", "--out", str(out / "page.html")],
        "compare": lambda folder: ["compare", str(folder), str(folder)],
        "figures": lambda folder: ["figures", str(folder)],
    }


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _copied(whole: Path, place: Path) -> Path:
    folder = place / whole.name
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(whole, folder)
    return folder


def test_files_of_a_run_that_are_damaged(whole_run: Path, tmp_path: Path) -> None:
    faults = []
    for name in _files(whole_run):
        for what, damage in FILES.items():
            folder = _copied(whole_run, tmp_path)
            damage(folder / name)
            faults += _survives(folder, _of_run(tmp_path), f"{name} {what}")
            if fault := _views(folder):
                faults.append(f"{name} {what}: notebook: {fault}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", ["manifest.json", "cpuidle.jsonl", "run.json"])
def test_records_of_a_run_that_were_edited(whole_run: Path, tmp_path: Path, name: str) -> None:
    folder, faults = _copied(whole_run, tmp_path), []
    for what, content in _sampled(_records(whole_run / name)):
        (folder / name).write_text(content)
        faults += _survives(folder, {key: _of_run(tmp_path)[key] for key in ("show", "energy")}, f"{name}: {what}")
    assert not faults, "\n".join(faults)


def test_files_and_records_of_a_sweep_that_are_damaged(whole_sweep: Path, tmp_path: Path) -> None:
    faults = []
    for name in _files(whole_sweep):
        for what, damage in FILES.items():
            folder = _copied(whole_sweep, tmp_path)
            damage(folder / name)
            faults += _survives(folder, _of_sweep(tmp_path), f"{name} {what}")
    folder = _copied(whole_sweep, tmp_path)
    for what, content in _sampled(_records(whole_sweep / "sweep.json")):
        (folder / "sweep.json").write_text(content)
        faults += _survives(folder, _of_sweep(tmp_path), f"sweep.json: {what}")
    assert not faults, "\n".join(faults)


def _of_result(out: Path) -> dict[str, Command]:
    return {
        "plot": lambda folder: ["plot", folder.name, "--out", str(out / "figures")],
        "confirm": lambda folder: ["confirm", folder.name, "--out", str(out / "confirm")],
    }


def test_files_and_records_of_a_result_that_are_damaged(place: Place, tmp_path: Path) -> None:
    """Nothing is confirmed of a result whose own record is not whole."""
    assert place.confirm().exit_code == 0
    whole = Path(shutil.copytree(place.folder, tmp_path / "whole" / place.folder.name))
    faults = []
    for name in ("manifest.json", "confirmed.json", "wakes.parquet"):
        for what, damage in FILES.items():
            folder = _copied(whole, tmp_path / "results")
            damage(folder / name)
            if (folder / "manifest.json").is_file():  # without one the folder is no result
                faults += _survives(folder, _of_result(tmp_path), f"{name} {what}")
    for name in ("manifest.json", "confirmed.json"):
        folder = _copied(whole, tmp_path / "results")
        for what, content in _sampled(_records(whole / name)):
            (folder / name).write_text(content)
            faults += _survives(folder, {"plot": _of_result(tmp_path)["plot"]}, f"{name}: {what}")
    assert not faults, "\n".join(faults)


def _sampled(damages: Iterator[tuple[str, str]], most: int = 25) -> list[tuple[str, str]]:
    """Return every nth damage of a large record, from its beginning to its end; always the same ones."""
    found = list(damages)
    step = max(1, len(found) // most) | 1
    return found[::step]
