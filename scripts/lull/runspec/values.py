# SPDX-License-Identifier: BSD-3-Clause
"""The values that a scenario's parameters and a sweep's settings have."""

from typing import Annotated, Any

from pydantic import BeforeValidator, StrictBool, StrictFloat, StrictInt, StrictStr

from lull.files.blocks import fault


def _plain(value: Any) -> Any:
    """Of a value that is none of four kinds, pydantic has four complaints, and takes the kinds for keys."""
    if isinstance(value, bool | int | float | str):
        return value
    raise fault("not a value; write a number, a word, true or false")


Value = Annotated[StrictBool | StrictInt | StrictFloat | StrictStr, BeforeValidator(_plain)]


def text_of(value: Value) -> str:
    """A value as commands, `--set` and folder names write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
