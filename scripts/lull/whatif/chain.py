# SPDX-License-Identifier: BSD-3-Clause
"""A recorded run as chains of sleep, wake-up and work, and the same chains with other idle states."""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from lull.errors import UserError
from lull.platform.cstates import KEEPING_CACHES, CState
from lull.platform.schema import Cluster, Platform
from lull.whatif import added, streams, ticks, ways
from lull.whatif.library import NEVER, Governor, library
from lull.whatif.recorded import Made
from lull.whatif.sleeps import ChosenSleep, Columns, chosen_at
from lull.whatif.streams import STREAMS
from lull.whatif.ticks import NOTHING, TickCost
from lull.whatif.ways import NEVER_LEFT, Usual

MAX_STATES = 10
_NOT_YET = np.iinfo(np.int64).min
"""The value for the shift of a sleep that has not ended."""
_RESERVE = 0.25
"""This share of the asked time is also replayed after its end, if the trace has it. Drifting timers may move into the
asked time, because they come earlier after shorter exits."""
OF_CPUS = "ipi"
"""The cause of a wake-up by another CPU."""
AS_RECORDED, BY_HINDSIGHT, _RECORD = -1, -2, -3
"""Values in place of a governor."""
_ABOUT_NS = 60_000
"""If no event tells when an interrupt came, it is assumed to come this long before the sleep's end. Only the order
counts."""
_GIVEN_UP_NS = 9_000
_ROUNDS = 5
"""The most rounds of dividing the exits."""
_BLOCK = 1 << 12
"""The number of wake-ups that are replayed at a time."""

_SLEEP = np.dtype(
    [(name, np.int64) for name in ("lead", "hrtimer", "fixed", "wheel", "qos", "woken", "end", "length", "software",
                                   "work", "stop", "restart", "handled", "beside")]
    + [(name, np.int32) for name in ("set_after", "next")]
    + [
        (name, np.int8)
        for name in (
            "state", "sender", "only_tick", "got_tick", "late_tick", "leaves", "kept", "stops", "by_timer", "refused",
            "given", "stream",
        )
    ],
    align=True,
)  # fmt: skip
WAKE = np.dtype(
    [(name, np.int64) for name in ("start", "woken", "end", "flush", "entry", "exit", "hardware", "ticking")]
    + [(name, np.int32) for name in ("cpu", "state", "sleep", "given_up", "added")]
    + [(name, np.int64) for name in ("cluster_off", "refilled", "refilled_l2")],
    align=True,
)


class _StateCosts(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_double) for name in ("entry", "exit", "flush", "refill", "fill")),
        *((name, ctypes.c_int32) for name in ("cluster_off", "keeps_caches", "alone", "like")),
        *((name, ctypes.c_int64) for name in ("usual", "given_up")),
    )


class _CpuChain(ctypes.Structure):
    _fields_ = (
        ("sleeps", ctypes.c_void_p),
        *((name, ctypes.c_int32) for name in ("count", "cluster", "stopped", "state_count", "deepest")),
        *((name, ctypes.c_int64) for name in ("begin", "tick_work", "stop", "restart", "handled", "events")),
        ("states", _StateCosts * MAX_STATES),
        ("first", ctypes.c_int32 * STREAMS),
        ("shifts", ctypes.c_void_p),
    )


