"""Types of the core as JSON values with all fields under their own names, as `--json` prints them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from embermem.core.types import Page

_COMPARED = frozenset({"embedding", "counted", "own_metadata"})
"""Fields that are not read: those of segments that are there to be compared, and what a fact's metadata hold too."""


def plain_values(value: object) -> Any:
    """A type of the core as a JSON value, field by field: times in ISO form, enums by value, without vectors."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {f.name: plain_values(getattr(value, f.name)) for f in fields(value) if f.name not in _COMPARED}
        if isinstance(value, Page):
            named |= {"query": value.query, "response": value.response, "said_at": plain_values(value.said_at)}
            named["metadata"] = plain_values(value.metadata)
        return named
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain_values(item) for item in value)
    if isinstance(value, Iterable):
        return [plain_values(item) for item in value]
    return str(value)
