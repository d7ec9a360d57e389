# SPDX-License-Identifier: BSD-3-Clause
"""Published results. In a notebook, `lull.results("wake-latency")` opens one: Python has one name for both."""

import sys

import lull

sys.modules[__name__].__class__ = lull.CallablePackage
