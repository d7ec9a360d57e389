# SPDX-License-Identifier: BSD-3-Clause
"""The schema of a scenario file: a guest program, its parameters and groups, and the analysis.

A scenario is a list of groups. A group is a matrix of parameter values. Each cell of a matrix is one run, a *point*.
Templates (`command`, `overrides`, `needs_…`) name parameters in braces: `{count}`. Other braces are left to the shell.
"""

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, PrivateAttr, StrictBool, model_validator

from lull.files.blocks import Block, fault, quoted
from lull.runspec.spec import CpuMode, Limits, Period
from lull.runspec.values import Value, text_of
from lull.scenario.confirm import Confirm
from lull.scenario.published import PublishedValue

Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
Help = Annotated[str, Field(min_length=1, max_length=200)]

PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._]*")


class Parameter(Block):
    """One value that a user may vary. It has the type of its default. A text needs `choices` or a `pattern`."""

    default: Value
    help: Help
    at_least: float | None = None
    at_most: float | None = None
    choices: list[str] = Field(default_factory=list)
    pattern: str | None = None
    published: PublishedValue | None = None
    """A value of another experiment that replaces `default` as soon as it has been published."""

    def complaint(self, value: Value) -> str | None:
        """Return what is wrong with a value, and what to do; None for a good one."""
        if not _same_type(self.default, value):
            return f"{value!r} is not {_kind(self.default)}; write {_kind(self.default)}"
        if isinstance(value, str):
            if self.choices and value not in self.choices:
                return f"`{value}` is not known here; use {quoted(self.choices)}"
            if self.pattern is not None and not re.fullmatch(self.pattern, value):
                return f"`{value}` does not match {self.pattern}; change it"
            return None
        if isinstance(value, bool):
            return None
        if not abs(value) <= sys.float_info.max:
            return f"{str(value)[:40]} is not a number; write a number"
        if self.at_least is not None and value < self.at_least:
            return f"{value:g} is too small; give {self.at_least:g} or more"
        if self.at_most is not None and value > self.at_most:
            return f"{value:g} is too large; give {self.at_most:g} or less"
        return None

    @model_validator(mode="after")
    def _checkable(self) -> "Parameter":
        if isinstance(self.default, str) and not self.choices and self.pattern is None:
            raise fault("a word that may be anything; say which by `choices` or `pattern`", "default")
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except re.error as error:
                raise fault(f"not a regular expression ({error}); mend it", "pattern") from None
        if complaint := self.complaint(self.default):
            raise fault(complaint, "default")
        return self


class Group(Block):
    """The points for one question: the cells of a matrix, and the settings that are the same in all of them."""

    name: Name
    help: Help
    matrix: dict[Key, Annotated[list[Value], Field(min_length=1)]] = Field(default_factory=dict)
    parameters: dict[Key, Value] = Field(default_factory=dict)
    about: dict[Key, Value] = Field(default_factory=dict)
    """Parameters that define the group. If a user sets one of them to another value, the group has no points."""
    overrides: list[str] = Field(default_factory=list)
    """Templates of `--set`, on top of the scenario's and the user's."""
    command: Annotated[str, Field(min_length=1)] | None = None
    """The group's command, in place of the scenario's."""
    before: Annotated[str, Field(min_length=1)] | None = None
    """A command that runs before the point's command, which runs whatever the status of this one is."""
    peer: Annotated[str, Field(min_length=1)] | None = None
    """The command of the group's peer, in place of the scenario's."""
    platforms: list[Name] = Field(default_factory=list)
    """The group's platforms, in place of the scenario's. All points run on each of them. If the user chose a platform,
    they run only on that."""


class Headline(Block):
    """The sentence that stands for this result where all results are listed."""

    rank: Annotated[int, Field(ge=1)]
    """The place among all results; 1 comes first."""
    check: Annotated[str, Field(min_length=1)]
    """The beginning of the name of the check whose sentence is quoted."""


