# SPDX-License-Identifier: BSD-3-Clause
"""The CPUs to which the scheduler moves light tasks that began on a big CPU, with energy awareness and without.

Only the second half of each task's runs counts, because the scheduler takes a while to learn how light a task is.
"""

from collections import Counter
from typing import Any

import pyarrow as pa

from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result, need
from lull.rundir.run import Run
from lull.scenario.runs import Runs

GROUP = "placement"
FILE = "placement.jsonl"
LEAST = 0.95
"""The least share of the runs that energy awareness has to keep off the biggest CPUs."""


def tables(runs: Runs) -> dict[str, pa.Table]:
    """Nothing where all CPUs of the platform have the same capacity."""
    found: dict[str, pa.Table] = {}
    for run in runs.group(GROUP):
        lines = run.lines(FILE)
        if lines and "absent" in lines[0]:
            continue
        with run.understanding(FILE):
            found["placement"] = df_placement(run, lines)
    return found


def extend(result: Result) -> None:
    table = need(result.tables, "placement", "biggest")
    rows = [
        ("on" if row["aware"] else "off", row["cluster"], row["runs"], f"{row['share']:.1%}")
        for row in table.to_pylist()
    ]
    result.summary += "\n## Where light tasks run\n\n" + markdown_table(
        ("energy awareness", "cluster", "runs", "share"), rows
    )
    result.checks.append(check(table))


def df_placement(run: Run, lines: list[dict[str, Any]]) -> pa.Table:
    """Return a row per setting and cluster: how many runs it had, of those that count. `biggest` is the cluster with
    the biggest CPUs."""
    tasks: dict[tuple[bool, int], list[int]] = {}
    for line in lines:
        tasks.setdefault((bool(line["aware"]), int(line["task"])), []).append(int(line["cpu"]))
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for (aware, _), cpus in tasks.items():
        counts[aware].update(run.cluster_of(cpu) for cpu in cpus[len(cpus) // 2 :])
    biggest = max(run.spec.platform.clusters, key=lambda cluster: cluster.capacity_dmips_mhz.value).name
    return pa.Table.from_pylist(
        [
            {"aware": aware, "cluster": cluster, "runs": count, "share": count / found.total(), "biggest": biggest}
            for aware, found in counts.items()
            for cluster, count in sorted(found.items())
        ]
    )


def check(table: pa.Table) -> Check:
    biggest = table["biggest"][0].as_py()
    there = {row["aware"]: row["share"] for row in table.to_pylist() if row["cluster"] == biggest}
    share = {aware: 1 - there.get(aware, 0.0) for aware in (True, False)}
    says = (
        f"{share[True]:.1%} of the runs of light tasks are not on {biggest} with energy awareness, "
        f"at least {LEAST:.0%} have to be; {share[False]:.1%} without it"
    )
    return Check("energy awareness places tasks", share[True] >= LEAST and share[True] > share[False], says)
