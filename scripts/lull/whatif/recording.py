# SPDX-License-Identifier: BSD-3-Clause
"""Writes a recording: the part of a run's folder that a what-if reads, small enough to be committed.

Trace, settings and counters are copied. The ledger's windows are summed if answers do not distinguish them. The
manifest keeps engine, artifacts and commit, but no lists of inputs (their hashes remain) and no paths of the host.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lull.energy import rows
from lull.errors import UserError
from lull.files import json_file, whole
from lull.rundir.folder import CPUIDLE, LEDGER, MANIFEST, RUN, TRACE, RunDir
from lull.trace.clock import TICK_HZ

_KEYS = ("cpu", "cluster", "state", "component", "kind", "cause", "backend", "band")


def keep(path: Path, target: Path, ticks: tuple[int, int]) -> None:
    """Write the recording of a run. An existing folder is replaced only if it is a recording.

    `ticks` is begin and end of the traced command in gem5's ticks.
    """
    if target.exists() and not _is_recording(target):
        raise UserError(f"--keep {target}: exists and is not a recording; choose another folder")
    if target.resolve() == path.resolve():
        raise UserError(f"--keep {target}: is the run itself; choose another folder")
    rundir = RunDir.open(path)
    about = _manifest(rundir)
    ledger = _ledger(rundir / LEDGER, ticks)
    with whole.replaced(target) as folder:
        for name in (RUN, CPUIDLE, TRACE):
            shutil.copyfile(rundir / name, folder / name)
        json_file.write(folder / MANIFEST, about)
        pq.write_table(ledger, folder / LEDGER, compression="zstd")


def _is_recording(folder: Path) -> bool:
    """Return true if a folder is a recording. A run has more files, and must not be overwritten."""
    return folder.is_dir() and {path.name for path in folder.iterdir()} == {RUN, CPUIDLE, TRACE, MANIFEST, LEDGER}


def _manifest(rundir: RunDir) -> dict[str, object]:
    about: dict[str, Any] = dict(rundir.manifest())
    about["command"] = ["lull", *(_nameless(word) for word in about["command"][1:])]
    about["engine"] = {**about["engine"], "path": PurePosixPath(about["engine"].get("path", "")).name}
    for name, artifact in about["artifacts"].items():
        files = artifact.pop("files", {})
        artifact.pop("packages", None)
        if name == "kernel":  # an older kernel's patches are needed to check whether a checkout has its governors
            artifact["files"] = {patch: key for patch, key in files.items() if patch.endswith(".patch")}
    return about


def _nameless(word: str) -> str:
    return PurePosixPath(word).name if word.startswith("/") else word


def _ledger(path: Path, ticks: tuple[int, int]) -> pa.Table:
    """Return the ledger's rows, summed over windows that `lull.whatif.watts` does not distinguish."""
    if not path.is_file():
        raise UserError(f"{path}: missing; run `lull energy {path.parent}` first")
    found = rows.grouped(path, (*_KEYS, "start", "end"), ["seconds", "joules"])
    windows = sorted(set(zip(found["start"].to_pylist(), found["end"].to_pylist(), strict=True)))
    parts = _parts(windows, ticks)
    numbers = pa.array([number for number, own in enumerate(parts) for _ in own])
    starts, ends = pa.array([own[0][0] for own in parts]), pa.array([own[-1][1] for own in parts])
    which = pc.take(numbers, pc.index_in(found["start"], value_set=pa.array([start for start, _ in windows])))
    keys = [*_KEYS, "window"]
    summed = found.append_column("window", which).group_by(keys, use_threads=False)
    found = summed.aggregate([("seconds", "sum"), ("joules", "sum")]).sort_by([(key, "ascending") for key in keys])
    columns = {name.removesuffix("_sum"): found[name] for name in found.column_names}
    columns["start"], columns["end"] = pc.take(starts, found["window"]), pc.take(ends, found["window"])
    lengths = pc.divide(pc.cast(pc.subtract(columns["end"], columns["start"]), pa.float64()), float(TICK_HZ))
    columns["watts"] = pc.divide(columns["joules"], lengths)
    about = {**json.loads((pq.read_schema(path).metadata or {}).get(b"lull", b"{}")), "windows": "summed"}
    schema = rows.SCHEMA.with_metadata({"lull": json.dumps(about)})
    arrays = [_as(columns[field.name], field.type) for field in schema]
    return pa.table(arrays, schema=schema)


def _parts(windows: Sequence[tuple[int, int]], ticks: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """Return the windows in parts: those before the command, those in it, and those after it. Each window that is only
    mostly in the command is its own part."""
    begin, end = ticks
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for window in windows:
        middle = (window[0] + window[1]) // 2
        if begin <= window[0] and window[1] <= end:
            part = ("in", 0)
        elif begin <= middle <= end:
            part = ("mostly", window[0])
        else:
            part = ("before" if middle < begin else "after", 0)
        found.setdefault(part, []).append(window)
    return list(found.values())


def _as(values: Any, kind: pa.DataType) -> pa.ChunkedArray:
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    return column.combine_chunks().dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
