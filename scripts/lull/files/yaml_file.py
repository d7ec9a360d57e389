# SPDX-License-Identifier: BSD-3-Clause
"""Reads the YAML files that people write: platforms, cores, scenarios. A mistake is a UserError of one sentence."""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from lull.errors import UserError
from lull.files import regular
from lull.files.blocks import quoted
from lull.files.paths import ROOT

MOST_VALUES = 100_000
"""The most values in one file with its aliases written out. The largest of ours has about two thousand."""


def is_path(name_or_path: str) -> bool:
    return "/" in name_or_path or name_or_path.endswith((".yaml", ".yml"))


def locate(name_or_path: str, kind: str, own: Path, known: Iterable[str]) -> Path:
    """Return the project's file with this name, or the file at a path. A text with a slash or .yaml is a path."""
    if is_path(name_or_path):
        return Path(name_or_path)
    if not own.is_file():
        raise UserError(f"unknown {kind} `{name_or_path}`; use one of {quoted(known)}, or the path of a YAML file")
    return own


def shown(file: Path) -> str:
    """Return the name of a file for messages."""
    try:
        return str(file.resolve().relative_to(ROOT))
    except (ValueError, OSError, RuntimeError):  # RuntimeError: a loop of symbolic links, before Python 3.13
        return str(file)


def read(file: Path, name: str, kind: str, manual: str) -> dict[str, Any]:
    """Return the keys of a file of this kind. `manual` is the page that describes such files."""
    try:
        text = regular.read_bytes(file, name, kind).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{name}: not a text file; give the path of a {kind} file") from None
    try:
        shared = _parsed_once(text)
        if _size(shared, {}) > MOST_VALUES:
            raise UserError(f"{name}: its aliases expand to more than {MOST_VALUES} values; write out what they name")
        data = _unshared(shared)
    except RecursionError:
        raise UserError(
            f"{name}: blocks without end; write out the alias that stands within what it names, or nest less"
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f"line {mark.line + 1}" if mark else "somewhere"
        raise UserError(f"{name}: {line}: {error.problem}, which is not valid YAML; mend that line") from None
    except yaml.YAMLError:
        raise UserError(f"{name}: characters that YAML does not allow; write plain text") from None
    if not isinstance(data, dict):
        raise UserError(f"{name}: not a block of keys; start with `name: ` and see {manual}")
    return data


class _Loader(yaml.SafeLoader):
    """YAML's safe subset. A key that is given twice is an error."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Raise YAML's error, not Python's, for text that looks like a date or a number, such as 2026-13-45."""
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            what = f"`{node.value[:40]}` is no {node.tag.rpartition(':')[2]} and has no quotes"
            raise yaml.constructor.ConstructorError(None, None, what, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(None, None, "a merge (`<<`) of blocks", key_node.start_mark)
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, f"key {key} is not a word", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key `{key}` again", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


# Read 1e3 as a number, as YAML 1.2 does. To PyYAML it is a word, as in older YAML.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), [*"-+.0123456789"]
)


def parsed(text: str) -> Any:
    return yaml.load(text, _Loader)


@lru_cache(maxsize=16)
def _parsed_once(text: str) -> Any:
    """Return the parsed text, cached: a sweep needs a platform's file for each point, and PyYAML takes 0.25 s."""
    return parsed(text)


def _size(data: Any, known: dict[int, int]) -> int:
    """Return the number of values in a block if every alias were expanded, without expanding them."""
    if not isinstance(data, dict | list):
        return 1
    if id(data) not in known:
        inner = data.values() if isinstance(data, dict) else data
        known[id(data)] = 1 + sum(_size(value, known) for value in inner)
    return known[id(data)]


def _unshared(data: Any) -> Any:
    """Return the data with a copy for each YAML alias, so that an override changes only one of the places."""
    if isinstance(data, dict):
        return {key: _unshared(value) for key, value in data.items()}
    return [_unshared(item) for item in data] if isinstance(data, list) else data
