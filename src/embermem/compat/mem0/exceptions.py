"""The errors that programs written for mem0 catch, by mem0's names. Each is an error of Ember too.

mem0 raises ValueError for most wrong arguments and for an unknown id; so do these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embermem.core.errors import ConfigError, EmbedderError, EmberError, InputError, ModelError, NotFound, StoreError

__all__ = [
    "ConfigurationError",
    "DatabaseError",
    "EmbeddingError",
    "LLMError",
    "MemoryError",
    "MemoryNotFoundError",
    "ValidationError",
    "VectorStoreError",
]


class MemoryError(EmberError):
    """mem0's base class: a message with a code, details and what to do."""

    tag = "mem0-error"

    def __init__(
        self,
        message: str,
        error_code: str = "",
        details: Mapping[str, Any] | None = None,
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.error_code = message, error_code
        self.details, self.suggestion = dict(details or {}), suggestion
        self.debug_info: dict[str, Any] = {}


class ValidationError(MemoryError, InputError):
    """An argument is missing or wrong."""

    tag = "mem0-input-error"


class MemoryNotFoundError(MemoryError, NotFound, ValueError):
    """There is no memory with this id."""

    tag = "mem0-not-found"


ConfigurationError = ConfigError
DatabaseError = StoreError
VectorStoreError = StoreError
EmbeddingError = EmbedderError
LLMError = ModelError


def not_found(memory_id: str) -> MemoryNotFoundError:
    """The error for an id that no memory has."""
    return MemoryNotFoundError(
        f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'", "MEM_404", {"memory_id": memory_id}
    )
