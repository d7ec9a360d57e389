# SPDX-License-Identifier: BSD-3-Clause
"""Updates numbers in Markdown pages from the tables of results.

An experiment's README, for example, quotes numbers of the result. Each quoted number is followed by a comment, which
Markdown does not show:

    ESM saves 1.48<!--= differences one=models/esm-25 "against=pull 16 ms": -1e3 * power_w --> mW.

The comment names a table, then a row by one or more `column=value`, then an expression over the row's columns, which
may use `abs()`. If several rows fit, `min`, `max` or `average` before the expression makes one number of them. An
expression can use a number of another row by a name, which is defined after `with`:

    3.7 <!--= points point=big: 1e3 * (power_w - plain) with plain = points point=none: power_w -->

The number keeps its count of significant digits, and at least the digits before its point. A number that is not finite,
such as after a division by 0, is unknown.

Numbers that are no results, such as a paper's number or a setting, are listed in a comment `<!--= given: 16 1.6 -->` of
the same section.
"""

import ast
import math
import operator
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa

from lull.errors import UserError
from lull.files import yaml_file

QUOTE = re.compile(r"(?P<number>-?\d+(?:\.\d+)?)<!--= (?P<what>(?!given:)[^>]*?) -->")
GIVEN = re.compile(r"<!--= given: (?P<numbers>[^>]*?) -->")
UNKNOWN = "-"
"""The text for an unknown number, for example if the tables of a few points lack its row."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w<]|\.\d)")
_WITH = re.compile(r"\s+with (\w+) = ")
_NOT_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->")

Tables = Mapping[str, pa.Table]


_OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_PICKS: Mapping[str, Callable[[list[float]], float]] = {"min": min, "max": max, "average": fmean}


@dataclass(frozen=True)
class _Asked:
    table: str
    where: Mapping[str, str]
    pick: str | None
    expression: ast.expr

    @classmethod
    def parse(cls, what: str) -> "_Asked":
        place, _, figure = what.partition(": ")
        table, *where = shlex.split(place)
        first, _, rest = figure.strip().partition(" ")
        pick = first if first in _PICKS else None
        tree = ast.parse(rest if pick else figure.strip(), mode="eval")
        return cls(table, dict(word.split("=", 1) for word in where), pick, tree.body)


def value(tables: Tables, what: str) -> float | None:
    """Return the number of a comment; None if the tables lack the row, or if the number is not finite."""
    first, *others = _WITH.split(what)
    names: dict[str, float | None] = {}
    for name, other in reversed(list(zip(others[::2], others[1::2], strict=True))):
        names[name] = _value(tables, other, names, what)
    return _value(tables, first, names, what)


def _value(tables: Tables, part: str, names: Mapping[str, float | None], what: str) -> float | None:
    try:
        asked = _Asked.parse(part)
        table = tables.get(asked.table)
        rows = [] if table is None else [row for row in table.to_pylist() if _fits(row, asked.where)]
        numbers = [_evaluated(asked.expression, _joined(row, names)) for row in rows]
    except (ValueError, SyntaxError, TypeError, OverflowError):
        raise UserError(f"`<!--= {what} -->`: write TABLE COLUMN=VALUE …: EXPRESSION over the row's columns") from None
    found = [number for number in numbers if number is not None and math.isfinite(number)]
    if len(found) > 1 and asked.pick is None:
        raise UserError(f"`<!--= {what} -->`: {len(found)} rows fit; name one, or put min, max or average before it")
    if not found:
        return None
    return _PICKS[asked.pick](found) if asked.pick else found[0]


def named(what: str) -> set[str]:
    """Return the names of the tables in a comment."""
    first, *others = _WITH.split(what)
    return {part.partition(" ")[0].rstrip(":") for part in (first, *others[1::2])}


def _evaluated(node: ast.expr, row: Mapping[str, Any]) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            if name not in row:
                raise ValueError(name)
            return None if row[name] is None else float(row[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            positive = _evaluated(operand, row)
            return None if positive is None else -positive
        case ast.Call(func=ast.Name(id="abs"), args=[operand], keywords=[]):
            signed = _evaluated(operand, row)
            return None if signed is None else abs(signed)
        case ast.BinOp(left=left, op=way, right=right) if type(way) in _OPERATORS:
            sides = _evaluated(left, row), _evaluated(right, row)
            if sides[0] is None or sides[1] is None or (isinstance(way, ast.Div) and not sides[1]):
                return None
            return _OPERATORS[type(way)](sides[0], sides[1])
    raise ValueError(ast.unparse(node))


def _joined(row: Mapping[str, Any], names: Mapping[str, float | None]) -> Mapping[str, Any]:
    """Return the row's columns and the numbers of other rows by their names, which must not hide a column."""
    if hidden := names.keys() & row.keys():
        raise ValueError(f"{', '.join(hidden)}: a column has this name")
    return {**row, **names}


def _fits(row: Mapping[str, Any], where: Mapping[str, str]) -> bool:
    return all(str(row.get(column)) == wanted for column, wanted in where.items())


def fill(text: str, tables: Tables, unknown: str | None = UNKNOWN, page: Path | None = None) -> str:
    """Return the text with each quoted number updated from the tables, with the same count of significant digits.

    `unknown` replaces a number that the tables do not have; None leaves the old number. `page` is the text's file, for
    messages.
    """

    def renewed(match: re.Match[str]) -> str:
        try:
            number = value(tables, match["what"])
        except UserError as error:
            raise UserError(f"{yaml_file.shown(page)}: {error}" if page else str(error)) from None
        missing = match["number"] if unknown is None else unknown
        shown = missing if number is None else _like(match["number"], number)
        return f"{shown}<!--= {match['what']} -->"

    return QUOTE.sub(renewed, text)


def _like(model: str, number: float) -> str:
    """Return the number as text with as many significant digits as `model`, but all digits before the point."""
    digits = len(re.sub(r"[-.]", "", model).lstrip("0"))
    return f"{number:#.{max(digits, len(str(int(abs(number)))))}g}".rstrip(".")


def without_comments(text: str) -> str:
    """Return the text without comments of this module, as a reader of the page sees it."""
    return re.sub(r"(?m)^<!--= .*? -->\n|<!--= .*? -->", "", text)


def loose(text: str) -> list[str]:
    """Return the numbers of a text that are neither quoted nor given."""
    given = {number for match in GIVEN.finditer(text) for number in match["numbers"].split()}
    prose = _NOT_PROSE.sub("", QUOTE.sub("", text))
    return [number for number in _NUMBER.findall(prose) if number not in given]
