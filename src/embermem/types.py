"""The records of Ember, for programs that use it."""

from embermem.core.types import *  # noqa: F403
