"""What the readers of statements hand on: one statement found in a text, and the time it names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

USER = "user"
"""The subject of a statement about the speaker; the analyst renames it for the agent's side."""


@dataclass(frozen=True, slots=True)
class When:
    """A resolved time: the first moment of the day, month or year meant, and how it reads.

    `end` is where the expression ended in the text that was searched.
    """

    at: datetime
    label: str
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One statement: text[start:end] says that `attribute` of `subject` is `value` (or, `retracts`, no longer).

    `until` is when a plan or wish with a date ends by itself: the first moment after the day, month or year named.
    `kin`: the statement is about the subject's relative, whom this word names and no language knows ("bf"). `as_said`:
    the value is a clause in the speaker's words, which a sentence cannot take up as it is. One that is not `sure` takes
    no other value's place.
    """

    subject: str
    attribute: str
    value: str
    start: int
    end: int
    when: When | None = None
    until: datetime | None = None
    retracts: bool = False
    as_said: bool = False
    kin: str = ""
    sure: bool = True
