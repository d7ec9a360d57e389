# SPDX-License-Identifier: BSD-3-Clause
"""Words of a kernel's console when one of the kernel's checkers has found something."""

import re

COMPLAINT = re.compile(
    r"WARNING:|BUG:|KASAN:|UBSAN:|possible (?:circular|recursive) locking|suspicious RCU|sleeping function"
    r"|Invalid wait context|DEBUG_LOCKS_WARN_ON|INFO: task .* blocked|INFO: .*stall|watchdog: BUG"
    r"|Oops|Call trace:|Unable to handle kernel|refcount_t: |workqueue lockup|spinlock bad magic"
)
"""A line of each kind is in `tests/unit/test_complaints.py`, and many a harmless line too."""


def complaints(console: str) -> list[str]:
    """Whole lines, so that a failed test says what was found."""
    return [line for line in console.splitlines() if COMPLAINT.search(line)]
