# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are killed outright, at a moment that the test chooses by what they left so far."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from tests.conftest import LAUNCHER


def kill_when(
    reached: Callable[[], object], *words: str, env: Mapping[str, str] | None = None, with_children: bool = True
) -> None:
    """Start a command, and kill it once `reached` holds; without its children, these get to know in their own way."""
    command = subprocess.Popen(
        [LAUNCHER, *words], env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not reached():
        assert command.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
    command.kill()
    assert command.wait() == -signal.SIGKILL
    if with_children:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
