# SPDX-License-Identifier: BSD-3-Clause
"""Each command's help stands on its own, with an example that the command line would take."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from lull.cli.app import app

Words = tuple[str, ...]


def _commands(group: typer.Typer, words: Words = ()) -> Iterator[Words]:
    """Every command and group that a user is told of."""
    yield words
    for command in group.registered_commands:
        if not command.hidden:
            assert command.callback is not None
            yield *words, command.name or command.callback.__name__
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        assert inner.name is not None
        yield from _commands(inner.typer_instance, (*words, inner.name))


COMMANDS = list(_commands(app))


def _help(words: Words) -> str:
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="lull", env={"COLUMNS": "80", "TERM": "dumb"})
    assert shown.exit_code == 0, shown.output
    return shown.output


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _calls(line: str) -> list[list[str]]:
    """The commands of a line: between semicolons and pipes that are not quoted."""
    words = shlex.shlex(line, posix=True, punctuation_chars=";|")
    words.whitespace_split = True
    calls: list[list[str]] = [[]]
    for word in words:
        if word in (";", "|"):
            calls.append([])
        else:
            calls[-1].append(word)
    return calls


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_help_has_an_example_of_that_command(words: Words) -> None:
    examples = [part for part in _paragraphs(_help(words)) if part.startswith("Example: ")]
    assert len(examples) == 1
    example = examples[0].removeprefix("Example: ")
    short = example.replace("lull energy runs", "lull energy account runs")
    assert f"{short} ".startswith(f"{' '.join(('lull', *words))} ")
    assert shlex.split(example)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_options_of_an_example_are_those_of_its_command(words: Words) -> None:
    (example,) = (part for part in _paragraphs(_help(words)) if part.startswith("Example: "))
    for name, *rest in _calls(example.removeprefix("Example: ")):
        if name != "lull":
            continue
        if rest[0] == "energy" and rest[1].startswith("runs"):
            rest.insert(1, "account")
        command = max((known for known in COMMANDS if tuple(rest[: len(known)]) == known), key=len)
        known = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", _help(command).partition("\nOptions:\n")[2]))
        used = {word for word in rest[len(command) :] if re.match(r"--?[a-z]", word)}
        assert used <= known, f"`{example}` uses {sorted(used - known)}"


def test_every_list_of_commands_shows_their_sentences_whole() -> None:
    lists = {words: _help(words).partition("\nCommands:\n")[2] for words in COMMANDS}
    assert lists[()]
    for listed in lists.values():
        assert "..." not in listed


def test_the_shell_completes_commands_options_and_choices() -> None:
    """The test asks as bash does. In bash's words the command may also be `./lull`."""

    def completed(line: str) -> list[str]:
        words = line.split(" ")
        asked = {"_LULL_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
        lull = [sys.executable, "-m", "lull"]
        found = subprocess.run(lull, env={**os.environ, **asked}, capture_output=True, text=True, check=False)
        return found.stdout.split()

    assert set(completed("./lull pl")) == {"plot", "platform"}
    assert completed("lull boot --sim") == ["--sim-limit"]
    assert set(completed("lull boot -e ")) == {"gem5", "qemu"}
