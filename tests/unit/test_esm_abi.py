# SPDX-License-Identifier: BSD-3-Clause
"""The kernel and the programs of the guest read the same header."""

from lull.files.paths import ROOT


def test_programs_have_the_kernel_s_header() -> None:
    assert (ROOT / "benchmarks/lib/esm_abi.h").read_bytes() == (ROOT / "kernel-patches/esm/esm_abi.h").read_bytes()
