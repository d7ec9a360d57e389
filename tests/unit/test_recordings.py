# SPDX-License-Identifier: BSD-3-Clause
"""The recordings in results/: a what-if on them needs no gem5. What it refuses, it refuses in one sentence."""

import dataclasses
import json
import shutil
import time
from collections.abc import Callable
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import lull as lull_api
from lull.cli.app import app
from lull.energy import run_ledger
from lull.engines.base import Engine, Sink
from lull.engines.gem5 import Gem5
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.rundir.folder import RunDir
from lull.runspec.spec import RunSpec
from lull.sweep.folder import SweepFolder, SweepPoint
from lull.trace import recording as trace_recording
from lull.whatif import grid, prediction, recording, source, tune, watts
from lull.whatif.differ import OtherChoice, Reason
from lull.whatif.source import Replay
from tests import fake_gem5
from tests.conftest import Lull

pytestmark = pytest.mark.usefixtures("governors")

FOLDER = ROOT / "results" / "recordings"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
ONE = FOLDER / "drags"
_ALL_ENERGY = ("energy", prediction.ALL, "all")


@pytest.fixture(scope="module")
def replays() -> dict[str, Replay]:
    return {name: source.load(FOLDER / name) for name in NAMES}


def test_each_recording_is_told_of_and_small() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(NAMES) == 4
    for name in NAMES:
        assert f"| `{name}` |" in page
        assert sum(file.stat().st_size for file in (FOLDER / name).iterdir()) < 1_000_000


def test_the_kernel_of_a_recording_chooses_as_recorded(replays: dict[str, Replay]) -> None:
    """999 of 1000 at least, and each of the rest has its reason."""
    agrees = {name: replay.again.agrees() for name, replay in replays.items()}
    for name, own in agrees.items():
        assert len(replays[name].differences) == (~own).sum(), name
        assert own.size > 200, name
    assert np.concatenate(list(agrees.values())).mean() >= 0.999


def test_hindsight_spends_no_more_than_the_recorded_governor(replays: dict[str, Replay]) -> None:
    for name, replay in replays.items():
        (joules,) = [
            row for row in prediction.rows(replay, replay.machine) if (row.what, row.cpu, row.of) == _ALL_ENERGY
        ]
        assert joules.ideal is not None
        assert 0.5 * joules.recorded < joules.ideal <= joules.predicted, name


