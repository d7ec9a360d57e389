# SPDX-License-Identifier: BSD-3-Clause
"""Computes the energy of a sweep's runs, if they have what a ledger needs. An error here never loses a run."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from lull.errors import UserError
from lull.rundir.folder import LEDGER, RunDir

COUNTED = "detailed"
"""The CPU models that a ledger needs: only these count the events from which energy is computed."""


def account_all(paths: Iterable[Path]) -> Counter[str]:
    """Make the ledgers. Return the reasons why there is none, each with its number of runs."""
    return Counter(sentence for path in paths if (sentence := account(path)))


def is_due(path: Path) -> bool:
    return not (path / LEDGER).is_file() and RunDir.open(path).spec().cpu == COUNTED


def account(path: Path) -> str | None:
    """Make a run's ledger if it is due. Return the reason if that fails, else None."""
    if not is_due(path):
        return None
    # numpy and pyarrow take a second to load, which runs without energy do not pay.
    from lull.energy import run_ledger

    try:
        run_ledger.make_ledger(RunDir.open(path), run_ledger.Options())
    except UserError as error:
        return str(error)
    return None
