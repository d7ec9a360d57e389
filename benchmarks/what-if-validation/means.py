# SPDX-License-Identifier: BSD-3-Clause
"""Means of boots: what several recorded boots together predict, beside the mean of other boots of the asked settings.

One run of another boot differs from its prediction by the model's error, and by what this boot does and that one does
not. A mean of several boots has less of the second. So these errors are nearer to the model's own.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from lull.rundir.run import Run
from lull.statistics import student
from lull.whatif import bars, pooled, prediction
from lull.whatif.prediction import ALL, Key
from lull.whatif.source import Replay

from . import held_out

GROUP = "boots"
"""The group of points whose runs are boots. No question is asked of a single one of them."""
EARLY_MS = 40.0
"""Milliseconds from the start of the command at which program and workers of Linux are still starting, for longer where
exits are slow."""
SETTINGS = ("governor", "state", "exit_us", "residency_us", "cpufreq")

Row = dict[str, Any]


def table(runs: Sequence[Run]) -> pa.Table | None:
    """A row for each number of each question: the mean of these boots, asked of the mean of those.

    Each question is asked of what counts, and of a part that begins sooner (`EARLY_MS`). None where no settings have
    run in two boots: the boots that predict are others than those that are predicted.
    """
    found: list[Row] = []
    for own in _platforms(runs):
        found += _rows(own, held_out.loaded)
        found += _rows(_early(own), held_out.replay)  # the ledger is that of the whole run
    return pa.Table.from_pylist(found) if found else None


def _early(runs: Sequence[Run]) -> list[Run]:
    """The same runs, counted from `EARLY_MS` on."""
    found = []
    for run in runs:
        end = held_out.part(run)[1]
        found.append(replace(run, values={**run.values, "from_ms": EARLY_MS, "for_ms": end - EARLY_MS}))
    return found


def _rows(runs: Sequence[Run], load: Callable[[Run], Replay]) -> Iterator[Row]:
    replays = {run.name: load(run) for run in runs}
    truths = {
        run.name: held_out.true_numbers(replays[run.name], held_out.informed(run, replays[run.name])) for run in runs
    }
    for before, asked in _questions(runs):
        recorded = [replays[run.name] for run in before]
        long = sum(map(held_out.length, recorded)) / len(recorded)
        truth = [held_out.scaled(truths[run.name], long / held_out.length(replays[run.name])) for run in asked]
        place = {
            "point": asked[0].name, "recorded": before[0].name, "platform": asked[0].spec.platform.name,
            "load": asked[0].values["load"], "cpufreq": asked[0].values["cpufreq"],
            "changed": _settings(before[0]) != _settings(asked[0]),
            "from_ms": held_out.part(asked[0])[0], "early": held_out.part(asked[0])[0] == EARLY_MS,
            "boots": len(before), "true_boots": len(asked), "made_of": [run.name for run in (*before, *asked)],
        }  # fmt: skip
        boots = [int(run.values["boot"]) for run in before]
        for row in _beside(recorded, boots, replays[asked[0].name], truth):
            yield {**place, **row}


def _platforms(runs: Sequence[Run]) -> Iterator[list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.spec.platform.name, []).append(run)
    yield from found.values()


def _questions(runs: Sequence[Run]) -> Iterator[tuple[list[Run], list[Run]]]:
    """The boots that predict, and those that are predicted: the first half of the boots, and the second.

    Settings are asked of each other, and of themselves. The last says what boots alone make of a mean.
    """
    by_settings: dict[tuple[object, ...], list[Run]] = {}
    for run in sorted(runs, key=lambda run: int(run.values["boot"])):
        by_settings.setdefault(_settings(run), []).append(run)
    whole = [own for own in by_settings.values() if len(own) > 1]
    for before in whole:
        for asked in whole:
            yield before[: len(before) // 2], asked[len(asked) // 2 :]


def _settings(run: Run) -> tuple[object, ...]:
    return tuple(run.values[name] for name in SETTINGS)


def _beside(
    recorded: Sequence[Replay], boots: Sequence[int], asked: Replay, truth: Sequence[Mapping[Key, float]]
) -> list[Row]:
    """Each number that is not 0 in both means. A latency that one of the boots has too few wake-ups for is left out."""
    own = [prediction.rows(one, asked.machine) for one in recorded]
    singles = [pooled.by_key(one) for one in own]
    found = []
    for row in pooled.rows(own, boots):
        key = row.anywhere
        if row.what == "latency" and not all(key in one for one in truth):
            continue
        true, true_pm = student.mean([one.get(key, 0.0) for one in truth])
        if not (row.recorded or row.predicted or true):
            continue
        found.append(
            {
                "what": row.what, "cpu": row.cpu, "of": row.of, "kind": bars.kind(*key),
                "recorded_value": row.recorded, "predicted": row.predicted, "error": row.error, "chance": row.chance,
                "true": true, "true_pm": true_pm,
                "single_off": sum(abs((one[key].predicted if key in one else 0.0) - true) for one in singles)
                / len(singles),
            }
        )  # fmt: skip
    return found


def inside(row: Row) -> bool:
    """Whether the true mean lies within the bar. Its own interval counts: a few boots do not tell it exactly."""
    chance = math.hypot(row["chance"], row["true_pm"] or 0.0)
    off = abs(row["predicted"] - row["true"])
    return bool(off <= (row["error"] - row["chance"] + chance) * (1 + 1e-9))


def df_errors(rows: Sequence[Row]) -> pa.Table:
    """A row for each question: how far the mean is off, and how far a single boot's prediction is off on average."""
    by_question: dict[tuple[bool, str, str], list[Row]] = {}
    for row in rows:
        by_question.setdefault((row["early"], row["recorded"], row["point"]), []).append(row)
    found = []
    for (early, recorded, point), own in by_question.items():
        by_key = {(row["what"], row["cpu"], row["of"]): row for row in own}
        rests = [row for row in own if row["what"] == "residency" and row["cpu"] != ALL]
        line: Row = {
            "recorded": recorded, "asked": point, "changed": own[0]["changed"], "early": early,
            "numbers": len(own), "inside": sum(map(inside, own)),
        }  # fmt: skip
        for name, key in (("cores_j", held_out.CORES_J), ("p99_us", held_out.P99_US)):
            number = by_key.get(key)
            line |= {
                name: number and 100 * abs(number["predicted"] / number["true"] - 1),
                f"{name}_single": number and 100 * number["single_off"] / number["true"],
                f"{name}_true_pm": number and number["true_pm"] and 100 * number["true_pm"] / number["true"],
            }
        line |= {
            "rests_pp": sum(abs(row["predicted"] - row["true"]) for row in rests) / len(rests),
            "rests_pp_single": sum(row["single_off"] for row in rests) / len(rests),
        }
        found.append(line)
    return pa.Table.from_pylist(found)
