# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a trip into an idle state and back: numbers that a what-if may set, for all states or for one.

For example, `power-models.transition.dirty_share` is for all states, and `power-models.transition.C3.dirty_share`
replaces it for C3. The second counts for all sleeps for which a governor chose C3, even if another CPU kept the cluster
on. An added state has the numbers that are set for the state of its kind, unless it has its own.
"""

import re
from collections.abc import Mapping

from lull.energy import states
from lull.errors import UserError
from lull.files.blocks import quoted
from lull.platform.cstates import KEEPING_CACHES, CState
from lull.platform.schema import Platform
from lull.whatif import added

SWITCH_LEAKAGE, DIRTY, RAIL, ENERGY = "switch_leakage", "dirty_share", "rail_nf_per_mm2", "trip_uj"
OF_ALL = (SWITCH_LEAKAGE, DIRTY, RAIL)
MOST = {RAIL: 100.0, ENERGY: 1e6}
"""The largest values: of a rail per square millimetre of silicon, and of a trip (1 J). All others are shares."""
OF_STATE = re.compile(rf"transition\.(?P<state>{added.NEW_NAME.pattern})\.(?P<number>[^.]+)")
_OF_KEPT = (SWITCH_LEAKAGE, ENERGY)
"""The numbers of a state that keeps the caches. It has no line to write back, and no rail to charge."""


def number(which: str, state: CState, numbers: Mapping[str, float]) -> float:
    """Return the number of a state: the one set for it, for the state of its kind, or for all; else the model's."""
    for part in (f".{state.name}", f".{added.like(state)}", ""):
        if (found := numbers.get(f"transition{part}.{which}")) is not None:
            return found
    return _of_model(which)


def factor(which: str, state: CState, numbers: Mapping[str, float]) -> float:
    """Return the number of a state relative to the model's."""
    return number(which, state, numbers) / _of_model(which)


def _of_model(which: str) -> float:
    value: float = 0.0 if which == ENERGY else getattr(states.load().transition, which).value
    return value


def check(key: str, name: str, which: str, platform: Platform) -> None:
    """Raise a UserError if no state of this name has this number."""
    kinds = {state.name: state.kind for cluster in platform.resolved_clusters() for state in cluster.cstates}
    deeper = quoted([name for name, kind in kinds.items() if kind != "wfi"])
    if name not in kinds:
        raise UserError(f"--set {key}: no cluster has `{name}`; use {deeper}")
    if kinds[name] == "wfi":
        raise UserError(f"--set {key}: {name} is WFI, which has no trip; use {deeper}")
    if which not in (*OF_ALL, ENERGY):
        raise UserError(f"--set {key}: not a number of a trip; use {quoted((*OF_ALL, ENERGY))}")
    if kinds[name] in KEEPING_CACHES and which not in _OF_KEPT:
        raise UserError(
            f"--set {key}: {name} keeps its caches, so that no line and no rail is charged; use {quoted(_OF_KEPT)}"
        )
