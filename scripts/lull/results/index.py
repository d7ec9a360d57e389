# SPDX-License-Identifier: BSD-3-Clause
"""The table of results/README.md: the commit and kernel that made each result, and its confirmation.

The table has no ages: the age of a result depends on the checkout, and on the compiler that builds its artifacts.
`lull plot` prints the ages.
"""

from collections.abc import Sequence
from pathlib import Path

from lull.files import whole
from lull.plotting.markdown import markdown_table
from lull.results import confirmed, manifest
from lull.rundir.origin import Origin

PAGE = "README.md"
BEGIN, END = "<!-- lull plot: results -->\n", "<!-- end -->\n"


def write(results: Path) -> None:
    """Update the table in the page, if there is one."""
    page = results / PAGE
    before = page.read_text(encoding="utf-8") if page.is_file() else ""
    text = written(before, results)
    if text != before:
        with whole.written(page) as partial:
            partial.write_text(text, encoding="utf-8")


def written(page: str, results: Path) -> str:
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    return f"{head}{begin}{table(results)}{end}{tail}" if end else page


def table(results: Path) -> str:
    rows = [_row(path.parent) for path in sorted(results.glob(f"*/{manifest.FILE}"))]
    return markdown_table(("result", "of", "made with commit", "kernel", "confirmed"), rows)


def _row(folder: Path) -> Sequence[str]:
    about = manifest.read(folder)
    pieces = manifest.pieces(about)
    return (
        f"[{folder.name}]({folder.name}/summary.md)",
        Origin.of_manifest(about).label,
        _some([commit for piece in pieces for commit in piece["lull"]]),
        _some([piece["artifacts"]["kernel"] for piece in pieces]),
        _confirmed(folder),
    )


def _confirmed(folder: Path) -> str:
    record = confirmed.read(folder)
    if record is None:
        return "-"
    bad, commits = len(confirmed.refuted(record)), _some(confirmed.commits(record))
    verdict = (
        f"**refuted** by {bad} of {len(record['values'])} values" if bad else f"{len(record['values'])} values hold"
    )
    kernels = _some([piece["artifacts"]["kernel"] for piece in record["pieces"]])
    return f"{verdict}, with commit {commits}, kernel {kernels}, {record['when'][:10]}"


def _some(names: Sequence[str]) -> str:
    first, *others = dict.fromkeys(map(manifest.short, names))
    return f"{first} and {len(others)} more" if others else first
