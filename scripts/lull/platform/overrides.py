# SPDX-License-Identifier: BSD-3-Clause
"""Applies `--set key=value` to the data of a platform file, before it is checked.

A key is a dotted path. List items are addressed by name (`clusters.little.cpus`), operating points by frequency
(`clusters.big.opps.table.1800.mv`). `cstates.C3.exit_us` is the actual latency on every cluster with a C3, including
the shadow's. The source of a number that is set is replaced.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import yaml
from pydantic import BaseModel

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import dotted, model_at, nearest, quoted
from lull.platform.schema import Platform

SET_BY_USER = "set on the command line"

Data = dict[str, Any]
Steps = tuple[str | int, ...]


def apply(data: Data, overrides: Sequence[str]) -> Data:
    """Return a copy of the data with all overrides applied in order. The last one for a key counts."""
    changed: Data = _copied(data)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UserError(f"--set {text}: no `=`; write key=value, such as memory.size_mib=256")
        targets = list(_targets(changed, key))
        single = parsed(key, value)
        for steps in targets:
            _assign(changed, steps, single, key)
    return changed


def changes_what_linux_is_told(override: str) -> bool:
    """Return true if the override changes an advertised latency, by the long or the short form of its key."""
    parts = override.partition("=")[0].split(".")
    return parts[-2:-1] == ["advertised"] and "cstates" in parts[:-2]


def parsed(key: str, text: str) -> Any:
    """Return the value of a text from the command line. It must be a single value."""
    try:
        value = _of_yaml(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise UserError(f"--set {key}: `{text[:40]}` is not a value; write a number, true, false or a name") from error
    if value is None or isinstance(value, dict | list):
        raise UserError(f"--set {key}: `{text[:40]}` is not a single value; write a number, true, false or a name")
    return value


@lru_cache(maxsize=1024)
def _of_yaml(text: str) -> Any:
    """Return the parsed text, cached because a sweep sets the same few values for each of its points."""
    return yaml_file.parsed(text)


def _copied(data: Any) -> Any:
    """Return a deep copy of a value of YAML. `copy.deepcopy` takes three times as long."""
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    return [_copied(item) for item in data] if isinstance(data, list) else data


def _targets(data: Data, key: str) -> Iterator[Steps]:
    parts = key.split(".")
    if parts[0] == "cstates":
        yield from _in_every_cluster(data, key, parts)
    else:
        yield _resolve(data, key, parts, ())


def _in_every_cluster(data: Data, key: str, parts: list[str]) -> Iterator[Steps]:
    """Yield the places of a short form such as `cstates.C3.exit_us`, which means `actual` in each cluster."""
    if len(parts) < 3:
        raise UserError(f"--set {key}: incomplete; write cstates.C3.exit_us or cstates.C3.advertised.exit_us")
    name, rest = parts[1], parts[2:]
    if len(rest) == 1:
        rest = ["actual", *rest]
    homes: list[Steps] = [("clusters", number) for number, _ in enumerate(_list(data.get("clusters")))]
    homes.append(("shadow", "cluster"))
    having = [home for home in homes if name in _names(_list(_dict(_at(data, home)).get("cstates")))]
    if not having:
        known = {state for home in homes for state in _names(_list(_dict(_at(data, home)).get("cstates")))}
        raise UserError(f"--set {key}: no cluster has `{name}`; use {quoted(sorted(known))}")
    for home in having:
        yield _resolve(data, key, ["cstates", name, *rest], home)


def _resolve(data: Data, key: str, parts: list[str], start: Steps) -> Steps:
    steps = start
    rest = list(parts)
    while rest:
        here = _at(data, steps)
        if isinstance(here, list):
            steps, rest = _into_list(here, key, steps, rest)
        elif isinstance(here, dict) and (rest[0] in here or _allowed(steps, rest[0])):
            if rest[1:] and rest[0] not in here:
                _fill_in(here, steps, rest[0])
            steps, rest = (*steps, rest[0]), rest[1:]
        elif steps == ("clusters",):
            raise UserError(f"--set {key}: the file has no list of clusters; mend the file first")
        else:
            raise _unknown(key, steps, rest[0], here if isinstance(here, dict) else {})
        if rest and not isinstance(_at(data, steps), dict | list):
            raise UserError(f"--set {key}: `{_spelled(data, steps)}` is a single value; use that key")
    return steps


def _into_list(items: list[Any], key: str, steps: Steps, rest: list[str]) -> tuple[Steps, list[str]]:
    names = _names(items)
    for length in (1, 2):  # a frequency may have a dot: 2014.5
        name = ".".join(rest[:length])
        if name in names:
            return (*steps, names.index(name)), rest[length:]
    if steps == ("clusters",):
        names = [*names, "shadow (as shadow.cluster)"]
    raise UserError(f"--set {key}: no `{rest[0]}` in {dotted(steps)}; use {quoted(nearest(rest[0], names))}")


def _unknown(key: str, steps: Steps, part: str, here: Mapping[str, object]) -> UserError:
    model = model_at(Platform, steps)
    known = set(model.model_fields) if model else set(here)
    if not steps:
        known.add("cstates")
    return UserError(f"--set {key}: unknown key `{part}`; use {quoted(nearest(part, known))}")


def _allowed(steps: Steps, part: str) -> bool:
    """Return true if the schema has this key, even if the file leaves it at its default."""
    model = model_at(Platform, steps)
    return model is not None and part in model.model_fields


def _fill_in(here: Data, steps: Steps, part: str) -> None:
    """Add a block that the file leaves at its default, so that one number of it can be set."""
    model = model_at(Platform, steps)
    default = model.model_fields[part].get_default() if model else None
    if isinstance(default, BaseModel):
        here[part] = default.model_dump()


def _assign(data: Data, steps: Steps, value: Any, key: str) -> None:
    target = _at(data, steps)
    if isinstance(target, dict) and "value" in target:
        target.update(value=value, source=SET_BY_USER)
        return
    if isinstance(target, dict | list):
        inside = quoted(nearest("", _names(target) if isinstance(target, list) else target))
        raise UserError(f"--set {key}: a block, not a single value; go on with one of {inside}")
    parent = _at(data, steps[:-1])
    parent[steps[-1]] = value
    _mark_source(data, steps)


def _mark_source(data: Data, steps: Steps) -> None:
    """Note in the nearest enclosing block with a source that this number was set; its other numbers keep the source."""
    for depth in range(len(steps) - 1, -1, -1):
        block = _at(data, steps[:depth])
        if isinstance(block, dict) and "source" in block:
            if steps[depth] != "source":
                block["source"] = f"{block['source']}; {dotted(steps[depth:])} {SET_BY_USER}"
            return


def _spelled(data: Data, steps: Steps) -> str:
    parts: list[str] = []
    for depth, step in enumerate(steps):
        here = _at(data, steps[:depth])
        parts.append(_names(here)[step] if isinstance(step, int) and isinstance(here, list) else str(step))
    return ".".join(parts)


def _at(data: Any, steps: Steps) -> Any:
    for step in steps:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int):
            data = data[step]
        else:
            return None
    return data


def _names(items: Sequence[Any]) -> list[str]:
    def name(item: Any) -> str:
        if not isinstance(item, dict):
            return ""
        return str(item["name"]) if "name" in item else f"{item['mhz']:g}" if _is_number(item.get("mhz")) else ""

    return [name(item) for item in items]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> Data:
    return value if isinstance(value, dict) else {}
