# SPDX-License-Identifier: BSD-3-Clause
"""An experiment's tests have the fixtures of all others, and find the analyses: that is what `experiments` is for."""

from lull.scenario import experiments
from tests.conftest import cache_without_checkpoints, empty_cache, governors, lull

__all__ = ["cache_without_checkpoints", "empty_cache", "experiments", "governors", "lull"]
