# SPDX-License-Identifier: BSD-3-Clause
"""The RunSpec: a run after all checks. An engine reads nothing else."""

import shlex
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lull.files import digest
from lull.files.blocks import Block
from lull.platform import devicetree
from lull.platform.schema import Platform
from lull.runspec import advertised
from lull.runspec.advertised import AtBoot
from lull.runspec.policy import Policy
from lull.runspec.put import PutFile

EngineName = devicetree.Engine
CpuMode = Literal["atomic", "timing", "detailed"]
AnyCpu = Literal[CpuMode, "parallel"]
Flavour = Literal["default", "debug", "race", "torture", "rt"]

SCHEDULE = "/run/schedule"
"""The schedule's path in the guest."""
SCRIPT_MAX = 1 << 20
"""The largest size of a script in bytes, by the guest's init (`benchmarks/guest/script.c`)."""
PUT_TAR = "/lull-put.tar"
"""The tar's path in the guest on QEMU, from boot until the script has unpacked it."""
PUT_OFFSET = 2 << 20
"""The tar's offset on gem5, in the file that begins with the script: behind the longest script and a final zero."""
FORWARDED = "forwarded"
"""The host's file for the guest, once a fast-forward is over."""
_TRACING = "/sys/kernel/tracing"
_TRACE_OFF, _TRACE_ON = (f"echo {on} >{_TRACING}/tracing_on\n" for on in (0, 1))
_TRACE_EMPTY = f"echo >{_TRACING}/trace\n"
_MARK = f"printf 'lull begin' >{_TRACING}/trace_marker\n"
_HOLD_AWAKE = "exec 3>/dev/cpu_dma_latency\nprintf 0 >&3 || exit 125\n"
"""Holds all CPUs in WFI by a latency limit, while the shell has the file open. Without the limit, a run's start took
half as long again on gem5: a trace that begins interrupts every CPU about a hundred times, and in a deep idle state
each of these wake-ups would flush and restore a CPU."""
_LET_SLEEP = "exec 3>&-\n"
"""Ends the limit. Linux then wakes every CPU once, so that each chooses its idle state again."""
_NOT_HELD = " 3>&-"
"""Appended to a command that goes on after the limit's end, so that this command does not hold the limit."""
_SETTLE_S = 2
"""The idle seconds between the trace's start and the command, for housekeeping that the boot has left. Linux sets a
cluster's clock when one of its CPUs has work. Without this time, housekeeping changed the clock of the Tegra K1's
shadow core 0.9 s after the trace began, in the middle of a run."""
_REST, _REST_END = "#lull rest", "#lull end"
"""First and last line of the script that continues after a checkpoint with a trace."""
_REST_PATH = "/run/lull-rest"
SEED_MAX = 2**63 - 1
SIMULATED_MAX_S = 9e5
"""gem5 counts picoseconds in 64 bits. `gem5-configs` allows 10⁶ seconds, some of them to detect that a guest hangs."""
WALL_MAX_S = 1e8
Period = Annotated[float, Field(gt=0, le=SIMULATED_MAX_S)]


class Limits(Block):
    """The limits of a run: simulated seconds for the guest's script, wall-clock seconds for the whole run."""

    simulated_s: float = Field(gt=0, le=SIMULATED_MAX_S)
    wall_s: float = Field(gt=0, le=WALL_MAX_S)


