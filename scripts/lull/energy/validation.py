# SPDX-License-Identifier: BSD-3-Clause
"""Writes power-models/validation.md: McPAT's watts, raw and calibrated, beside published ones."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pyarrow as pa

from lull.energy import busy, calibration, memory_controller, published, states, tables, technology
from lull.energy.calibration import Factors
from lull.energy.mcpat import WakeUpCost, wake_up
from lull.energy.published import PARTS
from lull.energy.tables import OppTable
from lull.files.paths import ROOT
from lull.platform.cores import list_cores, load_core
from lull.platform.cstates import CState
from lull.platform.dram import load_device
from lull.platform.load import list_platforms, load_platform
from lull.plotting.markdown import markdown_table

PAGE = ROOT / "power-models" / "validation.md"
NOTES = ROOT / "power-models" / "validation-notes.md"
"""Notes on the meaning of the numbers and on outliers, written by hand. They are part of the page."""

OUTLIER = 0.15
NVIDIA_K = 308.15
"""The temperature at which the notes compare leakage with NVIDIA's figures for the Tegra K1."""

_PLACE = ["platform", "cluster", "core", "part", "MHz", "mV"]


@dataclass(frozen=True)
class ValidationRow:
    """One published figure, with ours."""

    platform: str
    cluster: str
    core: str
    part: str
    mhz: float
    mv: float
    raw: float
    calibrated: float
    published: float

    @property
    def error(self) -> float:
        return self.calibrated / self.published - 1

    @property
    def raw_error(self) -> float:
        return self.raw / self.published - 1


def dynamic() -> list[ValidationRow]:
    """Return a busy core's dynamic power, at every OPP."""
    found = []
    for figure in published.load().busy_core:
        platform, cluster = figure.machine()
        table, factor = tables.load(platform, cluster), calibration.factors(cluster.core).dynamic
        for opp in cluster.opps.table:
            raw = calibration.busy_watts(cluster.core, table.at(opp.mhz))
            place = (platform.name, cluster.name, cluster.core, "core", opp.mhz, opp.mv)
            found.append(ValidationRow(*place, raw=raw, calibrated=raw * factor, published=figure.watts(opp)))
    return found


@dataclass(frozen=True)
class LeftOut:
    """Mean absolute errors of a busy core's dynamic power: by its own factor, and by factors without its data."""

    platform: str
    cluster: str
    core: str
    fitted: float
    """The error by the factor that is used, which was fitted to all points."""
    without_opp: float
    """The error of each operating point by a factor that was fitted to the cluster's other points."""
    without_chip: float
    """The error of all points by a factor that was fitted to other chips."""
    others: str
    """The chips of `without_chip`: those with the same core; if there are none, with the same kind of pipeline."""


def left_out() -> list[LeftOut]:
    ratios: dict[tuple[str, str, str], list[float]] = {}
    for row in dynamic():
        ratios.setdefault((row.platform, row.cluster, row.core), []).append(row.published / row.raw)
    found = []
    for place, own in ratios.items():
        platform, cluster, core = place
        same = {other: mine for other, mine in ratios.items() if other != place and other[2] == core}
        kind = load_core(core).pipeline
        alike = {
            other: mine for other, mine in ratios.items() if other != place and load_core(other[2]).pipeline == kind
        }
        used = same or alike
        chip = math.exp(fmean(math.log(fmean(mine)) for mine in used.values()))
        rest = [fmean([*own[:place_], *own[place_ + 1 :]]) for place_ in range(len(own))]
        found.append(
            LeftOut(
                platform, cluster, core,
                fitted=_off(own, [calibration.factors(core).dynamic] * len(own)),
                without_opp=_off(own, rest),
                without_chip=_off(own, [chip] * len(own)),
                others=", ".join(f"{other[0]} ({other[2]})" for other in used),
            )
        )  # fmt: skip
    return found


def _off(ratios: Sequence[float], factors: Sequence[float]) -> float:
    """Return the mean absolute error. A ratio is the factor that would be exact at a point, so ours over published is
    the used factor over this ratio."""
    return fmean(abs(factor / ratio - 1) for factor, ratio in zip(factors, ratios, strict=True))


def static() -> list[ValidationRow]:
    """Return the leakage of a core and of its cluster's L2, at every OPP."""
    found = []
    for figure in published.load().leakage:
        platform, cluster = figure.machine()
        table, factor = tables.load(platform, cluster), calibration.factors(cluster.core).static
        for part in PARTS:
            for opp in cluster.opps.table:
                raw = calibration.leakage_watts(part, table.at(opp.mhz))
                theirs = figure.watts(part, opp, table.temperature_k)
                place = (platform.name, cluster.name, cluster.core, part, opp.mhz, opp.mv)
                found.append(ValidationRow(*place, raw=raw, calibrated=raw * factor, published=theirs))
    return found


