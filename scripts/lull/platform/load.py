# SPDX-License-Identifier: BSD-3-Clause
"""From a name or a file to a checked platform."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from lull.errors import UserError
from lull.paths import ROOT
from lull.platform.errors import nearest, quoted, user_error
from lull.platform.overrides import apply
from lull.platform.schema import Platform

PLATFORMS = ROOT / "platforms"


def list_platforms() -> list[str]:
    """The platforms that come with the project."""
    return sorted(path.stem for path in PLATFORMS.glob("*.yaml"))


def list_cores() -> list[str]:
    """The core descriptions that a cluster may name."""
    return sorted(path.stem for path in (PLATFORMS / "cores").glob("*.yaml"))


def load_platform(name_or_path: str, overrides: Sequence[str] = ()) -> Platform:
    """A platform by its name, or by a path: anything with a slash or the suffix .yaml is a path."""
    file = _locate(name_or_path)
    shown = _shown(file)
    data = apply(_read(file, shown), overrides)
    try:
        platform = Platform.model_validate(data)
    except ValidationError as error:
        raise user_error(shown, error, Platform) from None
    _check_cores(platform, shown)
    return platform


def _locate(name_or_path: str) -> Path:
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        return Path(name_or_path)
    file = PLATFORMS / f"{name_or_path}.yaml"
    if not file.is_file():
        known = quoted(list_platforms())
        raise UserError(f"unknown platform `{name_or_path}`; use one of {known}, or the path of a YAML file")
    return file


def _shown(file: Path) -> str:
    try:
        return str(file.resolve().relative_to(ROOT))
    except ValueError:
        return str(file)


class _Loader(yaml.SafeLoader):
    """YAML's safe subset, in which a key that is there twice is a mistake and not a choice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, f"key {key} is not a word", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key `{key}` again", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _read(file: Path, shown: str) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{shown}: cannot read it ({error.strerror}); give the path of a platform file") from None
    except UnicodeDecodeError:
        raise UserError(f"{shown}: not a text file; give the path of a platform file") from None
    try:
        data = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f"line {mark.line + 1}" if mark else "somewhere"
        raise UserError(f"{shown}: {line}: {error.problem}, which is not valid YAML; mend that line") from None
    except yaml.YAMLError:
        raise UserError(f"{shown}: characters that YAML does not allow; write plain text") from None
    if not isinstance(data, dict):
        raise UserError(f"{shown}: not a block of keys; start with `name: ` and see platforms/README.md")
    unshared: dict[str, Any] = _unshared(data)
    return unshared


def _unshared(data: Any) -> Any:
    """What a YAML alias repeats becomes a copy, so that an override changes one place and not its twin."""
    if isinstance(data, dict):
        return {key: _unshared(value) for key, value in data.items()}
    return [_unshared(item) for item in data] if isinstance(data, list) else data


def _check_cores(platform: Platform, shown: str) -> None:
    clusters = [(f"clusters[{number}]", cluster) for number, cluster in enumerate(platform.clusters)]
    for key, cluster in [*clusters, ("shadow.cluster", platform.shadow.cluster)]:
        if cluster.core not in list_cores():
            known = quoted(nearest("", list_cores()))
            raise UserError(f"{shown}: {key}.core: unknown core `{cluster.core}`; use one of {known}")
