# SPDX-License-Identifier: BSD-3-Clause
"""The demands on the gem5 binary, checked before anything is built."""

from __future__ import annotations

import re

from failure import Failure

OLDEST = (24, 0)

CLASSES = (
    "ArmAtomicSimpleCPU",
    "ArmFsWorkload",
    "ArmMinorCPU",
    "ArmO3CPU",
    "ArmRelease",
    "ArmSPI",
    "ArmSystem",
    "ArmTimingSimpleCPU",
    "BadAddr",
    "BiModeBP",
    "Bridge",
    "Cache",
    "EnergyCtrl",
    "EtherLink",
    "FUDesc",
    "FUPool",
    "FVPBasePwrCtrl",
    "Gicv3",
    "IGbE_e1000",
    "IOXBar",
    "L2XBar",
    "MemCtrl",
    "MinorFUPool",
    "OpDesc",
    "Sp804",
    "StridePrefetcher",
    "SubSystem",
    "SystemXBar",
    "TournamentBP",
    "VExpress_GEM5_Foundation",
)


def version_of(text: str) -> tuple[int, int]:
    """Major and minor release from gem5's version string, which may have words around it."""
    match = re.search(r"(\d+)\.(\d+)", text)
    if not match:
        raise Failure(f"this gem5 calls its version {text!r}, which names no release; use gem5 24.0 or later")
    return int(match.group(1)), int(match.group(2))


def check(version: str, has_arm: bool, classes: set[str]) -> None:
    """One sentence for the first thing that is missing."""
    if version_of(version) < OLDEST:
        raise Failure(f"this gem5 is {version}; use gem5 24.0 or later")
    if not has_arm:
        raise Failure(f"this gem5 {version} was built without the Arm ISA; use a binary with it")
    missing = sorted(set(CLASSES) - classes)
    if missing:
        raise Failure(f"this gem5 {version} lacks {', '.join(missing)}; use an unmodified build with the Arm ISA")


def check_binary() -> str:
    """The version of the binary that runs this, once it has passed."""
    import _m5.core
    from m5 import objects
    from m5.defines import buildEnv

    version = str(_m5.core.gem5Version)
    has_arm = bool(buildEnv.get("USE_ARM_ISA")) or hasattr(objects, "ArmSystem")
    check(version, has_arm, {name for name in CLASSES if hasattr(objects, name)})
    return version
