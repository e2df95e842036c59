"""The standing instructions of the user that hold when something is asked: told with every query, whatever it is."""

from __future__ import annotations

from datetime import datetime

from embermem.core.attributes import is_instruction
from embermem.core.types import Fact
from embermem.index.query_context import View
from embermem.memoryos.people import People

__all__ = ["instructions"]


def instructions(view: View, people: People) -> tuple[Fact, ...]:
    """The user's own instructions that hold at the time of the query and that its scope lets be seen, the one that was
    said last first. None while it is undecided who the user is."""
    table = view.snapshot.facts
    places = sorted(
        place for name, some in table.of_attribute.items() if is_instruction(name) for place in some.tolist()
    )
    found = [
        (last, place, fact)
        for place, fact in ((place, table.rows[place]) for place in places)
        if people.is_user(fact.subject)
        and (fact.current or (view.query.valid_at is not None and not fact.archived))
        and _holds(fact, view.now)
        and (last := _last_said(fact, view)) is not None
    ]
    return tuple(fact for _, _, fact in sorted(found, key=lambda one: one[:2], reverse=True))


def _holds(fact: Fact, now: datetime | None) -> bool:
    """Whether an instruction holds at a time."""
    if now is None:
        return True
    begun = fact.valid_from is None or fact.valid_from <= now
    return begun and all(end is None or end > now for end in (fact.valid_to, fact.expires_at))


def _last_said(fact: Fact, view: View) -> datetime | None:
    """When an instruction was said last, as far as the query may see; None where it may see nothing of it. A caller's
    counts from when it holds or was recorded."""
    if not fact.sources:
        return fact.valid_from or fact.recorded_at
    rows = (view.snapshot.row(source.seq) for source in fact.sources)
    seen = (row for row in rows if row is not None and view.candidates[row])
    return max((view.snapshot.utterances[row].said_at for row in seen), default=None)
