"""MemoryOS and the eight other systems of the papers, opened by name. `recorded.py` is what the eight are built on."""

from embermem_bench.systems.memory import OwnerSystem, SystemMemory, open_system
from embermem_bench.systems.protocol import MemorySystem, Reply, ReplyingSystem
from embermem_bench.systems.registry import SYSTEMS

__all__ = ["SYSTEMS", "MemorySystem", "OwnerSystem", "Reply", "ReplyingSystem", "SystemMemory", "open_system"]
