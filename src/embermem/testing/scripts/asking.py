"""Answers to the questions of the bench: to answer from a context, and to judge an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {}


def reply(shown: str) -> str:
    """A free reply: the first words of what was shown."""
    return " ".join(shown.split()[:12]) or "I do not know."
