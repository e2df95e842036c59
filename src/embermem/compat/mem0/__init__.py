"""The face of mem0's open-source library (`mem0ai` 2.2) over Ember: `Memory` and `AsyncMemory`.

Methods, arguments, filters and results are mem0's; docs/guides/integrations/mem0.md says what is mapped to what, and
where answers differ. Errors are of `embermem.compat.mem0.exceptions`.
"""

from embermem.compat.mem0.aio import AsyncMemory
from embermem.compat.mem0.memory import Memory

__all__ = ["AsyncMemory", "Memory"]
