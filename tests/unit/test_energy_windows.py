# SPDX-License-Identifier: BSD-3-Clause
"""gem5's dumps as windows of time."""

from pathlib import Path

import pytest

from lull.energy import residency, windows
from lull.errors import UserError
from tests import energy_runs


def _dump(start: int, end: int, **values: float) -> dict[str, float]:
    return {"finalTick": float(end), "simTicks": float(end - start), **values}


def _read(tmp_path: Path, *dumps: dict[str, float]) -> list[windows.Window]:
    path = tmp_path / "stats.parquet"
    energy_runs.statistics(path, dumps)
    return list(windows.read(path))


def test_a_window_holds_what_was_counted_in_it(tmp_path: Path) -> None:
    first, second = _read(tmp_path, _dump(5, 10, a=1.0), _dump(10, 30, a=2.0, b=3.0))
    assert (first.number, first.start, first.end, dict(first)) == (0, 5, 10, _dump(5, 10, a=1.0))
    assert (second.start, second.end, second["b"]) == (10, 30, 3.0)
    assert "b" not in first
    with pytest.raises(KeyError):
        first["b"]


def test_rows_of_a_window_may_come_in_several_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "BATCH_ROWS", 3)
    found = _read(tmp_path, _dump(0, 1, a=1.0, b=2.0), _dump(1, 2, a=3.0, b=4.0), _dump(2, 3, a=5.0, b=6.0))
    assert [(window["a"], window["b"]) for window in found] == [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]


def test_a_dump_without_a_reset_becomes_what_was_counted_since_the_one_before(tmp_path: Path) -> None:
    clock = "system.clk_domain.clock"
    found = _read(
        tmp_path,
        {**_dump(0, 10, a=4.0), clock: 7.0},
        {**_dump(0, 30, a=9.0, b=2.0), clock: 7.0},
        {**_dump(0, 35, a=9.5, b=2.0), clock: 7.0},
        {**_dump(35, 40, a=1.0), clock: 8.0},
    )
    assert [(window.start, window.end) for window in found] == [(0, 10), (10, 30), (30, 35), (35, 40)]
    assert [window["a"] for window in found] == [4.0, 5.0, 0.5, 1.0]
    assert [window.get("b") for window in found] == [None, 2.0, 0.0, None]
    assert [window[clock] for window in found] == [7.0, 7.0, 7.0, 8.0]


def test_two_dumps_at_one_tick_are_one_window(tmp_path: Path) -> None:
    found = _read(tmp_path, _dump(0, 10, a=1.0), _dump(10, 10, a=0.0), _dump(10, 20, a=2.0))
    assert [(window.number, window.start) for window in found] == [(0, 0), (2, 10)]


def test_statistics_that_were_reset_without_a_dump_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="window 1 begins at tick 12, but the one before it ends at 10"):
        _read(tmp_path, _dump(0, 10), _dump(12, 20))


def test_a_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stats.parquet"
    energy_runs.statistics(path, [_dump(0, 10, a=1.0)])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match="cut off, or not a table of statistics"):
        list(windows.read(path))


def test_a_window_without_its_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="window 0 has no statistic simTicks"):
        _read(tmp_path, {"finalTick": 1.0})


PERIOD = 1000.0


def _restored(tmp_path: Path, on: float, gated: float, cycles: float, restored: bool = True) -> residency.Residency:
    state = "cpu.power_state.pwrStateResidencyTicks::"
    (window,) = _read(
        tmp_path, _dump(0, 10_000, **{f"{state}ON": on, f"{state}CLK_GATED": gated, "cpu.numCycles": cycles})
    )
    return residency.residency(window, "cpu", PERIOD, restored)


@pytest.mark.parametrize(
    ("on", "gated", "cycles", "expected"),
    [
        (7000, 4000, 6, (6000, 4000)),
        (6000, 5000, 6, (6000, 4000)),
        (500, 10_500, 0, (500, 9500)),
        (11_000, 0, 9, (10_000, 0)),
    ],
)
def test_a_restored_cpus_time_before_the_checkpoint_is_taken_off(
    tmp_path: Path, on: float, gated: float, cycles: float, expected: tuple[float, float]
) -> None:
    """It is in the state that the CPU was in at the restore, which its count of cycles tells."""
    found = _restored(tmp_path, on, gated, cycles)
    assert (found.on, found.gated, found.off) == (*expected, 0.0)


def test_a_surplus_in_a_later_window_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="window 0, cpu: power states sum to 11000 of 10000 ticks"):
        _restored(tmp_path, 7000, 4000, 6, restored=False)


def test_less_than_the_window_is_refused_after_a_restore_too(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="power states sum to 9000 of 10000 ticks"):
        _restored(tmp_path, 5000, 4000, 5)
