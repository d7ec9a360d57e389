# SPDX-License-Identifier: BSD-3-Clause
"""Reads an accelerator's kernel from platforms/accelerator: its schema, and the times of its runs.

The guest's driver `lull-accel` plays the times one after the other. They are either recorded (`times_us`) or drawn
once from a distribution by a seed (`drawn`).
"""

import random
from typing import Annotated

from pydantic import Field, model_validator

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, fault, quoted
from lull.files.paths import ROOT
from lull.platform.values import Name, Source

ACCELERATOR = ROOT / "platforms" / "accelerator"
MOST_TIMES = 1000

Microseconds = Annotated[float, Field(ge=1, le=1_000_000)]


class Drawn(Block):
    """Times from a normal distribution, at least 1 us, and some outliers."""

    count: Annotated[int, Field(ge=1, le=MOST_TIMES)]
    seed: Annotated[int, Field(ge=0)]
    mean_us: Microseconds
    spread_us: Annotated[float, Field(ge=0, le=1_000_000)]
    """The standard deviation."""
    first_us: Microseconds | None = None
    """The first run's time."""
    outliers_permille: Annotated[int, Field(ge=0, le=1000)] = 0
    """The number of runs, of 1000, that take `outlier_us`."""
    outlier_us: Microseconds | None = None

    @model_validator(mode="after")
    def _outliers_have_a_time(self) -> "Drawn":
        if self.outliers_permille and self.outlier_us is None:
            raise fault("outliers need a time; add it", "outlier_us")
        return self

    def times_ns(self) -> list[int]:
        numbers = random.Random(self.seed)
        times = [max(1.0, numbers.gauss(self.mean_us, self.spread_us)) for _ in range(self.count)]
        if self.outlier_us is not None:
            times = [self.outlier_us if numbers.randrange(1000) < self.outliers_permille else time for time in times]
        if self.first_us is not None:
            times[0] = self.first_us
        return [round(1000 * time) for time in times]


class Kernel(Block):
    name: Name
    title: Annotated[str, Field(min_length=1, max_length=80)]
    times_us: Annotated[list[Microseconds], Field(min_length=1, max_length=MOST_TIMES)] | None = None
    """Recorded times, in the order in which they are played. After the last one, they start again."""
    drawn: Drawn | None = None
    source: Source

    @model_validator(mode="after")
    def _has_times(self) -> "Kernel":
        if (self.times_us is None) == (self.drawn is None):
            raise fault(
                "a kernel has either recorded times or drawn ones; give one of `times_us` and `drawn`", "times_us"
            )
        return self

    @property
    def times_ns(self) -> list[int]:
        return self.drawn.times_ns() if self.drawn else [round(1000 * time) for time in self.times_us or []]


def list_kernels() -> list[str]:
    """Return the names of the kernels that a platform may name."""
    return sorted(path.stem for path in ACCELERATOR.glob("*.yaml"))


def load_kernel(name: str) -> Kernel:
    """Return the kernel with this file name in platforms/accelerator."""
    if name not in list_kernels():
        raise UserError(f"unknown kernel of an accelerator `{name}`; use one of {quoted(list_kernels())}")
    file = ACCELERATOR / f"{name}.yaml"
    shown = yaml_file.shown(file)
    with explained(shown, Kernel):
        kernel = Kernel.model_validate(yaml_file.read(file, shown, "kernel of an accelerator", "platforms/README.md"))
    if kernel.name != name:
        raise UserError(f"{shown}: name: `{kernel.name}` is not the name of the file; write `{name}`")
    return kernel
