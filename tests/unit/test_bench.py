# SPDX-License-Identifier: BSD-3-Clause
"""A run many times over: the same windows and events again and again, and time that goes on."""

import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lull.bench import mcpat, repeated
from lull.energy import activity, mcpat_run, tables, windows
from lull.energy.coefficients import DYNAMIC, GATE, SUBTHRESHOLD
from lull.energy.mcpat_run import Heading
from lull.errors import UserError
from lull.rundir import stats
from lull.rundir.folder import CPUIDLE, MANIFEST, STATS_TABLE, STATS_TEXT, TRACE, RunDir
from lull.trace import recording
from lull.trace.datfile import TraceFile
from lull.trace.events import batches
from tests import energy_runs, steady_runs
from tests.conftest import Lull
from tests.energy_runs import MS, run_spec, window

RECORDED = Path(__file__).parent / "data" / "trace" / "qemu.dat"
START = 7 * MS
LONG = 60 * MS
"""The length of a window. Three windows are longer than the recorded trace, as in a run."""
OPS = [1e5, 2e5, 0.0]


def _plain(recorded: Path, plain: Path) -> None:
    """The trace as lull-trace writes it: not compressed. Sections that are, go; the reader needs formats and pages."""
    trace = TraceFile(recorded)
    head = b"\x17\x08\x44tracing7\0" + b"\0\x08" + struct.pack("<I", 4096) + b"none\0\0"
    raw = recorded.read_bytes()
    content = bytearray(head + bytes(8))

    def section(kind: int, data: bytes) -> int:
        at = len(content)
        content.extend(struct.pack("<HHIQ", kind, 0, 0, len(data)) + data)
        return at

    options = b""
    for kind, data in _options(trace, raw):
        if kind in (17, 18, 20):
            data = struct.pack("<Q", section(kind, bytes(trace._section(struct.unpack("<Q", data)[0]).data)))
        elif kind == 3:
            places = {}
            for cpu in trace.cpus:
                content.extend(bytes(-len(content) % 4096))
                pages = b"".join(batch.tobytes() for batch in trace.pages(cpu))
                places[cpu] = (len(content), len(pages))
                content.extend(pages)
            names = data[8 : data.index(b"\0", data.index(b"\0", 8) + 1) + 1]
            data = bytes(8) + names + struct.pack("<II", 4096, len(places))
            data += b"".join(struct.pack("<IQQ", cpu, *place) for cpu, place in places.items())
        options += struct.pack("<HI", kind, len(data)) + data
    options += struct.pack("<HIQ", 0, 8, 0)
    content[len(head) : len(head) + 8] = struct.pack("<Q", section(0, options))
    plain.write_bytes(content)


