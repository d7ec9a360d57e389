# SPDX-License-Identifier: BSD-3-Clause
"""Whether a checkpoint is one of this machine, complete, and taken at a moment from which it can go on.

gem5 skips an object without a section in the checkpoint in silence, and the object starts as after a reset. So what has
to be there is checked before anything is restored. The power controller is not in a checkpoint at all: it starts
with every CPU on, and a checkpoint with a CPU off would lose that CPU.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from failure import Failure

TICK_HZ = 10**12
"""gem5's own, unless told otherwise."""

POWERED_OFF = 4
"""gem5's number for the power state OFF."""

GZIP = b"\x1f\x8b"

NOTE = "machine.json"
"""Our own file in a checkpoint, for what gem5 takes from its configuration and the guest relies on."""

Sections = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Expected:
    """The object paths of this configuration that must find their state."""

    cpus: tuple[str, ...]
    gic: str
    timer: str
    counter: str
    energy: str
    dvfs: str
    domains: tuple[tuple[str, int], ...]
    """Clock domain and number of its operating points, by cluster."""
    event_timers: tuple[str, ...]
    physmem: str
    memory_bytes: int
    card: str | None = None
    """The network card of a machine that has one."""


LINK = "link"
"""The name of what is between two machines."""


def write_note(directory: Path, reset_address: int) -> None:
    (directory / NOTE).write_text(json.dumps({"schema": 1, "reset_address": reset_address}) + "\n")


def reset_address(directory: Path) -> int:
    """The address of firmware: a CPU that was powered off starts there."""
    try:
        note = json.loads((directory / NOTE).read_text())
    except (OSError, ValueError):
        raise Failure(
            f"{directory} is not a checkpoint of this project: {NOTE} cannot be read; make it again"
        ) from None
    address = note.get("reset_address") if isinstance(note, dict) else None
    if not isinstance(address, int):
        raise Failure(f"{directory / NOTE} has no `reset_address`; make the checkpoint again")
    return address


def read(directory: Path) -> Sections:
    """The sections of a checkpoint; those that gem5 leaves empty are there with no entries."""
    file = directory / "m5.cpt"
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise Failure(f"{directory} is not a checkpoint: {file.name} cannot be read; make it again") from None
    sections: Sections = {}
    entries: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            entries = sections.setdefault(line[1:-1], {})
            continue
        key, equals, value = line.partition("=")
        if entries is None or not equals:
            raise Failure(f"{file}:{number} is neither a section nor an entry; make the checkpoint again")
        entries[key] = value
    return sections


def verify(directory: Path, *machines: Expected) -> dict[str, object]:
    """Return what was found of the machine under test, and of its peer if there is one. What is wrong first is
    one sentence."""
    check = _Check(directory, read(directory))
    check.no_other_cpus([path for expected in machines for path in expected.cpus])
    tested, *peers = [_verify(check, expected) for expected in machines]
    check.link(bool(peers))
    return {**tested, "peer": peers[0]} if peers else tested


def _verify(check: _Check, expected: Expected) -> dict[str, object]:
    check.cpus(expected)
    check.gic(expected)
    check.timers(expected)
    check.dvfs(expected)
    check.card(expected)
    stores = check.memory(expected)
    return {
        "cpus": len(expected.cpus),
        "gic_redistributors": len(expected.cpus),
        "timers": len(expected.cpus),
        "event_timers": len(expected.event_timers),
        "dvfs_domains": len(expected.domains),
        "memory_bytes": expected.memory_bytes,
        "memory_stores": stores,
    }


