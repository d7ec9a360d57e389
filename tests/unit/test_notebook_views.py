# SPDX-License-Identifier: BSD-3-Clause
"""`import lull`: what it opens, and what its views say."""

import gzip
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import MagicMock

import matplotlib
import numpy as np
import numpy.typing as npt
import pandas
import polars
import pyarrow as pa
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import lull
from lull.cli import boot as boot_command
from lull.cli import run as run_command
from lull.compare import samples
from lull.energy import rows
from lull.figures import traced_wakes
from lull.notebook import starting
from lull.notebook.frame import Kind
from lull.notebook.one_run import RunView
from lull.notebook.source import Source
from lull.scenario.points import Point
from lull.trace import columns, events, recording
from lull.trace.clock import Clock
from lull.trace.datfile import TraceFile
from tests import sweeps, trace_report, wakes
from tests.notebook import recorded

QEMU = Path(__file__).parent / "data" / "trace" / "qemu.dat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("recorded") / "run")


@pytest.fixture
def run(folder: Path) -> RunView:
    found = lull.open(folder)
    assert isinstance(found, RunView)
    return found


@pytest.fixture
def _drawing() -> Iterator[None]:
    with matplotlib.rc_context({"backend": "agg"}):
        yield
    pyplot.close("all")


@pytest.fixture
def _frames() -> Iterator[None]:
    yield
    lull.frames("pandas")


@pytest.fixture
def sweep(tmp_path: Path) -> lull.SweepView:
    made = {"menu": [(100.0, 1.0), (120.0, 2.0)], "teo": [(200.0, 3.0), (220.0, 4.0)]}
    found = lull.open(str(sweeps.make(tmp_path / "s", made, [1, 2])))
    assert isinstance(found, lull.SweepView)
    return found


def _says(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'pyarrow', 'matplotlib', 'pydantic', 'pandas', 'polars'}"
    assert _says(f"import sys, lull; dir(lull); print(*sorted({heavy} & sys.modules.keys()))") == ""


def test_results_is_a_package_and_a_function_whichever_comes_first() -> None:
    assert _says("import lull; print(lull.results('soak').path.name)") == "soak"
    ours = "from lull.results import result; import lull; print(lull.results('soak').path.name, result.CHECKS)"
    assert _says(ours) == "soak checks.json"


def test_a_notebooks_own_figures_keep_their_style(folder: Path) -> None:
    program = (
        "import matplotlib, lull; before = dict(matplotlib.rcParams);"
        f"lull.open({str(folder)!r}).idle.plot_residency(); lull.results('soak').figures;"
        "print({key for key in before if before[key] != matplotlib.rcParams[key]} - {'backend'})"
    )
    assert _says(program) == "set()"


