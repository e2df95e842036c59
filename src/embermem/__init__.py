"""Ember: a memory operating system for AI agents."""

from embermem.errors import EmberError
from embermem.memory import Memory, OwnerMemory
from embermem.protocols import Scope
from embermem.types import (
    About,
    Added,
    Chain,
    Context,
    Fact,
    Hit,
    Owner,
    Page,
    Persona,
    ProfileField,
    Segment,
    Tier,
    Trait,
    Utterance,
)

__version__ = "0.1.0"

__all__ = [
    "About",
    "Added",
    "Chain",
    "Context",
    "EmberError",
    "Fact",
    "Hit",
    "Memory",
    "Owner",
    "OwnerMemory",
    "Page",
    "Persona",
    "ProfileField",
    "Scope",
    "Segment",
    "Tier",
    "Trait",
    "Utterance",
    "__version__",
]
