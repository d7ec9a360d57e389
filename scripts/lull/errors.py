# SPDX-License-Identifier: BSD-3-Clause
"""The one exception a user sees: a sentence, never a traceback."""


class UserError(Exception):
    """Something the user can mend. The message is one sentence that names the file, the key and what to do."""

    exit_status = 2


class LimitReached(UserError):
    """A run hit its simulated-time or wall-clock limit; what it wrote up to then is kept."""
