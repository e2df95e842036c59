"""Helpers for tests of programs that use Ember: a clock that stands still, and assertions about what is remembered.

The fixtures for pytest are in `embermem.testing.fixtures`, the scripted model in `embermem.testing.model_server`; see
docs/guides/testing.md.
"""

from embermem.testing.checks import assert_knows, assert_not_recalled, assert_recalls
from embermem.testing.clock import FrozenClock

__all__ = ["FrozenClock", "assert_knows", "assert_not_recalled", "assert_recalls"]
