"""Ember: a memory operating system for AI agents."""

from embermem.errors import EmberError
from embermem.memory import Memory, OwnerMemory
from embermem.types import Context, Fact, Hit, Page, Segment, Tier, Trait, Utterance

__version__ = "0.1.0"

__all__ = [
    "Context",
    "EmberError",
    "Fact",
    "Hit",
    "Memory",
    "OwnerMemory",
    "Page",
    "Segment",
    "Tier",
    "Trait",
    "Utterance",
    "__version__",
]
