# SPDX-License-Identifier: BSD-3-Clause
"""Executes a RunSpec into a finished RunDir."""

from contextlib import suppress
from pathlib import Path

from lull.engines.base import Artifacts, Engine, Outcome, Sink
from lull.errors import LimitReached, UserError
from lull.files import disk
from lull.rundir.folder import FILES, STATS_TABLE, STATS_TEXT, STDOUT, TRACE, RunDir
from lull.runspec.spec import RunSpec


def execute(
    spec: RunSpec, engine: Engine, out: Path | None, sink: Sink, artifacts: Artifacts | None = None
) -> tuple[RunDir, Outcome]:
    """Run a RunSpec, and return its complete folder and the outcome. A run that fails keeps its logs. Artifacts are
    built if they are not given."""
    artifacts = artifacts or engine.artifacts(spec.flavour)
    rundir = RunDir.create(out, spec)
    with disk.named_when_full(rundir.path):
        rundir.begin(engine.describe(), artifacts.manifest())
        (rundir / STDOUT).touch()
        try:
            outcome = engine.run(spec, artifacts, rundir, sink)
            rundir.unpack_files()
            windows = _tabulate_statistics(rundir)
        except BaseException as error:
            with suppress(UserError):  # only the first error is reported
                rundir.unpack_files()
            state = "hung" if isinstance(error, LimitReached) else "failed"
            rundir.finish({"state": state, "error": str(error) or type(error).__name__})
            raise
        if spec.trace and (rundir / FILES / TRACE).is_file():
            (rundir / FILES / TRACE).rename(rundir / TRACE)
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


def _tabulate_statistics(rundir: RunDir) -> int | None:
    """Write gem5's statistics as a table. Return the number of windows; None if the engine has no statistics."""
    text = rundir / STATS_TEXT
    if not text.is_file() or not text.stat().st_size:
        return None
    # Loading pyarrow takes a quarter of a command's start, and only runs on gem5 need it.
    from lull.rundir import stats

    return stats.to_parquet(text, rundir / STATS_TABLE)
