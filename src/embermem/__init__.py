"""Ember: a memory operating system for AI agents."""

from typing import TYPE_CHECKING, Any

from embermem.core.errors import EmberError
from embermem.core.fields import Field
from embermem.core.types import (
    About,
    Added,
    Chain,
    Context,
    Fact,
    Forgotten,
    Hit,
    Owner,
    Page,
    Persona,
    ProfileField,
    Scope,
    Segment,
    Tier,
    Trait,
    Utterance,
)
from embermem.memory import Memory, OwnerMemory
from embermem.system_memory import OwnerSystem, SystemMemory, open_system

if TYPE_CHECKING:
    from embermem.aio import AsyncMemory, AsyncOwnerMemory

__version__ = "0.1.0"

__all__ = [
    "About",
    "Added",
    "AsyncMemory",
    "AsyncOwnerMemory",
    "Chain",
    "Context",
    "EmberError",
    "Fact",
    "Field",
    "Forgotten",
    "Hit",
    "Memory",
    "Owner",
    "OwnerMemory",
    "OwnerSystem",
    "Page",
    "Persona",
    "ProfileField",
    "Scope",
    "Segment",
    "SystemMemory",
    "Tier",
    "Trait",
    "Utterance",
    "__version__",
    "open_system",
]

if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """The async face, imported at its first use: who does not use it does not wait for asyncio to be imported."""
        if name in ("AsyncMemory", "AsyncOwnerMemory"):
            from embermem import aio

            return getattr(aio, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
