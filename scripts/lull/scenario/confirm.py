# SPDX-License-Identifier: BSD-3-Clause
"""The schema of `confirm:` in a scenario file: a few fast points that tell whether a published result still holds."""

from typing import Annotated

from pydantic import Field, model_validator

from lull.files.blocks import Block, fault
from lull.runspec.values import Value

Column = Annotated[str, Field(min_length=1)]


class Compared(Block):
    """The compared columns of one table. Rows with equal values in all columns of `by` are repetitions of one cell."""

    table: Column
    by: Annotated[list[Column], Field(min_length=1)]
    interval: list[Column] = Field(default_factory=list)
    """Columns whose mean today must lie in the prediction interval of the published repetitions."""
    equal: list[Column] = Field(default_factory=list)
    """Columns of values that do not vary: every row must equal the published row."""
    within: dict[Column, Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=dict)
    """For each column, the largest allowed difference of the means, as a share of the published mean."""
    least: dict[Column, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """For columns of `within` that may be near 0: a difference that is always allowed, in the column's unit."""
    because: Annotated[str, Field(min_length=1)] | None = None
    """The reason for the shares of `within`."""

    @property
    def columns(self) -> list[str]:
        return [*self.interval, *self.equal, *self.within]

    @model_validator(mode="after")
    def _once_and_with_a_reason(self) -> "Compared":
        if not self.columns:
            raise fault("compares no column; name some under `interval`, `equal` or `within`", "interval")
        for rule in ("interval", "equal", "within"):
            for column in getattr(self, rule):
                if self.columns.count(column) > 1 or column in self.by:
                    raise fault(f"`{column}` is there twice; drop one", rule)
        for column in self.least:
            if column not in self.within:
                raise fault(f"`{column}` is not under `within`; drop it or add it there", "least")
        if self.within and self.because is None:
            raise fault("missing, and `within` needs a reason; add it", "because")
        return self


class Confirm(Block):
    points: Annotated[list[Column], Field(min_length=1)]
    """Names of points, or patterns, as `--points` takes them."""
    settings: dict[str, Value] = Field(default_factory=dict)
    """Parameters that make the points shorter, such as fewer repetitions. They must not change the meaning of a row."""
    values: Annotated[list[Compared], Field(min_length=1)]
