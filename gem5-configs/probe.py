# SPDX-License-Identifier: BSD-3-Clause
"""Writes what this gem5 is, as JSON, to the file named: `gem5.opt probe.py ANSWER`.

Runs on any gem5, however old or bare, so that the refusal can name what is missing.
"""

import json
import sys
from pathlib import Path

try:
    from _m5.core import gem5Version
except ImportError:
    gem5Version = "unknown"  # noqa: N816 (gem5's name)
from m5.defines import buildEnv

ISAS = ("ARM", "MIPS", "POWER", "RISCV", "SPARC", "X86")
isas = [isa for isa in ISAS if buildEnv.get(f"USE_{isa}_ISA")]
if not isas and str(buildEnv.get("TARGET_ISA", "")).upper() in ISAS:
    isas = [buildEnv["TARGET_ISA"].upper()]

Path(sys.argv[1]).write_text(json.dumps({"version": gem5Version, "isas": isas}))
