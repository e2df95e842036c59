"""What callers give, checked and brought into one form, with mem0's messages where an argument is wrong."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from embermem.compat.mem0.exceptions import ValidationError
from embermem.core.errors import InputError

logger = logging.getLogger(__name__)

ENTITIES = ("user_id", "agent_id", "run_id")
IDENTITY = (*ENTITIES, "actor_id")
"""Names that metadata of callers never set."""
OURS = "mem0."
"""How the names begin of what is kept in metadata and was not given there."""
TOP_K = 20
THRESHOLD = 0.1
PROCEDURAL = "procedural_memory"
ROLES = ("user", "assistant")
"""Roles whose messages are stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ids:
    """Whose memories are meant. At least one is given."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """Those that are given, by name."""
        ids = {"user_id": self.user_id, "agent_id": self.agent_id, "run_id": self.run_id}
        return {name: value for name, value in ids.items() if value is not None}


def entity(value: object, name: str) -> str | None:
    """An id of a user, agent or run as text, without spaces around it. Raises InputError."""
    if value is None:
        return None
    if isinstance(value, bool | Mapping | list | tuple | set | frozenset):
        raise InputError(f"Invalid {name}: {value!r} is {type(value).__name__}; give one identifier as a text.")
    text = str(value).strip()
    if text == "*":
        raise InputError(f"Invalid {name}: '*' stands for any, alone, in the filters of search() and get_all() only.")
    if not text:
        raise InputError(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
    if any(character.isspace() for character in text):
        raise InputError(f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces.")
    return text


def ids_of(given: Mapping[str, Any]) -> Ids:
    """The ids in a mapping; all else in it is left alone. Raises InputError."""
    return Ids(**{name: entity(given.get(name), name) for name in ENTITIES})


def required(given: Mapping[str, Any]) -> Ids:
    """The ids by which something is added. Raises ValidationError where there is none."""
    ids = ids_of(given)
    if not ids.given:
        raise ValidationError(
            "At least one of 'user_id', 'agent_id', or 'run_id' must be provided.",
            "VALIDATION_001",
            {"provided_ids": {name: given.get(name) for name in ENTITIES}},
            "Please provide at least one identifier to scope the memory operation.",
        )
    return ids


def most(top_k: object, limit: object = None) -> int:
    """How many results are asked for. `limit` is the name that mem0 1.x had for it. Raises InputError."""
    asked = limit if limit is not None else TOP_K if top_k is None else top_k
    if not isinstance(asked, int) or isinstance(asked, bool):
        raise InputError("top_k must be a valid integer")
    if asked < 0:
        raise InputError(f"Invalid top_k: {asked}. Must be a non-negative integer.")
    return asked


def least(threshold: object) -> float:
    """The score from which a result is given. Raises InputError."""
    if threshold is None:
        return THRESHOLD
    if not isinstance(threshold, int | float) or isinstance(threshold, bool):
        raise InputError("threshold must be a valid number")
    if not 0 <= threshold <= 1:
        raise InputError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
    return float(threshold)


def asked(query: object) -> str:
    """A query without spaces around it. Raises InputError."""
    if not isinstance(query, str):
        raise InputError("Invalid query: must be a non-empty string.")
    if not query.strip():
        raise InputError("Invalid query: cannot be empty or whitespace-only.")
    return query.strip()


def messages_of(messages: object) -> list[Mapping[str, Any]]:
    """Messages with something said in them, of users and assistants. Raises ValidationError."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, Sequence):
        raise ValidationError(
            "messages must be str, dict, or list[dict]",
            "VALIDATION_003",
            {"provided_type": type(messages).__name__, "valid_types": ["str", "dict", "list[dict]"]},
            "Convert your input to a string, dictionary, or list of dictionaries.",
        )
    found: list[Mapping[str, Any]] = []
    for one in messages:
        if not isinstance(one, Mapping) or one.get("role") is None:
            logger.warning("a message without a role was left out")
            continue
        if (text := text_of(one)) and one["role"] in ROLES:
            found.append({**one, "content": text})
    return found


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message; of a list of parts, that of its text parts."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part["text"] for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        content = " ".join(part for part in parts if isinstance(part, str))
    return content.strip() if isinstance(content, str) else ""


def own_metadata(metadata: object, where: str) -> dict[str, Any]:
    """Metadata of a caller without the names that say whose a memory is. Raises InputError."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InputError(f"metadata is {type(metadata).__name__}; give a dict such as {{'category': 'food'}}")
    for name in metadata:
        if name in IDENTITY:
            logger.warning("%s: metadata[%r] is ignored: it is set by the arguments alone", where, name)
        elif str(name).startswith(OURS):
            raise InputError(f"metadata[{name!r}] begins with {OURS!r}, as what Ember notes itself; rename it")
    return {str(name): value for name, value in metadata.items() if name not in IDENTITY and value is not None}


def expiration(value: object) -> str | None:
    """A day, as YYYY-MM-DD, after which a memory is forgotten. Raises InputError."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        raise InputError("expiration_date must be a date string in YYYY-MM-DD format.")
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise InputError("expiration_date must be a valid date in YYYY-MM-DD format.") from error


def end_of(day: str) -> datetime:
    """When a day is over, in UTC."""
    return datetime.combine(date.fromisoformat(day), time.min, UTC) + timedelta(days=1)
