# SPDX-License-Identifier: BSD-3-Clause
"""The values that a scenario's parameters and a sweep's settings have."""

from pydantic import StrictBool, StrictFloat, StrictInt, StrictStr

Value = StrictBool | StrictInt | StrictFloat | StrictStr


def text_of(value: Value) -> str:
    """A value as commands, `--set` and folder names write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
