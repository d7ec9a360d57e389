# SPDX-License-Identifier: BSD-3-Clause
"""The base of all views: `df_x()` returns a frame, `plot_x(ax=None)` draws it and returns the axes.

A view of a run is a function of that run. On several runs it is the same table of each, one below the other, with
columns in front that tell the points apart: `point`, the settings that vary, and `seed`.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar, cast

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes

from lull.notebook.frame import Frame, Kind, frame_of
from lull.notebook.source import Source
from lull.sweep.table import column_of

P = ParamSpec("P")
V = TypeVar("V", bound="Views")
Make = Callable[Concatenate[V, Source, P], pa.Table]
POINT, SEED = "point", "seed"


class Views:
    """A namespace of views, of one run or of several."""

    def __init__(self, sources: Sequence[Source], kind: Kind | None = None, single: bool = True) -> None:
        self._sources, self._kind, self._single = sources, kind, single

    def arrow(self, name: str, *args: object, **kwargs: object) -> pa.Table:
        """Return the table behind `df_<name>()`. It is made once for each run."""
        make = getattr(type(self), f"df_{name}").make
        tables = [self._of(source, make, args, kwargs) for source in self._sources]
        return tables[0] if self._single else told_apart(self._sources, tables)

    def _of(self, source: Source, make: Make[V, ...], args: tuple[object, ...], kwargs: dict[str, object]) -> pa.Table:
        bound = inspect.signature(make).bind(self, source, *args, **kwargs)
        bound.apply_defaults()
        asked = tuple(map(repr, bound.args[2:])), repr(bound.kwargs)
        return source.cached((make.__qualname__, *asked), lambda: make(self, source, *args, **kwargs))  # type: ignore[arg-type]


def df(
    what: str = "", needs: Sequence[str] = (), unless: Callable[[Source], bool] = lambda _: False
) -> Callable[[Make[V, P]], Callable[Concatenate[V, P], Frame]]:
    """Return a decorator that makes a view from a function of one run.

    `needs` are the trace events that `what` needs, except for runs for which `unless` returns true.
    """

    def decorate(make: Make[V, P]) -> Callable[Concatenate[V, P], Frame]:
        @functools.wraps(make)
        def checked(self: V, source: Source, *args: P.args, **kwargs: P.kwargs) -> pa.Table:
            if needs and not unless(source):
                source.need(what, needs)
            return make(self, source, *args, **kwargs)

        @functools.wraps(make)
        def view(self: V, *args: P.args, **kwargs: P.kwargs) -> Frame:
            return frame_of(self.arrow(make.__name__.removeprefix("df_"), *args, **kwargs), self._kind)

        told = cast("Callable[Concatenate[V, P], Frame]", view)
        own, _, *others = inspect.signature(make).parameters.values()
        vars(view).update(make=checked, needs=tuple(needs), __signature__=inspect.Signature([own, *others]))
        view.__doc__ = _documented(make.__doc__, needs)
        return told

    return decorate


def plot(of: Callable[..., Frame]) -> Callable[[Callable[P, Axes]], Callable[P, Axes]]:
    """Return a decorator for the plot of a view. The plot needs the same trace events as the view."""

    def decorate(draw: Callable[P, Axes]) -> Callable[P, Axes]:
        needs = needs_of(of)
        vars(draw).update(needs=needs)
        draw.__doc__ = _documented(draw.__doc__, needs)
        return draw

    return decorate


def needs_of(view: Callable[..., object]) -> tuple[str, ...]:
    """Return the trace events that a view needs, from its attribute `needs`."""
    found: tuple[str, ...] = vars(view)["needs"]
    return found


def told_apart(sources: Sequence[Source], tables: Sequence[pa.Table]) -> pa.Table:
    """Return all rows with title, settings and seed of their points. A setting named as a column is `point_<name>`."""
    rows = np.repeat(np.arange(len(tables)), [table.num_rows for table in tables])
    body = pa.concat_tables(tables, promote_options="permissive")
    samples = [source.sample for source in sources]
    front = {POINT: pa.array([sample.title or sample.run.name for sample in samples], pa.string())}
    for key in dict.fromkeys(key for sample in samples for key in sample.settings):
        name = f"{POINT}_{key}" if key in (*body.column_names, POINT, SEED) else key
        front[name] = column_of([sample.settings.get(key) for sample in samples])
    front[SEED] = pa.array([sample.seed for sample in samples], pa.int64())
    kept = {name: body[name] for name in body.column_names if name not in (POINT, SEED)}
    return pa.table({**{name: column.take(pa.array(rows)) for name, column in front.items()}, **kept})


def _documented(text: str | None, needs: Sequence[str]) -> str:
    told = inspect.cleandoc(text or "")
    return f"{told}\n\nNeeds the trace events {', '.join(needs)}." if needs else told
