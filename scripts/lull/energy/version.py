# SPDX-License-Identifier: BSD-3-Clause
"""The version of the ledger: a hash of all on which joules depend besides a run's folder."""

from lull.energy.states import FOLDER
from lull.files import digest
from lull.files.paths import ROOT

_PACKAGES = ("energy", "trace")
"""The packages on which joules depend. `trace` finds the states of CPUs and their causes."""


def ledger() -> str:
    """Return the hash of the ledger's code and of the power models. With the same hash, ledgers are the same."""
    code = (path for name in _PACKAGES for path in (ROOT / "scripts" / "lull" / name).rglob("*.py"))
    models = (path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".md")
    return digest.of_json({"code": digest.of_python(ROOT, code), "power-models": digest.of_files(FOLDER, models)})
