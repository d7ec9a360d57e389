# SPDX-License-Identifier: BSD-3-Clause
"""A recording: the part of a run's folder that a what-if reads, small enough to be committed.

Trace, settings and counters are as the run left them. The ledger is summed over the run's windows. The manifest keeps
what made the run, without the lists of inputs that its keys are hashes of, and without names of places on the machine
that made it.
"""

import json
import shutil
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


def keep(path: Path, target: Path) -> None:
    """Write the recording of a run. A folder that is there already is replaced if it is a recording, too."""
    if target.exists() and not _is_recording(target):
        raise UserError(f"--keep {target}: exists and is not a recording; choose another folder")
    if target.resolve() == path.resolve():
        raise UserError(f"--keep {target}: is the run itself; choose another folder")
    rundir = RunDir.open(path)
    about = _manifest(rundir)
    ledger = _ledger(rundir / LEDGER)
    with whole.replaced(target) as folder:
        for name in (RUN, CPUIDLE, TRACE):
            shutil.copyfile(rundir / name, folder / name)
        json_file.write(folder / MANIFEST, about)
        pq.write_table(ledger, folder / LEDGER, compression="zstd")


def _is_recording(folder: Path) -> bool:
    """A run has the same files and others, which nothing could bring back."""
    return folder.is_dir() and {path.name for path in folder.iterdir()} == {RUN, CPUIDLE, TRACE, MANIFEST, LEDGER}


def _manifest(rundir: RunDir) -> dict[str, object]:
    about: dict[str, Any] = dict(rundir.manifest())
    about["command"] = ["lull", *(_nameless(word) for word in about["command"][1:])]
    about["engine"] = {**about["engine"], "path": PurePosixPath(about["engine"].get("path", "")).name}
    for name, artifact in about["artifacts"].items():
        files = artifact.pop("files", {})
        artifact.pop("packages", None)
        if name == "kernel":  # of an older kernel only its patches say whether a checkout has its governors
            artifact["files"] = {patch: key for patch, key in files.items() if patch.endswith(".patch")}
    return about


def _nameless(word: str) -> str:
    return PurePosixPath(word).name if word.startswith("/") else word


def _ledger(path: Path) -> pa.Table:
    """The ledger's rows summed over the windows: one window, as long as the run."""
    if not path.is_file():
        raise UserError(f"{path}: missing; run `lull energy {path.parent}` first")
    found = rows.grouped(path, _KEYS, ["seconds", "joules"])
    ends = rows.TABLE.read(path, ["start", "end"])
    start, end = pc.min(ends["start"]).as_py(), pc.max(ends["end"]).as_py()
    columns = {name: found[name] for name in found.column_names}
    columns["window"] = pa.repeat(0, len(found))
    columns["start"], columns["end"] = pa.repeat(start, len(found)), pa.repeat(end, len(found))
    columns["watts"] = pc.divide(found["joules"], (end - start) / TICK_HZ)
    about = {**json.loads((pq.read_schema(path).metadata or {}).get(b"lull", b"{}")), "windows": "summed"}
    schema = rows.SCHEMA.with_metadata({"lull": json.dumps(about)})
    arrays = [_as(columns[field.name], field.type) for field in schema]
    return pa.table(arrays, schema=schema)


def _as(values: Any, kind: pa.DataType) -> pa.ChunkedArray:
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    return column.combine_chunks().dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
