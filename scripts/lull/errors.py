# SPDX-License-Identifier: BSD-3-Clause
"""The exception that a user sees: one sentence, no traceback."""


class UserError(Exception):
    """An error that the user can correct. The message is one sentence that names the file, the key and what to do."""

    exit_status = 2


class LimitReached(UserError):
    """A run has reached its limit of simulated or wall-clock time. Its files are kept."""
