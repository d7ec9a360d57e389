# SPDX-License-Identifier: BSD-3-Clause
"""The progress of a simulation: what gem5's side writes is what the engine shows."""

from pathlib import Path

import pytest

from lull.engines.gem5 import CONFIGS, how_far
from lull.rundir.folder import CONSOLE


def test_the_guests_own_time_until_gem5_tells(tmp_path: Path) -> None:
    assert how_far(tmp_path) == "guest at 0.000 s"
    (tmp_path / CONSOLE).write_text("[    0.036000] a line\n")
    assert how_far(tmp_path) == "guest at 0.036 s"


def test_gem5_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CONFIGS))
    import outcome  # type: ignore[import-not-found]

    outcome.tell(tmp_path, 1.25, 34_560_000)
    assert how_far(tmp_path) == "1.250 s simulated, 34.6 M instructions"
    assert [path.name for path in tmp_path.iterdir()] == ["progress"]
