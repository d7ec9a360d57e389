# SPDX-License-Identifier: BSD-3-Clause
"""The house style for the views' own drawings, and only for them: a notebook's other figures keep theirs."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes

with matplotlib.rc_context():
    # Imported first here, since it changes what matplotlib does for everybody; the context takes that back.
    from lull.plotting import style as style


@contextmanager
def axes(ax: Axes | None, height_in: float = 2.6) -> Iterator[Axes]:
    """The axes to draw into: the user's, or those of a new figure, which a notebook shows by itself."""
    with matplotlib.rc_context(style.HOUSE):
        if ax is None:
            # pyplot chooses a window system when it is imported, which is the user's to delay.
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(style.WIDTH_IN, height_in), layout="constrained")
        yield ax
        shows_by_itself = matplotlib.is_interactive()
    # A notebook's window system says so when its first figure is made, and the context takes that back.
    matplotlib.interactive(shows_by_itself)


def height_of(bars: int) -> float:
    """Inches for a chart of so many horizontal bars."""
    return 1.2 + 0.2 * bars


def legend_beside(axis: Axes) -> None:
    """The legend of what is drawn, once for each label, where it hides nothing."""
    handles, labels = axis.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    axis.legend(list(once.values()), list(once), loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
