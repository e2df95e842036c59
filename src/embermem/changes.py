"""The changes and decisions of the log, for programs that read it."""

from embermem.core.changes import *  # noqa: F403