def _options(trace: TraceFile, raw: bytes) -> list[tuple[int, bytes]]:
    at = raw.index(b"\0", raw.index(b"\0", 18) + 1) + 1
    body = bytes(trace._section(struct.unpack("<Q", raw[at : at + 8])[0]).data)
    found: list[tuple[int, bytes]] = []
    while True:
        kind, size = struct.unpack("<HI", body[:6])
        if kind == 0:
            return found
        found.append((kind, body[6 : 6 + size]))
        body = body[6 + size :]


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    asked = run_spec()
    made = [
        window(asked.platform, START + number * LONG, START + (number + 1) * LONG, [0, LONG // 2, LONG], ops=OPS)
        for number in range(3)
    ]
    rundir = energy_runs.rundir(tmp_path / "run", asked, made)
    text = ""
    for values in made:
        lines = [f"{name:<40} {_shown(value)}  # (Unspecified)\n" for name, value in values.items()]
        text += f"\n{stats.BEGIN}\n{''.join(lines)}\n{stats.END}\n"
    (rundir / STATS_TEXT).write_text(text)
    (rundir / CPUIDLE).touch()
    _plain(RECORDED, rundir / TRACE)
    return rundir


def _shown(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _repeat(run: RunDir, tmp_path: Path, times: int) -> RunDir:
    once = (run / STATS_TEXT).stat().st_size + (run / TRACE).stat().st_size
    large = repeated.repeat(run, tmp_path / "large", once * times)
    assert large.times == times
    stats.to_parquet(large.path / STATS_TEXT, large.path / STATS_TABLE)
    return RunDir.open(large.path)


def test_windows_follow_each_other_and_hold_the_same(run: RunDir, tmp_path: Path) -> None:
    large = _repeat(run, tmp_path, 4)
    found = list(windows.read(large / STATS_TABLE))
    assert len(found) == 12 == large.read_json(MANIFEST)["stats_windows"]
    assert found[0].start == START
    assert all(before.end == after.start for before, after in pairwise(found))
    details = large.read_json(MANIFEST)["details"]
    assert isinstance(details, dict)
    assert found[-1].end == START + details["ticks"]
    name = "system.cluster1.cpu0.ops"
    assert [own[name] for own in found[:2]] == [2e5, 2e5] == [own[name] for own in found[3:5]]
    last = found[2]
    assert last[name] == pytest.approx(2e5 * last.ticks / LONG), "stretched at the same rate"
    asleep = "system.cluster1.cpu0.power_state.pwrStateResidencyTicks::"
    assert last[f"{asleep}ON"] + last[f"{asleep}CLK_GATED"] == pytest.approx(last.ticks, rel=1e-12)
    assert last["system.cluster1.clk_domain.clock"] == found[0]["system.cluster1.clk_domain.clock"]


def test_the_trace_goes_on_with_stamps_of_its_clock(run: RunDir, tmp_path: Path) -> None:
    large = _repeat(run, tmp_path, 3)
    once, all_of_it = TraceFile(run / TRACE), TraceFile(large / TRACE)
    clock = recording.load(run).clock
    step = None
    for cpu in once.cpus:
        own = np.concatenate([batch.time for batch in batches(once, cpu)])
        found = np.concatenate([batch.time for batch in batches(all_of_it, cpu)])
        assert len(found) == 3 * len(own)
        assert (np.diff(found.astype(np.int64)) >= 0).all()
        step = int(found[len(own)] - own[0])
        assert step % clock.mult == 0
        clock.ticks(found.astype(np.uint64), cpu)  # raises for a stamp that the clock never showed
    details = large.read_json(MANIFEST)["details"]
    assert isinstance(details, dict)
    assert step is not None
    assert details["ticks"] == 3 * (step // clock.mult << clock.shift) * clock.period
    assert recording.load(large).end > recording.load(run).end


def test_a_compressed_trace_is_refused(run: RunDir, tmp_path: Path) -> None:
    (run / TRACE).write_bytes(RECORDED.read_bytes())
    with pytest.raises(UserError, match=r"trace\.dat: compressed, so that it cannot be made longer"):
        _repeat(run, tmp_path, 2)


def test_every_window_and_cluster_is_asked_of_mcpat_and_the_worst_difference_told(
    run: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A McPAT that says what the made-up tables say, but for one cluster in one window."""
    platform = run.spec().platform
    steady_runs.pretend(monkeypatch)
    monkeypatch.setattr(activity, "core_counts", lambda *_: {})
    monkeypatch.setattr(activity, "l2_counts", lambda *_: {})
    monkeypatch.setattr(tables, "load", lambda platform, cluster: energy_runs.table(platform, cluster.name))
    seconds = LONG / energy_runs.HZ
    asked: list[str] = []

    def answer(_: object, xml: str) -> Heading:
        cluster = platform.resolved_clusters()[len(asked) % 3]
        assert f"{cluster.name} cluster" in xml
        cycles = (1.0, 0.5, 0.0)[len(asked) % 3] * LONG / round(1e6 / cluster.opps.table[-1].mhz)
        joules = cycles * energy_runs.J_PER_CYCLE
        joules += OPS[len(asked) % 3] * energy_runs.J_PER_OP * 1.5
        watts = joules / seconds * (1.25 if len(asked) == 4 else 1.0)
        asked.append(cluster.name)
        core = {DYNAMIC: watts, SUBTHRESHOLD: 0.9 * energy_runs.CORE_LEAKAGE_W, GATE: 0.1 * energy_runs.CORE_LEAKAGE_W}
        l2 = {DYNAMIC: 0.0, SUBTHRESHOLD: energy_runs.L2_LEAKAGE_W, GATE: 0.0}
        return Heading("McPAT", parts=[Heading("Core", core), Heading("L2", l2)])

    monkeypatch.setattr(mcpat_run, "run", answer)
    binary = mcpat_run.McPatBinary("mcpat", "")
    found = mcpat.compare(run, binary, 1)
    assert (found.windows, found.starts) == (1, 3)
    assert found.worst < 1e-9
    asked.clear()
    found = mcpat.compare(run, binary, 2)
    assert (found.windows, found.starts) == (2, 6)
    assert found.worst == pytest.approx(0.2)


@pytest.mark.parametrize("missing", [STATS_TEXT, TRACE])
def test_a_run_without_what_is_repeated_is_refused(run: RunDir, lull: Lull, missing: str) -> None:
    (run / missing).unlink()
    ended = lull("bench", "energy", str(run.path))
    assert ended.returncode == 2
    assert f"lull: {run / missing}: missing; record the run on gem5 with --trace" in ended.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--gb", "0"), "--gb 0: give a number of gigabytes, from above 0 to 1000"),
        (("--windows", "0"), "--windows 0: give 1 or more"),
    ],
)
def test_bad_words_are_one_sentence(lull: Lull, words: tuple[str, str], sentence: str) -> None:
    ended = lull("bench", "energy", "nowhere", *words)
    assert (ended.returncode, ended.stderr) == (2, f"lull: {sentence}\n")
