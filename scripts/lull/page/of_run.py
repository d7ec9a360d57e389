# SPDX-License-Identifier: BSD-3-Clause
"""The page of one run: its time, energy and wake-ups."""

from collections.abc import Mapping

from lull.compare import measures
from lull.compare.samples import Samples
from lull.energy import rows as ledger_rows
from lull.energy import view
from lull.errors import UserError
from lull.figures import time_asleep, traced_wakes
from lull.figures.sample import Sample
from lull.page import manifest, what_if
from lull.page.page import Page, Section
from lull.rundir.folder import STDOUT, TRACE
from lull.rundir.origin import Origin

CAUSES_SHOWN = 15
SOURCES_SHOWN = 25
LINES_SHOWN = 200
_FACTS = {
    "watts:mcpat:calibrated": ("mean power", "W"),
    "joules:mcpat:calibrated": ("energy", "J"),
    "watts:em:calibrated": ("mean power, em", "W"),
    "wake:total_us:p50": ("wake-up, median", "µs"),
    "wake:total_us:p99": ("wake-up, 99 %", "µs"),
    "simulated_s": ("simulated", "s"),
    "instructions": ("instructions", ""),
}


def page(samples: Samples, with_sliders: bool = True) -> Page:
    (point,) = samples.points
    spec, told = point.run.spec, point.run.manifest
    origin = Origin(spec.engine, str(told["engine"]["version"]), spec.cpu, spec.platform.name)
    made = Page(f"Run {samples.title}", [f"{origin.label}. {spec.platform.title}.", f"Command: {spec.command}"])
    if not origin.timed:
        made.warnings.append("This run is functional only: its times, latencies and powers are no measurements.")
    if told.get("status"):
        made.warnings.append(f"The guest's command ended with status {told['status']}.")
    found = measures.of_point(point)
    _summary(made.section("Summary"), point, found)
    _residency(made.section("Idle states", "residency"), point)
    _wake_ups(made.section("Wake-ups"), point)
    _energy(made.section("Power and energy", "energy"), point)
    if with_sliders and what_if.can_be_asked(point):
        what_if.show(made.section("What if"), point)
    section = made.section("All measures", "measures")
    section.table(("measure", "value", "unit"), [(key, f"{found[key]:.6g}", measures.unit_of(key)) for key in found])
    section = made.section("Manifest")
    manifest.show(section, told)
    section.folded("run.json: what was asked, resolved", spec.model_dump_json(indent=1))
    return made


def _summary(section: Section, point: Sample, found: Mapping[str, float]) -> None:
    facts = {name: f"{found[key]:.5g} {unit}".strip() for key, (name, unit) in _FACTS.items() if key in found}
    facts["state"] = f"{point.run.manifest['state']}, status {point.run.manifest.get('status')}"
    section.facts(facts)
    policy = point.run.spec.policy.words()
    section.text(f"Asked of Linux: {', '.join(policy) or 'nothing, as booted'}. Seed {point.seed}.")
    output = point.run.path / STDOUT
    if output.is_file() and output.stat().st_size:
        lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
        section.folded("What the command printed", "\n".join(lines[-LINES_SHOWN:]))


def _residency(section: Section, point: Sample) -> None:
    table = time_asleep.df_residency([point])
    if not table.num_rows:
        section.text("This run's Linux left no count of idle states.")
        return
    section.figure("shares", time_asleep.plot_residency(table), "Of the time of the command, by Linux's own count.")


def _wake_ups(section: Section, point: Sample) -> None:
    if not (point.run.path / TRACE).is_file():
        section.text("Without a trace, nothing is known of single wake-ups: run with --trace sched --trace power "
                     "--trace irq --trace ipi --trace timer.")  # fmt: skip
        return
    try:
        table = traced_wakes.df_wake_ups(point)
    except UserError as error:
        section.warning(str(error))
        return
    if not table.num_rows:
        section.text("No CPU woke up in the traced time.")
        return
    caption = (
        "Means over the wake-ups that led to a task. Of a wake-up whose interrupt the trace does not show, the way out "
        "is taken to be as long as the platform file says."
    )
    section.figure("phases", traced_wakes.plot_wake_ups(table), caption)
    sources = traced_wakes.df_sources(point).to_pylist()
    rows = [(row["cpu"], row["state"], row["source"], row["count_all"]) for row in sources]
    section.table(("CPU", "out of", "woken by", "times"), rows[:SOURCES_SHOWN], "What woke the CPUs most")
    if len(rows) > SOURCES_SHOWN:
        section.text(f"{len(rows) - SOURCES_SHOWN} more pairs of CPU and source.")


def _energy(section: Section, point: Sample) -> None:
    if point.ledger is None:
        section.text(f"No account of its energy yet: lull energy {point.run.path.name} makes one, of a run on gem5.")
        return
    backends = sorted({backend for backend, _ in point.joules()}, key=("mcpat", "em").index)
    for backend in backends:
        figure = view.plot_power(view.df_power(point.ledger, backend))
        figure.suptitle(f"Power over time, {backend}")
        section.figure(f"power-{backend}", figure, "Mean of each window of statistics, stacked by where it is burnt.")
    keys = ["cpu", "state", "cause"]
    causes: dict[str, float] = {}
    for row in ledger_rows.grouped(point.ledger, keys, ["joules"], backends[0], ledger_rows.CALIBRATED).to_pylist():
        if row["cpu"] is not None:
            causes[row["cause"]] = causes.get(row["cause"], 0.0) + row["joules"]
    whole = sum(causes.values()) or 1.0
    ranked = sorted(causes.items(), key=lambda item: -item[1])[:CAUSES_SHOWN]
    rows = [(cause, f"{joules * 1e3:.5g}", f"{joules / whole:.1%}") for cause, joules in ranked]
    section.table(("cause", "mJ", "of the CPUs'"), rows, f"Who burnt it, {backends[0]}")