def shape() -> list[ValidationRow]:
    """Return a busy core's power relative to the fastest OPP: the only comparison with a published table without a
    unit."""
    found = []
    for figure in published.load().shape:
        platform, cluster = figure.machine()
        table, factors = tables.load(platform, cluster), calibration.factors(cluster.core)

        fastest = max(figure.power, key=float)
        for mhz, theirs in figure.power.items():
            opp, top = table.at(float(mhz)), table.at(float(fastest))
            place = (platform.name, cluster.name, cluster.core, "core", opp.mhz, opp.mv)
            raw, ours = (
                _power(opp, cluster.core, f) / _power(top, cluster.core, f) for f in (calibration.RAW, factors)
            )
            found.append(ValidationRow(*place, raw=raw, calibrated=ours, published=theirs / figure.power[fastest]))
    return found


def wake_ups() -> list[tuple[str, str, CState, WakeUpCost, float | None]]:
    """Return a row per state that turns a core off: platform, cluster, state, our cost, and the published one in µs of
    full power."""
    given = states.load().transition.given_us_of_full_power
    found = []
    for platform in (load_platform(name) for name in list_platforms()):
        for cluster in platform.clusters:
            theirs = given.of(cluster.core)
            for state in cluster.cstates:
                if state.kind not in ("core-off", "cluster-off"):
                    continue
                whole = state.kind == "cluster-off"
                us = theirs.core_off + theirs.cluster_off * whole if theirs else None
                found.append((platform.name, cluster.name, state, wake_up(platform, cluster, state), us))
    return found


def quotable() -> dict[str, pa.Table]:
    """Return the tables whose numbers pages quote, a row per number."""

    def row(own: ValidationRow) -> dict[str, Any]:
        return {
            "platform": own.platform, "cluster": own.cluster, "core": own.core, "part": own.part, "mhz": own.mhz,
            "raw": own.raw_error, "calibrated": own.error,
        }  # fmt: skip

    wakes = [
        {
            "platform": platform, "cluster": cluster, "state": state.name, "us": ours.us_of_full_power,
            "unfilled_us": ours.us_without_refill, "published_us": theirs, "full_w": ours.full_w,
            "waits": ours.waits_j / (ours.us_of_full_power * 1e-6 * ours.full_w),
        }
        for platform, cluster, state, ours, theirs in wake_ups()
        if theirs is not None
    ]  # fmt: skip
    return {
        "busy": pa.Table.from_pylist([row(own) for own in dynamic()]),
        "leakage": pa.Table.from_pylist([row(own) for own in static()]),
        "left-out": pa.Table.from_pylist([vars(own) for own in left_out()]),
        "wake-ups": pa.Table.from_pylist(wakes),
        "temperatures": pa.Table.from_pylist([_leakage(kelvin) for kelvin in range(290, 365, 5)]),
        "factors": pa.Table.from_pylist([_factors_of(core) for core in list_cores()]),
        "cluster-leakage": pa.Table.from_pylist(list(_cluster_leakage())),
        "memory": pa.Table.from_pylist(list(_memory())),
    }


def _factors_of(core: str) -> dict[str, Any]:
    stated = calibration.factors(core)
    return {"core": core, "dynamic": stated.dynamic, "static": stated.static}


def _cluster_leakage() -> Iterable[dict[str, Any]]:
    """Yield a row per OPP of each cluster: calibrated leakage at NVIDIA_K of one core, the L2, and all together."""
    for platform in (load_platform(name) for name in list_platforms()):
        warmth = technology.leakage_share(platform, NVIDIA_K)
        for cluster in platform.clusters:
            table, factor = tables.load(platform, cluster), calibration.factors(cluster.core).static * warmth
            for opp in cluster.opps.table:
                core, l2 = (factor * calibration.leakage_watts(part, table.at(opp.mhz)) for part in PARTS)
                yield {
                    "platform": platform.name, "cluster": cluster.name, "mhz": opp.mhz, "mv": opp.mv,
                    "core_w": core, "l2_w": l2, "whole_w": cluster.cpus * core + l2,
                }  # fmt: skip


def _memory() -> Iterable[dict[str, Any]]:
    """Yield a row per platform: the power of all controllers without lines, and of all DRAM in self-refresh."""
    for platform in (load_platform(name) for name in list_platforms()):
        memory = platform.memory
        device = load_device(memory.parts.device) if memory.parts else None
        yield {
            "platform": platform.name, "channels": memory.channels, "powerdown": memory.powerdown,
            "controllers_w": memory.channels * memory_controller.load(platform).watts,
            "self_refresh_w": device.self_refresh_w * memory.devices(device.bits) if device else None,
            "self_refresh_exit_ns": device.self_refresh_exit_ns if device else None,
            "refresh_ns": device.refresh_ns if device else None,
        }  # fmt: skip


def _leakage(kelvin: int) -> dict[str, float]:
    """Return the leakage at a temperature, relative to the leakage at the temperatures of runs' ledgers."""
    at = technology.leakage_at
    return {"kelvin": kelvin, "of_305": at(kelvin) / at(305), "of_310": at(kelvin) / at(310)}


