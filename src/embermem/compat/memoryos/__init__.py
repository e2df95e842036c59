"""The class `Memoryos` of the MemoryOS paper's published code over Ember.

The constructor and the methods are that code's; docs/guides/integrations/memoryos.md says what each argument means
here.
"""

from embermem.compat.memoryos.memory import Memoryos

__all__ = ["Memoryos"]
