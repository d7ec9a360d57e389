# SPDX-License-Identifier: BSD-3-Clause
"""lull: what a sleeping CPU costs, and what software can do about it.

For notebooks and scripts: `open`, `what_if`, `results`, `boot`, `run` and `frames`, as docs/notebook.md describes them.

    import lull
    run = lull.open("runs/mine")
    run.idle.df_residency()

Importing `lull` loads none of the packages that these need, such as pyarrow: their first use does.
"""

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lull.errors import UserError as UserError
    from lull.notebook import ResultView as ResultView
    from lull.notebook import RunView as RunView
    from lull.notebook import SweepView as SweepView
    from lull.notebook import boot as boot
    from lull.notebook import frames as frames
    from lull.notebook import open as open  # noqa: A004 # as in lull.open
    from lull.notebook import results as results
    from lull.notebook import run as run
    from lull.notebook import what_if as what_if

__version__ = "0.1.0"

_OFFERED = ("ResultView", "RunView", "SweepView", "boot", "frames", "open", "results", "run", "what_if")


def __getattr__(name: str) -> object:
    if name == "UserError":
        from lull.errors import UserError

        return UserError
    if name in _OFFERED:
        from lull import notebook

        found: object = getattr(notebook, name)
        return found
    raise AttributeError(f"module 'lull' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*_OFFERED, "UserError", "__version__"]


class CallablePackage(ModuleType):
    """`lull.results` is the package, and `lull.results("wake-latency")` opens a result, whichever came first."""

    def __call__(self, name: object = None) -> object:
        from lull.notebook import published

        return published.results(name)  # type: ignore[call-overload]
