# SPDX-License-Identifier: BSD-3-Clause
"""The events of a trace, by trace-cmd (`trace-cmd report -t -R`) and by our reader in the same words."""

import re
from collections import defaultdict

import numpy as np

from lull.trace.datfile import TraceFile
from lull.trace.events import batches

_LINE = re.compile(r"\[(?P<cpu>\d+)\]\S+ +(?P<s>\d+)\.(?P<ns>\d{9}): (?P<name>\w+): +(?P<fields>.*)")
_NUMBER = re.compile(r"(\w+)=(0x[0-9a-f]+|-?\d+)(?= |$)")
_SET = re.compile(r"(\w+)=ARRAY\[([0-9a-f, ]+)\]")

Event = tuple[int, str, dict[str, int]]


def reported(text: str) -> dict[int, list[Event]]:
    """Return the time, name and numbers of each event in a report, by CPU."""
    found: dict[int, list[Event]] = defaultdict(list)
    for line in text.splitlines():
        if match := _LINE.search(line):
            fields = {
                name: int(text, 16 if text[:2] == "0x" else 10) for name, text in _NUMBER.findall(match["fields"])
            }
            for name, text in _SET.findall(match["fields"]):
                fields[name] = int.from_bytes(bytes.fromhex(text.replace(",", "")), "little")
            found[int(match["cpu"])].append((int(match["s"] + match["ns"]), match["name"], fields))
    return found


def read(trace: TraceFile, cpu: int) -> list[Event]:
    """Return the events of a CPU by our reader in the same form, with all fields that are numbers or sets."""
    found: list[Event] = []
    for batch in batches(trace, cpu):
        for at in range(len(batch)):
            known = trace.by_id[int(batch.kind[at])]
            fields, which = {}, np.array([at])
            for field in known.fields.values():
                if field.name.startswith("common_") or field.size > 8 or field.size == 0:
                    continue
                numbers = batch.bits if field.name == "target_cpus" else batch.numbers
                fields[field.name] = int(numbers(known.name, field.name, which)[0]) & (1 << 64) - 1
            found.append((int(batch.time[at]), known.name, fields))
    return found


def assert_same(trace: TraceFile, report: str) -> set[str]:
    """Every event, and of each the fields that both know as numbers; those compared, as `event.field`."""
    expected = reported(report)
    assert trace.cpus == sorted(expected)
    compared: set[str] = set()
    for cpu, events in expected.items():
        for ours, theirs in zip(read(trace, cpu), events, strict=True):
            assert ours[:2] == theirs[:2]
            common = ours[2].keys() & theirs[2].keys()
            theirs_unsigned = {key: theirs[2][key] & (1 << 64) - 1 for key in common}
            assert {key: ours[2][key] for key in common} == theirs_unsigned, theirs
            compared |= {f"{theirs[1]}.{key}" for key in common}
    return compared
