"""What callers say that a recall should have told, and should not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from embermem.core.record import Record
from embermem.core.types.context import Context
from embermem.core.types.ids import CaseId, ThreadId, UtteranceId
from embermem.core.types.memories import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallCase(Record):
    """A query whose recall was wrong, as a caller marked it: the utterances that its context was `expected` to rest on,
    and those that are `unwanted` in it. The query is asked as it was then: at `asked_at`, with the budget, the preset,
    the thread, `as_of` and `valid_at` that it was given (None: as the settings say). `note` is the caller's own."""

    id: CaseId
    query: str
    asked_at: datetime
    budget: int | None
    preset: str | None
    thread: ThreadId | None
    as_of: datetime | None
    valid_at: datetime | None
    expected: tuple[Source, ...]
    unwanted: tuple[Source, ...]
    note: str
    recorded_at: datetime
    retired_at: datetime | None = None
    change_no: int = 0

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What `recall` is given to ask the query again: the query, its time, and whatever else was given."""
        given = {
            "budget": self.budget,
            "preset": self.preset,
            "thread": self.thread,
            "as_of": self.as_of,
            "valid_at": self.valid_at,
        }
        return {"query": self.query, "at": self.asked_at, **{k: one for k, one in given.items() if one is not None}}

    def missing(self, context: Context) -> tuple[UtteranceId, ...]:
        """The expected utterances on which nothing in a context rests."""
        return tuple(one.utterance_id for one in self.expected if one.utterance_id not in _told(context))

    def intruding(self, context: Context) -> tuple[UtteranceId, ...]:
        """The unwanted utterances on which something in a context rests."""
        return tuple(one.utterance_id for one in self.unwanted if one.utterance_id in _told(context))

    def passes(self, context: Context) -> bool:
        """Whether a context rests on all that is expected, and on nothing unwanted."""
        return not self.missing(context) and not self.intruding(context)


def _told(context: Context) -> set[UtteranceId]:
    """What a context rests on; an answer of the HTTP API tells what of it is packed, and the sources of its facts."""
    facts = (source.utterance_id for fact in context.facts for source in fact.sources)
    return {*context.rests_on, *(hit.utterance.id for hit in context.packed), *facts}
