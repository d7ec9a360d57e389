# SPDX-License-Identifier: BSD-3-Clause
"""The version of the replay: a hash of all that answers come from beside the recorded run."""

from lull.artifacts import governors
from lull.files import digest
from lull.whatif.library import SHIM

_FOLDER = SHIM.parent
_SUFFIXES = (".py", ".c", ".h")


def replay() -> str:
    """The hash of this package, its shim and the governors. Two replays with one hash give the same answers."""
    files = (path for path in _FOLDER.rglob("*") if path.suffix in _SUFFIXES)
    return digest.of_json({"package": digest.of_files(_FOLDER, files), "governors": governors.version()})
