# SPDX-License-Identifier: BSD-3-Clause
"""How predictions of made requests converge: by how many of them are too long, and by how much."""

import pyarrow as pa

from lull_experiments.wake_model import analysis


def test_predictions_that_are_all_too_long_show() -> None:
    rows = [
        {"group": "sata", "write": False, "before": before, "took_us": 100.0, "expected_us": expected}
        for before, expected in enumerate([None] * 4 + [110.0] * 16 + [104.0] * 12 + [99.0, 102.0, 101.0])
    ]
    table = analysis.df_convergence(pa.Table.from_pylist(rows)).to_pylist()
    assert [(row["first"], row["last"], row["predicted"], row["too_long"]) for row in table] == [
        (0, 3, 0, 0), (4, 7, 4, 4), (8, 19, 12, 12), (20, 31, 12, 12), (32, 63, 3, 2),
    ]  # fmt: skip
    assert table[0]["off"] is None
    assert [round(row["longer"], 3) for row in table[1:]] == [0.1, 0.1, 0.04, 0.01]
    assert [round(row["off"], 3) for row in table[1:]] == [0.1, 0.1, 0.04, 0.01]
