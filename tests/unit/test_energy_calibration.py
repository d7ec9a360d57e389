# SPDX-License-Identifier: BSD-3-Clause
"""The factors are what published figures make of the tables, and the page says what they come to."""

import pytest

from lull.energy import busy, calibration, em, events, published, tables, technology, validation
from lull.errors import UserError
from lull.platform.cores import list_cores, load_core
from lull.platform.load import load_platform

FIT = calibration.fit()
FITTED = sorted((core, kind) for core, kinds in FIT.items() for kind in kinds)


@pytest.mark.parametrize(("core", "kind"), FITTED)
def test_stated_factors_are_the_fitted_ones(core: str, kind: str) -> None:
    assert getattr(calibration.factors(core), kind) == pytest.approx(FIT[core][kind], rel=0.005)


def test_every_core_has_factors_and_activity() -> None:
    for core in list_cores():
        assert calibration.factors(core).source
        counts = busy.per_cycle(core)
        assert counts[events.CYCLES] == 1
        assert set(counts) == set(events.core_events(events.components(load_core(core))))


def test_both_methods_share_what_is_assumed_of_the_shadow_core() -> None:
    """Nobody publishes its power: McPAT's factor is what makes it the coefficient that the energy model uses."""
    platform = load_platform("tegra-k1")
    cluster = next(own for own in platform.resolved_clusters() if platform.role(own) == "shadow")
    table = tables.load(platform, cluster)
    ratios = [
        em.power_w(cluster, opp) / calibration.busy_watts(cluster.core, table.at(opp.mhz)) for opp in cluster.opps.table
    ]
    assert calibration.factors(cluster.core).dynamic == pytest.approx(sum(ratios) / len(ratios), rel=0.005)


def test_what_is_not_fitted_says_what_is_assumed() -> None:
    for core in list_cores():
        for kind in ("dynamic", "static"):
            source = calibration.factors(core).source
            assert (core, kind) in FITTED or source.startswith("assumed") or f"{kind} assumed: " in source


def test_mean_error_is_within_the_target() -> None:
    figures = [*validation.dynamic(), *validation.static()]
    assert len(figures) > 50
    assert validation.mean_error(figures) <= 0.15
    assert validation.mean_error(validation.dynamic()) <= 0.10
    assert validation.mean_error(figures, lambda row: row.raw_error) > 2 * validation.mean_error(figures)


def test_the_page_is_what_the_command_would_write() -> None:
    assert validation.PAGE.read_text(encoding="utf-8") == validation.page(), "run `lull energy validation`"


def test_what_prose_quotes_of_the_models_is_what_the_notes_say() -> None:
    """The notes' table of the Tegra K1 beside NVIDIA's kernel, and the tenth of a memory controller's peak."""
    tables_ = validation.quotable()
    leaks = {
        (row["platform"], row["mhz"]): row["whole_w"] for row in tables_["cluster-leakage"].to_pylist()
    }  # fmt: skip
    for mhz, mv, milliwatts in ((612, 800, 43), (2116.5, 1260, 120)):
        assert 1e3 * leaks["tegra-k1", mhz] == pytest.approx(milliwatts, abs=0.5)
        assert f"| {mv} | {milliwatts} |" in validation.NOTES.read_text(encoding="utf-8")
    memory = {row["platform"]: row for row in tables_["memory"].to_pylist()}
    assert memory["server"]["controllers_w"] == pytest.approx(2 * 97.26e-3, rel=1e-3)
    assert [name for name, row in memory.items() if not row["powerdown"]] == ["server"]
    assert memory["tegra-k1"]["self_refresh_w"] == pytest.approx(0.108)
    factors = {row["core"]: row["dynamic"] for row in tables_["factors"].to_pylist()}
    assert factors["a15"] / factors["a15-shadow"] == pytest.approx(1.86, abs=0.01)


