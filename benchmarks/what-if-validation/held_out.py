# SPDX-License-Identifier: BSD-3-Clause
"""Runs that a what-if has not seen, each beside its prediction from the recorded run of its group and platform."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from lull.energy import run_ledger
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.whatif import prediction, source
from lull.whatif.prediction import ALL, CORES, Key, Predicted
from lull.whatif.source import Replay

RECORDED = {"governor": "menu", "exit_us": 300.0, "residency_us": 2000}
"""Values of the recorded runs. The deepest state of each is its group's `from_state`."""
TIMES = 20
"""A point is answered so often for its time to be measured."""
_SETTINGS = ("load", "governor", "state", "exit_us", "residency_us", "cpufreq")
_ADDS_UP = ("energy", "cause", "entries", "wake-ups")
_CORES, _P99 = ("energy", ALL, CORES), ("latency", ALL, "p99")

Row = dict[str, Any]


def tables(runs: Runs) -> dict[str, pa.Table]:
    """`points` has a row for each held-out run, `numbers` one for each number of its what-if."""
    points: list[Row] = []
    numbers: list[Row] = []
    for before, held_out in _recordings(runs):
        recorded = _loaded(before)
        for run in held_out:
            truth = _loaded(run)
            rows = beside(recorded, truth)
            place = {"point": run.name, "group": run.group, "platform": run.spec.platform.name}
            numbers += [{**place, **row} for row in rows]
            points.append({**place, **_settings(before, run), **_point(recorded, truth, run, rows)})
    return {"points": pa.Table.from_pylist(points), "numbers": pa.Table.from_pylist(numbers)} if points else {}


def beside(recorded: Replay, truth: Replay) -> list[Row]:
    """Each number that is not 0 in both runs. The prediction knows the settings of the held-out run alone."""
    # The program of the one may end some milliseconds before that of the other: what adds up over time is set beside
    # what the recorded run's time would have had.
    longer = _length(recorded) / _length(truth)
    there = {
        _key(row): row.recorded * (longer if row.what in _ADDS_UP else 1.0)
        for row in prediction.rows(truth, truth.machine)
    }
    found = []
    for row in prediction.rows(recorded, truth.machine):
        true = there.get(_key(row), 0.0)
        if row.recorded or row.predicted or true:
            found.append(
                {
                    "what": row.what, "cpu": row.cpu, "of": row.of, "recorded": row.recorded,
                    "predicted": row.predicted, "bar": row.error, "true": true,
                }
            )  # fmt: skip
    return found


def _length(replay: Replay) -> int:
    return replay.chains.last - replay.chains.first


def _key(row: Predicted) -> Key:
    return row.what, row.cpu, row.of


def _recordings(runs: Runs) -> Iterator[tuple[Run, list[Run]]]:
    """Each recorded run with those that are predicted from it. A group whose recorded run is missing has to wait."""
    found: dict[tuple[str, str], list[Run]] = {}
    for run in runs.runs:
        found.setdefault((run.group, run.spec.platform.name), []).append(run)
    for own in found.values():
        before = [run for run in own if _is_recorded(run)]
        held_out = [run for run in own if not _is_recorded(run)]
        if before and held_out:
            yield before[0], held_out


def _is_recorded(run: Run) -> bool:
    asked = {**RECORDED, "state": run.values["from_state"]}
    return all(run.values[name] == value for name, value in asked.items())


def _loaded(run: Run) -> Replay:
    run_ledger.make_ledger(run.rundir(), run_ledger.Options())
    return source.load(run.path)


def _settings(before: Run, run: Run) -> Row:
    return {
        "recorded": before.name,
        **{name: run.values[name] for name in _SETTINGS},
        "factor": float(run.values["exit_us"]) / float(before.values["exit_us"]),
        "other_governor": run.values["governor"] != before.values["governor"],
        "other_state": run.values["state"] != before.values["state"],
        "other_residency": run.values["residency_us"] != before.values["residency_us"],
    }


def _point(recorded: Replay, truth: Replay, run: Run, rows: Sequence[Row]) -> Row:
    by_key = {(row["what"], row["cpu"], row["of"]): row for row in rows}
    cores, p99 = by_key[_CORES], by_key[_P99]
    rests = [
        abs(row["predicted"] - row["true"]) for row in rows if row["what"] == "residency" and row["cpu"] != ALL
    ]  # fmt: skip
    begun = time.process_time()
    for _ in range(TIMES):
        prediction.totals(recorded, truth.machine)
    return {
        "choices": recorded.again.share(),
        "before_cores_j": cores["recorded"], "said_cores_j": cores["predicted"], "true_cores_j": cores["true"],
        "before_p99_us": p99["recorded"], "said_p99_us": p99["predicted"], "true_p99_us": p99["true"],
        "rests_pp": sum(rests) / len(rests), "worst_rest_pp": max(rests),
        "gem5_s": float(run.manifest["wall_s"]), "what_if_s": (time.process_time() - begun) / TIMES,
    }  # fmt: skip
