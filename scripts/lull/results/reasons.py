# SPDX-License-Identifier: BSD-3-Clause
"""The section on why a result differs from published numbers, in the experiment's README and in the result's summary.

People write the section. Its numbers are quoted from the result's tables (`quotes`).
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from lull.files import paths
from lull.results import quotes
from lull.scenario import experiments

REASONS = "## Where it differs from what is published, and why"
_NEXT = "\n## "
_LINK = re.compile(r"\]\((?![a-z]+:)([^)#]*)")


def of(scenario: str) -> str:
    """Return the section of the README with the comments of its quoted numbers; empty if there is none."""
    readme = _page(scenario)
    if not readme.is_file():
        return ""
    _, heading, rest = readme.read_text(encoding="utf-8").partition(f"\n{REASONS}\n")
    reasons, _, _ = rest.partition(_NEXT)
    return f"{REASONS}\n{reasons}" if heading else ""


def _page(scenario: str) -> Path:
    return experiments.BENCHMARKS / scenario / "README.md"


def shown(scenario: str, tables: Mapping[str, pa.Table]) -> str:
    """Return the section for a summary: numbers from these tables, no comments, links relative to the summary."""
    page = _page(scenario)
    text = quotes.without_comments(quotes.fill(of(scenario), tables, page=page))
    here = paths.RESULTS / scenario

    def from_here(link: re.Match[str]) -> str:
        target = page.parent / link[1] if link[1] else page
        return "](" + os.path.relpath(target, here)

    return _LINK.sub(from_here, text)


def renewed(summary: str, scenario: str, tables: Mapping[str, pa.Table]) -> str:
    """Return a summary with its section replaced by the README's. A summary without the section is not changed."""
    before, heading, rest = summary.partition(f"\n{REASONS}\n")
    if not heading:
        return summary
    _, following, after = rest.partition(_NEXT)
    return f"{before}\n{shown(scenario, tables)}{following}{after}"
