# SPDX-License-Identifier: BSD-3-Clause
"""Child processes: logged, bounded, and never left behind."""

import ctypes
import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from lull.errors import UserError
from lull.files import disk, locks
from lull.host.progress import Progress

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)

_ERROR_LINE = re.compile(r"(\berror\b|\bERROR\b|\*\*\* |^E: |: fatal|undefined reference|FAILED|cannot )", re.I)
_NOT_AN_ERROR = re.compile(r"(-Werror|\bCC\b|\berrors?\.[co]\b|error-|0 errors?)", re.I)


class BuildFailed(UserError):
    """A build has failed, not by a mistake of the user. The message is one sentence with the path of the log."""

    exit_status = 1


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """Make this process (a child) die with its parent, so that a killed command leaves no compilers or simulators."""
    _libc.prctl(_PR_SET_PDEATHSIG, number)


def start(argv: Sequence[str], *, dies_by: int = signal.SIGTERM, **options: object) -> subprocess.Popen[bytes]:
    """Start a child. It gets the signal `dies_by` if this process dies, and holds this process's locks."""
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        list(argv),
        stdin=subprocess.DEVNULL,
        pass_fds=locks.held(),
        preexec_fn=partial(die_with_parent, dies_by),
        start_new_session=True,
        **options,
    )


def stop(child: subprocess.Popen[bytes], patience_s: float = 5.0) -> None:
    """End the child and all processes that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is not None:
            return
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        try:
            child.wait(patience_s)
        except subprocess.TimeoutExpired:
            continue


class Runner:
    """Runs a build's commands. All output goes to the log; each line is one step of progress."""

    def __init__(self, what: str, log: Path, progress: Progress) -> None:
        self.what, self.log, self.progress = what, log, progress
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("")

    def __call__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        with self.log.open("ab") as log:
            log.write(f"+ {' '.join(argv)}\n".encode())
            log.flush()
            begin = log.tell()
            try:
                child = start(
                    argv,
                    cwd=cwd,
                    env={**os.environ, **(env or {})},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            except FileNotFoundError as error:
                raise UserError(f"{argv[0]}: not found; `lull doctor` says what to install for it") from error
            assert child.stdout is not None
            try:
                with child.stdout as output:
                    for line in output:
                        log.write(line)
                        self.progress.step(_short(line))
                status = child.wait()
            finally:
                stop(child)
        if status != 0:
            raise self._failure(argv, status, begin)

    def _failure(self, argv: Sequence[str], status: int, begin: int) -> UserError:
        with self.log.open("rb") as log:
            log.seek(begin)
            text = log.read().decode(errors="replace")
        if "No space left on device" in text:
            return disk.full(self.log.parent)
        line = first_error_line(text) or f"`{Path(argv[0]).name}` ended with status {status}"
        return BuildFailed(f"building the {self.what} failed: {line} (whole log: {self.log})")


def first_error_line(text: str) -> str | None:
    """Return the first line that names an error, because later errors often follow from it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if ": error:" in line or (_ERROR_LINE.search(line) and not _NOT_AN_ERROR.search(line)):
            return line
    return lines[-1] if lines else None


def _short(line: bytes) -> str:
    return line.decode(errors="replace").strip()[:70]


Run = Callable[[Sequence[str], Path], None]
