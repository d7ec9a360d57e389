# SPDX-License-Identifier: BSD-3-Clause
"""Runs, sweeps and results in a notebook: views that hand out frames and draw into axes. docs/notebook.md has them all.

Everything here stands on the packages below, which work on Arrow tables; frames of pandas or polars are made at the
border, in `frame`. What a view has read or computed once stays with its run.
"""

from lull.notebook import house as house  # isort: skip # first, before anything tells matplotlib of the house style
from lull.notebook.frame import frames as frames
from lull.notebook.many_runs import SweepView as SweepView
from lull.notebook.one_run import RunView as RunView
from lull.notebook.opening import open as open  # noqa: A004 # as in lull.open
from lull.notebook.opening import what_if as what_if
from lull.notebook.published import ResultView as ResultView
from lull.notebook.published import results as results
from lull.notebook.starting import boot as boot
from lull.notebook.starting import run as run
