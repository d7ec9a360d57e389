# SPDX-License-Identifier: BSD-3-Clause
"""The power of a machine with all CPUs asleep, by idle state, beside the one energy model that tells of idle states.

That model has no unit, so its figures and ours are given as shares of a busy core at its fastest operating point. What
an L2 keeps while its cluster is off is taken from the same model (`power-models/states.yaml`). So that figure is no
evidence; the others are.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from lull.energy import technology
from lull.energy.rows import BANDS, CALIBRATED
from lull.figures.steady import Steady
from lull.files import columns, yaml_file
from lull.platform.dram import load_device
from lull.platform.load import load_platform
from lull.platform.schema import Memory
from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result

GROUP = "idle"
DRAM_ERROR = 0.05
"""The largest error of DRAM in self-refresh, beside its data sheet's current times its voltage. The current is an input
of the model, so this judges the account and not the model."""
ASLEEP_ERROR = 0.25
"""The largest error of what is asleep in C1, at the platform's own temperature, beside Juno's energy model."""
COLD_K, WARM_K = 300, 328
"""Juno's energy model names no temperature. It lies between a cool room's and the 55 degrees Celsius that Linux assumes
of a chip without a sensor."""
PUBLISHED = Path(__file__).with_name("juno-idle.yaml")
PARTS = {"core": "a core of {}", "shared": "what the cores of {} share"}

Row = dict[str, Any]


def extend(result: Result, asleep: pa.Table, busy: pa.Table) -> None:
    result.summary += "\n## All CPUs asleep, mW\n\n" + _asleep_text(asleep)
    result.checks += checks(asleep)
    shares = df_shares(asleep, busy)
    if shares.num_rows:
        of_busy = "of the power of a busy core at its fastest"
        bands = {"raw": f"the model's, {of_busy}", "calibrated": f"the same, calibrated, {of_busy}"}
        told = {
            **bands,
            "juno": f"as Juno's energy model has it, {of_busy}",
            "cold": f"calibrated, at {COLD_K} K, {of_busy}",
            "warm": f"calibrated, at {WARM_K} K, {of_busy}",
        }
        result.tables["asleep-shares"] = columns.complete(shares, told, dict.fromkeys(told, "1"))
        result.summary += (
            "\n## Asleep, as a share of a busy core at its fastest, beside Juno's energy model\n\n"
            f"{_juno()['source']}. It names no temperature, so ours is given at {COLD_K} and {WARM_K} K as well.\n\n"
            + _shares_text(shares)
        )
        result.checks += juno_checks(shares)


def df_asleep(windows: Sequence[Steady]) -> pa.Table:
    """A row per platform, state and cluster: watts of one of its cores, of what they share, and of all DRAM.

    `dram_sheet_w` is what the data sheet of the DRAM says of self-refresh; None where the platform does not use it.
    """
    rows: list[Row] = []
    for window in windows:
        memory = {
            "dram_w": window.watts(component="dram-background"),
            "dram_sheet_w": _self_refresh_w(window.run.spec.platform.memory),
        }
        for cpus, cluster in window.run.spec.platform.cpu_ranges():
            row: Row = {"platform": window.platform, "state": window.state, "cluster": cluster.name}
            for band in BANDS:
                row[f"{band}_core_w"] = sum(window.watts(band, cpu=cpu) for cpu in cpus) / len(cpus)
                row[f"{band}_shared_w"] = window.watts(band, cpu=None, cluster=cluster.name)
                row[f"{band}_core_static_w"] = sum(window.watts(band, cpu=cpu, kind="static") for cpu in cpus) / len(
                    cpus
                )
                row[f"{band}_shared_static_w"] = window.watts(band, cpu=None, cluster=cluster.name, kind="static")
                row[f"{band}_platform_w"] = window.watts(band)
            rows.append({**row, **memory})
    return pa.Table.from_pylist(rows)


def _self_refresh_w(memory: Memory) -> float | None:
    if not memory.powerdown or memory.parts is None:
        return None
    device = load_device(memory.parts.device)
    return memory.devices(device.bits) * device.self_refresh_w


def df_shares(asleep: pa.Table, busy: pa.Table) -> pa.Table:
    """Ours and Juno's, where it has a figure. A busy core is its dynamic power and its leakage."""
    known = _juno()
    resting = {(row["platform"], row["cluster"], row["state"]): row for row in asleep.to_pylist()}
    working = {(row["platform"], row["loop"], row["cluster"], row["mhz"]): row for row in busy.to_pylist()}
    rows: list[Row] = []
    for figure in known["clusters"]:
        top = working.get((known["platform"], "primes", figure["cluster"], figure["mhz"]))
        for part in ("core", "shared"):
            for state, theirs in figure[part].items():
                own = resting.get((known["platform"], figure["cluster"], state))
                if own is None or top is None:
                    continue
                row: Row = {"cluster": figure["cluster"], "part": part, "state": state}
                for band in BANDS:
                    row[band] = own[f"{band}_{part}_w"] / _busy_w(top, band)
                row["juno"] = theirs / figure["busy"]
                for name, kelvin in (("cold", COLD_K), ("warm", WARM_K)):
                    asleep_w = _at(kelvin, own[f"calibrated_{part}_w"], own[f"calibrated_{part}_static_w"])
                    row[name] = asleep_w / _at(kelvin, _busy_w(top, CALIBRATED), top["calibrated_static_w"])
                rows.append(row)
    return pa.Table.from_pylist(rows)


