# SPDX-License-Identifier: BSD-3-Clause
"""gem5's statistics, window by window."""

from fnmatch import fnmatchcase

import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes

from lull.errors import UserError
from lull.notebook import house
from lull.notebook.source import Source
from lull.notebook.views import Views, df, plot
from lull.rundir import stats
from lull.rundir.folder import STATS_TABLE
from lull.trace.clock import TICK_HZ

END, LENGTH = "finalTick", "simTicks"


class Stats(Views):
    """gem5's statistics, by window from dump to dump. QEMU has none."""

    @property
    def names(self) -> list[str]:
        """All statistics, by gem5's names, in any of the runs."""
        return sorted({name for source in self._sources for name in pc.unique(_table(source)["statistic"]).to_pylist()})

    @df()
    def df_windows(self, run: Source) -> pa.Table:
        """Begin, end and length of each window, on gem5's time."""
        found = _wide(_table(run), (END, LENGTH))
        end, length = (found[name].to_numpy() / TICK_HZ for name in (END, LENGTH))
        return pa.table({"window": found["window"], "start_s": end - length, "end_s": end, "length_s": length})

    @df()
    def df_values(self, run: Source, like: str = "*") -> pa.Table:
        """Each value of the statistics whose names match, in gem5's units, with the window's begin and end.

        `like` is a pattern as of file names: "system.cluster0.cpu0.*", "*.numCycles". gem5's ticks are picoseconds.
        """
        table = _table(run)
        names = [name for name in pc.unique(table["statistic"]).to_pylist() if fnmatchcase(name, like)]
        if not names:
            raise UserError(f"{run.shown}: no statistic is like {like!r}; `.stats.names` has all")
        found = table.filter(pc.is_in(table["statistic"], pa.array(names)))
        joined = found.join(run.cached("windows", lambda: Stats.df_windows.make(self, run)), "window")  # type: ignore[attr-defined]
        columns = ["window", "start_s", "end_s", "statistic", "value"]
        return joined.select(columns).sort_by([("statistic", "ascending"), ("window", "ascending")])

    @plot(df_values)
    def plot_values(self, like: str, ax: Axes | None = None) -> Axes:
        """Statistics over time, from the first window's begin; a line for each, and for each of several runs."""
        table = self.arrow("values", like)
        keys = ["statistic"] if self._single else ["point", "seed", "statistic"]
        with house.axes(ax) as axis:
            for line in dict.fromkeys(tuple(row.values()) for row in table.select(keys).to_pylist()):
                own = table
                for key, value in zip(keys, line, strict=True):
                    own = own.filter(pc.equal(own[key], value))
                own = own.sort_by("window")
                edges = [*own["start_s"].to_pylist(), own["end_s"][-1].as_py()]
                values = own["value"].to_pylist()
                label = " ".join(map(str, line))
                axis.step([(at - edges[0]) * 1e3 for at in edges], [*values, values[-1]], where="post", label=label)
            axis.set(xlabel="time (ms)", ylabel="value (gem5's unit)")
            house.legend_beside(axis)
        return axis


def _table(run: Source) -> pa.Table:
    path = run.sample.run.path / STATS_TABLE
    if not path.is_file():
        engine = run.sample.run.spec.engine
        why = "QEMU has no statistics; run it with -e gem5" if engine == "qemu" else f"no {STATS_TABLE}; run it again"
        raise UserError(f"{run.shown}: {why}")

    return run.cached(STATS_TABLE, lambda: stats.TABLE.read(path))


def _wide(table: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """A column for each of a few statistics that every window has."""
    windows = None
    for name in names:
        own = table.filter(pc.equal(table["statistic"], name)).select(["window", "value"])
        own = own.rename_columns(["window", name])
        windows = own if windows is None else windows.join(own, "window")
    assert windows is not None
    return windows.sort_by("window")
