# SPDX-License-Identifier: BSD-3-Clause
"""The end of every command when something goes wrong: one sentence, and a status that says whose fault it was."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from lull.cli import app
from lull.errors import UserError
from lull.files import paths
from lull.host.process import BuildFailed

RECORDED = Path(__file__).parent / "data" / "trace" / "tiny-gem5"


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def _refuse() -> None:
    raise UserError("a.yaml: key: wrong; mend it")


def _fail() -> None:
    raise BuildFailed("building the kernel failed")


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _write_nowhere() -> None:
    Path("/proc/self/nowhere/file").write_text("")


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (_refuse, 2, "lull: a.yaml: key: wrong; mend it"),
        (_fail, 1, "lull: building the kernel failed"),
        (_interrupt, 130, "lull: interrupted; what was finished is kept"),
        (_write_nowhere, 2, "lull: /proc/self/nowhere/file: No such file or directory; mend that"),
    ],
)
def test_an_end_is_a_sentence_and_a_status(
    command: Callable[[], None],
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = typer.Typer(pretty_exceptions_enable=False)
    commands.command()(command)
    monkeypatch.setattr(app, "app", commands)
    monkeypatch.setattr(sys, "argv", ["lull"])
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == status
    assert capsys.readouterr().err.startswith(said)


def test_the_command_line_alone_loads_nothing_heavy() -> None:
    """They take seconds, and every test of a guest starts `lull` anew."""
    program = "import sys, lull.cli.app; print(*sorted({'numpy', 'pyarrow', 'matplotlib'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize(
    "words",
    [
        ["boot", "--seed", "abc"],
        ["boot", "-e", "kvm"],
        ["boott"],
        ["show"],
        ["sweep", "--scenario", ""],
        ["report", "--out", "\udcff"],
    ],
)
def test_a_wrong_option_is_one_sentence(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lull", *words])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("lull: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["platform"], ["energy"], ["bench"]])
def test_a_group_without_a_command_shows_its_help(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lull", *words])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(" ".join(["Usage: lull", *words]))
    assert "\nCommands:\n" in said


def test_text_is_shown_as_it_is(tmp_path: Path) -> None:
    """A command of a shell is no markup."""
    command = "ls [/etc] [a-z]* :key:"
    folder = Path(shutil.copytree(RECORDED, tmp_path / "run"))
    spec = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**spec, "command": command}))
    for words in (["show", str(folder)], ["compare", str(folder), str(RECORDED)]):
        told = CliRunner().invoke(app.app, words)
        assert told.exit_code == 0, told.output
        assert command in told.stdout
    for file in (paths.ROOT / "scripts" / "lull").rglob("*.py"):
        assert file.name == "terminal.py" or "Console(" not in file.read_text(), f"{file}: use lull.host.terminal"


LISTED = [sys.executable, "-m", "lull", "platform", "list"]


def test_output_to_a_full_device_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "lull", "platform", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (
        2, "lull: the output cannot be written, its device is full; write it elsewhere\n",
    )  # fmt: skip


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    ends = os.pipe()
    os.close(ends[0])
    with os.fdopen(ends[1], "w") as closed:
        ran = subprocess.run(
            [sys.executable, "-m", "lull", "platform", "list"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (1, "")


def test_a_locale_without_our_letters_gets_their_numbers() -> None:
    env = {**os.environ, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = subprocess.run(
        [sys.executable, "-m", "lull", "platform", "show", "tiny", "--sources"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "\\xb5" in ran.stdout
