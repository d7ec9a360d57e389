# SPDX-License-Identifier: BSD-3-Clause
"""The schema of a kernel system's `system.yaml`: its name, its dependencies, its settings.

A setting is one file of sysfs. It takes one word or number, and returns it when read.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr, model_validator

from lull.files.blocks import Block, fault, quoted

Engine = Literal["gem5", "qemu"]
Word = StrictInt | StrictStr
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$", max_length=64)]
Sentence = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\n|]*$")]

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,-]{0,62}")
"""A word that a file of sysfs takes, and that both a shell and `lull-policy` read as one word."""
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")


class Setting(Block):
    path: Annotated[str, Field(pattern=r"^/sys/[A-Za-z0-9_./-]+$", max_length=200)]
    choices: list[Word] = Field(default_factory=list)
    range: list[StrictInt] = Field(default_factory=list)
    """The smallest and the largest whole number, instead of choices."""
    default: Word
    """The value after boot."""
    not_on: dict[Engine, Sentence] = Field(default_factory=dict)
    """Engines where the setting has no meaning, each with the reason."""
    help: Sentence

    @model_validator(mode="after")
    def _holds_together(self) -> "Setting":
        if bool(self.choices) == bool(self.range):
            raise fault("give one of `choices` and `range`", "choices")
        for choice in self.choices:
            if not _WORD.fullmatch(str(choice)):
                raise fault(f"{choice!r} is not one word of letters, digits and `_.,-`; rename it", "choices")
        if len(set(map(str, self.choices))) != len(self.choices):
            raise fault("a value is there twice; drop one", "choices")
        if self.range and not (len(self.range) == 2 and 0 <= self.range[0] < self.range[1]):
            raise fault("not two whole numbers, the smaller one first; write [least, greatest]", "range")
        if not self.takes(str(self.default)):
            raise fault(f"{self.default!r} is none of its values; use {self.possible()}", "default")
        return self

    def takes(self, value: str) -> bool:
        if self.choices:
            return value in map(str, self.choices)
        return bool(_NUMBER.fullmatch(value)) and self.range[0] <= int(value) <= self.range[1]

    def possible(self) -> str:
        """Return the setting's values, as a message names them."""
        if self.choices:
            return quoted(map(str, self.choices))
        return f"a whole number from {self.range[0]} to {self.range[1]}"

    def examples(self) -> list[str]:
        """Return every choice, or both ends of the range."""
        return [str(value) for value in self.choices or self.range]


class SystemManifest(Block):
    name: Name
    """The name of the system's folder and of its `struct lull_system`. Its settings have the name before the dot."""
    title: Sentence
    option: Annotated[str, Field(pattern=r"^LULL[A-Z0-9_]*$")]
    """The symbol of Kconfig that compiles the folder."""
    after: list[Name] = Field(default_factory=list)
    """The systems on which this one depends: their hooks and headers come first."""
    settings: dict[Key, Setting] = Field(default_factory=dict)
    """Settings by key, in the order in which a run applies them. The switch must come after settings that it needs."""
