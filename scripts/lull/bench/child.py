# SPDX-License-Identifier: BSD-3-Clause
"""A command in a process of its own, and what it took."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from lull.errors import UserError


@dataclass(frozen=True)
class Took:
    wall_s: float
    processor_s: float
    peak_bytes: int


def python(arguments: Sequence[str]) -> Took:
    """This interpreter with these arguments; what it says on stdout is dropped."""
    begun = time.monotonic()
    child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise UserError(f"`{' '.join(arguments)}` ended with status {child.returncode}; what it said is above")
    return Took(time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
