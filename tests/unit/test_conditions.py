# SPDX-License-Identifier: BSD-3-Clause
"""Under which clocks and at which temperature points ran: a row per cluster, and the range of them in the summary."""

from pathlib import Path

import pytest

from lull.energy import windows
from lull.energy.source import opp_of
from lull.results import conditions
from lull.rundir.folder import STATS_TABLE
from lull.trace.clock import TICK_HZ
from tests import steady_runs
from tests.steady_runs import Made


def test_clocks_are_means_over_time_and_a_summary_has_their_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady_runs.pretend(monkeypatch)
    made = {
        "busy/tiny": [Made("C4", (0,), 850, "primes"), Made("C4", (0,), 450, "primes")],
        "idle/tiny": [Made("C2", (), 850)],
    }
    runs = steady_runs.runs(tmp_path, "energy-validation", made, monkeypatch)
    table = conditions.df_conditions(runs.runs)
    rows = {(row["point"], row["cluster"]): row for row in table.to_pylist()}
    assert set(rows) == {(point, name) for point in made for name in ("little", "big", "shadow")}
    mixed, little = rows["busy/tiny", "little"], runs.runs[0].spec.platform.clusters[0]
    seen = [(w.end - w.start, opp_of(w, 0, little, TICK_HZ)) for w in windows.read(runs.runs[0].rundir() / STATS_TABLE)]
    total = sum(ticks for ticks, _ in seen)
    assert {opp.mhz for _, opp in seen} == {450, 850}
    assert mixed["mhz"] == pytest.approx(sum(ticks * opp.mhz for ticks, opp in seen) / total, rel=1e-3)
    assert mixed["mv"] == pytest.approx(sum(ticks * opp.mv for ticks, opp in seen) / total)
    assert mixed["temperature_k"] == pytest.approx(310.15, abs=0.2)
    assert rows["idle/tiny", "little"]["mhz"] == pytest.approx(850, rel=1e-3)
    (shown,) = [line for line in conditions.text(table).splitlines() if line.startswith("| tiny | 37 | little |")]
    assert shown.split("|")[4].strip() == f"{mixed['mhz']:.4g} to 850"
    assert "did not record" not in conditions.text(table, made)
    assert "only the 2 points that recorded them; 1 did not." in conditions.text(table, [*made, "busy/older"])


def test_qemu_has_no_clocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steady_runs.pretend(monkeypatch)
    runs = steady_runs.runs(tmp_path, "energy-validation", {"idle/tiny": [Made("C2")]}, monkeypatch, engine="qemu")
    assert conditions.df_conditions(runs.runs).num_rows == 0
