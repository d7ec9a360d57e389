# SPDX-License-Identifier: BSD-3-Clause
"""One run as the views read it. Each file is read once, and tables made from it are cached."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

import pyarrow as pa

from lull.energy import run_ledger
from lull.errors import UserError
from lull.figures.sample import Sample
from lull.host.progress import Progress
from lull.platform.schema import Platform
from lull.rundir.folder import LEDGER, TRACE
from lull.trace import columns, recording
from lull.trace.datfile import TraceFile
from lull.trace.recording import Recording


class Source:
    """The data of one run. `shown` is the folder as the user named it, for messages."""

    def __init__(self, sample: Sample, shown: str) -> None:
        self.sample, self.shown = sample, shown
        self._tables: dict[object, pa.Table] = {}

    def cached(self, key: object, make: Callable[[], pa.Table]) -> pa.Table:
        if key not in self._tables:
            self._tables[key] = make()
        return self._tables[key]

    @property
    def platform(self) -> Platform:
        return self.sample.run.spec.platform

    @cached_property
    def recording(self) -> Recording:
        """Return the part of the trace that analyses need."""
        return recording.load(self.sample.run.rundir())

    @cached_property
    def trace_file(self) -> TraceFile:
        """Return the trace with all its events."""
        path = self.sample.run.path / TRACE
        if not path.is_file():
            raise UserError(f"{self.shown}: has no trace; run with --trace sched --trace power --trace irq")
        return TraceFile(path)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return the number of events of each name in the trace; empty without a trace."""
        return columns.counts(self.trace_file) if (self.sample.run.path / TRACE).is_file() else {}

    def need(self, what: str, events: Sequence[str]) -> None:
        """Raise a UserError if some of these events (`power:cpu_idle`, or all of `irq`) were not traced."""
        missing = [event for event in events if not self._traces(event)]
        if missing:
            systems = dict.fromkeys(event.partition(":")[0] for event in missing)
            options = " ".join(f"--trace {system}" for system in systems)
            of = "events" if len(events) > 1 else "event"
            raise UserError(f"{self.shown}: {what} need the trace {of} {' and '.join(events)}; run with {options}")

    def ledger_made(self) -> None:
        """Make the run's ledger if there is none."""
        if self.sample.ledger is None:
            rundir = self.sample.run.rundir()
            with Progress(f"account for {self.shown}"):
                run_ledger.make_ledger(rundir, run_ledger.Options())
        assert self.sample.ledger == self.sample.run.path / LEDGER

    def _traces(self, event: str) -> bool:
        if not (self.sample.run.path / TRACE).is_file():
            return False
        system, _, name = event.partition(":")
        for asked in self.sample.run.spec.trace:
            of, _, like = asked.partition(":")
            if asked == "all" or asked == (name or system):
                return True
            if of == system and (not like or (name and fnmatchcase(name, like))):
                return True
        formats = self.trace_file.formats
        return any(formats[one].system == system and name in ("", one) for one in self.counts)
