# SPDX-License-Identifier: BSD-3-Clause
"""All events of one name as a table: time, CPU, task, and every field of the kernel's event.

`time_s` is gem5's time (on QEMU, the guest's time), `cpu` the CPU of the event, and `common_pid` the task on it. A
field keeps the kernel's name; if this is one of the three names above, it becomes `field_<name>`. Numbers and texts are
as in the kernel. A set of CPUs is a number with a bit for each CPU. The address of a kernel text becomes the text.
Other arrays are bytes.
"""

from collections import Counter

import numpy as np
import pyarrow as pa

from lull.errors import UserError
from lull.trace import events
from lull.trace.clock import TICK_HZ, Clock
from lull.trace.datfile import TraceFile
from lull.trace.events import Batch, Numbers
from lull.trace.formats import Field, Format

OURS = ("time_s", "cpu", "common_pid")
_COMMON = ("common_type", "common_flags", "common_preempt_count")


def counts(trace: TraceFile) -> dict[str, int]:
    """Return the number of events of each name."""
    found: Counter[int] = Counter()
    for cpu in trace.cpus:
        for batch in events.batches(trace, cpu):
            kinds, many = np.unique(batch.kind, return_counts=True)
            found.update(dict(zip(kinds.tolist(), many.tolist(), strict=True)))
    named = {trace.by_id[kind].name: many for kind, many in found.items() if kind in trace.by_id}
    return dict(sorted(named.items()))


def of_event(trace: TraceFile, name: str, clock: Clock) -> pa.Table:
    """Return the events of this name in the order of time."""
    known = trace.formats.get(name)
    if known is None:
        raise UserError(f"{trace.path}: knows no event {name}; its kernel has none, or it was not traced")
    parts = [
        _part(batch, known, which, clock)
        for cpu in trace.cpus
        for batch in events.batches(trace, cpu)
        if (which := batch.of(name)).size
    ]
    if not parts:
        raise UserError(f"{trace.path}: has no event {name}; run with --trace {known.system}:{name}")
    return pa.concat_tables(parts, promote_options="permissive").sort_by("time_s")


def _part(batch: Batch, known: Format, which: Numbers, clock: Clock) -> pa.Table:
    columns = {
        "time_s": clock.ticks(batch.time[which], batch.trace.path) / TICK_HZ,
        "cpu": np.full(which.size, batch.cpu, np.int32),
    }
    for field in known.fields.values():
        if field.name not in _COMMON:
            name = f"field_{field.name}" if field.name in OURS[:2] else field.name
            columns[name] = _column(batch, known, field, which)
    return pa.table(columns)


def _column(batch: Batch, known: Format, field: Field, which: Numbers) -> pa.Array:
    if field.dynamic:
        if "cpumask" in field.type or "unsigned long" in field.type:
            return pa.array(batch.bits(known.name, field.name, which))
        found = [batch.dynamic(known.name, field.name, at) for at in which.tolist()]
        return pa.array([_text(one) for one in found]) if "char" in field.type else pa.array(found, pa.binary())
    if field.type.endswith("[]") and "char" in field.type:
        if field.size == 0:  # the field extends to the event's end
            return pa.array([_text(batch.tail(known.name, field.name, at)) for at in which.tolist()])
        return pa.array([_text(bytes(text)) for text in batch.texts(known.name, field.name, which)])
    if field.size not in (1, 2, 4, 8):
        return pa.array(batch.raw(known.name, field.name, which), pa.binary())
    values = batch.numbers(known.name, field.name, which)
    if "char *" in field.type:
        return pa.array([batch.trace.strings.get(address & (1 << 64) - 1) for address in values.tolist()], pa.string())
    if field.size == 8 and not field.signed:
        return pa.array(values.view(np.uint64))
    return pa.array(values)


def _text(content: bytes) -> str:
    return content.split(b"\0")[0].decode(errors="replace")
