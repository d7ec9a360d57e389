# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `soak`: how many sleeps there were, who ended them, and whether one never ended.

A wake-up is lost when a CPU was not seen again, when one of its timers came later than the guest program's bound, or
when the whole machine hung: a run that reached its limit counts as one, because a lost CPU may take the guest with it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lull.engines import latency_devices
from lull.errors import UserError
from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result
from lull.rundir import cpuidle, stats
from lull.rundir.folder import CPUIDLE, STATS_TABLE
from lull.rundir.run import Run
from lull.scenario.runs import Runs

FILE = "soak.jsonl"
BEFORE, AFTER = "interrupts.before", "interrupts.after"
ASKED = 100_000
"""Entries of each CPU into each state, over all points."""
SOURCES = ("timer", "call", "device")
SHOWN = 6
"""So many of the missing points are named."""
SHARED = "shared"
"""The group with more CPUs, two to a cluster: entries apart from the others', and so are its CPUs' numbers."""


def analyse(runs: Runs) -> Result:
    tables = {"cpus": df_cpus(runs), "tries": df_tries(runs), "lost": df_lost(runs)}
    return conclude(tables, runs.names)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From what those that have finished left, of all points."""
    of_shared = pc.equal(tables["cpus"]["group"], SHARED)
    entries = with_sleeps(df_entries(tables["cpus"].filter(pc.invert(of_shared))), tables["tries"])
    shared = df_entries(tables["cpus"].filter(of_shared))
    return Result(
        summary=_text(points, entries, shared, tables),
        tables={**tables, "entries": entries, "shared": shared},
        checks=[check(tables["cpus"], tables["lost"])],
    )


def df_cpus(runs: Runs) -> pa.Table:
    """One row per point and CPU: what the guest program and Linux counted."""
    rows: list[dict[str, object]] = []
    for run in runs.runs:
        taken = interrupts(run)
        for line in run.lines(FILE):
            cpu = int(line["cpu"])
            rows.append(
                {
                    **_names(runs, run),
                    "cluster": run.cluster_of(cpu),
                    "cpu": cpu,
                    "entries": int(line["entries"]),
                    "ended_by_others": int(line["ended_by_others"]),
                    **{source: taken[cpu][source] for source in SOURCES},
                    "latest_us": int(line["latest_us"]),
                    "bound_us": int(line["bound_us"]),
                    "lost": bool(line["lost"]),
                }
            )
    return pa.Table.from_pylist(rows)


def df_entries(cpus: pa.Table) -> pa.Table:
    """Sums over the points: a row per CPU model, state and CPU."""
    keys = ["mode", "state", "cluster", "cpu"]
    sums = [(name, "sum") for name in ("entries", "ended_by_others", *SOURCES)]
    found = cpus.group_by(keys, use_threads=False).aggregate([*sums, ("latest_us", "max"), ("entries", "count")])
    names = [*keys, *(name for name, _ in sums), "latest_us", "points"]
    return found.rename_columns(names).sort_by([(key, "ascending") for key in ("mode", "state", "cpu")])


def with_sleeps(entries: pa.Table, tries: pa.Table) -> pa.Table:
    """With the entries that hardware came back from, `slept`: firmware gave up the others for an interrupt, and Linux
    counts them as sleeps. Hardware counts by cluster, so it is not known of one of several CPUs in a cluster."""
    rows = entries.to_pylist()
    alone = Counter((row["mode"], row["state"], row["cluster"]) for row in rows)
    reached: dict[tuple[str, ...], list[int | None]] = {}
    for row in tries.to_pylist():
        if row["group"] != SHARED:
            reached.setdefault((row["mode"], row["state"], row["cluster"]), []).append(row["reached"])
    slept = []
    for row in rows:
        key = (row["mode"], row["state"], row["cluster"])
        counts = reached.get(key, [None])
        known = [count for count in counts if count is not None]
        slept.append(sum(known) if alone[key] == 1 and len(known) == len(counts) else None)
    return entries.append_column("slept", pa.array(slept, pa.int64()))


def df_tries(runs: Runs) -> pa.Table:
    """A row per point and cluster: how often a CPU tried to enter the state, and how often it got there.

    `refused` is what PSCI gave up, and Linux knows of; `reached` what hardware came back from, by the packets of its
    exit's latency devices; between the two lie the entries that firmware gave up for an interrupt. `cluster_off` is how
    often the whole cluster was off and came back. QEMU knows neither of the last two.
    """
    rows: list[dict[str, object]] = []
    for run in runs.runs:
        counted = cpuidle.by_cluster(cpuidle.read(run.path / CPUIDLE), run.spec.platform)
        exits = _exits(run) if runs.engine == "gem5" else None
        for number, cluster in enumerate(counted):
            use = cluster.states.get(str(run.values["state"]))
            if use is None:
                continue
            back = {} if exits is None else exits[number]
            rows.append(
                {
                    **_names(runs, run),
                    "cluster": cluster.name,
                    "tried": use.entries + cluster.rejected,
                    "refused": cluster.rejected,
                    "reached": sum(back.values()) if back else None,
                    "cluster_off": back.get("cluster-off"),
                }
            )
    schema = pa.schema([(name, pa.string()) for name in ("point", "group", "mode", "state", "cluster")])
    for name in ("tried", "refused", "reached", "cluster_off"):
        schema = schema.append(pa.field(name, pa.int64()))
    return pa.Table.from_pylist(rows, schema=schema)


def df_lost(runs: Runs) -> pa.Table:
    """One row per lost wake-up: which point, which CPU if that is known, and how it is known."""
    rows = [{**_names(runs, run), "cpu": None, "how": f"hung: {_error_of(run)}"} for run in runs.hung]
    for run in runs.runs:
        for line in run.lines(FILE):
            if line["lost"]:
                how = f"never seen again after {line['entries']} entries"
            elif line["latest_us"] > line["bound_us"]:
                how = f"woke {line['latest_us']} µs late, the bound is {line['bound_us']}"
            else:
                continue
            rows.append({**_names(runs, run), "cpu": line["cpu"], "how": how})
    schema = pa.schema([(name, pa.string()) for name in ("point", "group", "mode", "state")])
    return pa.Table.from_pylist(
        rows, schema=schema.append(pa.field("cpu", pa.int32())).append(pa.field("how", "string"))
    )


def check(cpus: pa.Table, lost: pa.Table) -> Check:
    says = f"{lost.num_rows} lost in {_total(cpus)} entries; none may be"
    if lost.num_rows:
        first = lost.to_pylist()[0]
        cpu = "" if first["cpu"] is None else f", CPU {first['cpu']}"
        says += f": {first['point']}{cpu}: {first['how']}"
    return Check("no wake-up is lost", lost.num_rows == 0, says)


def interrupts(run: Run) -> dict[int, Counter[str]]:
    """Return the number of interrupts of each source that each CPU took during the soak, asleep or not."""
    if not (run.path / "files" / AFTER).is_file():
        # The guest program ended early, with a CPU that never takes another.
        return {cpu: Counter() for cpus, _ in run.spec.platform.cpu_ranges() for cpu in cpus}
    before, after = (read_interrupts(run.file(name).read_text(), str(run.file(name))) for name in (BEFORE, AFTER))
    return {cpu: Counter(after[cpu]) - Counter(before[cpu]) for cpu in after}


def read_interrupts(text: str, origin: str) -> dict[int, Counter[str]]:
    """Return the counts of `/proc/interrupts` by CPU and source: the CPU's own timer, a call of another CPU, or a
    device."""
    head, *lines = text.splitlines() or [""]
    cpus = [int(word.removeprefix("CPU")) for word in head.split()]
    if not cpus:
        raise UserError(f"{origin}: does not begin with a line of CPUs; run the point again")
    found: dict[int, Counter[str]] = {cpu: Counter() for cpu in cpus}
    for line in lines:
        label, _, rest = line.partition(":")
        words = rest.split()
        if len(words) < len(cpus):  # a count of the whole machine, such as Err
            continue
        source = "device"
        if label.strip().startswith("IPI"):
            source = "call"
        elif words[-1] == "arch_timer":
            source = "timer"
        for cpu, count in zip(cpus, words, strict=False):
            found[cpu][source] += int(count)
    return found


def _exits(run: Run) -> list[dict[str, int]]:
    """Return how often the CPUs of each cluster came back from each kind of idle state that firmware enters."""
    table = stats.TABLE.read(run.path / STATS_TABLE).group_by("statistic").aggregate([("value", "sum")])
    statistics = dict(zip(table["statistic"].to_pylist(), table["value_sum"].to_pylist(), strict=True))
    return [
        {kind: int(latency_devices.times(statistics, number, kind, "exit")) for kind in latency_devices.KINDS}
        for number, _ in enumerate(run.spec.platform.resolved_clusters())
    ]


def _error_of(run: Run) -> str:
    """Return the run's error without the place of the run on one machine."""
    return run.manifest["error"].replace(str(run.path), run.name)


