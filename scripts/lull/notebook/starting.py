# SPDX-License-Identifier: BSD-3-Clause
"""`lull boot` and `lull run` from Python: a keyword for each option, of the same name with `_` for `-`.

Like the commands they say on stderr, in a few lines, what takes long. What the guest prints is the run's `stdout`.
Errors are `lull.UserError`, with the sentence of the command line. They look for gem5 as the commands do.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lull.engines.boot import WHAT_IT_RUNS_ON, Boot
from lull.errors import UserError
from lull.host.progress import report
from lull.notebook.many_runs import SweepView
from lull.notebook.one_run import RunView
from lull.notebook.opening import open as opened
from lull.results import making, result
from lull.runspec.spec import AnyCpu, CpuMode, EngineName, Flavour
from lull.runspec.values import Value, text_of
from lull.scenario import asked
from lull.scenario.asked import Asked

Settings = Mapping[str, Value] | Sequence[str]
Paths = str | Path | None


def boot(
    platform: str = "tiny",
    engine: EngineName | None = None,
    exec: str = WHAT_IT_RUNS_ON,  # noqa: A002 # as --exec
    *,
    cpu: AnyCpu | None = None,
    flavour: Flavour = "default",
    set: Settings = (),  # noqa: A002 # as --set
    shadow: bool | None = None,
    schedule: Paths = None,
    peer: str | None = None,
    put: str | Path | Sequence[str | Path] = (),
    trace: str | Sequence[str] = (),
    trace_buffer: int | None = None,
    stats_period: str | None = None,
    fast_forward: str | None = None,
    sim_limit: float = 60.0,
    wall_limit: float = 3600.0,
    seed: int = 1,
    out: Paths = None,
    gem5: str | None = None,
    checkpoint: Paths = None,
) -> RunView:
    """Boot the patched kernel on a platform, run a command in the guest, and open the run.

    A command that fails is no error: `.status` has its exit status.

        lull.boot("tiny", exec="sleep 0.2", set={"idle.deepest": "C3"}, trace=["power", "irq"], out="runs/mine")
    """
    rundir, _ = Boot(
        platform=platform,
        engine=engine,
        command=exec,
        cpu=cpu,
        flavour=flavour,
        settings=_words(set),
        shadow=shadow,
        schedule=_path(schedule),
        peer=peer,
        put=[str(one) for one in ([put] if isinstance(put, str | Path) else put)],
        trace=_list(trace),
        trace_buffer=trace_buffer,
        stats_period=stats_period,
        fast_forward=fast_forward,
        sim_limit=sim_limit,
        wall_limit=wall_limit,
        seed=seed,
        out=_path(out),
        gem5=gem5,
        checkpoint=_path(checkpoint),
    ).run(lambda _: None)
    found = opened(out or rundir.path)
    assert isinstance(found, RunView)
    return found


def run(
    scenario: str | Path,
    platform: str | None = None,
    engine: EngineName | None = None,
    *,
    cpu: CpuMode | None = None,
    set: Settings = (),  # noqa: A002 # as --set
    points: str | Sequence[str] = (),
    out: Paths = None,
    again: bool = False,
    seed: int = 1,
    stats_period: str | None = None,
    gem5: str | None = None,
) -> SweepView:
    """Run all points of a scenario that have not finished, make its figures if that was the last, and open the folder.

    Points that fail are a `lull.UserError`, when the others have run. A check that fails is only said: see `.result`.

        lull.run("wake-latency", engine="qemu", set={"count": 20}, points="states/*", out="runs/look")
    """
    prepared = asked.prepare(
        Asked(
            name=str(scenario),
            platform=platform,
            engine=engine,
            cpu=cpu,
            settings=_words(set),
            points=_list(points),
            out=_path(out),
            again=again,
            seed=seed,
            stats_period=stats_period,
            gem5=gem5,
        )
    )
    folder, done = asked.run(prepared)
    if told := asked.complaint(done, prepared.command):
        raise UserError("; ".join(told))
    if making.is_complete(folder):
        _, found = making.make(folder, prepared.scenario)
        try:
            result.must_hold(found.checks)
        except result.CheckFailed as failed:
            report(f"lull: {failed}")
    sweep = opened(out or folder.path)
    assert isinstance(sweep, SweepView)
    return sweep


def _words(settings: Settings) -> list[str]:
    """{"idle.deepest": "C3"} is ["idle.deepest=C3"]."""
    if isinstance(settings, Mapping):
        return [f"{key}={text_of(value)}" for key, value in settings.items()]
    return _list(settings)


def _list(words: str | Sequence[str]) -> list[str]:
    return [words] if isinstance(words, str) else list(words)


def _path(path: Paths) -> Path | None:
    return None if path is None else Path(path)