@pytest.mark.usefixtures("_drawing")
def test_a_notebook_that_shows_figures_by_itself_goes_on_to(run: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter's window system turns that on when its first figure is made."""
    make = pyplot.subplots

    def subplots(**words: object) -> object:
        matplotlib.interactive(True)
        return make(**words)  # type: ignore[call-overload]

    monkeypatch.setattr(pyplot, "subplots", subplots)
    matplotlib.interactive(False)
    try:
        run.idle.plot_residency()
        assert matplotlib.is_interactive()
    finally:
        matplotlib.interactive(False)


def test_what_is_no_run_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(lull.UserError, match="nowhere: neither a run's folder nor a sweep's; name one made by lull"):
        lull.open("nowhere")
    with pytest.raises(lull.UserError, match=r"the folder of a result; open it by lull\.results\('.*soak'\)"):
        lull.open(lull.results("soak").path)
    with pytest.raises(lull.UserError, match=r"sok: no published result, and no folder; use .*'?soak"):
        lull.results("sok")
    with pytest.raises(lull.UserError, match=r"not a result \(summary.md is missing\)"):
        lull.results(tmp_path)


def test_a_run_has_what_was_asked_and_what_came(run: RunView, folder: Path) -> None:
    assert (run.name, run.seed, run.status, run.platform.name) == ("run", 1, 0, "tiny")
    assert run.spec.command == "for ms in 2 5 10 20 50; do usleep ${ms}000; done"
    assert run.manifest["instructions"] == 11931767
    assert run.path == folder
    assert run.files == {}
    with pytest.raises(lull.UserError, match="the guest left no JSON lines named x, nor any other"):
        run.jsonl("x")


def test_time_in_idle_states_and_awake_is_all_the_time(run: RunView) -> None:
    shares = run.idle.df_residency().groupby("cpu")["share"].sum()
    assert shares.tolist() == pytest.approx([1, 1, 1], abs=0.01)
    entries = run.idle.df_entries()
    assert entries.query("cpu == 0 and state == 'C3'")[["entries", "above", "time_us"]].values.tolist() == [
        [19, 2, 71913]
    ]
    assert {"cluster", "below", "rejected", "window_us"} <= set(entries.columns)


def test_each_sleep_of_the_trace_is_there_and_none_is_longer_than_linux_counted(run: RunView) -> None:
    sleeps = run.idle.df_sleeps()
    asked = run.trace.df_event("cpu_idle").query(f"state != {2**32 - 1}")
    assert len(asked) - 3 <= len(sleeps) <= len(asked), "that of a CPU that sleeps on has no end"
    assert set(sleeps["start_s"]) <= set(asked["time_s"])
    traced = sleeps.groupby(["cpu", "state"])["asleep_us"].sum()
    counted = run.idle.df_entries().set_index(["cpu", "state"])["time_us"]
    assert (traced <= 1.1 * counted.loc[traced.index]).all()
    assert sleeps.query("cpu == 2")["asleep_us"].max() > 30_000


def test_wake_ups_are_those_of_the_report(run: RunView) -> None:
    (point,) = samples.read(run.path).points
    assert run.wakes.df_wake_ups().equals(traced_wakes.df_wake_ups(point).to_pandas())
    each, counted = run.wakes.df_woken(), run.wakes.df_sources()
    assert counted["count"].sum() == len(each)
    assert each.query("source == 'timer:usleep/52'")["armed_by"].tolist() == ["task:usleep/52"]


def test_a_trace_is_read_once_and_a_view_made_once(run: RunView, monkeypatch: pytest.MonkeyPatch) -> None:
    load, measure = MagicMock(wraps=recording.load), MagicMock(wraps=traced_wakes.df_wake_ups)
    monkeypatch.setattr(recording, "load", load)
    monkeypatch.setattr(traced_wakes, "df_wake_ups", measure)
    first = run.wakes.df_wake_ups()
    first["out_us"] = 0.0
    second = run.wakes.df_wake_ups()
    assert (second["out_us"] > 0).all(), "a frame is its owner's"
    run.wakes.df_sources(), run.idle.df_sleeps(), run.trace.df_spans(), run.trace.df_event("cpu_idle")
    assert (load.call_count, measure.call_count) == (1, 1)


def test_energy_is_the_ledgers_by_any_of_its_columns(run: RunView) -> None:
    joules = run.energy.df_joules()
    ledger = run.path / "energy.parquet"
    (whole,) = rows.grouped(ledger, [], ["joules"], "mcpat", rows.CALIBRATED)["joules"].to_pylist()
    assert joules["energy_j"].sum() == pytest.approx(whole)
    assert run.energy.df_joules(by="component")["energy_j"].sum() == pytest.approx(whole)
    assert str(joules["cpu"].dtype) == "Int16"
    power = run.energy.df_power()
    assert ((power["end_s"] - power["start_s"]) * power["power_w"]).sum() == pytest.approx(whole)
    assert run.energy.df_joules(backend="em")["energy_j"].sum() != pytest.approx(whole)
    with pytest.raises(lull.UserError, match="by 'owner': no column of a ledger; choose from cpu, cluster"):
        run.energy.df_joules(by="owner")


def test_every_event_is_as_trace_cmd_reports_it() -> None:
    """Numbers, texts and sets of CPUs, of all events that were traced on QEMU."""
    trace, compared = TraceFile(QEMU), set()
    text = gzip.decompress((QEMU.parent / "qemu-report.txt.gz").read_bytes()).decode()
    reported = trace_report.reported(text)
    (clock,) = {one for cpu in trace.cpus for one in _clocks(trace, cpu)}
    counted = columns.counts(trace)
    assert sum(counted.values()) == sum(map(len, reported.values()))
    for name in counted:
        ours = columns.of_event(trace, name, clock).to_pylist()
        for cpu in trace.cpus:
            theirs = [fields for _, event, fields in reported[cpu] if event == name]
            mine = [row for row in ours if row["cpu"] == cpu]
            assert len(mine) == len(theirs)
            for row, fields in zip(mine, theirs, strict=True):
                # Of a cpumask trace-cmd reports where it is, not what it is.
                for key in fields.keys() & row.keys() - {*columns.OURS, "cpumask"}:
                    if isinstance(row[key], int):
                        assert row[key] & (1 << 64) - 1 == fields[key] & (1 << 64) - 1, (name, key)
                        compared.add(f"{name}.{key}")
    assert {"sched_switch.prev_pid", "ipi_raise.target_cpus", "hrtimer_start.hrtimer"} <= compared
    switches = columns.of_event(trace, "sched_switch", clock)
    assert f"prev_comm={switches['prev_comm'][0]}" in text
    assert set(columns.of_event(trace, "irq_handler_entry", clock)["name"].to_pylist()) >= {"arch_timer"}
    assert columns.of_event(trace, "print", clock)["buf"].to_pylist()[-1].startswith("lull clock hz=")


def _clocks(trace: TraceFile, cpu: int) -> Iterator[Clock]:
    for batch in events.batches(trace, cpu):
        for at in batch.of("print").tolist():
            if clock := Clock.of_marker(batch.tail("print", "buf", at).split(b"\0")[0].decode()):
                yield clock


def test_events_are_on_gem5s_time_as_windows_are(run: RunView) -> None:
    windows = run.stats.df_windows()
    assert windows["length_s"].sum() == pytest.approx(run.manifest["simulated_s"])
    assert windows["start_s"][0] == pytest.approx(run.manifest["details"]["start_tick"] / 1e12)
    assert windows["start_s"][1:].tolist() == pytest.approx(windows["end_s"][:-1].tolist())
    idle = run.trace.df_event("power:cpu_idle")
    assert idle["time_s"].is_monotonic_increasing
    assert windows["start_s"].min() < idle["time_s"].min() < idle["time_s"].max() < windows["end_s"].max()
    assert run.trace.df_events().set_index("event").loc["cpu_idle", "count"] == len(idle) == len(run.trace["cpu_idle"])
    reasons = run.trace.df_event("ipi_raise")["reason"]
    assert set(reasons) <= {"Rescheduling interrupts", "Function call interrupts", "Timer broadcast interrupts"}
    with pytest.raises(lull.UserError, match="has no event clock_enable; run with --trace power:clock_enable"):
        run.trace.df_event("clock_enable")
    with pytest.raises(lull.UserError, match="the trace has no event sched:cpu_idle; run with --trace sched:cpu_idle"):
        run.trace.df_event("sched:cpu_idle")


def test_statistics_by_pattern(run: RunView) -> None:
    name = "system.cluster0.clk_domain.clock"
    values = run.stats.df_values("*cluster0.clk_domain*")
    assert set(values["statistic"]) == {name}
    assert name in run.stats.names
    assert len(values) == run.manifest["stats_windows"]
    with pytest.raises(lull.UserError, match="no statistic is like 'x'"):
        run.stats.df_values("x")


@pytest.mark.parametrize(
    ("trace", "refused"),
    [
        ([], True),
        (["power"], True),
        (["sched", "irq"], True),
        (["power:cpu_idle", "irq:irq_handler_entry"], False),
        (["cpu_idle", "irq"], False),
        (["all"], False),
    ],
)
def test_a_view_says_in_a_sentence_what_it_needs(tmp_path: Path, trace: list[str], refused: bool) -> None:
    path = recorded(tmp_path / "run")
    asked = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**asked, "trace": trace}))
    if refused:
        (path / "trace.dat").unlink()
    found = lull.open(path)
    assert found.wakes.df_wake_ups.needs == found.wakes.plot_wake_ups.needs == ("power:cpu_idle", "irq")  # type: ignore[attr-defined]
    if not refused:
        assert len(found.wakes.df_wake_ups())
        return
    with pytest.raises(lull.UserError) as error:
        found.wakes.df_wake_ups()
    assert str(error.value) == (
        f"{path}: wake-ups need the trace events power:cpu_idle and irq; run with --trace power --trace irq"
    )


