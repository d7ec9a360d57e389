# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders are whole or not there."""

import os
from pathlib import Path

import pytest

from lull.files import whole


def _write(path: Path, text: str, then: Exception | None = None) -> None:
    with whole.written(path) as partial:
        partial.write_text(text)
        if then:
            raise then


def _fill(folder: Path, text: str, then: Exception | None = None) -> None:
    with whole.replaced(folder) as new:
        (new / text).write_text(text)
        if then:
            raise then


def test_a_file_takes_its_place_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    _write(path, "old")
    with pytest.raises(KeyError):
        _write(path, "half", KeyError())
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old", [path])
    _write(path, "new")
    assert (path.read_text(), list(tmp_path.iterdir())) == ("new", [path])


def test_two_commands_that_write_the_same_file_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    with whole.written(path) as ours:
        ours.write_text("ours")
        with monkeypatch.context() as other:
            other.setattr(os, "getpid", lambda: 1)
            _write(path, "theirs")
        assert path.read_text() == "theirs"
    assert (path.read_text(), list(tmp_path.iterdir())) == ("ours", [path])


def test_a_folder_takes_its_place_when_it_is_filled(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "folder"
    _fill(folder, "old")
    with pytest.raises(KeyError):
        _fill(folder, "half", KeyError())
    assert [path.name for path in folder.iterdir()] == ["old"]
    _fill(folder, "new")
    assert [path.name for path in folder.iterdir()] == ["new"]
    assert list(folder.parent.iterdir()) == [folder]


def test_who_is_killed_between_two_folders_loses_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    _fill(folder, "old")
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        if target == folder:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        _fill(folder, "new")
    monkeypatch.undo()
    _fill(folder, "newer")
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"old", "new", "newer"}