def test_an_ideal_latency_of_too_few_wake_ups_is_not_there(
    replays: dict[str, Replay], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CPU 3 of `drags` wakes up 36 times, and 28 times with hindsight."""
    monkeypatch.setattr(prediction, "FEWEST", 32)
    replay = replays["drags"]
    rows = {row[:4]: row for row in prediction.rows(replay, replay.machine)}
    few = rows["latency", "us", 3, "p99"]
    assert (few.predicted > 0, few.ideal) == (True, None)
    assert all(row.ideal is not None for row in rows.values() if row.what != "latency")
    column = prediction.table([few, rows["latency", "us", 0, "p99"]], replay.path)["ideal"].to_pylist()
    assert column == [None, rows["latency", "us", 0, "p99"].ideal]


def test_a_held_out_run_is_as_the_prediction_says(replays: dict[str, Replay]) -> None:
    """The same drags with the deepest state C4, in place of C3: predicted from the one, recorded in the other."""
    asked = replays["drags"].machine.changed(["idle.deepest=C4"])
    said = {row[:4]: row for row in prediction.rows(replays["drags"], asked)}
    deeper = replays["drags-deeper"]
    truth = {row[:4]: row.recorded for row in prediction.rows(deeper, deeper.machine)}
    energy, off = ("energy", "J", prediction.ALL, "all"), ("residency", "%", prediction.ALL, "off main")
    assert said[energy].predicted == pytest.approx(truth[energy], rel=0.05)
    assert said[energy].recorded > 1.5 * truth[energy], "a prediction of no change would be far off"
    assert said[off].predicted == pytest.approx(truth[off], abs=1)
    for key in (energy, off, ("latency", "us", 0, "p99"), ("residency", "%", 0, "C4")):
        assert abs(said[key].predicted - truth[key]) <= said[key].error, key


def test_the_bars_hold_where_one_recording_is_asked_of_the_other(replays: dict[str, Replay]) -> None:
    """Of the causes only joules by task are left out: a task of another run has another number."""
    held = []
    for before, after in permutations(("drags", "drags-deeper")):
        truth = {row[:4]: row.recorded for row in prediction.rows(replays[after], replays[after].machine)}
        for row in prediction.rows(replays[before], replays[after].machine):
            true = truth.get(row[:4], 0.0)
            if (row.recorded or row.predicted or true) and row.what != "cause":
                held.append(abs(row.predicted - true) <= row.error)
    assert len(held) > 100
    assert sum(held) / len(held) > 0.95


def test_a_point_of_a_grid_is_what_the_table_says_with_its_error_bar(replays: dict[str, Replay]) -> None:
    """Also in `poll`, of which some choices come out otherwise, so that the model is not the recorded run."""
    words = ("governor=teo", "cstates.C3.exit_us=60")
    for name, replay in replays.items():
        rows = {row[:4]: row for row in prediction.rows(replay, replay.machine.changed(words))}
        (point,) = grid.table(replay, words[:1], words[1:]).to_pylist()
        for column, key in (("energy_j", _ALL_ENERGY), ("latency_p99_us", ("latency", prediction.ALL, "p99"))):
            row = rows[key[0], prediction.UNITS[key[0]], *key[1:]]
            assert (point[column], point[f"{column}_error"]) == pytest.approx((row.predicted, row.error)), name
        assert point["wake_ups_error"] > 0


def test_a_processor_answers_a_hundred_points_a_second_of_a_run_of_ten_seconds(replays: dict[str, Replay]) -> None:
    replay = replays["keys"]
    assert (replay.chains.last - replay.chains.first) / 1e9 > 10
    asked = [(f"cstates.C3.exit_us={number}", "governor=teo") for number in range(10, 60)]
    begun = time.process_time()
    assert len(grid.numbers(replay, asked)) == len(asked)
    assert time.process_time() - begun < len(asked) / 100


def test_tuning_finds_no_worse_than_the_recorded_settings_within_the_bound(replays: dict[str, Replay]) -> None:
    replay = replays["poll"]
    own = tune.as_run(replay)
    found = tune.searched(replay, 1.1 * own.latency_p99_us, 3).answers
    assert len(found) == 3
    assert found[0].energy_j <= found[1].energy_j <= found[2].energy_j
    assert found[0].energy_j <= 1.001 * own.energy_j
    assert all(one.latency_p99_us <= 1.1 * own.latency_p99_us for one in found)
    assert all(one.energy_j_error > 0 and one.latency_p99_us_error > 0 for one in found)
    with pytest.raises(UserError, match=r"--p99-us 1: no candidate is within it; the least is \d"):
        tune.searched(replay, 1, 3)


def test_tuning_looks_through_the_parameters_of_haltpoll_alone(replays: dict[str, Replay]) -> None:
    """A poll of 0 to 800 us: no other governor has it, and each residency is asked with each."""
    own = tune.tunables(["haltpoll.guest_halt_poll_ns=0,800000"])
    asked = list(tune.candidates(replays["poll"], own))
    without = list(tune.candidates(replays["poll"]))
    polls = [point for point in asked if point[0] == "governor=haltpoll"]
    assert len(polls) == 2 * sum(point[0] == "governor=haltpoll" for point in without)
    assert all(point[-1].startswith("haltpoll.guest_halt_poll_ns=") for point in polls)
    assert [point for point in asked if point not in polls] == [
        point for point in without if point[0] != "governor=haltpoll"
    ]
    assert len(tune.tunables(None)) == len(tune.FACTORS) ** 2
    joules = {row["energy_j"] for row in grid.numbers(replays["poll"], polls[:2])}
    assert len(joules) == 2, "the parameter changes the answer"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cstates.C3.exit_us=1"], "--tunable cstates.C3.exit_us=1: not a parameter of haltpoll; choose haltpoll."),
        (["haltpoll.guest_halt_poll_ns="], "--tunable haltpoll.guest_halt_poll_ns=: write key=value,value, such as"),
        (["haltpoll.poll=1"], "--tunable haltpoll=poll: unknown; choose guest_halt_poll_ns"),
        (["haltpoll.guest_halt_poll_ns=2000000000"],
         "--tunable haltpoll.guest_halt_poll_ns=2000000000: not a whole number from 0 to 1000000000"),
        (["haltpoll.guest_halt_poll_allow_shrink=0,2"],
         "--tunable haltpoll.guest_halt_poll_allow_shrink=2: not a whole number from 0 to 1"),
        (["haltpoll.guest_halt_poll_grow=x"], "--tunable haltpoll.guest_halt_poll_grow=x: not a whole number"),
    ],
)  # fmt: skip
def test_a_wrong_tunable_is_one_sentence(replays: dict[str, Replay], words: list[str], message: str) -> None:
    with pytest.raises(UserError) as error:
        list(tune.candidates(replays["poll"], tune.tunables(words)))
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_tunable_that_gem5_cannot_be_given_is_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lull.engines.gem5_binary.is_there", lambda: True)
    words = ["tune", "no-run", "--p99-us", "100", "--verify", "1", "--tunable", "haltpoll.guest_halt_poll_ns=0"]
    assert str(CliRunner().invoke(app, words).exception) == (
        "--tunable haltpoll.guest_halt_poll_ns=0: a run on gem5 cannot be given it; leave --verify or it out"
    )


def test_a_tuned_run_is_the_recorded_one_with_other_residencies(replays: dict[str, Replay]) -> None:
    before = RunDir.open(ONE).spec()
    settings = ("governor=teo", "cstates.C3.advertised.residency_us=2000")
    spec = tune.spec_of(replays["drags"], settings)
    assert spec.policy.governor == "teo"
    assert (spec.command, spec.seed, spec.engine) == (before.command, before.seed, "gem5")
    assert spec.boot_platform() == before.boot_platform(), "the same checkpoint"
    assert "cstate=0-3:C3:500:2000" in spec.script()


def test_verifying_without_gem5_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read or computed before."""
    monkeypatch.delenv("GEM5", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    said = CliRunner().invoke(app, ["tune", "no-run", "--p99-us", "100", "--verify", "3"])
    assert str(said.exception) == (
        "--verify 3: no gem5 found in GEM5 and PATH; name one by GEM5, or leave --verify out"
    )


def test_verifying_compares_with_the_run_that_the_engine_left(replays: dict[str, Replay], tmp_path: Path) -> None:
    """The engine here leaves another recording in place of a simulation."""
    told = []

    def leave(spec: RunSpec, _engine: Engine, out: Path, _sink: Sink) -> None:
        told.append(spec.policy.governor)
        shutil.copytree(FOLDER / "drags-deeper", out)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tune, "execute", leave)
        patch.setattr(run_ledger, "make_ledger", lambda *_: None)
        tuned = tune.Tuned(("governor=teo",), 1.0, 1.0)
        gem5 = Gem5(str(fake_gem5.install(tmp_path)))
        true = tune.verified(replays["drags"], tuned, gem5, tmp_path / "run", lambda _: None)
    assert told == ["teo"]
    assert true == (("governor=teo",), *tune.as_run(replays["drags-deeper"])[1:])


def test_the_notebook_has_the_same_tables(replays: dict[str, Replay]) -> None:
    run = lull_api.open(ONE)
    assert isinstance(run, lull_api.RunView)
    found = run.what_if("cstates.C3.exit_us=130")
    said = {(row.what, row.cpu, row.of): row for row in prediction.rows(
        replays["drags"], replays["drags"].machine.changed(["cstates.C3.exit_us=130"])
    )}  # fmt: skip
    assert len(found) == len(said)
    for row in found.to_dict("records"):
        assert row["predicted"] == pytest.approx(said[row["what"], row["cpu"], row["of"]].predicted)
    points = run.what_if("idle.deepest=C4", grid=["governor=menu,teo"])
    assert list(points["settings"]) == ["idle.deepest=C4 governor=menu", "idle.deepest=C4 governor=teo"]
    with pytest.raises(UserError, match="what_if: nothing asked; name a setting"):
        run.what_if()
    tuned = run.tune(p99_us=200, top=2)
    best = tune.searched(replays["drags"], 200, 2, of_haltpoll=tune.tunables(None)).answers
    assert list(tuned["settings"]) == [" ".join(one.settings) for one in best]
    assert list(tuned["energy_j_error"]) == [one.energy_j_error for one in best]
    assert list(tuned["sure"]) == [one.surely_within(200) for one in best]
    numbers = run.tune_numbers(p99_us=200, tunable=[])
    assert list(numbers["number"]) == ["governor", "C2 residency", "C2 latency", "C3 residency", "C3 latency"]
    assert (numbers["energy_j_least"] <= numbers["energy_j_most"]).all()
    words = ["haltpoll.guest_halt_poll_ns=0,800000"]
    for tunable, of_haltpoll in ((words, tune.tunables(words)), ([], [()])):
        asked = run.tune(p99_us=200, top=2, tunable=tunable)
        found = tune.searched(replays["drags"], 200, 2, of_haltpoll=of_haltpoll).answers
        assert list(asked["settings"]) == [" ".join(one.settings) for one in found]
    with pytest.raises(UserError, match="--tunable governor=teo: not a parameter of haltpoll"):
        run.tune(p99_us=200, tunable=["governor=teo"])


def test_the_notebook_has_the_notes_and_the_reasons_that_the_command_prints(
    replays: dict[str, Replay], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = OtherChoice(0, 3.2, 1, 2, Reason.LEFT, "it does after one that a task cut short")
    replay = dataclasses.replace(replays["drags"])
    vars(replay)["differences"] = [other]  # the recordings have none
    monkeypatch.setattr(source, "load", lambda _: replay)
    run = lull_api.open(ONE)
    assert isinstance(run, lull_api.RunView)
    useless = "cstates.C4.exit_us changes nothing while the deepest state is C3; add idle.deepest=C4"
    said = run.what_if_notes("cstates.C4.exit_us=5")
    assert set(said["run"]) == {str(ONE)}
    assert list(said["note"]) == [
        "100.0% of its recorded choices come out again",
        *replay.kept,
        "1 choice does not come out again, unknown is a choice before that was not entered; CPU 0 chose C2, a replay "
        "chooses C3, at 3.200 ms, it does after one that a task cut short",
        useless,
    ]
    assert list(run.what_if_notes()["note"]) == list(said["note"])[:-1]
    (choice,) = run.what_if("governor=teo", reasons=True).query("what == 'choice'").to_dict("records")
    assert (choice["cpu"], choice["of"], choice["recorded"], choice["predicted"]) == (0, str(other), 1, 2)
    assert run.what_if("governor=teo").query("what == 'choice'").empty


def _in_windows(run: Path, ticks: tuple[int, int]) -> int:
    """Divide a ledger's only window, and return the number of windows. All power is larger outside of the command."""
    ledger = pq.read_table(run / "energy.parquet")
    begin, end = ticks
    first, last = pc.min(ledger["start"]).as_py(), pc.max(ledger["end"]).as_py()
    part = min(begin - first, end - begin, last - end) // 4
    middle = (begin + end) // 2
    bounds = [first, begin - part // 2, begin + part, middle, end - part // 2, end + part, last]
    assert part > 1
    found = []
    for number, ((start, stop), times) in enumerate(zip(pairwise(bounds), (3, 2, 1, 1, 3, 4), strict=True)):
        own, share = ledger, (stop - start) / (bounds[-1] - bounds[0])
        for name, factor in (("seconds", share), ("joules", share * times), ("watts", float(times))):
            own = own.set_column(own.schema.get_field_index(name), name, pc.multiply(own[name], factor))
        found.append(_window(own, number, start, stop).cast(ledger.schema))
    pq.write_table(pa.concat_tables(found), run / "energy.parquet")
    return len(found)


def _as_one_window(run: Path) -> None:
    """Leave the rows of the command's window, as if it were the whole run."""
    ledger = pq.read_table(run / "energy.parquet")
    first, last = pc.min(ledger["start"]).as_py(), pc.max(ledger["end"]).as_py()
    lengths = pc.subtract(ledger["end"], ledger["start"])
    own = ledger.filter(pc.equal(lengths, pc.max(lengths)))
    pq.write_table(_window(own, 0, first, last).cast(ledger.schema), run / "energy.parquet")


def _window(ledger: pa.Table, number: int, start: int, end: int) -> pa.Table:
    for name, value in (("window", number), ("start", start), ("end", end)):
        kind = ledger.schema.field(name).type
        column = pa.repeat(pa.scalar(value, kind), len(ledger))
        ledger = ledger.set_column(ledger.schema.get_field_index(name), name, column)
    return ledger


def test_a_recording_has_the_power_of_the_runs_windows(tmp_path: Path, replays: dict[str, Replay]) -> None:
    run, kept, replay = tmp_path / "run", tmp_path / "kept", replays["drags"]
    ticks, platform = replay.entries.ticks, replay.machine.platform
    shutil.copytree(ONE, run)
    _as_one_window(run)
    expected = watts.of_run(RunDir.open(run), platform, replay.cpus, ticks)
    windows = _in_windows(run, ticks)
    recording.keep(run, kept, ticks)
    assert len(pc.unique(pq.read_table(kept / "energy.parquet")["window"])) == windows - 2
    of_run, again = (watts.of_run(RunDir.open(path), platform, replay.cpus, ticks) for path in (run, kept))
    for found in (of_run, again):
        for cpu, own in expected.kinds.items():
            for state, power in own.items():
                assert found.kinds[cpu][state] == pytest.approx(power), "only the windows in the command count"
    for name, power in of_run.clusters.items():
        assert again.clusters[name] == pytest.approx(power)
        assert power["on"] >= expected.clusters[name]["on"], "all windows count"


def test_a_recording_of_a_recording_is_the_same(tmp_path: Path, replays: dict[str, Replay]) -> None:
    recording.keep(ONE, tmp_path / "again", replays["drags"].entries.ticks)
    first, again = (pq.read_table(path / "energy.parquet") for path in (ONE, tmp_path / "again"))
    assert again.equals(first)
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == sorted(path.name for path in ONE.iterdir())
    named = json.loads((tmp_path / "again" / "manifest.json").read_text(encoding="utf-8"))
    assert not [word for word in [*named["command"], named["engine"]["path"]] if word.startswith("/")]
    assert set(named["artifacts"]) == {"kernel", "rootfs", "firmware"}


def test_a_recording_takes_no_other_folders_place(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(UserError, match="exists and is not a recording; choose another folder"):
        recording.keep(ONE, tmp_path, (0, 1))
    with pytest.raises(UserError, match="is the run itself; choose another folder"):
        recording.keep(ONE, ONE, (0, 1))
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_recording_takes_the_place_of_a_recording_and_of_no_run(tmp_path: Path) -> None:
    run, kept = tmp_path / "run", tmp_path / "kept"
    shutil.copytree(ONE, run)
    (run / "stats.parquet").write_text("an hour of gem5")
    recording.keep(run, kept, (0, 1))
    recording.keep(ONE, kept, (0, 1))
    with pytest.raises(UserError, match="exists and is not a recording; choose another folder"):
        recording.keep(ONE, run, (0, 1))
    assert (run / "stats.parquet").read_text() == "an hour of gem5"


def test_the_command_prints_and_writes_the_table(tmp_path: Path, lull: Lull) -> None:
    ran = lull("what-if", str(ONE), "--set", "cstates.C3.exit_us=130", "--out", "table.parquet")
    assert ran.returncode == 0, ran.stderr
    rows = {(row["what"], row["cpu"], row["of"]): row for row in pq.read_table(tmp_path / "table.parquet").to_pylist()}
    late = rows["latency", 0, "p50"]
    assert late["predicted"] - late["recorded"] == pytest.approx(100, abs=1), "C3 takes 30 us in the recording"
    assert "latency us" in ran.stdout


def _sweep(place: Path) -> None:
    folder, points = SweepFolder(place), []
    for name in ("keys", "poll"):
        shutil.copytree(FOLDER / name, folder.run_of(name))
        asked = json.loads((FOLDER / name / "run.json").read_text(encoding="utf-8"))
        points.append(SweepPoint(name, "models", {}, {}, 1, asked["hash"], name))
    about = {"name": "made", "scenario": "esm-gesture", "title": "made up", "command": "./lull sweep"}
    folder.record({**about, "engine": "gem5", "grid": {}, "seeds": 1}, points)


def test_a_sweep_in_the_notebook_has_the_notes_of_all_its_runs(
    tmp_path: Path, replays: dict[str, Replay], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "load", lambda path: dataclasses.replace(replays[path.name], path=path))
    _sweep(tmp_path / "sweep")
    sweep = lull_api.open(tmp_path / "sweep")
    assert isinstance(sweep, lull_api.SweepView)
    said = sweep.what_if_notes("governor=teo", grid=["haltpoll.guest_halt_poll_ns=0,9"])
    for name, own in said.groupby("run")["note"]:
        first, *kept, last = own
        assert first.endswith("% of its recorded choices come out again")
        assert kept == replays[Path(name).name].notes
        assert last == "haltpoll.guest_halt_poll_ns changes nothing without governor=haltpoll"
    assert [Path(name).name for name in dict.fromkeys(said["run"])] == ["keys", "poll"]
    assert len(sweep.what_if(grid=["governor=menu,teo"], reasons=True)) == 4


def test_a_sweep_is_all_of_its_runs(tmp_path: Path, lull: Lull) -> None:
    """Each has its own table, and its own name in the column `run`."""
    _sweep(tmp_path / "sweep")
    ran = lull("what-if", "sweep", str(ONE), "--grid", "governor=menu,teo", "--out", "table.parquet")
    assert ran.returncode == 0, ran.stderr
    runs = [row["run"] for row in pq.read_table(tmp_path / "table.parquet").to_pylist()]
    assert [Path(run).name for run in runs] == ["keys", "keys", "poll", "poll", "drags", "drags"]
    assert all(run in ran.stdout.replace("\n", "") for run in runs)
    refused = lull("what-if", "sweep", "--keep", "kept")
    assert (refused.returncode, refused.stderr) == (2, "lull: --keep kept: for one run at a time; name one\n")
    refused = lull("what-if", str(ONE), str(tmp_path), "--set", "governor=teo")
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1, "nothing is computed before"


def test_a_table_that_cannot_be_written_is_one_sentence_before_anything_is_computed(tmp_path: Path, lull: Lull) -> None:
    (tmp_path / "there.parquet").mkdir()
    for place, said in (
        ("nowhere/table.parquet", "its folder is not there"), ("there.parquet", "is a folder"),
        ("table.csv", "not a Parquet file"),
    ):  # fmt: skip
        refused = lull("what-if", str(ONE), "--set", "governor=teo", "--out", place)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"lull: --out {place}: {said}")
        assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "governor=ladder"], "--set governor=ladder: unknown; choose menu, teo, haltpoll"),
        (["--grid", "governor=menu", "--grid", "governor=teo"], "--grid governor: is there twice"),
    ],
)
def test_a_wrong_setting_is_refused_before_a_trace_is_read(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(source, "load")
    refused = CliRunner().invoke(app, ["what-if", str(ONE), *words])
    assert isinstance(refused.exception, UserError)
    assert str(refused.exception).startswith(said)


def test_a_cpu_that_did_not_sleep_is_told_of(replays: dict[str, Replay]) -> None:
    replay = replays["drags"]
    rundir = RunDir.open(ONE)
    awake = {cpu: own for cpu, own in replay.chains.sleeps.items() if cpu != 2}
    chains = dataclasses.replace(replay.chains, sleeps=awake)
    notes = source._kept(rundir, rundir.spec().platform, chains, replay.entries, replay.again)
    assert set(notes) - set(replay.notes) == {"CPU 2 is left out: it did not sleep"}


def test_tune_tells_of_what_a_replay_cannot_move(lull: Lull) -> None:
    ran = lull("tune", str(ONE), "--p99-us", "200", "--top", "1")
    assert ran.returncode == 0, ran.stderr
    assert f"{ONE}: Linux changed the frequency 12 times; work keeps the time that it took" in ran.stderr.splitlines()


def test_a_cpu_that_was_off_at_the_end_is_told_of(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(ONE, folder)
    lines = (folder / "cpuidle.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "cpuidle.jsonl").write_text("".join(line for line in lines if json.loads(line)["cpu"] != 3))
    replay = source.load(folder)
    assert 3 not in replay.cpus
    assert "CPU 3 is left out: it was off when the command ended" in replay.notes


def test_what_a_replay_cannot_move_is_told_of(replays: dict[str, Replay]) -> None:
    """By the trace's own events, of the command alone."""
    for name, replay in replays.items():
        begin, end = replay.entries.ticks
        tables = trace_recording.load(RunDir.open(FOLDER / name)).tables
        changes = tables["cpu_frequency"]
        inside = (changes.time >= begin) & (changes.time <= end) & (changes["cpu_id"] == 0)
        assert f"Linux changed the frequency {inside.sum()} times; work keeps the time that it took" in replay.notes
        assert "Linux moved a task to another CPU 4 times; tasks stay where they were" in replay.notes


def _without_trace(folder: Path) -> None:
    (folder / "trace.dat").unlink()


def _unfinished(folder: Path) -> None:
    about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**about, "state": "running"}), encoding="utf-8")


