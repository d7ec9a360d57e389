# SPDX-License-Identifier: BSD-3-Clause
"""The compiler for the guest's code: on an arm64 host the native one, else a cross compiler."""

import platform
import subprocess
from functools import cache as once

from lull.errors import UserError

CROSS_COMPILE = "" if platform.machine() == "aarch64" else "aarch64-linux-gnu-"


@once
def compiler_version() -> str:
    try:
        shown = subprocess.run([f"{CROSS_COMPILE}gcc", "--version"], text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(f"{CROSS_COMPILE}gcc: not found; `lull doctor` says which package has it") from error
    return shown.splitlines()[0]
