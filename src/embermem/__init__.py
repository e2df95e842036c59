"""Ember: a memory operating system for AI agents."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embermem.aio import AsyncMemory, AsyncOwnerMemory
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

if not TYPE_CHECKING:  # a type checker would take any name for one of ours
    _HOMES = {
        "AsyncMemory": "aio",
        "AsyncOwnerMemory": "aio",
        "EmberError": "core.errors",
        "Field": "core.fields",
        "Memory": "memory",
        "OwnerMemory": "memory",
    }

    def __getattr__(name: str) -> Any:
        """A name of the API, imported at its first use: the command line and the client load what they need of it."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        globals()[name] = found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'core.types')}"), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
