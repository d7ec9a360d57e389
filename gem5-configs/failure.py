# SPDX-License-Identifier: BSD-3-Clause
"""The one exception that ends a simulation before it starts: a sentence, never a traceback."""


class Failure(Exception):
    """Something that the settings, the gem5 binary or the checkpoint got wrong, and what to do about it."""
