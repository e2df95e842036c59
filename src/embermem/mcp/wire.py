"""Keeps stdout for the protocol."""

from __future__ import annotations

import os
import sys

_STDOUT, _STDERR = 1, 2


def take_stdout() -> int:
    """A descriptor of the real stdout. Whatever else is written there from now on, from C too, goes to stderr.

    Call it before anything heavy is imported: a library may print when it is.
    """
    sys.stdout.flush()
    wire = os.dup(_STDOUT)
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # there is no stderr
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
    return wire
