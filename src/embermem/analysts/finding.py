"""What the readers of statements hand on: one statement found in a text."""

from __future__ import annotations

from dataclasses import dataclass

from embermem.analysts.when import When

USER = "user"
"""The subject of a statement about the speaker; the analyst renames it for the agent's side."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One statement: text[start:end] says that `attribute` of `subject` is `value` (or, `retracts`, no longer)."""

    subject: str
    attribute: str
    value: str
    start: int
    end: int
    when: When | None = None
    retracts: bool = False
    chinese: bool = False