def _traced_without_timers(folder: Path) -> None:
    asked = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps({**asked, "trace": ["sched", "power", "irq"]}), encoding="utf-8")


def _with_lost_events(folder: Path) -> None:
    trace = (folder / "trace.dat").read_bytes()
    assert b"overrun: 0" in trace
    (folder / "trace.dat").write_bytes(trace.replace(b"overrun: 0", b"overrun: 7", 1))


def _of_qemu(folder: Path) -> None:
    asked = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps({**asked, "engine": "qemu", "cpu": None}), encoding="utf-8")


def _without_ledger(folder: Path) -> None:
    (folder / "energy.parquet").unlink()


def _of_em_alone(folder: Path) -> None:
    table = pq.read_table(folder / "energy.parquet")
    pq.write_table(table.filter(pc.equal(table["backend"].cast(pa.string()), "em")), folder / "energy.parquet")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_without_trace, "trace.dat: missing; run the command again with --trace sched --trace power --trace irq "),
        (_traced_without_timers, "trace.dat: was traced without ipi, timer; run the command again with --trace sched "),
        (_with_lost_events, "trace.dat: lost 7 events; trace less, or raise --trace-buffer, and run again"),
        (_unfinished, ": this run has not finished (running); wait, or run it again"),
        (_of_qemu, ": of qemu, which has no timing; name a run on gem5"),
        (_without_ledger, "energy.parquet: missing; run `lull energy "),
        (
            _of_em_alone,
            "energy.parquet: has no joules of CPU 0 by the backend mcpat; make it with `lull energy ",
        ),
    ],
)
def test_a_run_that_cannot_be_asked_is_one_sentence(
    damage: Callable[[Path], None], said: str, tmp_path: Path, lull: Lull
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(ONE, folder)
    damage(folder)
    for words in (["what-if", str(folder), "--set", "governor=teo"], ["tune", str(folder), "--p99-us", "100"]):
        refused = lull(*words)
        assert refused.returncode == 2, refused.stderr
        lines = refused.stderr.strip().splitlines()
        assert [line for line in lines if line.startswith("lull: ")] == lines[-1:], refused.stderr
        assert lines[-1].startswith(f"lull: {folder}")
        assert said in lines[-1]


def test_settings_out_of_order_end_with_status_2_and_write_nothing(tmp_path: Path, lull: Lull) -> None:
    for settings in (["cstates.C4.advertised.residency_us=10"], ["cstates.C3.exit_us=-1"], []):
        words = [word for text in settings for word in ("--set", text)]
        refused = lull("what-if", str(ONE), *words, "--out", "table.parquet")
        assert refused.returncode == 2, refused.stderr
        lines = refused.stderr.strip().splitlines()
        assert [line for line in lines if line.startswith("lull: ")] == lines[-1:], refused.stderr
        assert "Traceback" not in refused.stderr
        assert not (tmp_path / "table.parquet").exists()
