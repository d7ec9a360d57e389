# SPDX-License-Identifier: BSD-3-Clause
"""Which of gem5's operation classes belongs to which group of a core description.

A core description speaks of what a processor's manual speaks of (`fp-multiply`, `load`); gem5 has some seventy classes,
many of which no Armv8.0 program contains. Every class gets a unit all the same: an in-order CPU model waits for ever
for a unit that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable

GROUPS: dict[str, tuple[str, ...]] = {
    "int-alu": ("IntAlu",),
    "int-multiply": ("IntMult",),
    "int-divide": ("IntDiv",),
    "fp-add": (
        "FloatAdd",
        "FloatCmp",
        "FloatMisc",
        "SimdFloatAdd",
        "SimdFloatAlu",
        "SimdFloatCmp",
        "SimdFloatExt",
        "SimdFloatMisc",
        "SimdFloatReduceAdd",
        "SimdFloatReduceCmp",
    ),
    "fp-convert": ("FloatCvt", "SimdFloatCvt"),
    "fp-multiply": ("FloatMult", "SimdFloatMult"),
    "fp-multiply-add": (
        "FloatMultAcc",
        "SimdFloatMultAcc",
        "SimdFloatMatMultAcc",
        "Matrix",
        "MatrixMov",
        "MatrixOP",
    ),
    "fp-divide": ("FloatDiv", "SimdFloatDiv", "SimdDiv"),
    "fp-square-root": ("FloatSqrt", "SimdFloatSqrt", "SimdSqrt"),
    "simd-alu": (
        "SimdAdd",
        "SimdAlu",
        "SimdCmp",
        "SimdConfig",
        "SimdCvt",
        "SimdExt",
        "SimdMisc",
        "SimdPredAlu",
        "SimdReduceAdd",
        "SimdReduceAlu",
        "SimdReduceCmp",
    ),
    "simd-shift": ("SimdShift",),
    "simd-accumulate": ("SimdAddAcc", "SimdShiftAcc"),
    "simd-multiply": ("SimdMult", "SimdMultAcc", "SimdMatMultAcc"),
    "crypto": (
        "SimdAes",
        "SimdAesMix",
        "SimdSha1Hash",
        "SimdSha1Hash2",
        "SimdSha256Hash",
        "SimdSha256Hash2",
        "SimdShaSigma2",
        "SimdShaSigma3",
    ),
    "load": (
        "MemRead",
        "FloatMemRead",
        "SimdUnitStrideLoad",
        "SimdUnitStrideMaskLoad",
        "SimdStridedLoad",
        "SimdIndexedLoad",
        "SimdWholeRegisterLoad",
        "SimdUnitStrideFaultOnlyFirstLoad",
        "SimdUnitStrideSegmentedLoad",
    ),
    "store": (
        "MemWrite",
        "FloatMemWrite",
        "SimdUnitStrideStore",
        "SimdUnitStrideMaskStore",
        "SimdStridedStore",
        "SimdIndexedStore",
        "SimdWholeRegisterStore",
        "SimdUnitStrideSegmentedStore",
    ),
    "system": ("IprAccess", "InstPrefetch"),
}
"""The classes of gem5 24.0; `group_of` places the ones that later releases add."""

NO_UNIT = "No_OpClass"
"""The class of what needs no unit at all."""

_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


def group_of(name: str) -> str:
    """The group of a class. Classes unknown to 24.0 are placed by what their name says."""
    if name in _GROUP_OF:
        return _GROUP_OF[name]
    if name.endswith("Load"):
        return "load"
    if name.endswith("Store"):
        return "store"
    floating = "Float" in name or "Bf16" in name
    if floating and "Div" in name:
        return "fp-divide"
    if floating and "Sqrt" in name:
        return "fp-square-root"
    if "MultAcc" in name or "Dot" in name or name.startswith("Matrix"):
        return "fp-multiply-add" if floating or name.startswith("Matrix") else "simd-multiply"
    if "Mult" in name:
        return "fp-multiply" if floating else "simd-multiply"
    if floating:
        return "fp-convert" if "Cvt" in name else "fp-add"
    return "simd-alu" if name.startswith("Simd") else "system"


def members(group: str, classes: Iterable[str]) -> list[str]:
    """Those of a binary's classes that belong to a group, in the binary's order."""
    return [name for name in classes if name != NO_UNIT and group_of(name) == group]
