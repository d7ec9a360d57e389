# SPDX-License-Identifier: BSD-3-Clause
"""Types of keys in platform and power-model files: names, and numbers with their sources.

A source that starts with `assumed` must continue with the reason.
"""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from lull.files.blocks import Block, fault


def _check_source(text: str) -> str:
    if not text.strip():
        raise fault("empty; say where the number is from, or `assumed: ` and why")
    if text.startswith("assumed") and not re.match(r"assumed: \S.{7,}", text):
        raise fault("`assumed` without a reason; write `assumed: ` and why")
    return text


Source = Annotated[str, AfterValidator(_check_source)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,15}$")]


class SourcedInt(Block):
    value: Annotated[int, Field(gt=0)]
    source: Source


class SourcedMicroseconds(Block):
    value: Annotated[float, Field(ge=0, le=1e6)]
    source: Source


def without_sources(value: Any) -> Any:
    """Return a dumped model without its sources, because a source does not change a number."""
    if isinstance(value, dict):
        return {key: without_sources(item) for key, item in value.items() if key != "source"}
    return [without_sources(item) for item in value] if isinstance(value, list) else value
