# SPDX-License-Identifier: BSD-3-Clause
"""Strict models for the blocks of keys in YAML files, and the error sentence for a wrong one.

The sentence names the file, the dotted key, the mistake and what to do. For a file with several mistakes, it has only
the first one, and the number of others.
"""

import difflib
import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from lull.errors import UserError

Path = Sequence[str | int]


class Block(BaseModel):
    """A block of a YAML file. Unknown keys are errors, and so are wrong types, such as a quoted number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def fault(message: str, *path: str | int) -> PydanticCustomError:
    """Return the error for a broken rule. `path` leads from the model that checks the rule to the key to change."""
    return PydanticCustomError("rule", "{message}", {"message": message, "path": path})


def user_error(file: str, error: ValidationError, model: type[BaseModel]) -> UserError:
    """Return a validation error as one sentence."""
    details = error.errors(include_url=False)
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return UserError(f"{file}: {_sentence(details[0], model)}{more}")


@contextmanager
def explained(file: str, model: type[BaseModel]) -> Iterator[None]:
    """Turn validation errors of the code inside, which makes models from a file's keys, into a UserError."""
    try:
        yield
    except ValidationError as error:
        raise user_error(file, error, model) from None


def dotted(path: Path) -> str:
    """Return a path as text, such as `clusters[1].opps.table[2].mhz`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words most like a word; all of them if none is alike."""
    names = sorted(known)
    return difflib.get_close_matches(word, names, n=3, cutoff=0.5) or names


def quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def model_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """Return the model of the block at a path; None for a list or a plain value."""
    inner: type[BaseModel] | None = model
    annotation: object = model
    for part in path:
        if isinstance(part, int):
            annotation = _item_of(annotation)
        elif typing.get_origin(annotation) is dict:
            annotation = typing.get_args(annotation)[1]
        elif inner is None or part not in inner.model_fields:
            return None
        else:
            annotation = inner.model_fields[part].annotation
        inner = annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    return inner


def _item_of(annotation: object) -> object:
    arguments = typing.get_args(annotation)
    return arguments[0] if arguments else None


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    path = tuple(detail["loc"])
    context = detail.get("ctx", {})
    kind = detail["type"]
    if kind == "rule":
        return f"{dotted((*path, *context['path']))}: {context['message']}"
    if kind == "missing":
        return f"{dotted(path)}: missing; add it"
    if kind == "extra_forbidden":
        block = model_at(model, path[:-1])
        known = nearest(str(path[-1]), block.model_fields if block else ())
        return f"{dotted(path)}: unknown key; remove it or use {quoted(known)}"
    return f"{dotted(path)}: {_complaint(kind, context, detail['input'])}"


_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "model_type": "a block of keys",
    "model_attributes_type": "a block of keys",
}


def _complaint(kind: str, context: dict[str, object], value: object) -> str:
    given = _shown(value)
    if kind in _TYPES:
        return f"{given} is not {_TYPES[kind]}; write {_TYPES[kind]}"
    match kind:
        case "literal_error":
            return f"{given} is not known here; use {context['expected']}"
        case "greater_than":
            return f"{given} is too small; give more than {context['gt']:g}"
        case "greater_than_equal":
            return f"{given} is too small; give {context['ge']:g} or more"
        case "less_than_equal":
            return f"{given} is too large; give {context['le']:g} or less"
        case "string_pattern_mismatch":
            return f"{given} does not match {context['pattern']}; rename it"
        case "too_short":
            return f"the list is empty; give {context['min_length']} or more"
        case "too_long":
            return f"{context['actual_length']} entries; give {context['max_length']} or fewer"
        case "string_too_short":
            return "empty; write something"
        case "string_too_long":
            return f"longer than {context['max_length']} characters; shorten it"
    return f"{given} is not accepted ({kind.replace('_', ' ')}); change it"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a block of keys"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str) else f"{value}"
    return text if len(text) <= 40 else text[:37] + "..."