@pytest.mark.parametrize(
    ("asked", "enough"),
    [("all", True), ("power", True), ("power:*", True), ("power:cpu_idle", True), ("cpu_idle", True),
     ("power:cpu_freq*", False), ("sched", False), ("cpu", False)],
)  # fmt: skip
def test_a_traced_event_that_never_came_is_no_missing_one(
    run: RunView, monkeypatch: pytest.MonkeyPatch, asked: str, enough: bool
) -> None:
    """A run without a single sleep has no events of sleep, and was asked for them all the same."""
    source = Source(run.sample, "run")
    monkeypatch.setitem(vars(source), "counts", {})
    monkeypatch.setitem(vars(run.spec), "trace", (asked,))
    if enough:
        source.need("sleeps", ("power:cpu_idle",))
        return
    with pytest.raises(lull.UserError, match="sleeps need the trace event power:cpu_idle; run with --trace power"):
        source.need("sleeps", ("power:cpu_idle",))


def test_events_that_are_in_a_trace_are_enough_whatever_was_asked(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run")
    asked = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**asked, "trace": ["sched"]}))
    found = lull.open(path)
    assert len(found.wakes.df_wake_ups()), "the events are there all the same"


@pytest.mark.usefixtures("_frames")
def test_frames_are_of_the_chosen_kind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: dict[Kind, type] = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "arrow": pa.Table}
    for kind, made in kinds.items():
        assert isinstance(lull.open(folder, frames=kind).idle.df_residency(), made)
    assert lull.frames() == "pandas"
    lull.frames("polars")
    residency = lull.open(folder).idle.df_residency()
    assert residency.filter(polars.col("cpu") == 0)["share"].sum() == pytest.approx(1, abs=0.01)
    with pytest.raises(lull.UserError, match="frames 'csv': not a kind of frame; use 'pandas', 'polars' or 'arrow'"):
        lull.frames("csv")  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(lull.UserError, match=r"pandas: not installed, and frames of it are asked for; install lull\["):
        lull.frames("pandas")
    assert lull.frames() == "polars"


