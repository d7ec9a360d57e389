# SPDX-License-Identifier: BSD-3-Clause
"""The version of the replay: a hash of all on which answers depend besides the recorded run."""

from lull.artifacts import governors
from lull.files import digest
from lull.whatif.library import SHIM

_FOLDER = SHIM.parent


def replay() -> str:
    """Return the hash of this package, its shim and the governors. With the same hash, answers are the same."""
    return digest.of_json(
        {
            "package": digest.of_python(_FOLDER, _FOLDER.rglob("*.py")),
            "shim": digest.of_files(_FOLDER, _FOLDER.rglob("*.[ch]")),
            "governors": governors.version(),
        }
    )
