"""The errors of Ember, for programs that use it."""

from embermem.core.errors import *  # noqa: F403
