"""What is new in one memory between two positions, as events: ids, counts and causes; what was said and decided only
where it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from embermem.core.types import Event, OwnerId, Position
from embermem.wire.mapping import to_record
from embermem.wire.memories import ChangeItem

if TYPE_CHECKING:
    from embermem.core.changes import Change
    from embermem.core.types import Utterance
    from embermem.protocols import OwnerState, Store

MOST_CHANGES = 100
"""More changes at once are told as one `state`."""
MOST_SAID = 500
"""Utterances whose pages are named in one event."""
LONGEST_TEXT = 4_000
"""Characters of one message in an event; a longer one is cut, and marked so."""


def position(state: OwnerState | None) -> Position:
    """Where a memory stands."""
    return Position(seq=0, revision=0) if state is None else Position(seq=state.seq, revision=state.revision)


def standing(state: OwnerState | None, at: Position) -> Event:
    """Where a memory stands, as an event at a position."""
    data = {
        "seq": at.seq,
        "revision": at.revision,
        "pages": 0 if state is None else state.pages,
        "due_at": None if state is None or state.due_at is None else state.due_at.isoformat(),
        "failures": 0 if state is None else state.failures,
    }
    return Event(name="state", position=at, data=data)


def news(
    store: Store, owner_id: OwnerId, since: Position, until: Position | None, *, now: datetime, text: bool = False
) -> tuple[Event, ...]:
    """What came after a position, up to another or now, oldest first: at most one `page` event for what was said, then
    one `change` event for each change. One `state` where the memory went back, or far ahead."""
    state = store.log.owner_state(owner_id)
    until = until or position(state)
    if until == since:
        return ()
    if until.seq < since.seq or until.revision < since.revision or until.revision - since.revision > MOST_CHANGES:
        return (standing(state, until),)
    told: list[Event] = []
    if until.seq > since.seq:
        hidden, _ = store.reads.expired(owner_id, now)
        said = store.log.utterances(owner_id, since.seq, min(until.seq - since.seq, MOST_SAID))
        shown = [one for one in said if one.seq <= until.seq and one.page_id not in hidden]
        at = Position(seq=until.seq, revision=since.revision)
        told.append(Event(name="page", position=at, data=_page(shown, since, until, text)))
    if until.revision > since.revision:
        changes = store.change_log.changes(owner_id, since.revision, until.revision - since.revision)
        told += (_change(one, until.seq, text) for one in changes if one.no <= until.revision)
    return tuple(told)


def wanted(events: Sequence[Event], names: Sequence[str]) -> tuple[Event, ...]:
    """The events of some names, "page" or causes of changes; all for none."""
    return tuple(one for one in events if not names or one.data.get("cause", one.name) in names)


def as_json(event: Event) -> Mapping[str, Any]:
    """An event as a delivery holds it."""
    return {"id": str(event.position), "event": event.name, "data": event.data}


def _page(said: Sequence[Utterance], since: Position, until: Position, text: bool) -> Mapping[str, Any]:
    pages = list(dict.fromkeys(one.page_id for one in said))
    data: dict[str, Any] = {"seq": until.seq, "utterances": until.seq - since.seq, "page_ids": pages}
    return {**data, "messages": [_message(one) for one in said]} if text else data


def _message(one: Utterance) -> Mapping[str, Any]:
    cut = {"cut": True} if len(one.text) > LONGEST_TEXT else {}
    names = {"id": one.id, "page_id": one.page_id, "role": one.role.value, "speaker": one.speaker}
    return {**names, "said_at": one.said_at.isoformat(), "text": one.text[:LONGEST_TEXT], **cut}


def _change(change: Change, seq: int, text: bool) -> Event:
    data: dict[str, Any] = {
        "no": change.no,
        "cause": change.cause.value,
        "recorded_at": change.recorded_at.isoformat(),
        "decisions": len(change.decisions),
    }
    if text:
        data["change"] = msgspec.to_builtins(to_record(ChangeItem, change))
    return Event(name="change", position=Position(seq=seq, revision=change.no), data=data)