def _power(opp: OppTable, core: str, factors: Factors) -> float:
    return factors.dynamic * calibration.busy_watts(core, opp) + factors.static * calibration.leakage_watts("core", opp)


def page() -> str:
    """Return the whole page. It depends only on tables, factors, published figures and the notes."""
    sections = [
        "<!-- SPDX-License-Identifier: BSD-3-Clause -->",
        "<!-- Made by `lull energy validation`; the text around the tables is validation-notes.md. -->",
        *_notes(),
    ]
    return "\n\n".join(sections) + "\n"


def mean_error(rows: Sequence[ValidationRow], error: Callable[[ValidationRow], float] = lambda row: row.error) -> float:
    """Return the mean of absolute errors over all OPPs."""
    return sum(abs(error(row)) for row in rows) / len(rows)


def _notes() -> Iterable[str]:
    """Return the paragraphs of the notes, with tables in place of marks such as `{{ factors }}`."""
    tables_ = {
        "{{ factors }}": _factors,
        "{{ summary }}": _summary,
        "{{ dynamic }}": lambda: _watts(dynamic()),
        "{{ static }}": lambda: _watts(static()),
        "{{ shape }}": lambda: _relative(shape()),
        "{{ busy }}": _busy,
        "{{ wakes }}": _wake_ups,
        "{{ left-out }}": _left_out,
    }
    for paragraph in NOTES.read_text(encoding="utf-8").strip().split("\n\n"):
        if not paragraph.startswith("<!--"):
            yield tables_[paragraph]().rstrip() if paragraph in tables_ else paragraph


def _factors() -> str:
    cores = sorted({row.core for row in dynamic()} | {"a15-shadow"})
    rows = []
    for core in cores:
        stated = calibration.factors(core)
        rows.append([core, f"{stated.dynamic:.3g}", f"{stated.static:.3g}", stated.source])
    return markdown_table(["core", "dynamic", "static", "from"], rows)


def _summary() -> str:
    rows = []
    for title, found in (("dynamic, busy core", dynamic()), ("static", static()), ("both", dynamic() + static())):
        rows.append(
            [
                title, str(len(found)), _percent(mean_error(found, lambda row: row.raw_error)),
                _percent(mean_error(found)), str(sum(abs(row.error) > OUTLIER for row in found)),
            ]
        )  # fmt: skip
    return markdown_table(
        ["power", "figures", "mean absolute error, raw", "calibrated", f"off by more than {OUTLIER:.0%}"], rows
    )


def _watts(rows: Sequence[ValidationRow]) -> str:
    headings = [*_PLACE, "raw mW", "calibrated mW", "published mW", "error"]
    return markdown_table(headings, [_cells(row, lambda watts: f"{watts * 1e3:.3g}") for row in rows])


def _relative(rows: Sequence[ValidationRow]) -> str:
    headings = [*_PLACE, "raw", "calibrated", "published", "error"]
    return markdown_table(headings, [_cells(row, lambda share: f"{share:.3f}") for row in rows])


def _busy() -> str:
    cores = sorted({row.core for row in dynamic()})
    events = dict.fromkeys(event for core in cores for event in busy.per_cycle(core))
    return markdown_table(
        ["event, per cycle", *cores],
        [[event, *(f"{busy.per_cycle(core).get(event, 0.0):.3g}" for core in cores)] for event in events],
    )


def _left_out() -> str:
    rows = [
        [
            own.platform, own.cluster, own.core,
            *(_percent(share) for share in (own.fitted, own.without_opp, own.without_chip)), own.others,
        ]
        for own in left_out()
    ]  # fmt: skip
    headings = ["fitted", "without the operating point", "without the chip", "then from"]
    return markdown_table(["platform", "cluster", "core", *headings], rows)


def _wake_ups() -> str:
    rows = []
    for platform, cluster, state, ours, theirs in wake_ups():
        clocked = (ours.flush_clocked_j, ours.refill_clocked_j)
        shown = [f"{joules * 1e6:.3g}" for joules in (ours.waits_j, *clocked, ours.rails_j, ours.l1_j, ours.l2_j)]
        times = [f"{us:.3g}" for us in (ours.us_of_full_power, ours.us_without_refill)]
        rows.append([platform, cluster, state.name, *shown, *times, f"{theirs:.3g}" if theirs is not None else "-"])
    parts = ["waits", "flush, clocked", "refill, clocked", "rails", "L1 lines", "L2 lines"]
    headings = [*parts, "ours, µs", "without refill, µs", "TC2, µs"]
    return markdown_table(["platform", "cluster", "state", *headings], rows)


def _cells(row: ValidationRow, shown: Callable[[float], str]) -> list[str]:
    place = [row.platform, row.cluster, row.core, row.part, f"{row.mhz:g}", f"{row.mv:g}"]
    return [*place, shown(row.raw), shown(row.calibrated), shown(row.published), f"{row.error:+.1%}"]


def _percent(share: float) -> str:
    return f"{share:.1%}"
