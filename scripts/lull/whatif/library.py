# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's governors, called from Python."""

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.artifacts import governors
from lull.errors import UserError

TUNABLES = {
    "guest_halt_poll_ns": 200_000,
    "guest_halt_poll_shrink": 2,
    "guest_halt_poll_grow": 2,
    "guest_halt_poll_grow_start": 50_000,
    "guest_halt_poll_allow_shrink": 1,
}
"""Parameters of haltpoll, with the kernel's defaults, in the shim's order. menu and teo of Linux 6.12 have none."""
SHIM = Path(__file__).parent / "shim"
MAX_CPUS = 64
NEVER = (1 << 63) - 1
"""The time of a timer that does not exist."""


class Knowledge(ctypes.Structure):
    """The kernel's inputs of a choice. Times are in nanoseconds of one clock; NEVER if there is none."""

    _fields_ = (
        ("clock", ctypes.c_int64),
        ("now", ctypes.c_int64),
        ("tick", ctypes.c_int64),
        ("hrtimer", ctypes.c_int64),
        ("wheel", ctypes.c_int64),
        ("qos", ctypes.c_int64),
        ("stopped", ctypes.c_int32),
    )


LIVED = np.dtype(
    [(name, np.int64) for name in ("clock", "now", "tick", "hrtimer", "wheel", "qos")]
    + [("stopped", np.int32), ("end", np.int64), ("residency", np.int64)]
    + [(name, np.int32) for name in ("state", "got_tick", "refused")],
    align=True,
)
"""Past choices: the inputs of each, and the sleep after it. State -1 lets the governor choose."""
Lived = npt.NDArray[np.void]
CHOICE = np.dtype([(name, np.int32) for name in ("state", "stop_tick", "asked")] + [("length", np.int64)], align=True)


class Choice(ctypes.Structure):
    _fields_ = (
        ("state", ctypes.c_int32),
        ("stop_tick", ctypes.c_int32),
        ("asked", ctypes.c_int32),
        ("length", ctypes.c_int64),
    )


class State(NamedTuple):
    """An idle state as it is described to Linux."""

    name: str
    exit_ns: int
    residency_ns: int
    disabled: bool


@cache
def library() -> ctypes.CDLL:
    found = ctypes.CDLL(str(governors.build(SHIM).file(governors.LIBRARY)))
    time = ctypes.c_int64
    found.shim_governor.argtypes = [ctypes.c_char_p]
    found.shim_size.restype = ctypes.c_size_t
    found.shim_reflect.argtypes = [ctypes.c_int, ctypes.c_int, time, ctypes.c_int, time, ctypes.c_int]
    found.chain_size.restype = ctypes.c_size_t
    found.chain_begin.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    found.chain_run.restype = time
    found.chain_run.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, time, time,
                                ctypes.c_void_p, ctypes.c_void_p]  # fmt: skip
    found.shim_live.argtypes = [ctypes.c_int, ctypes.c_int, time, ctypes.c_void_p, ctypes.c_void_p]
    found.shim_select.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.POINTER(Knowledge), ctypes.POINTER(Choice)]
    return found


class Governor:
    """A governor of a machine's CPUs. Only the last one made can be used, because the library has one set of CPUs."""

    def __init__(
        self, name: str, states: Mapping[int, Sequence[State]], tunables: Mapping[str, int] | None = None
    ) -> None:
        if states and max(states) >= MAX_CPUS:
            raise UserError(f"CPU {max(states)}: a replay has at most {MAX_CPUS} CPUs; take a smaller machine")
        self._library = library()
        self.number = self._library.shim_governor(name.encode())
        if self.number < 0:
            raise UserError(f"governor {name}: unknown; choose {', '.join(governors.NAMES)}")
        self._library.shim_forget()
        values = [(tunables or {}).get(key, default) for key, default in TUNABLES.items()]
        self._library.shim_haltpoll((ctypes.c_uint32 * len(values))(*values))
        for cpu, own in states.items():
            count = len(own)
            self._library.shim_states(
                cpu,
                count,
                (ctypes.c_int64 * count)(*(state.exit_ns for state in own)),
                (ctypes.c_int64 * count)(*(state.residency_ns for state in own)),
                (ctypes.c_int32 * count)(*(state.disabled for state in own)),
            )
        self._library.shim_reset(self.number)

    def select(self, cpu: int, view: Knowledge) -> Choice:
        choice = Choice()
        self._library.shim_select(self.number, cpu, ctypes.byref(view), ctypes.byref(choice))
        return choice

    def live(self, cpu: int, lived: Lived) -> npt.NDArray[np.void]:
        """Let the governor choose and learn, sleep after sleep. Return its choices."""
        choices = np.empty(lived.size, CHOICE)
        self._library.shim_live(self.number, cpu, lived.size, lived.ctypes.data, choices.ctypes.data)
        return choices

    def save(self) -> bytes:
        """Return the governor's whole state, for `restore`."""
        into = ctypes.create_string_buffer(self._library.shim_size())
        self._library.shim_save(into)
        return into.raw

    def restore(self, known: bytes) -> None:
        self._library.shim_restore(known)

    def reflect(self, cpu: int, now: int, state: int, residency_ns: int, got_tick: bool) -> None:
        self._library.shim_reflect(self.number, cpu, now, state, residency_ns, got_tick)

    def rejected(self, cpu: int) -> None:
        """Tell the governor that the hardware refused the state."""
        self._library.shim_rejected(cpu)
