"""What came to be known of an owner from one time to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from embermem.core.types import Diff, Fact, OwnerId, PageId, Persona, Segment
from embermem.protocols import ARCHIVED, ENDED, MemoryReads, Moment, Store

__all__ = ["diff", "pairs"]

_Name = TypeVar("_Name")
_Item = TypeVar("_Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """All that was known at a moment; facts, held or not, and segments by their ids."""

    moment: Moment
    persona: Persona
    facts: Mapping[str, Fact]
    segments: Mapping[str, Segment]


def diff(store: Store, owner_id: OwnerId, since: datetime, until: datetime) -> Diff:
    """What was known at the second time and not at the first, and the other way round, without conflicts. Raises
    InputError for times of which nothing derived is kept."""
    before, after = (_known(store.reads, owner_id, store.change_log.moment(owner_id, at)) for at in (since, until))
    both = [(before.facts[name], fact) for name, fact in after.facts.items() if name in before.facts]
    segments = [(before.segments[name], one) for name, one in after.segments.items() if name in before.segments]
    was, now = before.persona, after.persona
    return Diff(
        earlier=since,
        later=until,
        changes=tuple(range((before.moment.revision or 0) + 1, (after.moment.revision or 0) + 1)),
        pages_added=_pages_added(store.reads, owner_id, before.moment, after.moment),
        facts_added=tuple(fact for name, fact in after.facts.items() if name not in before.facts),
        facts_ended=tuple(
            fact
            for name, fact in after.facts.items()
            if fact.retired_at is not None
            and (name not in before.facts or before.facts[name].retired_at != fact.retired_at)
        ),
        facts_changed=tuple((old, new) for old, new in both if new.retired_at is None and old != new),
        traits=pairs(*({t.dimension: (t, (t.level, t.confidence)) for t in one.traits} for one in (was, now))),
        profile=pairs(
            *(
                {(line.whose, line.name): (line, line.value) for line in (*one.profile, *one.agent_profile)}
                for one in (was, now)
            )
        ),
        segments_opened=tuple(one for name, one in after.segments.items() if name not in before.segments),
        segments_rewritten=tuple((old, new) for old, new in segments if _shown(old) != _shown(new)),
        segments_archived=tuple(new for old, new in segments if new.archived and not old.archived),
    )


def pairs(
    before: Mapping[_Name, tuple[_Item, object]], after: Mapping[_Name, tuple[_Item, object]]
) -> tuple[tuple[_Item | None, _Item | None], ...]:
    """Items of one name that do not say the same; each is given with what it says."""
    found: list[tuple[_Item | None, _Item | None]] = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old is None or new is None or old[1] != new[1]:
            found.append((None if old is None else old[0], None if new is None else new[0]))
    return tuple(found)


def _known(reads: MemoryReads, owner_id: OwnerId, moment: Moment) -> _Known:
    persona = reads.persona(owner_id, moment)
    facts = (
        *persona.facts,
        *persona.agent_facts,
        *reads.facts(owner_id, ARCHIVED, moment),
        *reads.facts(owner_id, ENDED, moment),
    )
    return _Known(
        moment=moment,
        persona=persona,
        facts={fact.id: fact for fact in sorted(facts, key=lambda fact: (fact.change_no, fact.id))},
        segments={segment.id: segment for segment in reads.segments(owner_id, moment=moment)},
    )


def _pages_added(reads: MemoryReads, owner_id: OwnerId, before: Moment, after: Moment) -> tuple[PageId, ...]:
    """The pages that came after the newest one of the first moment."""
    newest = reads.pages(owner_id, 0, moment=before, limit=1)
    return tuple(page.id for page in reads.pages(owner_id, 0, moment=after, after=newest[0].no if newest else 0))


def _shown(segment: Segment) -> Sequence[object]:
    return segment.title, segment.summary, segment.keywords
