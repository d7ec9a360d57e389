# SPDX-License-Identifier: BSD-3-Clause
"""Published results. This package can be called: in a notebook, `lull.results("wake-latency")` opens a result."""

import sys

import lull

sys.modules[__name__].__class__ = lull.CallablePackage
