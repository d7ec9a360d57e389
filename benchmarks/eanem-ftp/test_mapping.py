# SPDX-License-Identifier: BSD-3-Clause
"""Algorithm 2 in C, beside the same in Python; and what is no model."""

import math
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

ROOM, SAVES = 0.8, 0.1


@dataclass(frozen=True)
class ModelCluster:
    name: str
    cpus: int
    alpha: float
    beta: float
    tau_us: float
    watts: float
    theta: float
    opps: tuple[tuple[int, int], ...]

    def need(self, packets: float) -> float:
        return max((packets - self.beta) / self.alpha, 0.0)

    def load(self, mhz: int, packets: float) -> float:
        return self.need(packets) / (mhz / 1e3) + self.tau_us / 1e6 * packets

    def power(self, mhz: int, mv: int, load: float) -> float:
        return self.watts * load * (mv / 1e3) ** 2 * mhz / 1e3 + self.theta * mv / 1e3

    def text(self, first: int) -> str:
        words = (self.name, first, self.cpus, self.alpha, self.beta, self.tau_us, self.watts, self.theta)
        return "".join(
            ["cluster ", " ".join(map(str, words)), "\n", *(f"opp {self.name} {mhz} {mv}\n" for mhz, mv in self.opps)]
        )


LITTLE = ModelCluster("little", 4, 60e3, 100, 0, 0.09, 0.05, ((400, 900), (800, 1100), (1400, 1275)))
BIG = ModelCluster("big", 4, 150e3, 200, 0, 0.31, 0.15, ((400, 900), (1000, 1000), (2000, 1312)))
MEASURED = replace(LITTLE, alpha=190e3, beta=-6800, tau_us=30.8), replace(BIG, alpha=84e3, beta=-1200, tau_us=7.2)
"""Like results/eanem-packets: most of a little core's time is the same at each clock."""
PACKETS = (1, 500, 3000, 8000, 20e3, 60e3, 100e3, 150e3, 240e3, 500e3, 900e3, 200)


@pytest.fixture(scope="module")
def program(native: Path) -> Path:
    return native / "mapping-print"


def said(program: Path, folder: Path, model: str, *packets: float) -> list[str]:
    file = folder / "model"
    file.write_text(model)
    ran = subprocess.run([program, file, str(ROOM), *map(repr, packets)], text=True, capture_output=True, check=False)
    assert ran.stderr == ""
    return ran.stdout.splitlines()


def chosen(little: ModelCluster, big: ModelCluster, packets: float, limit: float) -> tuple[str, int, int, float] | None:
    """Every mapping that suffices; of those that need the least power, the one that the paper's order finds first."""
    best: tuple[str, int, int, float] | None = None
    for own, other in ((big, little), (little, big)):
        if own is little and own.need(packets) > limit:
            continue
        for cores in range(1, own.cpus + 1):
            enough = [opp for opp in own.opps if own.load(opp[0], packets) <= cores * ROOM]
            if enough:
                mhz, mv = enough[0]
                watts = own.power(mhz, mv, own.load(mhz, packets)) + other.power(*other.opps[0], 0)
                if best is None or watts < best[3] * (1 - 1e-12):
                    best = (own.name, cores, mhz, watts)
    return best


@pytest.mark.parametrize("limit", [0.5, 2.8, 4.5])
@pytest.mark.parametrize(("little", "big"), [(LITTLE, BIG), MEASURED])
def test_it_is_the_mapping_with_the_least_power(
    program: Path, tmp_path: Path, little: ModelCluster, big: ModelCluster, limit: float
) -> None:
    lines = said(program, tmp_path, little.text(0) + big.text(4) + f"limit {limit}\n", *PACKETS)
    for packets, line in zip(PACKETS, lines, strict=True):
        enough, name, cores, mhz, watts, _ = line.split()
        expected = chosen(little, big, packets, limit)
        if expected is None:
            assert (enough, name, cores, mhz) == ("0", "big", "4", "2000"), packets
            continue
        assert (enough, name, int(cores), int(mhz)) == ("1", *expected[:3]), packets
        assert math.isclose(float(watts), expected[3], rel_tol=1e-6)


def test_little_savings_are_not_worth_it_and_too_little_is_mended(program: Path, tmp_path: Path) -> None:
    lines = said(program, tmp_path, LITTLE.text(0) + BIG.text(4), 20e3, 21e3, 19e3, 800e3, 20e3)
    stays = [line.split()[-1] for line in lines]
    assert stays == ["0", "1", "1", "0", "0"]


def test_a_time_that_no_clock_shortens_takes_cores_and_no_clock(program: Path, tmp_path: Path) -> None:
    """Packets of 60 µs at any clock, beside 10000 cycles. The big cluster would need too much power."""
    slow, dear = replace(LITTLE, alpha=100e3, beta=0, tau_us=60), replace(BIG, watts=100.0)
    lines = said(program, tmp_path, slow.text(0) + dear.text(4), 10e3, 40e3, 60e3)
    first, second, third = (line.split()[:4] for line in lines)
    assert first == ["1", "little", "2", "400"], "one core at 800 MHz would suffice, too, for more power"
    assert second == ["1", "little", "4", "800"], "2.4 CPUs for the time, and 0.8 are left for 0.4 load times GHz"
    assert third[:2] == ["1", "big"], "3.6 CPUs for the time alone, and no clock makes them fewer"


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("", 1),
        ("# nothing\n", 2),
        ("cluster little 0 4 1 1 1 1\n", 1),
        ("cluster little 0 4 1 1 1 1 1 1\n", 1),
        ("cluster little 0 0 1 1 1 1 1\n", 1),
        ("cluster little 64 1 1 1 1 1 1\n", 1),
        ("cluster little 63 2 1 1 1 1 1\n", 1),
        ("cluster little 63 64 1 1 1 1 1\n", 1),
        ("cluster little 1 4294967295 1 1 1 1 1\n", 1),
        ("cluster little 0 4 -1 1 1 1 1\n", 1),
        ("cluster little 0 4 nan 1 1 1 1\n", 1),
        ("cluster little 0 4 1 1 -1 1 1\n", 1),
        ("cluster little 0 4 1 1 inf 1 1\n", 1),
        ("cluster little 0 4 1 1 slow 1 1\n", 1),
        (LITTLE.text(0) + "opp little 1400 1000\n", 5),
        (LITTLE.text(0) + "opp medium 100 1000\n", 5),
        (LITTLE.text(0) + LITTLE.text(4), 5),
        (LITTLE.text(0) + BIG.text(4) + "limit -1\n", 9),
        (LITTLE.text(0) + BIG.text(4) + "limit 1 2\n", 9),
        (LITTLE.text(0) + BIG.text(4) + "speed 1\n", 9),
        (LITTLE.text(0) + BIG.text(4) + "speed medium 1\n", 9),
        (LITTLE.text(0) + BIG.text(4) + "speed big 0\n", 9),
        (LITTLE.text(0) + BIG.text(4) + "speed big 1 1\n", 9),
        (LITTLE.text(0), 5),
        (LITTLE.text(0) + "cluster big 4 4 1 1 0 1 1\n", 6),
    ],
)
def test_a_line_that_is_wrong_is_named(program: Path, tmp_path: Path, model: str, line: int) -> None:
    assert said(program, tmp_path, model, 1000) == [f"line {line}"]


def test_a_cluster_may_end_at_the_last_cpu(program: Path, tmp_path: Path) -> None:
    assert said(program, tmp_path, LITTLE.text(0) + BIG.text(60), 1000)[0].startswith("1 little")
