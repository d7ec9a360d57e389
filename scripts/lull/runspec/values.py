# SPDX-License-Identifier: BSD-3-Clause
"""The values that a scenario's parameters and a sweep's settings have."""

from typing import Annotated, Any

from pydantic import BeforeValidator, StrictBool, StrictFloat, StrictInt, StrictStr

from lull.files.blocks import fault


def _plain(value: Any) -> Any:
    """Raise one fault for a wrong kind of value. pydantic itself would give four errors, with the kinds as keys."""
    if isinstance(value, bool | int | float | str):
        return value
    raise fault("not a value; write a number, a word, true or false")


Value = Annotated[StrictBool | StrictInt | StrictFloat | StrictStr, BeforeValidator(_plain)]


def text_of(value: Value) -> str:
    """Return a value as text for commands, `--set` and folder names."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