def _names(runs: Runs, run: Run) -> dict[str, object]:
    mode = runs.cpu or runs.engine
    return {"point": run.name, "group": run.group, "mode": mode, "state": str(run.values["state"])}


def _text(points: Sequence[str], entries: pa.Table, shared: pa.Table, tables: Mapping[str, pa.Table]) -> str:
    lost, finished = tables["lost"], set(tables["cpus"]["point"].to_pylist())
    missing = [point for point in points if point not in finished]
    fewest = min((row["entries"] for row in entries.to_pylist()), default=0)
    of_cpu = entries.group_by(["mode", "cpu"]).aggregate([("entries", "sum")])
    least = min(of_cpu["entries_sum"].to_pylist(), default=0)
    text = (
        f"## Entries\n\n{len(finished)} points of {len(points)} have finished. The fewest entries of a CPU into a "
        f"state are {fewest}, of {ASKED} that are asked for; over all states, {least}.{_rarer_than(tables)} *Slept*: "
        "entries that hardware came back from. Firmware gave up the others for an interrupt.\n\n" + _entries(entries)
    )
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        text += f"\nNot there yet: {', '.join(missing[:SHOWN])}{more}.\n"
    if shared.num_rows:
        text += "\n## Two CPUs in a cluster\n\nNot in the table above, but in the sum of all entries.\n\n"
        text += _entries(shared)
    text += "\n## Entries given up for an interrupt\n\n" + markdown_table(
        ("CPUs", "group", "state", "cluster", "tried", "given up, known to Linux", "given up later", "cluster off"),
        _given_up(tables["tries"]),
    )
    if lost.num_rows:
        text += "\n## Lost wake-ups\n\n" + markdown_table(
            ("point", "CPU", "how"),
            [(row["point"], "?" if row["cpu"] is None else row["cpu"], row["how"]) for row in lost.to_pylist()],
        )
    return text


