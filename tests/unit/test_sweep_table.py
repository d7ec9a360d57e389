# SPDX-License-Identifier: BSD-3-Clause
"""The files that a sweep leaves for people and programs."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.errors import UserError
from lull.scenario.folder import HUNG, KEPT, attempt
from lull.scenario.load import load_scenario
from lull.sweep import pending, table
from lull.sweep.asked import SweepAsked
from lull.sweep.expand import Planned, expand, keyed
from lull.sweep.folder import SweepFolder
from tests.unit.test_sweep import FakeEngine

ABOUT = {
    "name": "mine",
    "scenario": "wake-latency",
    "title": "",
    "command": "",
    "engine": "qemu",
    "grid": {},
    "seeds": 1,
}


@pytest.fixture
def engine(tmp_path: Path) -> FakeEngine:
    return FakeEngine(tmp_path / "cache", tmp_path / "log")


@pytest.fixture
def points() -> list[Planned]:
    asked = SweepAsked(
        scenario="wake-latency", points=["states/C3"], grid={"governor": ["menu", "teo"], "count": [5, 6]}
    )
    return keyed(expand(asked, load_scenario("wake-latency"), "qemu", lambda key: key).planned, "kernel")


@pytest.fixture
def folder(tmp_path: Path, points: list[Planned]) -> SweepFolder:
    made = SweepFolder.create(tmp_path / "out", "mine")
    made.record(
        {**ABOUT, "grid": {"governor": ["menu", "teo"], "count": [5, 6]}}, [planned.entry for planned in points]
    )
    return made


def _run(folder: SweepFolder, planned: Planned, engine: FakeEngine, lines: list[object]) -> None:
    engine.leaves = {"events.text": b""}
    attempt(folder.run_of(planned.entry.key), planned.entry.key, planned.spec, engine)
    files = folder.run_of(planned.entry.key) / "files"
    files.mkdir()
    (files / "events.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_row_for_each_point_that_has_finished(folder: SweepFolder, points: list[Planned], engine: FakeEngine) -> None:
    one = {"us": 7, "task": "a", "ok": True, "list": [1]}
    _run(folder, points[0], engine, [one])
    _run(folder, points[2], engine, [{"us": float(number)} for number in range(101)])
    found = table.read(folder.path)
    assert found.missing == tuple(points[number].entry.full_title for number in (1, 3))
    assert found.axes == {"governor": ["menu", "teo"], "count": [5, 6]}
    assert [point.settings for point in found.points] == [
        {"governor": "menu", "count": 5},
        {"governor": "teo", "count": 5},
    ]
    assert found.points[0].files() == ["events.jsonl"]
    assert found.points[0].lines("events.jsonl") == [one]
    assert (found.points[0].ledger, found.points[0].joules()) == (None, {})
    first, second = table.flat(found.points)
    assert (first["governor"], first["count"], first["seed"], first["simulated_s"]) == ("menu", 5, 1, 0.5)
    assert {name: value for name, value in first.items() if name.startswith("events")} == {
        "events:lines": 1,
        "events:us": 7,
    }
    assert {name: value for name, value in second.items() if name.startswith("events")} == {
        "events:lines": 101,
        "events:us:mean": 50,
        "events:us:p50": 50,
        "events:us:p99": 99,
        "events:us:max": 100,
    }
    path = table.write(found)
    assert pq.read_table(path).to_pylist()[1]["events:us:p99"] == 99
    assert pq.read_table(path).to_pylist()[0]["events:us:p99"] is None
    with (folder.path / "table.csv").open() as file:
        assert [row["governor"] for row in csv.DictReader(file)] == ["menu", "teo"]


def test_what_a_guest_prints_counts_if_all_of_it_is_json(
    folder: SweepFolder, points: list[Planned], engine: FakeEngine
) -> None:
    _run(folder, points[0], engine, [])
    (point,) = table.read(folder.path).points
    assert point.files() == ["events.jsonl"]
    (point.run.path / "stdout").write_text('{"misses":3}\n')
    assert point.files() == ["events.jsonl", "stdout"]
    assert table.flat([point])[0]["stdout:misses"] == 3


def test_an_axis_of_numbers_and_words_is_text(folder: SweepFolder, points: list[Planned], engine: FakeEngine) -> None:
    for planned, value in zip(points[:2], (5, "all"), strict=True):
        _run(folder, planned, engine, [])
        planned.entry.settings["count"] = value  # type: ignore[index]
    folder.record(ABOUT, [planned.entry for planned in points])
    path = table.write(table.read(folder.path))
    assert pq.read_table(path)["count"].to_pylist() == ["5", "all"]


def test_a_run_of_other_settings_is_not_taken_for_the_points(
    folder: SweepFolder, points: list[Planned], engine: FakeEngine
) -> None:
    _run(folder, points[0], engine, [])
    folder.run_of(points[0].entry.key).rename(folder.run_of(points[1].entry.key))
    assert len(table.read(folder.path).missing) == 4


def test_only_runs_of_the_points_own_settings_are_not_missing(
    folder: SweepFolder, points: list[Planned], engine: FakeEngine
) -> None:
    """A sweep that is started again finds its runs by their folders, and looks into each."""
    for planned in points[:2]:
        _run(folder, planned, engine, [])
    folder.run_of(points[1].entry.key).rename(folder.run_of(points[2].entry.key))
    known = pending.known(folder, points, again=False)
    assert {key: done.how for key, done in known.items()} == {points[0].entry.key: KEPT}
    assert pending.missing(points, known) == points[1:]
    assert pending.missing([*points, points[3]], known) == points[1:], "two points may be one run"


def test_a_point_that_hung_is_missing_only_to_who_asks_again(
    folder: SweepFolder, points: list[Planned], engine: FakeEngine
) -> None:
    key = points[0].entry.key
    engine.limit = f"points/{key}"
    attempt(folder.run_of(key), key, points[0].spec, engine)
    assert [done.how for done in pending.known(folder, points, again=False).values()] == [HUNG]
    assert pending.known(folder, points, again=True) == {}


def test_folders_that_are_no_sweeps(tmp_path: Path, folder: SweepFolder) -> None:
    with pytest.raises(UserError, match=r"sweep.json is missing\); name one made by `lull sweep`"):
        table.read(tmp_path)
    with pytest.raises(UserError, match="out: has the runs of mine; choose another --out"):
        SweepFolder.create(folder.path, "other")
    record = folder.read()
    others: dict[str, dict[str, object]] = {
        "`name`: Field required": {"points": []},
        "`points`: Input should be a valid array": {**record, "points": 1},
        r"`points\[0\]\.name`: Field required": {**record, "points": [{"what": 1}]},
    }
    for said, other in others.items():
        (folder.path / "sweep.json").write_text(json.dumps(other, default=vars))
        with pytest.raises(UserError, match=rf"sweep.json: {said}; run the sweep again"):
            folder.read()


def test_columns_say_what_they_are(folder: SweepFolder, points: list[Planned], engine: FakeEngine) -> None:
    _run(folder, points[0], engine, [{"wait_us": 1}, {"wait_us": 2}])
    schema = pq.read_schema(table.write(table.read(folder.path)))
    told = {
        field.name: {key.decode(): value.decode() for key, value in (field.metadata or {}).items()} for field in schema
    }
    assert told["events:wait_us:p99"] == {
        "unit": "µs",
        "description": "99th percentile the guest's `wait_us` in events",
    }
    assert told["simulated_s"]["unit"] == "s"
    assert told["governor"] == {"description": "set by the sweep's grid"}
    assert all("description" in metadata for metadata in told.values())
    assert json.loads(schema.metadata[b"lull"])["name"] == "mine"
    assert str(schema.field("instructions").type) != "null"  # QEMU counts none