@pytest.mark.usefixtures("_drawing")
def test_plots_draw_into_the_axes_given_and_return_them(run: RunView) -> None:
    figure, axes = pyplot.subplots(2, 4)
    plots: tuple[Callable[..., Axes], ...] = (
        run.idle.plot_residency, run.idle.plot_sleeps, run.wakes.plot_wake_ups, run.wakes.plot_sources,
        run.energy.plot_joules, run.energy.plot_power, run.trace.plot_spans,
    )  # fmt: skip
    for axis, plot in zip(axes.flat, plots, strict=False):
        assert plot(ax=axis) is axis
        assert axis.has_data()
        assert axis.get_xlabel()
    assert run.stats.plot_values("*cluster0.clk_domain.clock", ax=axes[1, 3]).has_data()
    assert pyplot.get_fignums() == [figure.number]
    own = run.idle.plot_residency()
    assert own.figure is not figure
    assert [text.get_text() for text in own.get_yticklabels()] == ["CPU 0 (little)", "CPU 1 (big)", "CPU 2 (shadow)"]


@pytest.mark.usefixtures("_drawing")
def test_a_sweeps_views_have_all_points(sweep: lull.SweepView) -> None:
    wake_ups = sweep.wakes.df_wake_ups()
    assert list(wake_ups.columns[:3]) == ["point", "governor", "seed"]
    means = wake_ups.groupby(["governor", "seed"])["to_task_us"].mean()
    assert means.to_dict() == pytest.approx({("menu", 1): 10, ("menu", 2): 12, ("teo", 1): 20, ("teo", 2): 22}, abs=0.1)
    assert len(sweep.idle.df_residency()) == 4 * 2
    table = sweep.df()
    assert table[["governor", "seed", "guest:power_w"]].values.tolist() == [
        ["menu", 1, 1.0], ["menu", 2, 2.0], ["teo", 1, 3.0], ["teo", 2, 4.0],
    ]  # fmt: skip
    assert len(sweep.idle.plot_residency().get_yticklabels()) == 2
    assert len(sweep.wakes.plot_wake_ups().get_yticklabels()) == 2
    with pytest.raises(lull.UserError, match="draws one run"):
        sweep.trace.plot_spans()


