# SPDX-License-Identifier: BSD-3-Clause
"""Generates the part of `docs/settings.md` about kernel systems, from their manifests."""

from collections.abc import Mapping

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.systems.manifest import Setting

PAGE = ROOT / "docs" / "settings.md"
COMMAND = "./lull settings --update"
BEGIN = f"<!-- Made of kernel-patches/*/system.yaml by `{COMMAND}`; change it there. -->"
END = "<!-- Here ends what was made. -->"


def table(settings: Mapping[str, Setting]) -> str:
    rows = [
        f"| `{key}` | {_values(setting)} | `{setting.default}` | {_help(setting)} |\n"
        for key, setting in settings.items()
    ]
    return f"| key | value | after boot | what |\n|---|---|---|---|\n{''.join(rows)}"


def renewed(page: str, settings: Mapping[str, Setting]) -> str:
    """Return the page with its generated part updated from the manifests."""
    if page.count(BEGIN) != 1 or page.partition(BEGIN)[2].count(END) != 1:
        raise UserError(
            f"{PAGE.relative_to(ROOT)}: the lines around the generated part are not there once; put them back"
        )
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{table(settings)}{END}{rest.partition(END)[2]}"


def _values(setting: Setting) -> str:
    if setting.range:
        return f"{setting.range[0]} to {setting.range[1]}"
    return ", ".join(f"`{choice}`" for choice in setting.choices)


def _help(setting: Setting) -> str:
    return "; ".join([setting.help, *(f"not on {engine}, because {why}" for engine, why in setting.not_on.items())])
