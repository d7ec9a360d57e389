# SPDX-License-Identifier: BSD-3-Clause
import pytest

from lull.cli.options import period
from lull.errors import UserError
from lull.runspec import Limits
from lull.specs import load_spec


@pytest.mark.parametrize(("text", "seconds"), [("1ms", 1e-3), ("250us", 250e-6), ("0.5s", 0.5), (None, None)])
def test_a_period_has_a_unit(text: str | None, seconds: float | None) -> None:
    assert period(text) == (seconds if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize("text", ["1", "ms", "0ms", "0.5us", "-1ms", "1 ms", "1e3s", "nan s", "", "1000000s"])
def test_another_period_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=rf"^--stats-period {text}: not a time from 1us to 900000s; write one as 1ms"):
        period(text)


def test_there_is_none_on_qemu() -> None:
    with pytest.raises(UserError, match=r"^--stats-period: QEMU has no statistics; use --engine gem5"):
        load_spec("tiny", [], "true", engine="qemu", stats_period_s=1e-3, limits=Limits(simulated_s=1, wall_s=1))
