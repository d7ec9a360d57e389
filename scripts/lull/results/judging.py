# SPDX-License-Identifier: BSD-3-Clause
"""Judges a published result again: its own tables, by the rules that its analysis has today.

An analysis may become stricter after a result was published. Checks that nobody makes again would then say what the
project does not hold to be true any more. An analysis with a function `conclude` needs only the tables for that.
"""

from pathlib import Path

from lull.results import conditions, confirmed, confirming, drawing, pieces, result
from lull.results import manifest as manifests
from lull.results.result import Result
from lull.scenario import asked, points
from lull.scenario.load import load_scenario


def judge(folder: Path) -> bool:
    """Write summary, checks and figures of a published result anew; false, and nothing written, where an analysis needs
    the runs themselves."""
    found = concluded(folder)
    if found is None:
        return False
    about, wanted = confirming.manifest_of(folder)
    title = load_scenario(wanted.name).title
    result.save(found, title, about, folder, keep=(manifests.FILE, confirmed.FILE))
    return True


def concluded(folder: Path) -> Result | None:
    """What today's analysis concludes from a published result's tables; None where it needs the runs themselves."""
    analysis, _ = drawing.read(folder)
    conclude = getattr(analysis, "conclude", None)
    if conclude is None:
        return None
    _, wanted = confirming.manifest_of(folder)
    names = [point.name for point in points.resolve(load_scenario(wanted.name), asked.wishes_of(wanted, "gem5"))]
    tables = pieces.joinable(folder)
    found: Result = conclude(tables, names)
    return result.with_conditions(found, tables.get(conditions.NAME))
