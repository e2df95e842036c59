"""One owner's memory by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from embermem.arguments import checked
from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.messages import At
from embermem.core.types import Timeline
from embermem.owner_memory.reading import Reading
from embermem.protocols import TimelineSelection

MOST_BUCKETS = 400
"""Buckets of one timeline."""


@checked
class Timelines(Reading):
    """What was said, learnt, ended and corrected, and when."""

    def timeline(
        self,
        edges: Sequence[At] = (),
        *,
        person: str | None = None,
        attribute: str | None = None,
        words: Sequence[str] = (),
        thread: str | None = None,
        limit: int = 100,
    ) -> Timeline:
        """Return what was said, talked about, learnt and corrected between the first and the last of `edges`, times in
        ascending order, counted in the buckets between them; without edges in one bucket from the first message to the
        last. Of segments, facts and changes at most `limit` each are given, and all are counted.

        `person` limits it to what they said, to facts about them, and to segments in which they spoke or are told of;
        `attribute` limits facts; `words` to messages, segments and facts in whose text each of them stands; `thread` to
        what is of one thread. Changes are limited by none of these. Raises NotFound for an unknown person.
        """
        messages.whole(limit, "limit", 0)
        inbox = self._inbox()
        moments = [inbox.moment(one, f"edges[{at}]") for at, one in enumerate(edges)]
        if len(moments) == 1 or len(moments) > MOST_BUCKETS + 1:
            raise InputError(f"edges has {len(moments)} times; give none, or 2 to {MOST_BUCKETS + 1}")
        if any(one >= other for one, other in pairwise(moments)):
            raise InputError("edges are not in ascending order")
        hidden = self._hidden()
        selection = TimelineSelection(
            edges=tuple(moments),
            now=inbox.now,
            limit=limit,
            attribute=attribute,
            words=tuple(words),
            thread=None if thread is None else messages.thread_id(thread),
            without=hidden.pages,
        )
        if person is not None:
            selection = self._of(person, selection)
        found = self._parts.admin.timeline(self.owner.id, selection)
        facts = self._of_person(hidden.shown_facts(found.facts), None, None)
        return replace(found, facts=facts, segments=hidden.shown_segments(found.segments))

    def _of(self, person: str, selection: TimelineSelection) -> TimelineSelection:
        """The selection of one person: by their names in facts, and as they are called where they speak."""
        from embermem.memoryos.people import speaker_of

        people = self._people()
        one = self._found_person(people, person)
        return replace(
            selection,
            subjects=frozenset(
                name for name in self._parts.admin.subjects_ever(self.owner.id) if people.id_of(name) == one
            ),
            speakers=frozenset(
                pair for pair in self._store.reads.speakers(self.owner.id) if people.id_of(speaker_of(*pair)) == one
            ),
        )
