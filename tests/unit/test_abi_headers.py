# SPDX-License-Identifier: BSD-3-Clause
"""The kernel and the programs of the guest read the same header."""

import pytest

from lull.files.paths import ROOT


@pytest.mark.parametrize(
    "header",
    ["esm/esm_abi.h", "anticipation/wake_ahead_abi.h", "accel/accel_abi.h", "eanem/eanem_abi.h", "bursts/bursts_abi.h"],
)
def test_programs_have_the_kernel_s_header(header: str) -> None:
    kernel = ROOT / "kernel-patches" / header
    assert (ROOT / "benchmarks/lib" / kernel.name).read_bytes() == kernel.read_bytes()