@dataclass
class Chains:
    """The recorded chains of sleep, wake-up and work. Times are nanoseconds."""

    sleeps: dict[int, npt.NDArray[np.void]]
    begin: dict[int, int]
    stopped: dict[int, bool]
    tick_work: dict[int, int]
    usual: dict[int, list[Usual]]
    """The recorded exits of each CPU's states."""
    cluster: dict[int, int]
    period: int
    first: int
    last: int
    until: int
    """The end of the replay: `last`, or later if timers drift."""
    open: set[int] = field(default_factory=set)
    """CPUs whose last sleep does not end in the trace."""

    tick_cost: dict[int, TickCost] = field(default_factory=dict)
    heads: dict[int, list[int]] = field(default_factory=dict)
    """For each CPU, the first sleep of each stream, or the number of its sleeps."""
    told: dict[int, npt.NDArray[np.bool_]] = field(default_factory=dict)
    """For each sleep of each CPU, true if an event tells when the interrupt came that ended it."""
    events: Mapping[int, int] = field(default_factory=dict)
    """For each CPU, the part of each sleep that the kernel does not measure."""
    new: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """For each CPU, the numbers of the states that a what-if adds."""

    def known(self, wakes: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
        """Return for each wake-up whether the time of its interrupt is known."""
        found: npt.NDArray[np.bool_] = wakes["added"] == 1
        for cpu, told in self.told.items():
            mine = wakes["cpu"] == cpu
            found[mine] |= told[wakes["sleep"][mine]]
        return found

    def ended(self, wakes: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """Return the wake-ups that ended between `first` and `last`."""
        return wakes[self._ends(wakes)]

    def _ends(self, wakes: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = (wakes["end"] > self.first) & (wakes["end"] <= self.last)
        return found

    def woken_from(self, cpu: int) -> npt.NDArray[np.void]:
        """Return the recorded sleeps from which a CPU woke between `first` and `last`: neither refused nor open."""
        sleeps = self.sleeps[cpu]
        ended = self.ended(sleeps[: sleeps.size - (cpu in self.open)])
        found: npt.NDArray[np.void] = ended[ended["refused"] == 0]
        return found

    def woken(self, wakes: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """Return the same for replayed wake-ups, without interrupts that came while the CPU was at work."""
        found: npt.NDArray[np.void] = wakes[self._ends(wakes) & (wakes["state"] >= 0)]
        return found

    def causes(self, cpu: int, woken: npt.NDArray[np.void]) -> dict[str, int]:
        """Return the number of wake-ups of one CPU by cause."""
        sleeps = self.sleeps[cpu][woken["sleep"]]
        ticked = sleeps["got_tick"] == 1
        # If the tick is stopped, a sleep ends by the timer that was recorded together with the tick.
        tick = (woken["added"] == 1) | (ticked & (woken["woken"] < sleeps["beside"]))
        timer = ~tick & (ticked | (sleeps["by_timer"] == 1))
        ipi = ~tick & ~timer & (sleeps["sender"] >= 0)
        found = {"tick": tick, "timer": timer, OF_CPUS: ipi, "device": ~tick & ~timer & ~ipi}
        return {cause: int(which.sum()) for cause, which in found.items()}

    def ticking(self, wakes: npt.NDArray[np.void]) -> npt.NDArray[np.float64]:
        """Return for each CPU the nanoseconds of its work that stopped and started the tick."""
        ended = self.ended(wakes)
        return np.bincount(ended["cpu"], ended["ticking"], max(self.sleeps) + 1).astype(np.float64)

    def ways_out(self, members: Iterable[int], cluster: Cluster) -> dict[int, list[int]]:
        """Return for each CPU of a cluster the software's usual exit time of each state."""
        recorded = {cpu: self.usual[cpu] for cpu in members if cpu in self.sleeps}
        return ways.usually_ns([state.kind for state in cluster.cstates], recorded)

    def unseen(self, cpu: int, state: int) -> bool:
        """Return true if this CPU never left the state in the run."""
        return self.usual[cpu][state].software is None or state in self.new.get(cpu, ())


def of_run(
    made: Mapping[int, Made],
    platform: Platform,
    period: int,
    begin: int,
    end: int,
    unfinished: Mapping[int, ChosenSleep] | None = None,
    given: Callable[[int, Columns], npt.ArrayLike] = lambda _cpu, _own: 0,
    tick_cost: Mapping[int, TickCost] | None = None,
    known: tuple[int, int] | None = None,
    events: Mapping[int, int] | None = None,
) -> Chains:
    """Return the chains of a run's choices on this platform. The time from `begin` to `end` is asked about.

    A replay begins with the traced command. So at `begin`, each CPU is in a sleep of the new governor.

    `given` returns for each sleep: 1 if no governor chooses it again, 2 if it is in the deepest state allowed, else 0.
    `known` is begin and end of the traced command; if not given, `begin` and `end`.
    """
    since, known_until = known or (begin, end)
    drifts = any((own.sleeps["set_at"] != NEVER).any() for own in made.values())
    until = min(known_until, end + round(_RESERVE * (end - begin))) if drifts else end
    chains = Chains(
        {}, {}, {}, {}, {}, {}, period, begin, end, until, tick_cost=dict(tick_cost or {}), events=events or {}
    )
    for number, (cpus, cluster) in enumerate(platform.cpu_ranges()):
        for cpu in cpus:
            if cpu not in made:
                continue
            own, last = made[cpu].between(since, until), (unfinished or {}).get(cpu)
            if last is not None and last.start < until:
                chains.open.add(cpu)
                columns = Columns(own.sleeps, replace(last, end=until))
            else:
                columns = Columns(own.sleeps)
            if len(columns):
                _add(chains, cpu, columns, own.wheel, len(cluster.cstates))
                chains.sleeps[cpu]["given"] = given(cpu, columns)
                chains.cluster[cpu] = number
    if not chains.sleeps:
        raise UserError("the trace has no sleep of any CPU; record a longer run")
    _tell_ways_out(chains, platform)
    return chains


def _add(chains: Chains, cpu: int, own: Columns, wheels: npt.NDArray[np.int64], count: int) -> None:
    """Add the sleeps of a CPU, without the numbers that need the hardware's exit time. `wheels` are the times at which
    the wheel was assumed to be due at the choices."""
    sleeps = np.zeros(len(own), _SLEEP)
    start, end, refused = own["start"], own["end"], own["refused"]
    at_work = np.append(start[1:], max(chains.until, int(end[-1])))  # from then on
    stopped_next = np.append(own["stopped"][1:], True)
    sleeps["end"], sleeps["length"], sleeps["work"] = end, end - start, at_work - end
    sleeps["lead"], sleeps["fixed"] = start - chosen_at(own), own["fixed_hrtimer"]
    for name in ("hrtimer", "wheel", "qos", "state", "stops", "got_tick", "late_tick", "refused", "beside"):
        sleeps[name] = own[name]
    sleeps["kept"][: wheels.size] = wheels == own["now"][: wheels.size]
    sleeps["kept"][wheels.size :] = (own["wheel"] == own["now"])[wheels.size :]
    no_timer, known = own["timer"] == NEVER, _woken(own)
    told = known != NEVER
    sleeps["woken"] = np.where(refused, start, np.where(told, known, np.maximum(start, end - _ABOUT_NS)))
    sleeps["sender"] = np.where(no_timer, own["sent_by"], -1)
    sleeps["leaves"] = own["leaves"] | (own["stops"] & ~stopped_next)
    sleeps["by_timer"] = ~no_timer & ~own["got_tick"]
    sleeps["only_tick"] = own["got_tick"] & (sleeps["leaves"] == 0) & ~own["stops"]
    if cpu in chains.open:
        sleeps["woken"][-1] = chains.until
    sleeps["stream"], sleeps["set_after"], sleeps["next"], chains.heads[cpu] = streams.of_sleeps(own)
    for name, ns in ticks.apart(own, chains.tick_cost.get(cpu, NOTHING)).items():
        sleeps[name] = ns
    sleeps["lead"] -= sleeps["stop"]
    sleeps["work"] -= sleeps["handled"] + sleeps["restart"] + np.append(sleeps["stop"][1:], 0)
    of_ticks = sleeps["work"][sleeps["only_tick"] == 1]
    chains.sleeps[cpu], chains.told[cpu] = sleeps, told & ~refused
    chains.begin[cpu], chains.stopped[cpu] = int(start[0] - sleeps["stop"][0]), bool(own["stopped"][0])
    chains.tick_work[cpu] = int(np.median(of_ticks)) if of_ticks.size else _tick_work(sleeps["work"])
    chains.usual[cpu] = [NEVER_LEFT] * count


def _tick_work(work: npt.NDArray[np.int64]) -> int:
    """Return the assumed work of a tick for a CPU that no tick alone woke: a third of its usual work, at most 30 us."""
    return min(30_000, int(np.median(work)) // 3)


def _tell_ways_out(chains: Chains, platform: Platform) -> None:
    """Divide each exit into the hardware's part, by the model, and the rest, which is the software's.

    The model needs the order of all wake-ups, and the order depends on the exits. So each round uses the exits of the
    round before, until they do not change.
    """
    for _ in range(_ROUNDS):
        found = [(block["cpu"].copy(), block["hardware"].copy()) for block in blocks(chains, platform, _RECORD)]
        cpus, hardwares = (np.concatenate(column) for column in zip(*found, strict=True))
        hardware, moved = {cpu: hardwares[cpus == cpu] for cpu in chains.sleeps}, False
        for cpu, sleeps in chains.sleeps.items():
            chains.usual[cpu] = ways.usual(sleeps, chains.told[cpu], hardware[cpu], len(chains.usual[cpu]))
        for members, cluster in platform.cpu_ranges():
            wholes = ways.whole_ns(cluster)
            for cpu, usually in chains.ways_out(members, cluster).items():
                ended = np.ones(hardware[cpu].size, bool)
                ended[-1] = cpu not in chains.open
                moved |= ways.divide(
                    chains.sleeps[cpu], chains.told[cpu], ended, hardware[cpu], wholes, np.array(usually, np.int64)
                )
        if not moved:
            break


def _woken(own: Columns) -> npt.NDArray[np.int64]:
    """Return the time of the interrupt that ended each sleep; NEVER if no event tells."""
    came = np.where(own["timer"] == NEVER, own["sent_at"], own["timer"])
    found: npt.NDArray[np.int64] = np.where((own["start"] <= came) & (came <= own["end"]), came, NEVER)
    return found


def run(
    chains: Chains,
    platform: Platform,
    governor: Governor | int,
    ideal: npt.NDArray[np.int64] | None = None,
    deepest: Mapping[int, int] | None = None,
) -> npt.NDArray[np.void]:
    """Return the wake-ups of the chains under a governor, with the actual latencies of a platform.

    `deepest` is the number of each CPU's deepest state allowed.
    """
    found = bytearray()
    for block in blocks(chains, platform, governor, ideal, deepest):
        found += block.data
    return np.frombuffer(found, WAKE)


def blocks(
    chains: Chains,
    platform: Platform,
    governor: Governor | int,
    ideal: npt.NDArray[np.int64] | None = None,
    deepest: Mapping[int, int] | None = None,
) -> Iterator[npt.NDArray[np.void]]:
    """Yield the same in blocks. Each block overwrites the one before."""
    cpus = max(chains.sleeps) + 1
    table = (_CpuChain * cpus)()
    shifts = {cpu: np.full(own.size, _NOT_YET, np.int64) for cpu, own in chains.sleeps.items()}
    for number, (members, cluster) in enumerate(platform.cpu_ranges()):
        for cpu, usually in chains.ways_out(members, cluster).items():
            _fill(table[cpu], chains, cpu, number, cluster.cstates, usually)
            table[cpu].shifts = shifts[cpu].ctypes.data
            table[cpu].deepest = (deepest or {}).get(cpu, len(cluster.cstates) - 1)
    sleeps = sum(own.size for own in chains.sleeps.values())
    ticks = (chains.until - min(chains.begin.values())) // chains.period * len(chains.sleeps)
    left = 2 * sleeps + ticks + 64
    wakes = np.zeros(min(left, _BLOCK), WAKE)
    by_hindsight = ideal if ideal is not None else np.zeros(cpus * MAX_STATES, np.int64)
    how = governor.number if isinstance(governor, Governor) else governor
    replay = ctypes.create_string_buffer(library().chain_size())
    library().chain_begin(replay, cpus, table)
    count = wakes.size
    while count == wakes.size:
        count = library().chain_run(
            replay, how, cpus, table, chains.period, wakes.size, wakes.ctypes.data, by_hindsight.ctypes.data
        )
        left -= count
        if left < 0:
            raise UserError("the settings make more wake-ups than ticks and events together; choose longer residencies")
        yield wakes[:count]


def _fill(
    row: _CpuChain, chains: Chains, cpu: int, cluster: int, states: Sequence[CState], usually: Sequence[int]
) -> None:
    own = chains.sleeps[cpu]
    row.sleeps, row.count, row.cluster = own.ctypes.data, own.size, cluster
    row.stopped, row.state_count = chains.stopped[cpu], len(states)
    row.begin, row.tick_work = chains.begin[cpu], chains.tick_work[cpu]
    row.first[:] = chains.heads[cpu]
    row.events = chains.events.get(cpu, 0)
    row.stop, row.restart, row.handled, _ = chains.tick_cost.get(cpu, NOTHING)
    for number, state in enumerate(states):
        actual, usual = state.actual, chains.usual[cpu][number]
        one = row.states[number]
        one.entry, one.exit, one.flush = 1000 * actual.entry_us, 1000 * actual.exit_us, 1000 * actual.flush_us
        one.refill, one.fill = 1000 * actual.refill_us, 1000 * actual.fill_us
        one.cluster_off, one.keeps_caches = state.kind == "cluster-off", state.kind in KEEPING_CACHES
        one.alone, one.like = _alone(states, number), _like(states, number)
        one.usual = usually[number]
        one.given_up = _GIVEN_UP_NS if usual.given_up is None else usual.given_up


def latency(wakes: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
    """Return the time from the interrupt to the end of each sleep; for an earlier interrupt, from the sleep's start."""
    late: npt.NDArray[np.int64] = wakes["end"] - np.maximum(wakes["woken"], wakes["start"])
    return late


def _alone(states: Sequence[CState], number: int) -> int:
    """Return the state whose costs a CPU pays while another CPU keeps the cluster on. It is never an added state."""
    cores = (at for at in _recorded(states) if 0 < at < number and states[at].kind != "cluster-off")
    return max(cores, default=number) if states[number].kind == "cluster-off" else number


def _like(states: Sequence[CState], number: int) -> int:
    """Return the recorded state of the same kind, if there is one. The software's exit time is taken from it."""
    return next((at for at in _recorded(states) if states[at].kind == states[number].kind), number)


def _recorded(states: Sequence[CState]) -> list[int]:
    return [at for at, state in enumerate(states) if not isinstance(state, added.AddedState)]
