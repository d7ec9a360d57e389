# SPDX-License-Identifier: BSD-3-Clause
"""Speed, power and energy beside EAS, of made windows: whole intervals decide, and all three have their paper."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from lull.figures import throughput, waiting
from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull_experiments.waeas_parmi import analysis


def tables(boot: int = 0, **ways: Sequence[tuple[float, float]]) -> dict[str, pa.Table]:
    """Of each way units a second and watts of its windows."""
    windows: list[dict[str, Any]] = []
    for way, own in ways.items():
        name = f"boots/{boot}-sha1-{way}" if boot else f"kernels/sha1-{way}"
        place = {"point": name, "group": "kernels", "way": way, "kernel": "sha1", "threads": 4,
                 "governor": "menu", "boot": boot}  # fmt: skip
        windows += [
            {**place, "window": number, "seconds": 0.01, "messages": 1, "per_s": per_s, "power_w": 1.0, "cpus_w": watts}
            for number, (per_s, watts) in enumerate(own)
        ]
    table = pa.Table.from_pylist(windows)
    points = [
        {
            **{name: own[0][name] for name in ("point", "group", "way", "kernel", "threads", "governor", "boot")},
            **waiting.means(own, ("per_s", "power_w", "cpus_w")), "drift": throughput._drift(own), "cpus_uj": 1.0,
        }
        for own in waiting.by_point(table).values()
    ]  # fmt: skip
    return {"windows": table, "points": pa.Table.from_pylist(points)}


EAS = [(1000.0, 1.0), (1002.0, 1.01), (998.0, 0.99), (1000.0, 1.0)]


def test_speed_power_and_energy_are_beside_eas() -> None:
    found = throughput.df_ratios(**tables(eas=EAS, waeas=[(900.0, 0.45), (900.0, 0.45), (900.0, 0.45)]))
    (row,) = found.to_pylist()
    assert (row["per_s"], row["cpus_w"], row["cpus_uj"]) == pytest.approx((-0.1, -0.55, -0.5), abs=1e-4)
    assert row["per_s_low"] < row["per_s"] < row["per_s_high"] < 0
    assert row["other"] == "kernels/sha1-eas"


def test_the_energy_of_a_unit_is_that_of_all_windows_over_their_units() -> None:
    """300 units take 3 J, and with EAS 0.001 J each. The mean of the windows' energies of a unit would be 0.0125 J."""
    found = throughput.df_ratios(**tables(eas=EAS, waeas=[(100.0, 2.0), (200.0, 1.0)]))
    (row,) = found.to_pylist()
    assert row["cpus_uj"] == pytest.approx(0.01 / 0.001 - 1)
    assert row["cpus_uj_low"] < row["cpus_uj"] < row["cpus_uj_high"]
    steady = throughput.df_ratios(**tables(eas=EAS, waeas=[(100.0, 0.1), (200.0, 0.2)])).to_pylist()[0]
    assert steady["cpus_uj_high"] - steady["cpus_uj_low"] < 0.05, "each unit takes as much, however many there are"


def test_the_clocks_of_windows_are_told_and_older_points_have_none() -> None:
    made = tables(eas=EAS, waeas=EAS)
    points = made["points"].append_column("little_mhz", pa.array([None, 1416.2]))
    names = points["point"].to_pylist()
    heading, _, older, newer = throughput.conclude({**made, "points": points}, names).summary.splitlines()[4:8]
    assert heading.endswith("| little, MHz |")
    assert (older.split(" | ")[-1], newer.split(" | ")[-1]) == ("- |", "1416 |")


@pytest.mark.parametrize(
    ("waeas", "passed"),
    [
        ([(1001.0, 1.0), (1003.0, 1.0), (999.0, 1.0), (1001.0, 1.0)], True),
        ([(980.0, 1.0), (981.0, 1.0), (979.0, 1.0), (980.0, 1.0)], False),
        ([(1200.0, 1.0), (800.0, 1.0), (1100.0, 1.0), (1000.0, 1.0)], False),
        ([(1100.0, 1.0)], False),
    ],
    ids=["as fast", "2 % slower", "nothing shown", "one window"],
)
def test_the_goal_is_reached_by_the_whole_interval(waeas: list[tuple[float, float]], passed: bool) -> None:
    (check,) = throughput.conclude(tables(eas=EAS, waeas=waeas), []).checks
    assert check.passed == passed


def test_a_machine_that_has_not_settled_drifts() -> None:
    drifts = tables(eas=[(1000.0, 1.0), (1000.0, 1.0), (1100.0, 1.0), (1300.0, 1.0)])["points"]["drift"].to_pylist()
    assert drifts == pytest.approx([0.2])


def test_boots_are_compared_each_with_its_own_eas() -> None:
    made = [
        tables(eas=EAS, waeas=[(1100.0, 1.0), (1100.0, 1.0)]),
        tables(1, eas=[(500.0, 1.0), (500.0, 1.0)], waeas=[(650.0, 1.0), (650.0, 1.0)]),
    ]
    both = {name: pa.concat_tables([one[name] for one in made]) for name in made[0]}
    found = throughput.conclude(both, [])
    (row,) = found.tables["boots"].to_pylist()
    assert (row["way"], row["kernel"], row["boots"]) == ("waeas", "sha1", 2)
    assert (row["per_s"], row["per_s_least"], row["per_s_most"]) == pytest.approx((0.2, 0.1, 0.3))
    assert "## Beside EAS, over boots, %" in found.summary
    assert "boots" not in throughput.conclude(made[0], []).tables


def test_the_paper_has_speed_and_power() -> None:
    made = throughput.conclude(tables(eas=EAS, waeas=[(900.0, 1.2), (900.0, 1.2)]), [])
    stored = Stored(Origin("gem5", "24", "detailed", "rk3399"), made.tables)
    said = analysis.against(stored)
    assert [(each.here, each.published) for each in said] == [("-10", "-13.87"), ("-20", "-10.16")]
    (drawing,) = analysis.draw(stored)
    assert len(drawing.figure.axes) == 2


def test_without_eas_there_is_nothing_beside() -> None:
    made = throughput.conclude(tables(waeas=EAS), [])
    assert made.checks == []
    assert "ratios" not in made.tables


def test_messages_between_two_stamps_are_spread_evenly() -> None:
    stamps = [(100.0, 16), (200.0, 16), (400.0, 16)]
    assert throughput.done_in(stamps, 100, 100, 3) == pytest.approx([16, 8, 8])
    assert throughput.done_in(stamps, 0, 50, 2) == pytest.approx([8, 8]), "from the beginning of the load"
    assert throughput.done_in(stamps, 400, 100, 2) == pytest.approx([8, 8]), "as before the last stamp"
    assert throughput.done_in([], 0, 100, 2) == [0, 0]
