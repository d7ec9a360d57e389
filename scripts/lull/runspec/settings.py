# SPDX-License-Identifier: BSD-3-Clause
"""Resolves the `--set key=value` words of a run. Each belongs to the platform or to the policy."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from lull.errors import UserError
from lull.files.blocks import quoted
from lull.platform.load import load_platform
from lull.platform.overrides import changes_what_linux_is_told
from lull.platform.schema import Platform
from lull.runspec import advertised
from lull.runspec.advertised import AtBoot
from lull.runspec.policy import Policy, all_keys, is_of_a_system, parse


@dataclass(frozen=True)
class Settings:
    """The fields of a RunSpec that `--set` decides."""

    platform: Platform
    told_at_boot: AtBoot
    policy: Policy


def resolve(platform: str, words: Sequence[str] = ()) -> Settings:
    """Return the settings after all checks. Latencies that Linux is told after boot must fit the machine, too."""
    ours, theirs = _split(words)
    machine = load_platform(platform, theirs)
    at_boot = [text for text in theirs if not changes_what_linux_is_told(text)]
    booted = machine if at_boot == theirs else load_platform(platform, at_boot)
    return Settings(machine, advertised.difference(machine, booted), parse(ours, machine))


def overrides(settings: Sequence[str] | None, shadow: bool | None) -> list[str]:
    """Return the overrides of a platform. `--shadow` is appended as its key, so it overrides a `--set` of that key."""
    words = list(settings or [])
    if shadow is not None:
        words.append(f"shadow.enabled={str(shadow).lower()}")
    return words


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    ours: list[str] = []
    theirs: list[str] = []
    known = all_keys()
    for text in words:
        key = text.partition("=")[0]
        root = key.partition(".")[0]
        if key in known:
            ours.append(text)
            continue
        if is_of_a_system(key):
            own = [name for name in known if name.startswith(f"{root}.")]
            raise UserError(
                f"--set {key}: unknown key; use {quoted(difflib.get_close_matches(key, own, n=2) or own)}"
                if own
                else f"--set {key}: {root} has no settings; leave it out"
            )
        meant = difflib.get_close_matches(key, known, n=2)
        if meant and root not in (*Platform.model_fields, "cstates"):
            raise UserError(f"--set {key}: unknown key; use {quoted(meant)}")
        theirs.append(text)
    return ours, theirs
