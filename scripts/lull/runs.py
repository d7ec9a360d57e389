# SPDX-License-Identifier: BSD-3-Clause
"""From a RunSpec to a finished RunDir."""

from pathlib import Path

from lull.cache import disk_full_named
from lull.engines.base import Engine, Outcome, Sink
from lull.rundir import FILES, STDOUT, RunDir
from lull.runspec import RunSpec

STATS_TEXT = "stats.txt"
STATS_TABLE = "stats.parquet"


def execute(spec: RunSpec, engine: Engine, out: Path | None, sink: Sink) -> tuple[RunDir, Outcome]:
    """Build what is missing, run, and leave a complete folder. A run that fails keeps its logs."""
    artifacts = engine.artifacts(spec.flavour)
    rundir = RunDir.create(out, spec)
    with disk_full_named(rundir.path):
        rundir.begin(engine.describe(), artifacts.manifest())
        (rundir / STDOUT).touch()
        try:
            outcome = engine.run(spec, artifacts, rundir, sink)
        except BaseException as error:
            rundir.finish({"state": "failed", "error": str(error) or type(error).__name__})
            raise
        finally:
            rundir.unpack_files()
        trace = rundir / FILES / "trace.dat"
        if spec.trace and trace.is_file():
            trace.rename(rundir / "trace.dat")
        windows = None
        if (rundir / STATS_TEXT).is_file() and (rundir / STATS_TEXT).stat().st_size:
            # pyarrow is a quarter of a command's start, and only gem5 leaves statistics.
            from lull import stats

            windows = stats.to_parquet(rundir / STATS_TEXT, rundir / STATS_TABLE)
        rundir.finish(
            {
                "status": outcome.status,
                "simulated_s": outcome.simulated_s,
                "wall_s": round(outcome.wall_s, 3),
                "instructions": outcome.instructions,
                "stats_windows": windows,
                "details": outcome.details,
            }
        )
    return rundir, outcome