class RunSpec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    engine: EngineName
    cpu: AnyCpu | None
    """The CPU models on gem5. On QEMU, None is one instruction clock for all CPUs, so that runs repeat exactly;
    "parallel" is a thread of the host for each CPU, on the host's clock."""
    platform: Platform
    told_at_boot: AtBoot = {}
    """The latencies that the device tree advertises, if `platform` has others. The script tells Linux those of
    `platform` after boot."""
    policy: Policy = Policy()
    flavour: Flavour
    schedule: str | None = None
    """The text of a schedule of events. The command finds it as the file SCHEDULE."""
    command: str
    peer: str | None = None
    """The command of the machine at the other end of the network. None: the machine has no network."""
    put: tuple[PutFile, ...] = ()
    """Files of the host that the command finds in the guest."""
    trace: tuple[str, ...] = ()
    """Trace events switched on around the command."""
    trace_kib: Annotated[int, Field(gt=0)] | None = None
    """KiB of trace buffer for each CPU; None is the kernel's default. A full buffer loses its oldest events."""
    stats_period_s: Period | None = None
    """The longest window of gem5's statistics, in simulated seconds."""
    fast_forward_s: Period | None = None
    """Simulated seconds at the command's beginning that gem5 simulates on atomic CPUs. Then CPUs of the model `cpu`
    take over, and the trace begins. None: CPUs of the model `cpu` run the command from its start."""
    limits: Limits
    seed: Annotated[int, Field(ge=0, le=SEED_MAX)] = 1

    def hash(self) -> str:
        asked = self.model_dump(mode="json", exclude={"put": {"__all__": {"source"}}})
        if not self.put:  # so that the hash is the same as before lull had this field
            del asked["put"]
        if self.peer is None:
            del asked["peer"]
        if self.fast_forward_s is None:
            del asked["fast_forward_s"]
        return digest.of_json(asked)

    def boot_platform(self) -> Platform:
        """Return the machine as its device tree describes it."""
        return advertised.boot_platform(self.platform, self.told_at_boot)

    @property
    def forwards(self) -> bool:
        """Return true if the command begins on atomic CPUs, and other CPUs then take over."""
        return self.fast_forward_s is not None and self.engine == "gem5" and self.cpu != "atomic"

    @property
    def starts_with_trace(self) -> bool:
        """Return true if the run continues from a checkpoint in which tracing is already on. gem5 then simulates the
        trace's start on atomic CPUs, once for all runs with the same trace."""
        return bool(self.trace) and self.engine == "gem5" and not self.forwards

    def start_script(self) -> str:
        """Return the script that prepares the trace, lets the machine settle, asks for a checkpoint, and continues with
        `script()`.

        A checkpoint cannot be taken at every moment, so the script asks until the host's file has the rest.
        """
        return (
            f"{self._limit(_SETTLE_S)}{_HOLD_AWAKE}{self._trace_start()}{_TRACE_OFF}{_TRACE_EMPTY}sleep {_SETTLE_S}\n"
            f"until lull-m5 checkpoint; lull-m5 read-file 0 | sed '/^{_REST_END}$/q' >{_REST_PATH}\n"
            f"read -r first <{_REST_PATH}; [ \"$first\" = '{_REST}' ]; do :; done\n. {_REST_PATH}\n"
        )

    def script(self) -> str:
        """Return the script of the guest's init: files and policy first, then the command. Only the command is traced,
        and CPUs may sleep deeply only during the command. After `start_script()`, the script is its continuation."""
        traced, started = bool(self.trace) or self.forwards, self.starts_with_trace
        head = (f"{_REST}\n" if started else self._limit()) + self._unpacking()
        head += _HOLD_AWAKE if traced and not started else ""
        if self.schedule is not None:  # no line of a schedule can be "END OF SCHEDULE"
            head += f"cat >{SCHEDULE} <<'END OF SCHEDULE' || exit 125\n{self.schedule}END OF SCHEDULE\n"
        asked = [f"cstate={line}" for line in advertised.lines(self.platform, self.told_at_boot)]
        asked += self.policy.arguments(self.platform)
        if asked:
            head += f"lull-policy {' '.join(map(shlex.quote, asked))} || exit 125\n"
        if self.peer is not None and self.engine == "qemu":  # on gem5, the peer is a machine with its own script
            head += f"lull-peer {shlex.quote(self.peer)}{_NOT_HELD if traced else ''} || exit 125\n"
        if not traced:
            return f"{head}{self.command}\n"
        command = f"sh -c {shlex.quote(self.command)}"
        if started:
            begin = f"{_TRACE_ON}{_LET_SLEEP}{_MARK}{command}"
        elif self.forwards:
            begin = self._trace_start() + self._forwarded(command)
        else:
            begin = f"{self._trace_start()}{_LET_SLEEP}{command}"
        end = f"{_REST_END}\n" if started else ""
        return f"{head}{begin}\nstatus=$?\n{self._trace_stop()}exit $status\n{end}"

    def _limit(self, before_s: float = 0) -> str:
        return f"#lull limit_s={self.limits.simulated_s + before_s:g}\n"

    def _trace_start(self) -> str:
        if not self.trace:
            return ""
        what = [*(["-b", str(self.trace_kib)] if self.trace_kib else []), *self.trace]
        return f"lull-trace start {shlex.join(what)} || exit 125\n"

    def _trace_stop(self) -> str:
        return "lull-trace stop /out/trace.dat || exit 125\n" if self.trace else ""

    def _forwarded(self, command: str) -> str:
        """Return a script that starts the command, asks for a checkpoint after a time, and waits for the command.

        All CPUs are held in WFI until the checkpoint is taken, because no CPU may be off in it. A checkpoint cannot be
        taken at every moment, so the script asks until the host's file says that the detailed CPUs have taken over.
        Then the trace begins. Earlier events would have no statistics.
        """
        pause = go_on = begin = ""
        if self.trace:
            pause, go_on, begin = _TRACE_OFF, _TRACE_EMPTY + _TRACE_ON, _MARK
        return (
            f"{pause}{command}{_NOT_HELD} &\ncommand=$!\n"
            f"sleep {self.fast_forward_s:f}\n"
            f'until [ "$(lull-m5 checkpoint; lull-m5 read-file 0)" = {FORWARDED} ]; do :; done\n'
            f"{go_on}{_LET_SLEEP}{begin}"
            "wait $command"
        )

    def peer_script(self) -> str:
        """Return the script of the peer on gem5. It starts and ends with the machine's script."""
        return f"{self._unpacking()}{self.peer}\n"

    def _unpacking(self) -> str:
        if not self.put:
            return ""
        tar = f"lull-m5 read-file {PUT_OFFSET} | tar -x -C /"
        if self.engine == "qemu":
            tar = f"tar -x -C / -f {PUT_TAR} && rm {PUT_TAR}"
        return f"{tar} || {{ echo 'lull: the files of --put cannot be put there'; exit 125; }}\n"
