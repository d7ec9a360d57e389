# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way answers every request, and bursts begin at multiples of the period."""

import json
import sqlite3
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.artifacts import cpio, pages, store
from tests.conftest import Lull

pytestmark = pytest.mark.guest

SHORT = [word for name in ("period_us", "window_us", "settle_us") for word in ("--set", f"{name}=25000")]
"""A tenth of the experiment's times."""
TERMS, MOST_REQUESTS = 3, 100000
"""The words of a query, and the queries of a seed, of `search-server.c`."""


def test_requests_are_answered_in_bursts(lull: Lull, tmp_path: Path) -> None:
    words = [*SHORT, "--set", "rate=500", "--set", "windows=4", "--set", "quota=80"]
    words += [word for points in ("ways/*", "limit/*", "companion/staged") for word in ("--points", points)]
    ran = lull("run", "staged-bursts", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = {row["point"]: row for row in pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()}
    assert len(points) == 9
    for row in points.values():
        assert row["events"] >= 30
        assert "power_w" not in row, "QEMU's time is no timing"
        assert 0 < row["busy"] < 1
        staged = row["way"] == "staged"
        assert (row["wakes"] > 30) == staged
        assert (row["median_us"] > 2000) == (staged or row["way"] == "proxy")


def test_more_words_are_more_work_and_a_limit_of_cpu_time_limits(lull: Lull, tmp_path: Path) -> None:
    """Requests come for 100 ms. With a fifth of a CPU's time some take longer than a period, as they have to wait."""
    words = [*SHORT, "--set", "windows=3", "--set", "rate=500"]
    more_work = ["--points", "terms/*-none", "--points", "ways/none"]
    ran = lull("run", "staged-bursts", "-e", "qemu", *words, *more_work, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert lull("figures", "out").returncode == 0
    points = {row["point"]: row for row in pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()}
    less, usual, more = (points[name]["busy"] for name in ("terms/1-none", "ways/none", "terms/6-none"))
    assert less < usual < more

    ran = lull("run", "staged-bursts", "-e", "qemu", *words, "--set", "quota=20", "--points", "limit/*", "--out",
               "limited")  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert lull("figures", "limited").returncode == 0
    (limited,) = pq.read_table(tmp_path / "limited" / "figures" / "points.parquet").to_pylist()
    assert limited["longest_us"] > 25000 > points["ways/none"]["longest_us"]


def test_an_urgent_request_waits_no_longer_than_its_deadline(lull: Lull, tmp_path: Path) -> None:
    """One request in five is urgent, and has 5 ms. A burst begins every 25 ms. A released request still waits for
    others of its burst, because QEMU's CPUs take turns: half a period is the bound here, for 5 ms and these.

    Without a deadline one urgent request takes longer than that. The seed says when requests come, so this follows from
    the settings: with 0.1 to 2 ms for each request, one after the other, it is 13 ms or more, wherever in these times a
    burst begins. Without bursts no request takes as long.
    """
    words = [*SHORT, "--set", "windows=6", "--set", "rate=500", "--set", "deadline_us=5000", "--set", "one_in=5"]
    ran = lull("run", "staged-bursts", "-e", "qemu", *words, "--points", "deadlines/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = {
        name: pq.read_table(tmp_path / "out" / "figures" / f"{name}.parquet").to_pylist()
        for name in ("points", "urgent")
    }
    early = {row["way"]: row["early"] for row in tables["points"]}
    assert (early["none"], early["staged"]) == (0, 0)
    assert early["heeded"] > 0
    assert early["shorter"] > 0
    urgent = {(row["way"], row["kind"]): row for row in tables["urgent"]}
    assert len(urgent) == 8
    assert urgent["none", "urgent"]["longest_us"] < 12500 < urgent["staged", "urgent"]["longest_us"]
    assert urgent["heeded", "urgent"]["longest_us"] < 12500 < urgent["heeded", "others"]["longest_us"]
    assert urgent["shorter", "others"]["longest_us"] < 12500
    told = json.loads((tmp_path / "out/deadlines/heeded/files/stage.jsonl").read_text())
    assert 0 < told["deadlines"] <= told["wakes"] / 2


def test_a_burst_of_too_few_requests_begins_when_a_bound_ends(lull: Lull, tmp_path: Path) -> None:
    """A burst waits for 20 requests, of which about 15 come in the bound, 50 ms. A burst may be a tick late, 4 ms."""
    words = [*SHORT, "--set", "windows=8", "--set", "rate=300", "--points", "bounds/20"]
    ran = lull("run", "staged-bursts", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert lull("figures", "out").returncode == 0
    (row,) = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    assert 0 < row["early"] <= row["bursts"]
    told = json.loads((tmp_path / "out/bounds/20/files/stage.jsonl").read_text())
    assert 50000 <= told["held_most_us"] <= 54000, "no request misses its bound, and some have to wait for it"
    requests = pq.read_table(tmp_path / "out" / "figures" / "requests.parquet").to_pylist()
    assert max(row["waited_us"] for row in requests) >= 50000


def test_the_best_page_is_the_one_that_sqlite_finds_here(lull: Lull, tmp_path: Path) -> None:
    """The same queries to the image's own database. Pages of the same rank may come in any order."""
    words = [*SHORT, "--set", "windows=2", "--set", "rate=300", "--points", "ways/none"]
    ran = lull("run", "staged-bursts", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    lines = (tmp_path / "out/ways/none/files/requests.jsonl").read_text().splitlines()
    answers = [json.loads(line)["best"] for line in lines]
    image = cpio.unpack((store.build_rootfs().path / "rootfs.cpio").read_bytes())
    (tmp_path / "pages.db").write_bytes(next(entry.data for entry in image if entry.path == pages.PLACE))
    database = sqlite3.connect(tmp_path / "pages.db")
    asked = [own.split() for (own,) in database.execute("SELECT words FROM asked ORDER BY page")]
    assert len(answers) > 10
    for number, answer in enumerate(answers):
        query = " OR ".join(f'"{word}"' for word in asked[_splitmix(MOST_REQUESTS + number) % len(asked)][:TERMS])
        ranked = database.execute("SELECT rowid, rank FROM page WHERE page MATCH ? ORDER BY rank", (query,)).fetchall()
        assert answer in [page for page, rank in ranked if rank == ranked[0][1]]


def _splitmix(seed: int) -> int:
    """The first number that `random.h` draws."""
    mask = 2**64 - 1
    mixed = seed + 0x9E3779B97F4A7C15 & mask
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
    return mixed ^ mixed >> 31
