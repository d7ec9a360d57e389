# SPDX-License-Identifier: BSD-3-Clause
"""lull: what a sleeping CPU costs, and what software can do about it."""

__version__ = "0.1.0"