def test_published_busy_power_is_what_the_field_says() -> None:
    """A few of the figures in milliwatts, as others quote them."""
    quoted = {("rk3399", "big", 1800): 1130, ("rk3399", "little", 1008): 86, ("exynos5422", "big", 2000): 1068}
    for figure in published.load().busy_core:
        for opp in figure.machine()[1].opps.table:
            if theirs := quoted.pop((figure.platform, figure.cluster, round(opp.mhz)), None):
                assert figure.watts(opp) * 1e3 == pytest.approx(theirs, rel=0.01)
    assert not quoted


def test_published_leakage_at_arms_own_point() -> None:
    """Arm's comments give 75 and 64 mW at 85 degrees and 0.9 V; its formula, which is used, is 8 % above them."""
    figure = next(figure for figure in published.load().leakage if figure.cluster == "big")
    opp = load_platform("tiny").clusters[1].opps.table[0].model_copy(update={"mv": 900.0})
    assert figure.watts("core", opp, 358.15) == pytest.approx(0.075, rel=0.1)
    assert figure.watts("l2", opp, 358.15) == pytest.approx(0.064, rel=0.1)


def test_an_unknown_core_is_named() -> None:
    with pytest.raises(UserError, match=r"calibration\.yaml: a99: no factors .* `a53`"):
        calibration.factors("a99")


def test_a_wake_up_costs_less_than_ten_of_the_only_published_ones() -> None:
    """TC2's, if its unit is what it is taken for. Caches are full here, and were whatever they were there."""
    compared = [(ours.us_of_full_power, theirs) for *_, ours, theirs in validation.wake_ups() if theirs]
    assert len(compared) == 4, "two states of two clusters of A15"
    for ours, theirs in compared:
        assert theirs < ours < 10 * theirs


def test_waits_are_charged_at_half_of_the_leakage() -> None:
    (tiny,) = [(state, ours) for name, cluster, state, ours, _ in validation.wake_ups()
               if (name, cluster, state.name) == ("tiny", "little", "C3")]  # fmt: skip
    state, ours = tiny
    table = tables.load(load_platform("tiny"), load_platform("tiny").clusters[0]).at(850)
    leakage_w = sum(part.watts for name, part in table.leakage.items() if name != "l2")
    leakage_w *= technology.leakage_at(310) / technology.leakage_at(330)
    expected = 0.5 * leakage_w * calibration.factors("a53").static * (state.actual.entry_us + state.actual.exit_us)
    assert ours.waits_j == pytest.approx(expected * 1e-6)
    assert ours.l2_j == 0


def test_leakage_goes_with_temperature_as_arm_says() -> None:
    """The comments of Arm's formula have 85 degrees for one, and 8 % less than it says."""
    assert technology.leakage_at(273.15 + 85) == pytest.approx(1.0817, rel=1e-3)
    shares = [technology.leakage_at(kelvin) / technology.leakage_at(330) for kelvin in (300, 310, 320, 340)]
    assert shares == pytest.approx([0.341, 0.482, 0.692, 1.436], abs=2e-3)
    tiny, rk3399 = load_platform("tiny"), load_platform("rk3399")
    assert technology.leakage_share(tiny) == pytest.approx(0.482, abs=2e-3)
    assert technology.leakage_share(rk3399) < technology.leakage_share(tiny), "305 K"
    assert technology.leakage_share(tiny, 330) == 1


def test_what_a_factor_has_not_seen_it_meets_less_well() -> None:
    """And the A53's two chips predict each other by the ratio of their factors, one way up and the other way down."""
    found = {(own.platform, own.cluster): own for own in validation.left_out()}
    assert len(found) == 6
    assert all(own.fitted <= own.without_chip for own in found.values())
    assert {own.others for own in found.values() if own.core == "a53"} == {"rk3399 (a53)", "tiny (a53)"}
    down, up = found["tiny", "little"].without_chip, found["rk3399", "little"].without_chip
    assert (1 - down) * (1 + up) == pytest.approx(1, abs=0.01)
