# SPDX-License-Identifier: BSD-3-Clause
"""The progress that a sweep tells, and the time left that it tells, by a clock of the test's own."""

import json
from pathlib import Path

import pytest

from lull.host.progress import Progress
from lull.scenario.folder import Done
from lull.sweep.folder import SweepFolder, SweepPoint
from lull.sweep.job import RUNNING
from lull.sweep.tally import Tally

SHORT = [SweepPoint("states/C1", "states", {}, {"governor": "menu"}, seed, "", f"short{seed}") for seed in (1, 2)]
LONG = [SweepPoint("states/C4", "states", {}, {"governor": "menu"}, seed, "", f"long{seed}") for seed in (1, 2)]


class Sweep:
    def __init__(self, path: Path, entries: list[SweepPoint], boots: list[Path] | None = None) -> None:
        self.folder, self.state = SweepFolder(path), path / "state"
        self.state.mkdir(parents=True)
        self.entries, self.boots = entries, boots or []

    def tally(self, known: list[tuple[SweepPoint, float]] | None = None) -> Tally:
        return Tally(self.folder, self.state, self.entries, self.boots, known or [])

    def tell(self, done: Done) -> None:
        with (self.state / "job.jsonl").open("a") as file:
            file.write(json.dumps(vars(done)) + "\n")

    def begin(self, entry: SweepPoint, simulated_s: float = 0.0) -> None:
        self.tell(Done(entry.key, RUNNING))
        self.so_far(entry, simulated_s)

    def so_far(self, entry: SweepPoint, simulated_s: float) -> None:
        run = self.folder.run_of(entry.key)
        run.mkdir(parents=True, exist_ok=True)
        (run / "progress").write_text(f"{simulated_s} {simulated_s * 4e6:.0f}")

    def end(self, entry: SweepPoint, simulated_s: float) -> None:
        self.tell(Done(entry.key, "ran", "", simulated_s, 1.0, round(simulated_s * 4e6)))


def test_the_last_long_point_is_not_half_of_the_work(tmp_path: Path) -> None:
    """One point of 10 simulated seconds has ended in 100 s, and another one like it has 8 behind it."""
    sweep = Sweep(tmp_path, LONG)
    tally = sweep.tally()
    sweep.begin(LONG[0])
    tally.look(0.0)
    assert (tally.share(), tally.left_s(1)) == (None, None)  # nobody knows yet how long one takes
    sweep.end(LONG[0], 10.0)
    sweep.begin(LONG[1])
    tally.look(100.0)
    assert tally.share() == pytest.approx(0.5)
    assert tally.left_s(1) == pytest.approx(100.0)
    for so_far, now in ((4.0, 140.0), (8.0, 180.0)):
        sweep.so_far(LONG[1], so_far)
        tally.look(now)
        assert tally.share() == pytest.approx((10 + so_far) / 20)
        assert tally.left_s(1) == pytest.approx(10 * (10 - so_far))
    sweep.so_far(LONG[1], 12.0)  # longer than the one before
    tally.look(220.0)
    assert tally.left_s(1) == 0.0


def test_points_are_expected_to_take_what_those_like_them_took(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path, [SHORT[1], LONG[1]])
    tally = sweep.tally([(SHORT[0], 1.0), (LONG[0], 9.0)])
    sweep.begin(SHORT[1])
    sweep.begin(LONG[1])
    tally.look(0.0)
    assert tally.share() == 0.0
    sweep.end(SHORT[1], 1.0)
    sweep.so_far(LONG[1], 1.0)
    tally.look(10.0)
    assert tally.share() == pytest.approx(2 / 10)
    # Both ran for 10 s and simulated 2 s: 0.1 s each in a second. No number of processors makes one run faster.
    assert tally.left_s(1) == tally.left_s(8) == pytest.approx(80.0)


def test_several_lanes_share_what_is_to_come(tmp_path: Path) -> None:
    entries = [SweepPoint("states/C1", "states", {}, {}, seed, "", f"run{seed}") for seed in range(9)]
    sweep = Sweep(tmp_path, entries)
    tally = sweep.tally()
    sweep.begin(entries[0])
    tally.look(0.0)
    sweep.end(entries[0], 1.0)
    tally.look(10.0)
    assert [tally.left_s(lanes) for lanes in (1, 2, 4, 100)] == pytest.approx([80.0, 40.0, 20.0, 10.0])


def test_what_was_there_before_is_no_speed(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path, LONG)
    tally = sweep.tally([(SHORT[0], 1000.0)])
    tally.look(0.0)
    assert tally.left_s(2) is None
    sweep.tell(Done(LONG[0].key, "kept", "", 10.0))
    sweep.begin(LONG[1])
    tally.look(1.0)
    assert tally.left_s(2) is None
    sweep.so_far(LONG[1], 5.0)
    tally.look(6.0)
    assert (tally.share(), tally.left_s(2)) == pytest.approx((0.5, 5.0))


def test_a_line_tells_states_and_what_was_simulated(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path, [*SHORT, *LONG], [tmp_path / "booted"])
    tally = sweep.tally()
    tally.look(100.0)
    assert (tally.ended, tally.line(101.0)) == (0, "0 of 4 done, 0 running, 0 failed, 1 to boot first")
    (tmp_path / "booted").touch()
    sweep.end(SHORT[0], 0.5)
    sweep.begin(SHORT[1], 0.25)
    sweep.tell(Done(LONG[0].key, "failed", "why"))
    tally.look(200.0)
    assert (tally.ended, tally.line(202.0)) == (2, "1 of 4 done, 1 running, 1 failed, 0.750 s simulated, 1.50 MIPS")
    assert tally.states[LONG[0].key].note == "why"


def test_progress_takes_a_share_and_a_rest_that_are_known() -> None:
    progress = Progress("sweep")
    assert progress.line(10.0) == "sweep · 0:10"
    progress.share, progress.left_s = 0.25, 90.0
    assert progress.line(10.0) == "sweep · 0:10 · 25%, about 1:30 left"
    progress.left_s = None
    assert progress.line(10.0) == "sweep · 0:10 · 25%, about 0:30 left"
    progress.share = 1.0
    assert "99%" in progress.line(10.0)