class _Check:
    def __init__(self, directory: Path, sections: Sections) -> None:
        self.directory = directory
        self.sections = sections

    def fail(self, what: str) -> Failure:
        return Failure(f"the checkpoint {self.directory} {what}; make it again for this platform")

    def section(self, name: str) -> dict[str, str]:
        if name not in self.sections:
            raise self.fail(f"has no section [{name}]")
        return self.sections[name]

    def entry(self, name: str, key: str) -> str:
        section = self.section(name)
        if key not in section:
            raise self.fail(f"has no `{key}` in section [{name}]")
        return section[key]

    def integer(self, name: str, key: str) -> int:
        value = self.entry(name, key)
        try:
            return int(value)
        except ValueError:
            raise self.fail(f"has {value!r} for `{key}` in section [{name}]") from None

    def integers(self, name: str, key: str) -> list[int]:
        value = self.entry(name, key)
        try:
            return [int(word) for word in value.split()]
        except ValueError:
            raise self.fail(f"has {value!r} for `{key}` in section [{name}]") from None

    def count(self, pattern: str, number: int, what: str) -> None:
        found = sum(1 for name in self.sections if re.fullmatch(pattern, name))
        if found != number:
            raise self.fail(f"has {found} {what}, where this platform has {number}")

    def cpus(self, expected: Expected) -> None:
        for path in expected.cpus:
            self.section(path)
            self.entry(f"{path}.xc.0", "_status")
            self.section(f"{path}.isa")
            if self.integer(f"{path}.power_state", "currState") == POWERED_OFF:
                raise self.fail(f"was taken with {path} powered off")

    def no_other_cpus(self, paths: list[str]) -> None:
        known = {f"{path}.xc.0" for path in paths}
        for name in self.sections:
            if re.search(r"\.xc\.\d+$", name) and name not in known:
                raise self.fail(f"has the CPU {name.rpartition('.xc.')[0]}, which this platform lacks")

    def gic(self, expected: Expected) -> None:
        self.section(expected.gic)
        self.section(f"{expected.gic}.distributor")
        for number in range(len(expected.cpus)):
            self.section(f"{expected.gic}.redistributors.{number}")
            self.section(f"{expected.gic}.cpuInterface.{number}")
        prefix = re.escape(expected.gic)
        self.count(prefix + r"\.redistributors\.\d+", len(expected.cpus), "interrupt redistributors")
        self.count(prefix + r"\.cpuInterface\.\d+", len(expected.cpus), "interrupt CPU interfaces")

    def timers(self, expected: Expected) -> None:
        self.counter(expected.counter)
        count = self.integer(expected.timer, "cpu_count")
        if count != len(expected.cpus):
            raise self.fail(f"has timers for {count} CPUs, where this platform has {len(expected.cpus)}")
        for number in range(count):
            self.section(f"{expected.timer}.pe_implementation{number}.virt_el1_timer")
        for path in expected.event_timers:
            self.section(f"{path}.timer0")
            self.section(f"{path}.timer1")

    def counter(self, path: str) -> None:
        """A trace's time stamps are taken for ticks because the counter counts whole periods from tick 0."""
        hz, value, since = (self.integer(path, key) for key in ("_freq", "_value", "_updateTick"))
        if hz <= 0 or self.integer(path, "_increment") != 1 or value * int(1 / hz * TICK_HZ) != since:
            raise self.fail("has a system counter that did not count from tick 0 on")

    def dvfs(self, expected: Expected) -> None:
        if self.integer(expected.energy, "next_event") or any(self.integers(expected.dvfs, "whens")):
            raise self.fail("was taken during a change of frequency")
        domains = sorted(self.integers(expected.dvfs, "domain_ids"))
        if domains != list(range(len(expected.domains))):
            raise self.fail(f"has the DVFS domains {domains}, where this platform has {len(expected.domains)}")
        for path, levels in expected.domains:
            if self.integer(path, "_perfLevel") >= levels:
                raise self.fail(f"runs {path} at a level that its {levels} operating points lack")

    def card(self, expected: Expected) -> None:
        """A card keeps an empty buffer for its next packet."""
        if expected.card is None:
            return
        self.section(f"{expected.card}.TxDescCache")
        self.section(f"{expected.card}.RxDescCache")
        begun = self.entry(expected.card, "txPktExists") == "true" and self.integer(expected.card, "txpacket.length")
        if begun or any(self.integer(expected.card, f"{way}fifo.packets") for way in ("rx", "tx")):
            raise self.fail(f"was taken while {expected.card} had a packet")

    def link(self, wanted: bool) -> None:
        """A checkpoint without a network lacks the section altogether."""
        if not wanted:
            if LINK in self.sections:
                raise self.fail("has a network, which this run lacks")
            return
        for number in range(2):
            packets = self.entry(LINK, f"link{number}.packet_exists"), self.entry(LINK, f"link{number}.tx_queue_size")
            if packets != ("false", "0"):
                raise self.fail("was taken while a packet was under way")

    def memory(self, expected: Expected) -> int:
        number = self.integer(expected.physmem, "nbr_of_stores")
        sizes = []
        for store in range(number):
            name = f"{expected.physmem}.store{store}"
            sizes.append(self.integer(name, "range_size"))
            self.store(self.directory / self.entry(name, "filename"), sizes[-1])
        if expected.memory_bytes not in sizes:
            found = max(sizes, default=0)
            raise self.fail(f"has {found >> 20} MiB of memory, where this platform has {expected.memory_bytes >> 20}")
        return number

    def store(self, file: Path, size: int) -> None:
        """A compressed file ends with the size of what is in it, so that a cut one shows without reading it."""
        try:
            with file.open("rb") as stream:
                head = stream.read(2)
                stream.seek(-4, 2)
                tail = int.from_bytes(stream.read(4), "little")
        except OSError:
            raise self.fail(f"lacks the memory contents {file.name}") from None
        if head != GZIP or tail != size & 0xFFFFFFFF:
            raise self.fail(f"has damaged memory contents in {file.name}")
