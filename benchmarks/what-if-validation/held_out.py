# SPDX-License-Identifier: BSD-3-Clause
"""Runs that a what-if has not seen, each beside its prediction from the other runs of its group and platform."""

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import pyarrow as pa

from lull.energy import run_ledger
from lull.rundir.folder import FILES
from lull.rundir.run import Run
from lull.whatif import bars, pooled, prediction, source
from lull.whatif.prediction import ALL, CORES, Key
from lull.whatif.source import Replay

FIRST = {"governor": "menu", "exit_us": 300.0, "residency_us": 2000}
"""Values of the first run of each group and platform. The deepest state of each is its group's `from_state`."""
MOST = 5.0
"""The exit of a run is asked of another one if it is so many times as long or as short at most."""
EVENTS = "events.jsonl"
TIMES = 20
"""A point is answered so often for its time to be measured."""
_SETTINGS = ("load", "governor", "state", "exit_us", "residency_us", "cpufreq")
_ADDS_UP = ("energy", "cause", "entries", "wake-ups")
CORES_J, P99_US = ("energy", ALL, CORES), ("latency", ALL, "p99")

Row = dict[str, Any]


def tables(runs: Sequence[Run]) -> dict[str, pa.Table]:
    """`points` has a row for each question: a run that is held out, asked of another run. `numbers` has one for each
    number of its answer. Without a question there is no table."""
    points: list[Row] = []
    numbers: list[Row] = []
    for own in _groups(runs):
        replays = {run.name: loaded(run) for run in own}
        truths = {run.name: true_numbers(replays[run.name], informed(run, replays[run.name])) for run in own}
        for before, run in permutations(own, 2):
            if not 1 / MOST <= _factor(before, run) <= MOST:
                continue
            recorded, truth = replays[before.name], replays[run.name]
            rows = beside(recorded, truth, truths[run.name])
            place = {"point": run.name, "group": run.group, "platform": run.spec.platform.name}
            numbers += [{**place, "recorded_run": before.name, **row} for row in rows]
            points.append(
                {**place, "recorded": before.name, **_settings(before, run), **_point(recorded, truth, run, rows)}
            )
    return {"points": pa.Table.from_pylist(points), "numbers": pa.Table.from_pylist(numbers)} if points else {}


def beside(recorded: Replay, truth: Replay, numbers: Mapping[Key, float]) -> list[Row]:
    """Each number that is not 0 in both runs. The prediction knows the settings of the held-out run alone.

    `numbers` are those of the held-out run. `bar` is the error bar that lull gave, and `base` the same before its
    kind's factor.
    """
    there = scaled(numbers, length(recorded) / length(truth))
    found = []
    for key, row in pooled.by_key(prediction.rows(recorded, truth.machine)).items():
        what, cpu, of = key
        if what == "latency" and key not in there:
            continue  # of too few wake-ups
        kind, true = bars.kind(*key), there.get(key, 0.0)
        if row.recorded or row.predicted or true:
            found.append(
                {
                    "what": what, "cpu": cpu, "of": of, "kind": kind, "recorded": row.recorded,
                    "predicted": row.predicted, "bar": row.error,
                    "base": row.error / bars.factor(kind, recorded.circumstances), "true": true,
                }
            )  # fmt: skip
    return found


def true_numbers(truth: Replay, with_interrupts: Replay) -> dict[Key, float]:
    """Return the numbers of a held-out run.

    `with_interrupts` is the same run with the times of the devices' interrupts, which no event of a trace tells. From
    these times comes what latencies were.
    """
    plain, informed = (pooled.by_key(prediction.rows(one, truth.machine)) for one in (truth, with_interrupts))
    there = {key: row for key, row in plain.items() if key[0] != "latency"}
    there |= {key: row for key, row in informed.items() if key[0] == "latency"}
    return {key: row.recorded for key, row in there.items()}


