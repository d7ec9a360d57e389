# SPDX-License-Identifier: BSD-3-Clause
"""A summary says which rows compare points that were made with different kernels."""

from typing import Any

import pyarrow as pa

from lull.results import mixed


def about(*pieces: tuple[str, list[str]]) -> dict[str, Any]:
    return {"pieces": [{"artifacts": {"kernel": kernel}, "points": points} for kernel, points in pieces]}


def savings(*rows: tuple[str, str | None]) -> dict[str, pa.Table]:
    points, others = zip(*rows, strict=True)
    return {"savings": pa.table({"point": points, "other": pa.array(others, pa.string()), "watt": [1.0] * len(rows)})}


def test_one_kernel_needs_no_words() -> None:
    assert mixed.text(savings(("a/1", "a/2")), about(("old", ["a/1", "a/2"]))) == ""
    assert mixed.text(savings(("a/1", "a/2")), about(("old", ["a/1"]), ("old", ["a/2"]))) == ""
    assert mixed.text({}, {"artifacts": {"kernel": "old"}}) == "", "an older manifest has no pieces"


def test_rows_of_one_kernel_each_are_no_fault() -> None:
    text = mixed.text(savings(("a/1", "a/2"), ("b/1", None)), about(("0123456789", ["a/1", "a/2"]), ("new", ["b/1"])))
    assert "| 01234567 | a: 2 |" in text
    assert "| new | b: 1 |" in text
    assert "No row of a table compares" in text


def test_rows_that_compare_two_kernels_are_named() -> None:
    rows = [(f"a/{number}", "b/none") for number in range(6)]
    made = about(("old", [point for point, _ in rows]), ("new", ["b/none"]))
    text = mixed.text(savings(*rows, ("a/0", "a/1")), made)
    assert "The table `savings` compares" in text
    assert "a/0 with b/none, a/1 with b/none, a/2 with b/none, a/3 with b/none, and 2 more." in text