def _busy_w(row: Row, band: str) -> float:
    return float(row[f"{band}_dynamic_w"] + row[f"{band}_static_w"])


def _at(kelvin: float, watts: float, static_w: float) -> float:
    """Power of `tiny` at another temperature than its runs'. Only what leaks depends on it."""
    share = technology.leakage_at(kelvin) / technology.leakage_at(technology.running_k(load_platform("tiny")))
    return watts + (share - 1) * static_w


def _juno() -> dict[str, Any]:
    return yaml_file.read(PUBLISHED, yaml_file.shown(PUBLISHED), "figures", "benchmarks/energy-validation/README.md")


def checks(table: pa.Table) -> list[Check]:
    """A deeper state burns less on the whole platform, and DRAM at rest what its data sheet says."""
    watts: dict[str, dict[str, float]] = {}
    for row in table.to_pylist():
        watts.setdefault(row["platform"], {})[row["state"]] = row[f"{CALIBRATED}_platform_w"]
    found = []
    for platform, by_state in watts.items():
        fewer = all(after < before for before, after in pairwise(by_state.values()))
        says = ", ".join(f"{state} {value * 1e3:.4g} mW" for state, value in by_state.items())
        found.append(Check(f"a deeper idle state of {platform} burns less", fewer, says))
    for platform in watts:
        here = [row for row in table.to_pylist() if row["platform"] == platform and row["dram_sheet_w"]]
        if not here:
            continue
        worst = max(here, key=lambda row: abs(row["dram_w"] / row["dram_sheet_w"] - 1))
        ours, sheet = worst["dram_w"], worst["dram_sheet_w"]
        says = f"{ours * 1e3:.4g} mW in {worst['state']}, {sheet * 1e3:.4g} by the currents of self-refresh"
        name = f"DRAM of {platform} at rest is charged the current of its data sheet"
        found.append(Check(name, abs(ours / sheet - 1) <= DRAM_ERROR, says))
    return found


def juno_checks(shares: pa.Table) -> list[Check]:
    """Check C1. Juno has no figure for C2 and 0 for a core in deeper states, and its figure for C4 is an input here."""
    found = []
    for row in shares.to_pylist():
        if row["state"] != "C1":
            continue
        error = row["calibrated"] / row["juno"] - 1
        says = (
            f"{row['calibrated']:.3f} of a busy core, Juno {row['juno']:.3f}: {error:+.0%}, may be {ASLEEP_ERROR:.0%}; "
            f"{row['cold']:.3f} at {COLD_K} K, {row['warm']:.3f} at {WARM_K} K"
        )
        name = f"{PARTS[row['part']].format(row['cluster'])} in C1 burns what Juno's does"
        found.append(Check(name, abs(error) <= ASLEEP_ERROR, says))
    return found


def _asleep_text(table: pa.Table) -> str:
    headings = (
        "platform",
        "state",
        "cluster",
        "a core: raw",
        "calibrated",
        "L2: raw",
        "calibrated",
        "platform, calibrated",
    )
    rows = []
    for row in table.to_pylist():
        numbers = [row[f"{band}_{part}_w"] for part in ("core", "shared") for band in BANDS]
        numbers.append(row[f"{CALIBRATED}_platform_w"])
        cells = (f"{watts * 1e3:.4g}" for watts in numbers)
        rows.append((row["platform"], row["state"], row["cluster"], *cells))
    return markdown_table(headings, rows)


def _shares_text(table: pa.Table) -> str:
    rows = [
        (row["cluster"], row["part"], row["state"], *(f"{row[name]:.3f}" for name in (*BANDS, "cold", "warm", "juno")))
        for row in table.to_pylist()
    ]
    return markdown_table(("cluster", "part", "state", *BANDS, f"{COLD_K} K", f"{WARM_K} K", "Juno"), rows)
