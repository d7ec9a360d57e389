# SPDX-License-Identifier: BSD-3-Clause
"""Converts Arrow's tables, which all lower layers use, to frames of pandas or polars."""

from importlib import import_module
from typing import Any, Literal, get_args

import pyarrow as pa

from lull.errors import UserError

Frame = Any
"""A pandas.DataFrame, a polars.DataFrame or a pyarrow.Table, as the user chose."""
Kind = Literal["pandas", "polars", "arrow"]

_chosen: list[Kind] = ["pandas"]


def frames(kind: Kind | None = None) -> Kind:
    """Choose what views hand out from now on: "pandas" (the default), "polars" or "arrow". Says what is chosen."""
    if kind is not None:
        _chosen[0] = known(kind)
    return _chosen[0]


def known(kind: Kind) -> Kind:
    """Return the kind. Raise a UserError if there is no such kind, or if its package is not installed."""
    if kind not in get_args(Kind):
        raise UserError(f"frames {kind!r}: not a kind of frame; use 'pandas', 'polars' or 'arrow'")
    if kind != "arrow":
        _package(kind)
    return kind


def frame_of(table: pa.Table, kind: Kind | None = None) -> Frame:
    """Return a new frame. Changes to it do not change any other frame."""
    kind = kind or _chosen[0]
    if kind == "arrow":
        return table
    package = _package(kind)
    if kind == "polars":
        return package.from_arrow(table)
    frame = table.to_pandas()
    for field in table.schema:
        if pa.types.is_integer(field.type) and table[field.name].null_count:
            # By default, pandas converts integers with missing values to floats, such as CPU 1.0.
            frame[field.name] = pa.chunked_array(table[field.name]).to_pandas(types_mapper=_with_gaps(package))
    return frame


def _with_gaps(pandas: Any) -> Any:
    """Return pandas' type for integers that may be missing."""
    return lambda kind: getattr(pandas, f"{str(kind).replace('i', 'I').replace('u', 'U')}Dtype")()


def _package(kind: Kind) -> Any:
    try:
        return import_module(kind)
    except ImportError:
        raise UserError(
            f"{kind}: not installed, and frames of it are asked for; install lull[notebook], "
            "or choose other frames by lull.frames('arrow')"
        ) from None
