# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a sweep's runs: accounted for where there is any to know of, and never a reason to lose a run."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from lull.errors import UserError
from lull.rundir.folder import LEDGER, RunDir

COUNTED = "detailed"
"""The kind of CPU that a ledger needs: only such CPUs count the events that energy is made of."""


def account_all(paths: Iterable[Path]) -> Counter[str]:
    """Make the ledgers. Return the sentences that say why there is none, with how many runs each is about."""
    return Counter(sentence for path in paths if (sentence := account(path)))


def is_due(path: Path) -> bool:
    return not (path / LEDGER).is_file() and RunDir.open(path).spec().cpu == COUNTED


def account(path: Path) -> str | None:
    """Make a run's ledger if it is due. Return why there is none; None if there is one, or none is due."""
    if not is_due(path):
        return None
    # numpy and pyarrow take a second to load, which runs without energy do not pay.
    from lull.energy import run_ledger

    try:
        run_ledger.make_ledger(RunDir.open(path), run_ledger.Options())
    except UserError as error:
        return str(error)
    return None