class Scenario(Block):
    name: Name
    title: Annotated[str, Field(min_length=1, max_length=100)]
    platform: Name
    cpu: CpuMode
    """The CPU models of the published figures; a user may choose others."""
    parameters: dict[Key, Parameter]
    command: Annotated[str, Field(min_length=1)]
    peer: Annotated[str, Field(min_length=1)] | None = None
    """The command of the machine at the other end of the network. None: the machine has no network."""
    overrides: list[str] = Field(default_factory=list)
    trace: list[str] = Field(default_factory=list)
    trace_kib: Annotated[int, Field(gt=0)] | None = None
    stats_period_s: Period | None = None
    """The longest window of gem5's statistics. QEMU has no statistics."""
    fast_forward_us: str | None = None
    """Simulated microseconds at the command's beginning that run on gem5's atomic CPUs. Then the point's own CPUs take
    over. The program must not measure anything in this phase. None, or a template that gives 0: no such phase."""
    needs_state: str | None = None
    """The idle state that a point is about. The point is left out if no cluster of the platform has this state."""
    needs_cpus: str | None = None
    """The CPUs that a point is about, such as 0,2. The point is left out if the platform lacks one of the CPUs, or if
    one of the CPUs lacks `needs_state`. Empty: no particular CPUs."""
    limits: Limits
    in_pieces: StrictBool = False
    """True if all points together take too long for one go. Then finished points can be published, and others added
    later."""
    groups: Annotated[list[Group], Field(min_length=1)]
    analysis: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")] | None = None
    """The experiment of `benchmarks/` whose `analysis.py` makes tables and figures; None for this experiment's own."""
    headline: Headline | None = None
    """The check of the published result that `lull demo` quotes, if any."""
    confirm: Confirm | None = None
    """For `lull confirm`: a few points of the published result, and the columns to compare."""
    _folder: Path = PrivateAttr(default=Path())
    _programs: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path:
        """Return the folder of the scenario's `analysis.py`."""
        return self._folder

    @property
    def programs(self) -> Path | None:
        """Return the folder of an experiment outside of the checkout if it has guest programs for the image."""
        return self._programs

    def place(self, folder: Path, programs: Path | None) -> None:
        """Set the folders where the scenario was found, because its file does not name them."""
        self._folder, self._programs = folder, programs

    @model_validator(mode="after")
    def _names_that_exist(self) -> "Scenario":
        self._check_template(self.command, "command")
        self._check_template(self.peer or "", "peer")
        self._check_template(self.fast_forward_us or "", "fast_forward_us")
        self._check_template(self.needs_state or "", "needs_state")
        self._check_template(self.needs_cpus or "", "needs_cpus")
        for number, text in enumerate(self.overrides):
            self._check_template(text, "overrides", number)
        for number, group in enumerate(self.groups):
            self._check_group(number, group)
        for key, value in self.confirm.settings.items() if self.confirm else ():
            self._check_value(key, value, "confirm", "settings", key)
        return self

    def _check_group(self, number: int, group: Group) -> None:
        if group.name in [other.name for other in self.groups[:number]]:
            raise fault(f"`{group.name}` is used twice; rename one", "groups", number, "name")
        for index, platform in enumerate(group.platforms):
            if platform in group.platforms[:index]:
                raise fault(f"`{platform}` is there twice; drop one", "groups", number, "platforms", index)
        self._check_template(group.command or "", "groups", number, "command")
        self._check_template(group.before or "", "groups", number, "before")
        self._check_template(group.peer or "", "groups", number, "peer")
        for index, text in enumerate(group.overrides):
            self._check_template(text, "groups", number, "overrides", index)
        for name, given in (("parameters", group.parameters), ("about", group.about)):
            for key, value in given.items():
                self._check_value(key, value, "groups", number, name, key)
        for key in group.about:
            if key in group.matrix or key in group.parameters:
                raise fault("said by the group in another way too; say it once", "groups", number, "about", key)
        for key, values in group.matrix.items():
            for index, value in enumerate(values):
                self._check_value(key, value, "groups", number, "matrix", key, index)
                if not FOLDER.fullmatch(text_of(value)):
                    raise fault(
                        f"{value!r} cannot name a folder; use letters, digits, `.` and `_`",
                        *("groups", number, "matrix", key, index),
                    )
                if value in values[:index]:
                    raise fault(f"{value!r} is there twice; drop one", "groups", number, "matrix", key, index)

    def _check_template(self, text: str, *path: str | int) -> None:
        for name in PLACE.findall(text):
            if name not in self.parameters:
                raise fault(f"no parameter `{name}`; add it or use {quoted(sorted(self.parameters))}", *path)

    def _check_value(self, key: str, value: Value, *path: str | int) -> None:
        if key not in self.parameters:
            raise fault(f"no parameter `{key}`; add it or use {quoted(sorted(self.parameters))}", *path)
        if complaint := self.parameters[key].complaint(value):
            raise fault(complaint, *path)


def fill(template: str, values: Mapping[str, Value], quote: bool = False) -> str:
    """Return a template with its parameters in place; `quote` for the shell."""

    def text(match: re.Match[str]) -> str:
        word = text_of(values[match[1]])
        return shlex.quote(word) if quote else word

    return PLACE.sub(text, template)


def _same_type(default: Value, value: Value) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def _kind(default: Value) -> str:
    if isinstance(default, bool):
        return "true or false"
    if isinstance(default, int):
        return "a whole number"
    return "a number" if isinstance(default, float) else "a word"
