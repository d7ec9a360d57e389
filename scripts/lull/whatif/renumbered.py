# SPDX-License-Identifier: BSD-3-Clause
"""Renumbers the states of recorded chains and sleeps for a machine to which a what-if adds states.

For example, C3 is state 2 of a CPU. If a what-if adds C2b between C2 and C3, then C3 becomes state 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lull.platform.cstates import CState
from lull.platform.schema import Platform
from lull.whatif.chain import Chains
from lull.whatif.library import Lived
from lull.whatif.ways import NEVER_LEFT

Layout = tuple[tuple[tuple[str, str], ...], ...]
"""For each cluster, the names and kinds of its states."""


def layout(platform: Platform) -> Layout:
    return tuple(
        tuple((state.name, state.kind) for state in cluster.cstates) for cluster in platform.resolved_clusters()
    )


def chains(own: Chains, before: Platform, now: Platform) -> Chains:
    """Return the renumbered chains. A new state has the usual exits of the recorded state of its kind."""
    sleeps, usual, new = {}, {}, {}
    for cpu, (old, states) in _states(before, now).items():
        if cpu not in own.sleeps:
            continue
        numbers = _numbers(old, states)
        sleeps[cpu] = own.sleeps[cpu].copy()
        sleeps[cpu]["state"] = np.array(numbers)[own.sleeps[cpu]["state"]]
        alike = {state.kind: one for state, one in zip(old, own.usual[cpu], strict=True)}
        usual[cpu] = [alike.get(state.kind, NEVER_LEFT) for state in states]
        new[cpu] = frozenset(range(len(states))) - frozenset(numbers)
    return replace(own, sleeps=sleeps, usual=usual, new=new)


def lived(own: Mapping[int, Lived], before: Platform, now: Platform) -> dict[int, Lived]:
    """Return the renumbered sleeps before the command. State -1, the governor's own choice, stays."""
    found = {}
    for cpu, (old, states) in _states(before, now).items():
        if cpu not in own:
            continue
        found[cpu] = own[cpu].copy()
        found[cpu]["state"] = np.array([*_numbers(old, states), -1])[own[cpu]["state"]]
    return found


def _states(before: Platform, now: Platform) -> dict[int, tuple[Sequence[CState], Sequence[CState]]]:
    """Return for each CPU the recorded states, and all states."""
    pairs = zip(before.cpu_ranges(), now.cpu_ranges(), strict=True)
    return {cpu: (old.cstates, new.cstates) for (cpus, old), (_, new) in pairs for cpu in cpus}


def _numbers(old: Sequence[CState], states: Sequence[CState]) -> list[int]:
    """Return for each recorded state its number among all states."""
    names = [state.name for state in states]
    return [names.index(state.name) for state in old]
