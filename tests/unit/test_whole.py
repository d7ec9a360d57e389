# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders are whole or not there."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.errors import UserError
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


def test_two_commands_that_write_the_same_file_do_not_mix(tmp_path: Path) -> None:
    """Also in two containers, which may give both commands the same number."""
    path = tmp_path / "file"
    with whole.written(path) as ours:
        ours.write_text("ours")
        _write(path, "theirs")
        assert path.read_text() == "theirs"
    assert (path.read_text(), list(tmp_path.iterdir())) == ("ours", [path])


def test_what_is_no_file_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path, Path()):
        with pytest.raises(UserError, match=f"^{place}: is there and is not a file; name another place to write to$"):
            _write(place, "text")
    assert (pipe.is_fifo(), list(tmp_path.iterdir())) == (True, [pipe])


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), OSError(errno.EDQUOT, "full", "/the/source")])
@pytest.mark.parametrize("make", [_write, _fill])
def test_a_full_disk_names_what_was_to_be_written(
    tmp_path: Path, make: Callable[[Path, str, Exception], None], error: OSError
) -> None:
    path = tmp_path / "file"
    with pytest.raises(OSError, match=r"space|quota") as told:
        make(path, "half", error)
    assert (told.value.filename, list(tmp_path.iterdir())) == (str(path), [])


def test_a_folder_that_is_not_there_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError) as told:
        _write(path, "text")
    assert told.value.filename == str(path)


def test_a_folder_takes_its_place_when_it_is_filled(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "folder"
    _fill(folder, "old")
    with pytest.raises(KeyError):
        _fill(folder, "half", KeyError())
    assert [path.name for path in folder.iterdir()] == ["old"]
    _fill(folder, "new")
    assert [path.name for path in folder.iterdir()] == ["new"]
    assert list(folder.parent.iterdir()) == [folder]


def test_there_is_always_a_folder_while_it_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    _fill(folder, "old")
    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        assert self != folder
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renamed)
    _fill(folder, "new")
    assert [path.name for path in folder.iterdir()] == ["new"]


def test_who_is_killed_between_two_folders_loses_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system that cannot exchange them."""
    folder = tmp_path / "folder"
    _fill(folder, "old")
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        if target == folder and not folder.exists():
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(whole, "_exchanged", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        _fill(folder, "new")
    monkeypatch.undo()
    _fill(folder, "newer")
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"old", "new", "newer"}


def test_where_a_link_is_its_folder_is_replaced(tmp_path: Path) -> None:
    """Results may lie on another disk."""
    (tmp_path / "disk").mkdir()
    _fill(tmp_path / "disk" / "results", "old")
    link = tmp_path / "results"
    link.symlink_to(tmp_path / "disk" / "results")
    _fill(link, "new")
    assert link.is_symlink()
    assert [path.name for path in (tmp_path / "disk" / "results").iterdir()] == ["new"]
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["results"]