def test_a_sweeps_points_are_runs(sweep: lull.SweepView) -> None:
    assert len(sweep) == len(list(sweep)) == 4
    assert [dict(one.settings) for one in sweep] == [{"governor": name} for name in ("menu", "menu", "teo", "teo")]
    title = sweep.points[1]
    assert title.endswith("governor=teo")
    assert sweep.point(title, seed=2).jsonl("guest")["latency_us"].tolist() == [220.0]
    with pytest.raises(lull.UserError, match=r"has the seeds 1, 2; choose one by seed="):
        sweep.point(title)
    with pytest.raises(lull.UserError, match=r"2 points are named 'states/C1'|2 points are named"):
        sweep.point(next(iter(sweep)).name)
    with pytest.raises(lull.UserError, match="no point 'x' has finished; there are"):
        sweep.point("x")
    menu, teo = (sweep.point(point, seed=1) for point in sweep.points)
    change = menu.compare(teo).set_index("measure").loc["guest:latency_us"]
    assert (change["first"], change["second"]) == (100, 200)
    assert menu.compare_settings(teo).values.tolist() == [["policy.governor", "menu", "teo"]]


def test_a_setting_that_is_called_like_a_column_keeps_its_values(tmp_path: Path) -> None:
    def make(point: Point, cpu: int) -> npt.NDArray[np.void]:
        phases = {"entry": 5.0, "hardware": 50.0, "firmware": 5.0, "kernel": 3.0, "interrupt": 4.0, "task": 10.0}
        state = str(point.values["state"])
        return wakes.good(cpu, state, phases, 5, stamped=state != "C1")

    wakes.runs(tmp_path / "runs", make, patterns=["states/C[13]"])
    found = lull.open(tmp_path / "runs")
    assert isinstance(found, lull.SweepView)
    assert repr(found).endswith("runs: 2 points>")
    table = found.wakes.df_wake_ups()
    assert (table["point_state"] == table["state"]).all()
    assert found.point("states/C3").settings == {"state": "C3"}
    with pytest.raises(lull.UserError, match=r"figures: not a result"):
        found.result.checks  # noqa: B018


@pytest.mark.usefixtures("_drawing")
def test_a_published_result() -> None:
    assert set(lull.results()) >= {"wake-latency", "soak"}
    found = lull.results("soak")
    assert set(found.tables) == {path.stem for path in found.path.glob("*.parquet")}
    assert all(len(found.df(name).columns) for name in found.tables)
    assert found.checks["passed"].all()
    assert found.manifest["scenario"] == "soak"
    assert found.summary.startswith("# ")
    assert found.summary._repr_markdown_() == found.summary
    assert set(lull.results("wake-latency").figures) == {"phases", "distribution", "linearity", "firmware-path"}
    with pytest.raises(lull.UserError, match="no table 'x'; use"):
        found.df("x")


def test_every_option_is_a_keyword_with_the_same_default() -> None:
    renamed = {"command": "exec", "settings": "set", "only": "points", "name": "scenario"}
    for command, ours, without in (
        (boot_command.boot, starting.boot, set()),
        (run_command.run, starting.run, {"list_points", "describe"}),
    ):
        options = inspect.signature(command).parameters
        keywords = inspect.signature(ours).parameters
        assert {renamed.get(name, name) for name in options.keys() - without} == keywords.keys()
        for name, option in options.items():
            if name not in (*without, "name"):
                assert (option.default or ()) == (keywords[renamed.get(name, name)].default or ()), name


def test_a_mistake_is_the_command_lines_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lull.UserError, match="--cpu: QEMU has no CPU models to choose from; use --engine gem5"):
        lull.boot(engine="qemu", cpu="detailed")
    with pytest.raises(lull.UserError, match="--sim-limit 0: give seconds, more than 0"):
        lull.boot(engine="qemu", sim_limit=0)
    with pytest.raises(lull.UserError, match="--set governer: unknown key; use"):
        lull.boot(engine="qemu", set={"governer": "teo"})
    for put in ("none", Path("none"), ["none"], [Path("none")]):
        with pytest.raises(lull.UserError, match="--put none: none: no such file"):
            lull.boot(engine="qemu", put=put)
    with pytest.raises(lull.UserError, match="--points nothing: no such point"):
        lull.run("wake-latency", engine="qemu", points="nothing")
    assert not list(tmp_path.iterdir())


def test_a_run_on_qemu_has_neither_statistics_nor_energy(tmp_path: Path) -> None:
    path = recorded(tmp_path / "run")
    asked = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**asked, "engine": "qemu", "cpu": None}))
    (path / "stats.parquet").unlink()
    found = lull.open(path)
    with pytest.raises(lull.UserError, match="QEMU has no statistics; run it with -e gem5"):
        found.stats.df_windows()
    with pytest.raises(lull.UserError, match="functional only and has no energy"):
        found.energy.df_joules()
