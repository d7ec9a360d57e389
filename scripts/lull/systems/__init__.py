# SPDX-License-Identifier: BSD-3-Clause
"""The kernel systems: one folder of `kernel-patches/` each, which says all of itself."""
