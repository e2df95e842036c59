"""Lists of facts in parts, by what they say, whom they are about, when they held and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from embermem.arguments import checked
from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.ids import made_order
from embermem.core.messages import At
from embermem.core.text import bare, fold
from embermem.core.types import About, Fact, FactId, FactStatus, FoundFacts, Origin
from embermem.owner_memory.reading import Reading
from embermem.protocols import ALL_FACTS, ARCHIVED, ENDED, HELD, FactSelection, FactState, Span

if TYPE_CHECKING:
    from embermem.core.messages import Inbox
    from embermem.memoryos.people import People

MOST_FOUND = 1000
"""Facts in one part of a list."""
_LONGEST_WORDS = 1000
_NOT_ENDED = frozenset({FactState.HELD, FactState.ARCHIVED})
_STATUS = {
    FactStatus.CURRENT: HELD,
    FactStatus.PAST: ENDED,
    FactStatus.ARCHIVED: ARCHIVED,
    FactStatus.PINNED: FactSelection(states=_NOT_ENDED, pinned=True),
    FactStatus.CONFLICT: HELD,
    FactStatus.EXPIRING: FactSelection(states=_NOT_ENDED, expiring=True),
}


@checked
class FactLists(Reading):
    """Facts, found."""

    def find_facts(
        self,
        text: str = "",
        *,
        state: FactStatus | str | None = FactStatus.CURRENT,
        about: About | str | None = None,
        person: str | None = None,
        attribute: str | Iterable[str] | None = None,
        origin: Origin | str | None = None,
        recorded_since: At = None,
        recorded_until: At = None,
        held_since: At = None,
        held_until: At = None,
        limit: int = 50,
        before: str | None = None,
    ) -> FoundFacts:
        """Return a part of the list of facts that meet all conditions, newest first: at most `limit`, those recorded
        before the fact `before`; and how many there are in all. Not all facts are read for it.

        `text`: every word of it is in the fact's text or in the person's name, also as a part of a word, whatever the
        case and accents. `state` None: in whatever state. `person`: as in `facts`. `attribute`: of one attribute, or of
        one of several. `origin`: what they rest on.
        `recorded_since` to `recorded_until`: recorded on these days or between them; `held_since` to `held_until`: true
        on one of these days or between them, as far as that is known. Raises NotFound for an unknown person, and
        InputError.
        """
        messages.whole(limit, "limit", 0, MOST_FOUND)
        words = bare(fold(messages.checked(text, "text", _LONGEST_WORDS))).split()
        status = None if state is None else messages.one_of(FactStatus, state, "state")
        start = None if before is None else _order_of(before)
        inbox = self._inbox()
        selection = replace(
            ALL_FACTS if status is None else _STATUS[status],
            about=None if about is None else messages.one_of(About, about, "about"),
            attributes=None
            if attribute is None
            else frozenset([attribute] if isinstance(attribute, str) else attribute),
            origin=None if origin is None else messages.one_of(Origin, origin, "origin"),
            recorded=_span(inbox, recorded_since, recorded_until, "recorded"),
            true=_span(inbox, held_since, held_until, "held"),
        )
        people = self._people()
        if status is FactStatus.CONFLICT:
            selection = replace(selection, ids=frozenset(fact.id for pair in people.conflicts for fact in pair))
        wanted = None if person is None else self._found_person(people, person)
        ids = self._ids_of(selection, _Wanted(people, wanted, words) if wanted or words else None)
        rest = ids if start is None else [one for one in ids if made_order(one) < start]
        part = self._by_ids(rest[:limit], people)
        return FoundFacts(facts=part, total=len(ids), next=FactId(rest[limit - 1]) if 0 < limit < len(rest) else None)

    def _ids_of(self, selection: FactSelection, wanted: _Wanted | None) -> list[FactId]:
        """The ids of the facts of a selection that are wanted, without what has expired."""
        found = self._parts.admin.fact_ids(self.owner.id, selection, wanted)
        unseen = self._unseen()
        if wanted is not None and wanted.unclear:
            facts = self._store.reads.facts(self.owner.id, replace(selection, subjects=frozenset(wanted.unclear)))
            unseen |= {fact.id for fact in facts if not wanted.has(wanted.people.of(fact), fact.text)}
        return [one for one in found if one not in unseen]

    def _unseen(self) -> set[FactId]:
        """The facts that have expired, or rest only on what has, until a worker comes by."""
        hidden = self._hidden()
        facts = self._store.reads.facts(self.owner.id, FactSelection(expired_by=hidden.at))
        if hidden.seqs:
            facts += self._store.reads.facts(self.owner.id, FactSelection(resting_on=hidden.seqs))
        return {fact.id for fact in facts if not hidden.shows(fact)}

    def _by_ids(self, ids: Sequence[FactId], people: People) -> tuple[Fact, ...]:
        """Facts in the order of their ids, with the names of the persons they are about."""
        found = self._store.reads.facts(self.owner.id, FactSelection(ids=frozenset(ids))) if ids else ()
        shown = {fact.id: people.shown(fact) for fact in found}
        return tuple(shown[one] for one in ids if one in shown)


class _Wanted:
    """Whether a fact with a subject and a text may be one that is looked for. `unclear` are the subjects of which only
    the facts themselves say whom they are about."""

    def __init__(self, people: People, person: str | None, words: list[str]) -> None:
        self.people = people
        self.unclear: set[str] = set()
        self._person = person
        self._words = words
        self._known: dict[str, str | None] = {}
        self._names: dict[str, str] = {}

    def __call__(self, subject: str, text: str) -> bool:
        if subject not in self._known:
            unclear = self.people.is_unclear(subject)
            self._known[subject] = None if unclear else self.people.id_of(subject)
            self.unclear.update([subject] if unclear else [])
        person = self._known[subject]
        return person is None or self.has(person, text)

    def has(self, person: str, text: str) -> bool:
        """Whether this is said of the person who is looked for, with all words."""
        if self._person not in (None, person):
            return False
        told = text.lower() if text.isascii() else bare(fold(text))
        return all(word in told or word in self._name(person) for word in self._words)

    def _name(self, person: str) -> str:
        if person not in self._names:
            self._names[person] = bare(fold(self.people.name_of(person)))
        return self._names[person]


def _order_of(fact_id: str) -> tuple[tuple[int, ...], str]:
    order = made_order(fact_id)
    if not order[0]:
        raise InputError(f"before = {fact_id!r} is no fact's id; give `next` of the part before, or none")
    return order


def _span(inbox: Inbox, since: At, until: At, where: str) -> Span | None:
    """From the first moment of a day on, and before the day after another."""
    if since is None and until is None:
        return None
    first = None if since is None else inbox.moment(since, f"{where}_since").astimezone(inbox.zone).date()
    last = None if until is None else inbox.moment(until, f"{where}_until").astimezone(inbox.zone).date()
    if first is not None and last is not None and first > last:
        raise InputError(f"{where}_since = {since!r} is after {where}_until = {until!r}")
    try:
        after = None if last is None else last + timedelta(days=1)
    except OverflowError:
        after = None
    return _midnight(first, inbox), _midnight(after, inbox)


def _midnight(day: date | None, inbox: Inbox) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), inbox.zone)
