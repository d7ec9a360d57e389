# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python in its own process, and measures its time and memory."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.errors import UserError

_TELL = """
import re, sys
from lull.errors import UserError
try:
    exec(sys.argv[1])
except UserError as error:
    sys.exit(f"lull: {error}")
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""
"""The child reports its own peak memory, because the kernel's number for an ended child includes memory of the process
that forked it."""


@dataclass(frozen=True)
class Took:
    wall_s: float
    processor_s: float
    peak_bytes: int


def run(code: str, arguments: Sequence[Path]) -> Took:
    """Run code, and return its time and memory. It gets its arguments from `sys.argv[2]` on. It must not use stdout."""
    begun = time.monotonic()
    command = [sys.executable, "-c", _TELL, code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        told = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise UserError(f"the process that does the work ended with status {child.returncode}; it said why above")
    return Took(time.monotonic() - begun, usage.ru_utime + usage.ru_stime, int(told) * 1024)
