# SPDX-License-Identifier: BSD-3-Clause
"""A recorded run on gem5 (`data/trace/README.md`): the trace against what gem5 itself says of the same CPUs."""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.platform.schema import Platform
from lull.rundir.folder import RunDir
from lull.timeline import timeline
from lull.trace import recording, spans, wakes
from lull.trace.recording import Recording
from lull.trace.spans import EXIT, SWITCH, Span
from lull.trace.wakes import Wake
from tests import perfetto

RUN = Path(__file__).parent / "data" / "trace" / "tiny-gem5"
US = 10**6
NS = 10**3
GATED = "system.cluster{}.cpu0.power_state.pwrStateResidencyTicks::CLK_GATED"
"""On `tiny` each CPU is a cluster."""


@pytest.fixture(scope="module")
def rundir() -> RunDir:
    return RunDir.open(RUN)


@pytest.fixture(scope="module")
def record(rundir: RunDir) -> Recording:
    return recording.load(rundir)


@pytest.fixture(scope="module")
def platform(rundir: RunDir) -> Platform:
    return rundir.spec().platform


@pytest.fixture(scope="module")
def by_cpu(record: Recording, platform: Platform) -> dict[int, list[Span]]:
    return {part.cpu: list(part) for part in spans.by_cpu(record, platform)}


@pytest.fixture(scope="module")
def woken(record: Recording, platform: Platform) -> dict[tuple[int, int], Wake]:
    return {(wake.cpu, wake.time): wake for wake in wakes.of_recording(record, platform)}


def windows() -> list[dict[str, float]]:
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for row in pq.read_table(RUN / "stats.parquet").to_pylist():
        found[row["window"]][row["statistic"]] = row["value"]
    return [found[number] for number in sorted(found)]


def test_every_cpu_is_covered(record: Recording, by_cpu: dict[int, list[Span]]) -> None:
    assert list(by_cpu) == [0, 1, 2]
    for mine in by_cpu.values():
        assert (mine[0].start, mine[-1].end) == (record.begin, record.end)
        assert all(one.end == other.start for one, other in pairwise(mine))
    assert record.lost == 0


def test_a_core_leaves_wfi_when_its_interrupt_comes_by_the_trace(
    record: Recording, by_cpu: dict[int, list[Span]], woken: dict[tuple[int, int], Wake]
) -> None:
    """gem5 says how long a core was in WFI in each window. In one that begins in WFI and has no other sleep, this is
    when it left, to the tick. A timer may be up to five counts late; an IPI takes its sender a while to send."""
    late = defaultdict(list)
    for values in windows():
        end = int(values["finalTick"])
        start = end - int(values["simTicks"])
        if start < record.begin or end > record.end:
            continue
        for cpu, mine in by_cpu.items():
            first, *rest = [span for span in mine if span.start < end and span.end > start]
            if not rest or rest[0].state not in (SWITCH, EXIT) or any(span.state[0] == "C" for span in rest):
                continue
            if first.state[0] == "C" and not any(span.state == "entry" for span in rest):
                source = woken[cpu, _back(mine, rest[0])].source.partition(":")[0]
                late[source].append(start + values[GATED.format(cpu)] - rest[0].start)
    assert len(late["timer"]) >= 5
    assert min(late["timer"]) >= 0
    assert max(late["timer"]) < 5 * record.clock.period + 50_000
    assert len(late["ipi"]) >= 3
    assert 0 < min(late["ipi"]) <= max(late["ipi"]) < 2 * US


def _back(spans: list[Span], first: Span) -> int:
    return next(span.end for span in spans if span.state == EXIT and span.start >= first.start)


def test_the_time_in_wfi_is_gem5s_but_for_the_firmwares_path(record: Recording, by_cpu: dict[int, list[Span]]) -> None:
    """CPU 1 waits for others with WFE, which gem5 takes for sleep, and is left out."""
    for cpu in (0, 2):
        ours = theirs = sleeps = 0.0
        for values in windows():
            end = int(values["finalTick"])
            start = end - int(values["simTicks"])
            if record.begin <= start and end <= record.end:
                asleep = [span for span in by_cpu[cpu] if span.state[0] == "C"]
                ours += sum(max(0, min(span.end, end) - max(span.start, start)) for span in asleep)
                theirs += values.get(GATED.format(cpu), 0)
                sleeps = len(asleep)
        assert 0 < (ours - theirs) / sleeps < 35 * US


def test_who_woke_whom(woken: dict[tuple[int, int], Wake]) -> None:
    """`usleep 50000` arms a timer, which wakes its CPU. At its end it wakes the shell, on another."""
    own = [wake for wake in woken.values() if (wake.source, wake.state) == ("timer:usleep/52", "C4")]
    assert [(wake.cpu, wake.armed_by) for wake in own] == [(0, "task:usleep/52")]
    (slept,) = [wake.time - wake.act[1] for wake in own if wake.act]
    assert 50_000 * US < slept < 52_000 * US
    others = [wake for wake in woken.values() if wake.source == "ipi:0" and wake.armed_by == "task:usleep/52"]
    assert [wake.cpu for wake in others] == [1]
    assert any(wake.armed_by == "task:rcu_preempt/15" and wake.source.startswith("timer:") for wake in woken.values())


def test_the_timeline_has_every_moment_once(rundir: RunDir, record: Recording, tmp_path: Path) -> None:
    path = tmp_path / "timeline.json.gz"
    timeline.write(rundir, path)
    events = perfetto.events(path)
    groups = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert list(groups.values()) == ["CPU 0 (little, a53)", "CPU 1 (big, a57)", "CPU 2 (shadow, a53)"]
    for pid in groups:
        slices = sorted((event["ts"], event["dur"]) for event in events if event["ph"] == "X" and event["pid"] == pid)
        assert record.begin // NS / 1000 <= slices[0][0]
        assert slices[-1][0] + slices[-1][1] <= record.end / US + 1e-6
        assert all(one[0] + one[1] <= other[0] + 1e-6 for one, other in pairwise(slices)), "one thing at a time"
    written = [event for event in events if event["ph"] == "X"]
    for whole_ns in perfetto.READERS:
        assert sum(map(len, perfetto.tracks(events, whole_ns).values())) == len(written), "Perfetto drops none"
    mhz = {event["pid"]: event["args"]["value"] for event in events if event["ph"] == "C"}
    assert [mhz[pid] for pid in groups] == pytest.approx([850, 1100, 700], rel=1e-3)
    starts, ends = ({event["id"] for event in events if event["ph"] == phase} for phase in "sf")
    assert starts == ends
    assert len(starts) > 10
    within = [event for event in events if event["ph"] in "sf"]
    for event in within:
        here = (event["pid"], event["tid"])
        assert any(
            item["ts"] <= event["ts"] < item["ts"] + item["dur"]
            for item in events
            if item["ph"] == "X" and (item["pid"], item["tid"]) == here
        ), "an arrow that ends nowhere is not drawn"
