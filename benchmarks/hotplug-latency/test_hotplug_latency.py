# SPDX-License-Identifier: BSD-3-Clause
"""The paper's factor is judged by the paper's own ends of the two times."""

import pyarrow as pa
import pytest

from lull_experiments.hotplug_latency import analysis


@pytest.mark.parametrize(("direction", "measure"), [("out", "asleep_us"), ("in", "write_us")])
def test_the_factor_is_judged_where_the_papers_time_ends(direction: str, measure: str) -> None:
    def passed(others: str) -> list[bool]:
        times = {
            "conventional": {"write_us": 1e5, "asleep_us": 1e5},
            "pseudo": {"write_us": 1.0, "asleep_us": 1.0} | {others: 1e4},
        }
        rows = [
            {
                "way": way, "direction": direction, "threads": analysis.MOST_THREADS, "priority": 0,
                "cpufreq": "performance", "group": "threads", **own,
            }
            for way, own in times.items()
        ]  # fmt: skip
        table = analysis.df_ratios(pa.Table.from_pylist(rows))
        return [check.passed for check in analysis._ratio_checks(table)]

    (other,) = set(analysis.MEASURES) - {measure}
    assert passed(other) == [True]
    assert passed(measure) == [False]
