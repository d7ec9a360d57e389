# SPDX-License-Identifier: BSD-3-Clause
"""From a name or a file to a checked platform."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from lull import yaml_file
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
    shown = yaml_file.shown(file)
    data = apply(yaml_file.read(file, shown, "platform", "platforms/README.md"), overrides)
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


def _check_cores(platform: Platform, shown: str) -> None:
    clusters = [(f"clusters[{number}]", cluster) for number, cluster in enumerate(platform.clusters)]
    for key, cluster in [*clusters, ("shadow.cluster", platform.shadow.cluster)]:
        if cluster.core not in list_cores():
            known = quoted(nearest("", list_cores()))
            raise UserError(f"{shown}: {key}.core: unknown core `{cluster.core}`; use one of {known}")