def _rarer_than(tables: Mapping[str, pa.Table]) -> str:
    """Return what no loss in n entries means: a rate of 3/n would show a loss in 95 of 100 soaks."""
    if tables["lost"].num_rows:
        return ""
    total = _total(tables["cpus"])
    return f" None of {total} in all was lost: at most one in {total // 3} is, with 95 % confidence."


def _total(cpus: pa.Table) -> int:
    """Return the entries of all CPUs into all states, two CPUs in a cluster included."""
    return int(pc.sum(cpus["entries"]).as_py())


def _entries(entries: pa.Table) -> str:
    rows: list[Sequence[object]] = [
        (
            row["mode"], row["state"], row["cluster"], row["cpu"], row["entries"], f"{row['entries'] / ASKED:.1%}",
            "not known" if row.get("slept") is None else row["slept"],
            *(_share(row, source) for source in SOURCES), row["ended_by_others"], row["latest_us"],
        )
        for row in entries.to_pylist()
    ]  # fmt: skip
    headings = (
        "CPUs", "state", "cluster", "CPU", "entries", f"of {ASKED}", "slept", *SOURCES, "ended by others", "latest, µs"
    )  # fmt: skip
    return markdown_table(headings, rows)


def _given_up(tries: pa.Table) -> list[Sequence[object]]:
    keys = ["mode", "group", "state", "cluster"]
    counts = [(name, "sum") for name in ("tried", "refused", "reached", "cluster_off")]
    sums = tries.group_by(keys, use_threads=False).aggregate(counts)
    return [
        (
            *(row[key] for key in keys), row["tried_sum"], row["refused_sum"],
            *(
                ("not known", "not known") if row["reached_sum"] is None
                else (row["tried_sum"] - row["refused_sum"] - row["reached_sum"], row["cluster_off_sum"])
            ),
        )
        for row in sums.sort_by([(key, "ascending") for key in keys]).to_pylist()
    ]  # fmt: skip


def _share(row: Mapping[str, Any], source: str) -> str:
    total = sum(row[name] for name in SOURCES)
    return f"{row[source] / total:.1%}" if total else "not known"
