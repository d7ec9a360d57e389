# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a sweep's runs: accounted for where there is any to know of, and never a reason to lose a run."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from lull.errors import UserError
from lull.rundir.folder import LEDGER, RunDir

COUNTED = "detailed"
"""Only such CPUs count the events that energy is made of."""


def account_all(paths: Iterable[Path]) -> Counter[str]:
    """Sentences that say why there is none, with how many runs each is about."""
    return Counter(sentence for path in paths if (sentence := account(path)))


def is_due(path: Path) -> bool:
    return not (path / LEDGER).is_file() and RunDir.open(path).spec().cpu == COUNTED


def account(path: Path) -> str | None:
    """Why there is no ledger; None if there is one, or none is due."""
    if not is_due(path):
        return None
    # numpy and pyarrow take a second to load, which runs without energy do not pay.
    from lull.energy import run_ledger

    try:
        run_ledger.make_ledger(RunDir.open(path), run_ledger.Options())
    except UserError as error:
        return str(error)
    return None
