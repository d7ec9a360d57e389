# SPDX-License-Identifier: BSD-3-Clause
"""The age of a published result: made by this checkout, confirmed with this checkout, or older."""

from pathlib import Path

from lull.errors import UserError
from lull.results import confirmed, confirming, drawing, manifest
from lull.results.confirmed import Confirmed
from lull.results.tree import Tree
from lull.scenario import asked, points
from lull.scenario.load import load_scenario

OF_THIS_TREE = "of this tree"
OLDER = "older"


def of(folder: Path, tree: Tree) -> str:
    about, wanted = confirming.manifest_of(folder)
    analysis = drawing.analysis_of(about)
    if tree.made(manifest.pieces(about), analysis):
        try:
            today = points.resolve(load_scenario(wanted.name), asked.wishes_of(wanted, "gem5"))
        except UserError:
            today = []
        hashes = {point.name: point.spec.hash() for point in today}
        if all(point["hash"] == hashes.get(name) for name, point in about["points"].items()):
            return OF_THIS_TREE
    record = confirmed.read(folder)
    if record is None:
        return OLDER
    commits = ", ".join(map(manifest.short, confirmed.commits(record)))
    if confirmed.refuted(record):
        return f"{OLDER} (refuted with commit {commits})"
    if tree.made(record["pieces"], analysis) and _asked_today(folder, record):
        return f"confirmed (with commit {commits})"
    return f"{OLDER} (confirmed before, with commit {commits})"


def _asked_today(folder: Path, record: Confirmed) -> bool:
    """Return true if `lull confirm` would run the same points today, and compare them by the same rules."""
    try:
        prepared = confirming.prepare(folder)
    except UserError:
        return False
    return prepared.hashes == record["points"] and prepared.rules == record["rules"]