def scaled(numbers: Mapping[Key, float], longer: float) -> dict[Key, float]:
    """Return the numbers with what adds up over time as in a run that is so many times as long: the program of one run
    may end some milliseconds before that of another."""
    return {key: number * (longer if key[0] in _ADDS_UP else 1.0) for key, number in numbers.items()}


def length(replay: Replay) -> int:
    return replay.chains.last - replay.chains.first


def _groups(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """The runs of each group and platform, the first run first."""
    found: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        found.setdefault((run.group, run.spec.platform.name), []).append(run)
    for own in found.values():
        if len(own) > 1:
            yield sorted(own, key=lambda run: not is_first(run.values))


def is_first(values: Mapping[str, object]) -> bool:
    asked = {**FIRST, "state": values["from_state"]}
    return all(values[name] == value for name, value in asked.items())


def _factor(before: Run, run: Run) -> float:
    return float(run.values["exit_us"]) / float(before.values["exit_us"])


def loaded(run: Run) -> Replay:
    """Return the part of a run that counts. The run's ledger is written anew."""
    run_ledger.make_ledger(run.rundir(), run_ledger.Options())
    return replay(run)


def replay(run: Run) -> Replay:
    return source.load(run.path, part(run))


def informed(run: Run, plain: Replay) -> Replay:
    """`input-app` leaves when the device raised each of its interrupts, all on the program's CPU."""
    if not (run.path / FILES / EVENTS).is_file():
        return plain
    with run.understanding(EVENTS):
        (about,) = run.lines("run.jsonl")
        interrupts = {int(about["cpu"]): sorted(int(row["hardware_ns"]) for row in run.lines(EVENTS))}
    return source.load(run.path, part(run), interrupts)


def part(run: Run) -> tuple[float, float]:
    """Return begin and end of what counts, in milliseconds from the start of the command."""
    begin = float(run.values["from_ms"])
    return begin, begin + float(run.values["for_ms"])


def _settings(before: Run, run: Run) -> Row:
    return {
        "of_first": is_first(before.values),
        "from_ms": part(run)[0],
        **{name: run.values[name] for name in _SETTINGS},
        "factor": _factor(before, run),
        "other_governor": run.values["governor"] != before.values["governor"],
        "other_state": run.values["state"] != before.values["state"],
        "other_residency": run.values["residency_us"] != before.values["residency_us"],
    }


def _point(recorded: Replay, truth: Replay, run: Run, rows: Sequence[Row]) -> Row:
    by_key = {(row["what"], row["cpu"], row["of"]): row for row in rows}
    cores, p99 = by_key[CORES_J], by_key[P99_US]
    rests = [
        abs(row["predicted"] - row["true"]) for row in rows if row["what"] == "residency" and row["cpu"] != ALL
    ]  # fmt: skip
    ground = prediction.ground_of_points(recorded)  # once for all points of a grid
    begun = time.process_time()
    for _ in range(TIMES):
        prediction.point(ground, recorded, truth.machine)
    return {
        "choices": recorded.again.share(),
        "before_cores_j": cores["recorded"], "said_cores_j": cores["predicted"], "true_cores_j": cores["true"],
        "before_p99_us": p99["recorded"], "said_p99_us": p99["predicted"], "true_p99_us": p99["true"],
        "rests_pp": sum(rests) / len(rests), "worst_rest_pp": max(rests), "strangers": strangers(rows),
        "gem5_s": float(run.manifest["wall_s"]), "what_if_s": (time.process_time() - begun) / TIMES,
    }  # fmt: skip


def strangers(rows: Sequence[Row]) -> int:
    """Return how many CPUs wake up in one of the two runs only. No replay can know of these wake-ups."""
    wakes = [row for row in rows if row["what"] == "wake-ups" and row["cpu"] != ALL]
    before, after = ({row["cpu"] for row in wakes if row[which] > 0} for which in ("recorded", "true"))
    return len(before ^ after)
