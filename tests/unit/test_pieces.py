# SPDX-License-Identifier: BSD-3-Clause
"""A result in pieces: what becomes of columns that a table has gained or lost since its first points were published."""

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.errors import UserError
from lull.files import json_file
from lull.results import pieces

PIECE: dict[str, object] = {"artifacts": {}, "engine": {}, "host": {}, "lull": []}


def folder(
    path: Path,
    point: str,
    kernel: object = "k",
    platform: object = "tiny",
    code: object = None,
    **columns: object,
) -> Path:
    """A result of one point with one row."""
    path.mkdir()
    pq.write_table(pa.Table.from_pylist([{"point": point, **columns}]), path / "rows.parquet")
    piece = {**PIECE, "artifacts": {"kernel": kernel}, "points": [point], **({"code": code} if code else {})}
    about = {"command": "lull run x", "platform": platform, "points": {point: {"kernel": kernel}}, "pieces": [piece]}
    json_file.write(path / "manifest.json", about)
    return path


def test_a_new_column_is_null_in_rows_that_were_there(tmp_path: Path) -> None:
    made = folder(tmp_path / "made", "b", writer="alone", time=2.0)
    tables, manifest = pieces.joined(made, folder(tmp_path / "published", "a", time=1.0))
    assert list(manifest["points"]) == ["a", "b"]
    assert tables["rows"].to_pylist() == [
        {"point": "a", "time": 1.0, "writer": None},
        {"point": "b", "time": 2.0, "writer": "alone"},
    ]


@pytest.mark.parametrize("columns", [{}, {"time": 2, "writer": "alone"}], ids=["lost", "of another type"])
def test_a_column_that_is_another_or_gone_is_refused(tmp_path: Path, columns: dict[str, object]) -> None:
    made = folder(tmp_path / "made", "b", **columns)
    with pytest.raises(UserError, match="other columns than what is published"):
        pieces.joined(made, folder(tmp_path / "published", "a", time=1.0))


def test_a_point_stays_while_it_is_made_with_the_same(tmp_path: Path) -> None:
    """Else a check that failed could be tried again until it passes."""
    made = folder(tmp_path / "made", "a", time=2.0)
    tables, manifest = pieces.joined(made, folder(tmp_path / "published", "a", time=1.0))
    assert tables["rows"].to_pylist() == [{"point": "a", "time": 1.0}]
    assert len(manifest["pieces"]) == 1


def test_a_point_of_another_kernel_takes_the_place_of_the_published_one(tmp_path: Path) -> None:
    published = folder(tmp_path / "published", "a", time=1.0)
    both, about = pieces.joined(folder(tmp_path / "b", "b", time=3.0), published)
    pq.write_table(both["rows"], published / "rows.parquet")
    json_file.write(published / "manifest.json", about)
    tables, manifest = pieces.joined(folder(tmp_path / "made", "a", kernel="new", time=2.0), published)
    assert tables["rows"].to_pylist() == [{"point": "b", "time": 3.0}, {"point": "a", "time": 2.0}]
    assert {name: point["kernel"] for name, point in manifest["points"].items()} == {"b": "k", "a": "new"}
    assert [(piece["artifacts"]["kernel"], piece["points"]) for piece in manifest["pieces"]] == [
        ("k", ["b"]),
        ("new", ["a"]),
    ]


def test_a_result_is_of_the_platforms_of_all_its_pieces(tmp_path: Path) -> None:
    published = folder(tmp_path / "published", "a", platform="tiny, tegra-k1", time=1.0)
    _, manifest = pieces.joined(folder(tmp_path / "made", "b", platform="rk3399, tiny", time=2.0), published)
    assert manifest["platform"] == "tiny, tegra-k1, rk3399"


def test_a_row_whose_point_has_no_record_comes_in_again(tmp_path: Path) -> None:
    published = folder(tmp_path / "published", "a", time=1.0)
    orphan = [{"point": "a", "time": 1.0}, {"point": "b", "time": 3.0}]
    pq.write_table(pa.Table.from_pylist(orphan), published / "rows.parquet")
    tables, manifest = pieces.joined(folder(tmp_path / "made", "b", time=4.0), published)
    assert tables["rows"].to_pylist() == [{"point": "a", "time": 1.0}, {"point": "b", "time": 4.0}]
    assert set(manifest["points"]) == {"a", "b"}


def test_a_point_whose_rows_another_code_made_takes_the_place_of_the_published_one(tmp_path: Path) -> None:
    """The runs are the same, and what is read from them is not: the answers of a what-if come from a replay."""
    published = folder(tmp_path / "published", "a", time=1.0)
    newer = folder(tmp_path / "newer", "a", code={"replay": "new"}, time=2.0)
    tables, manifest = pieces.joined(newer, published)
    assert tables["rows"].to_pylist() == [{"point": "a", "time": 2.0}]
    assert [piece["code"] for piece in manifest["pieces"]] == [{"replay": "new"}]
    again, _ = pieces.joined(folder(tmp_path / "again", "a", code={"replay": "new"}, time=3.0), newer)
    assert again["rows"].to_pylist() == [{"point": "a", "time": 2.0}], "no other code"


def test_an_answer_goes_with_each_run_that_it_was_made_of(tmp_path: Path) -> None:
    """An answer about `a` from `b`, of which `b` is made again: else one table has two runs with one name."""
    names = ("a", "b", "c")

    def result(name: str, again: Collection[str], points: Collection[str], time: float) -> Path:
        path = folder(tmp_path / name, "a")
        (path / "rows.parquet").unlink()
        asked = [(one, other) for one in points for other in points if one != other]
        rows = [{"point": one, "recorded": other, "time": time} for one, other in asked]
        means = [{"point": "a", "recorded": "b", "made_of": ["b", "c", "a"], "recorded_value": 1.0, "time": time}]
        numbers = [{"point": one, "recorded_run": other, "recorded": 0.5, "time": time} for one, other in asked]
        for table, own in (("points", rows), ("means", means if len(points) == 3 else []), ("numbers", numbers)):
            if own:
                pq.write_table(pa.Table.from_pylist(own), path / f"{table}.parquet")
        of = [{**PIECE, "artifacts": {"kernel": "k"}, "points": [one for one in points if one not in again]}]
        of += [{**PIECE, "artifacts": {"kernel": "new"}, "points": list(again)}] if again else []
        about = {"command": "lull run x", "platform": "tiny", "points": {one: {} for one in points}, "pieces": of}
        json_file.write(path / "manifest.json", about)
        return path

    published = result("published", (), names, 1.0)
    tables, _ = pieces.joined(result("made", ("c",), names, 2.0), published)
    times = {(row["point"], row["recorded"]): row["time"] for row in tables["points"].to_pylist()}
    assert {asked: time for asked, time in times.items() if "c" not in asked} == {("a", "b"): 1.0, ("b", "a"): 1.0}
    assert [time for asked, time in times.items() if "c" in asked] == [2.0] * 4
    assert len(tables["points"]) == len(tables["numbers"]) == 6
    assert sorted(tables["numbers"]["time"].to_pylist()) == [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    assert tables["means"]["time"].to_pylist() == [2.0], "one of its boots is c"
    alone, _ = pieces.joined(result("part", ("c",), ("b", "c"), 3.0), published)
    assert {(row["point"], row["recorded"]) for row in alone["points"].to_pylist()} == {
        ("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"),
    }, "of a and the earlier c nothing is left"  # fmt: skip
