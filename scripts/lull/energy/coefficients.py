# SPDX-License-Identifier: BSD-3-Clause
"""Derives joules per event from McPAT's answers.

McPAT's run-time energy is a sum over events, each times a constant of the part to which it is charged. So a few inputs
give all constants, if each part has only one kind of event in each input. One more input with random events checks that
McPAT is linear.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lull.energy import events
from lull.energy.events import CYCLES, L2, L2_EVENTS, OTHER, UNITS, Parts
from lull.energy.mcpat_run import Heading
from lull.energy.mcpat_xml import Chip, render
from lull.energy.tables import Leakage, OppTable
from lull.errors import UserError

TOTAL_CYCLES = 1e9
COUNT = 1e7
"""The number of each event in an input. It is large because McPAT counts one access too many of a register file."""

TOLERANCE = 1e-5
"""The allowed relative error. McPAT prints six digits, so each of two numbers may be off by 5e-6."""

DYNAMIC, SUBTHRESHOLD, GATE, AREA = "Runtime Dynamic", "Subthreshold Leakage", "Gate Leakage", "Area"

Ask = Callable[[str], Heading]
Joules = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Derived:
    table: OppTable
    area_mm2: dict[str, float]
    linearity_error: float


def derive(chip: Chip, ask: Ask, seed: int) -> Derived:
    """Return an operating point's table. It is checked on random activity; raise an error if McPAT is not linear."""
    units = events.components(chip.core)
    joules, first = _constants(chip, ask, units)
    error = _check(chip, ask, units, joules, seed)
    core, l2 = first.find("Core"), first.find("L2")
    table = OppTable(
        mhz=chip.opp.mhz, mv=chip.opp.mv, joules_per_event=joules, leakage={**_leakage(core, units), L2: _leaks(l2)}
    )
    return Derived(table, {**_areas(core, units), L2: l2[AREA]}, error)


def runs(chip: Chip) -> int:
    """Return the number of McPAT runs for an operating point."""
    return max(_slots(events.components(chip.core))) + 2


def _constants(chip: Chip, ask: Ask, units: Mapping[str, Parts]) -> tuple[Joules, Heading]:
    slots = events.slots(units)
    seconds = TOTAL_CYCLES / (chip.clock_mhz * 1e6)
    joules: Joules = {unit: {} for unit in (*units, L2)}
    first: Heading | None = None
    for slot in _slots(units):
        counts = {event: COUNT for event, number in slots.items() if number == slot}
        answer = ask(render(chip, [{CYCLES: TOTAL_CYCLES, **counts}], {L2_EVENTS[slot]: COUNT}, TOTAL_CYCLES))
        first = first or answer
        core = answer.find("Core")
        for unit, parts in units.items():
            left = core.find(UNITS[unit])[DYNAMIC]
            for part, group in parts.items():
                watts = core.find(part)[DYNAMIC]
                left -= watts
                if slot < len(group):
                    joules[unit][group[slot]] = joules[unit].get(group[slot], 0.0) + watts * seconds / COUNT
            # The rest is the clocked pipeline. It is largest in the last input, which has the fewest events.
            joules[unit][CYCLES] = left * seconds / TOTAL_CYCLES
        joules[L2][L2_EVENTS[slot]] = answer.find("L2")[DYNAMIC] * seconds / COUNT
    assert first is not None
    return joules, first


def _slots(units: Mapping[str, Parts]) -> list[int]:
    return sorted({*events.slots(units).values(), *range(len(L2_EVENTS))})


def _check(chip: Chip, ask: Ask, units: Mapping[str, Parts], joules: Joules, seed: int) -> float:
    """Return the relative error of the constants' sum against McPAT's answer, for random counts of every event."""
    draw = random.Random(f"{seed} {chip.platform.name} {chip.cluster.name} {chip.opp.mhz:g}")
    counts, l2 = (_activity(draw, names) for names in (events.core_events(units), L2_EVENTS))
    answer = ask(render(chip, [counts], l2, TOTAL_CYCLES))
    seconds = TOTAL_CYCLES / (chip.clock_mhz * 1e6)
    core = answer.find("Core")
    found = {unit: core.find(UNITS[unit])[DYNAMIC] * seconds for unit in units}
    found[L2] = answer.find("L2")[DYNAMIC] * seconds
    worst = 0.0
    for unit, theirs in found.items():
        ours = sum(each * {**counts, **l2}[event] for event, each in joules[unit].items())
        error = abs(ours - theirs) / abs(theirs)
        if error > TOLERANCE:
            raise UserError(
                f"{chip.platform.name}: {chip.cluster.name} at {chip.opp.mhz:g} MHz: McPAT's energy of `{unit}` is no "
                f"sum over its events (off by {error:.1e}, seed {seed}); no table is written, because it would be wrong"
            )
        worst = max(worst, error)
    return worst


def _activity(draw: random.Random, names: Sequence[str]) -> dict[str, float]:
    """Return random counts. At most half of all accesses miss: more would be unrealistic, and McPAT's answer would be a
    small difference of large energies."""
    counts = {name: draw.random() * TOTAL_CYCLES for name in names}
    for name in names:
        accesses = name.replace("misses", "accesses")
        if name.endswith("misses"):
            counts[name] = draw.random() / 2 * counts[accesses]
    return counts


def _leaks(part: Heading) -> Leakage:
    return Leakage(subthreshold_w=part[SUBTHRESHOLD], gate_w=part[GATE])


def _leakage(core: Heading, units: Mapping[str, Parts]) -> dict[str, Leakage]:
    """Return the leakage of each unit. McPAT prints no gate leakage for two units: it is that of their parts, plus a
    share of the pipeline's."""
    fetch = core.find(UNITS["fetch"])
    share = fetch[GATE] - sum(part[GATE] for part in fetch.parts)
    found = {}
    for name in units:
        unit = core.find(UNITS[name])
        gate = unit.numbers.get(GATE, share + sum(part[GATE] for part in unit.parts))
        found[name] = Leakage(subthreshold_w=unit[SUBTHRESHOLD], gate_w=gate)
    found[OTHER] = Leakage(
        subthreshold_w=_rest(core[SUBTHRESHOLD], [leak.subthreshold_w for leak in found.values()]),
        gate_w=_rest(core[GATE], [leak.gate_w for leak in found.values()]),
    )
    return found


def _areas(core: Heading, units: Mapping[str, Parts]) -> dict[str, float]:
    found = {name: core.find(UNITS[name])[AREA] for name in units}
    return {**found, OTHER: _rest(core[AREA], list(found.values()))}


def _rest(total: float, parts: list[float]) -> float:
    """Return a printed total minus its parts. A rest below the total's last digit is 0."""
    left = total - sum(parts)
    return left if left > TOLERANCE * total else 0.0
