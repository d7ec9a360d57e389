# SPDX-License-Identifier: BSD-3-Clause
"""The style of the views' drawings. A notebook's other figures keep their own style."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes

with matplotlib.rc_context():
    # First imported here, because the import changes matplotlib's global settings; the context restores them.
    from lull.plotting import style as style


@contextmanager
def axes(ax: Axes | None, height_in: float = 2.6) -> Iterator[Axes]:
    """The axes to draw into: the user's, or those of a new figure, which a notebook shows by itself."""
    with matplotlib.rc_context(style.HOUSE):
        if ax is None:
            # Imported late, because pyplot chooses a window system when it is imported.
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(style.WIDTH_IN, height_in), layout="constrained")
        yield ax
        shows_by_itself = matplotlib.is_interactive()
    # A notebook's window system sets this when its first figure is made, and the context would undo that.
    matplotlib.interactive(shows_by_itself)


def height_of(bars: int) -> float:
    """Return the height in inches of a chart with this number of horizontal bars."""
    return 1.2 + 0.2 * bars


def legend_beside(axis: Axes) -> None:
    """Add a legend beside the axes, with each label once."""
    handles, labels = axis.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    axis.legend(list(once.values()), list(once), loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
