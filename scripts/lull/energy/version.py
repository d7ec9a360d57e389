# SPDX-License-Identifier: BSD-3-Clause
"""The version of the ledger: a hash of all that joules come from beside a run's folder."""

from lull.energy.states import FOLDER
from lull.files import digest
from lull.files.paths import ROOT

_PACKAGES = ("energy", "trace")
"""The trace tells when CPUs slept, and for whom they worked."""


def ledger() -> str:
    """The hash of the code that makes a ledger, and of the power models. Two with one hash make the same ledger."""
    code = (path for name in _PACKAGES for path in (ROOT / "scripts" / "lull" / name).rglob("*.py"))
    models = (path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".md")
    return digest.of_json({"code": digest.of_python(ROOT, code), "power-models": digest.of_files(FOLDER, models)})
