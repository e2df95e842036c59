"""mem0: what `get_all` gives, as JSON, and its history, as JSON or in `history.db`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any

from embermem.core.metadata import Metadata
from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import (
    bad,
    json_of,
    json_with,
    listed,
    mapping,
    moment,
    opened,
    sqlite_with,
    text_of,
    untimed,
)
from embermem.transfer.items import Entry, FactEntry, Found, LeftOut

_HISTORY = ("memory_id", "old_memory", "new_memory", "event", "created_at")
_GONE = ("DELETE", "DELETED")


def sniff(files: Files) -> bool:
    memories = json_with(files, "results", "results[].memory") or json_with(files, "[].memory", "[].id")
    return bool(memories or json_with(files, "[].memory_id", "[].event") or sqlite_with(files, history=_HISTORY))


def read(files: Files, options: Options) -> Iterator[Found]:
    events: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for place, event in _events(files):
        events.setdefault(text_of(event.get("memory_id")), []).append((place, event))
    for name in [*json_with(files, "results", "results[].memory"), *json_with(files, "[].memory", "[].id")]:
        for place, path, value in json_of(files, name, lambda path: path in ((), ("results",))):
            if path and isinstance(path[-1], int):
                memory = mapping(value)
                own = [(f"{place}.history[{n}]", mapping(one)) for n, one in enumerate(listed(memory.get("history")))]
                yield from _memory(memory, place, own or events.pop(text_of(memory.get("id")), []))
    for told in events.values():  # of memories that are gone, or where there is nothing but the history
        yield from _past({}, told)
    for name in sqlite_with(files, messages=("session_scope", "role", "content")):
        yield from _messages(files, name)


def _events(files: Files) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in json_with(files, "[].memory_id", "[].event"):
        for place, _, value in json_of(files, name, lambda path: path == ()):
            yield place, mapping(value)
    for name in sqlite_with(files, history=_HISTORY):
        with closing(opened(files, name)) as db:
            for row in db.execute("select rowid as no, * from history order by created_at, updated_at, rowid"):
                yield f"{files.where(name)}history, row {row['no']}", dict(row)


def _memory(value: Mapping[str, Any], place: str, events: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Found]:
    text = text_of(value.get("memory")).strip()
    if not text:
        yield bad(place, "it has no memory in it")
        return
    if events:
        yield from _past(value, events)
        last = text_of(events[-1][1].get("new_memory")).strip()
        if last == text:
            return
    yield from untimed(value, place, "updated_at", "created_at")
    at = moment(value.get("updated_at")) or moment(value.get("created_at"))
    yield _fact(text, place, at, None, value, value.get("id"))


def _past(value: Mapping[str, Any], events: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[Found]:
    """A memory through its time: each of its texts held until the next one came, or until it was deleted."""
    held: tuple[str, str, datetime | None] | None = None
    memory_id = value.get("id") or (events[0][1].get("memory_id") if events else None)
    for place, event in events:
        yield from untimed(event, place, "updated_at", "created_at")
        at = moment(event.get("updated_at")) or moment(event.get("created_at"))
        text = text_of(event.get("new_memory")).strip()
        old = text_of(event.get("old_memory")).strip()
        if held is None and old:
            held = (old, place, moment(event.get("created_at")))
        gone = event.get("event") in _GONE
        if held is not None and (gone or text != held[0]):
            until = at if held[2] is None or at is None or at >= held[2] else held[2]
            yield _fact(held[0], held[1], held[2], until, value, memory_id)
            held = None
        if not gone and text and held is None:
            held = (text, place, at)
        elif not gone and not text:
            yield bad(place, f"the event {event.get('event')!r} has no new_memory")
    if held is not None:
        ends = text_of(value.get("memory")).strip()
        until = moment(value.get("updated_at")) if ends and ends != held[0] else None
        yield _fact(held[0], held[1], held[2], until, value, memory_id)


def _fact(
    text: str, place: str, since: datetime | None, until: datetime | None, value: Mapping[str, Any], memory_id: object
) -> Found:
    for name in ("user_id", "agent_id"):
        if not isinstance(value.get(name), str | int | None) or isinstance(value.get(name), bool):
            return bad(place, f"its {name} is not a text: {value[name]!r}"[:200])
    user, agent = (str(one) if (one := value.get(name)) is not None else "" for name in ("user_id", "agent_id"))
    return FactEntry(
        place=place,
        text=text,
        about="agent" if agent and not user else "user",
        since=since,
        until=until,
        metadata=_labels(mapping(value.get("metadata")), memory_id),
        user=user or None,
    )


def _labels(given: Mapping[str, Any], memory_id: object) -> Metadata:
    """The source, the id and the metadata of mem0, as far as they are plain values."""
    plain = {
        key: value
        for key, value in given.items()
        if isinstance(value, (str, int, float, bool)) and not key.startswith("$") and len(str(value)) <= 200
    }
    labels: dict[str, Any] = dict(list(plain.items())[:8])
    return {**labels, "source": "mem0", **({"mem0_id": memory_id} if isinstance(memory_id, str) else {})}


def _messages(files: Files, name: str) -> Iterator[Found]:
    """The last messages of each session, which mem0 keeps beside the history."""
    with closing(opened(files, name)) as db:
        for row in db.execute("select rowid as no, * from messages order by created_at, rowid"):
            place, scope = f"{files.where(name)}messages, row {row['no']}", text_of(row["session_scope"])
            of = dict(pair.partition("=")[::2] for pair in scope.split("&") if "=" in pair)
            if row["role"] not in ("user", "assistant", "tool"):
                yield LeftOut(what="messages of the system")
            elif not text_of(row["content"]).strip():
                yield LeftOut(what="empty messages")
            else:
                yield Entry(
                    place=place,
                    role=row["role"],
                    content=row["content"],
                    name=row["name"],
                    at=moment(row["created_at"]),
                    thread=f"mem0:{scope}",
                    user=of.get("user_id"),
                    metadata={"source": "mem0"},
                )


FORMAT = Format(name="mem0", title="mem0's memories and history", sniff=sniff, read=read, ordered=False)
