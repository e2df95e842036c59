"""`embermem ingest`: a stream of messages into the store, once, in batches of one transaction each.

A batch ends where its last message's hash says so, at 256 messages, or where the thread changes; so the same content
gives the same batches, wherever the file lies. Its key is made of the message before it and its first message. When
the file is given again, each batch is found under its key and nothing is stored; when the file has grown, the last
batch is found to be longer than what is stored, and only what is new is added.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from embermem.core.errors import InputError, KeyReused
from embermem.transfer.items import BadLine, Entry, Item

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory

BATCH_MESSAGES = 256
"""Messages of one transaction at most."""
BATCH_LEAST = 16
"""Messages of one transaction at least, before a hash may end it."""
BATCH_CHARS = 1_000_000
"""Characters of one transaction at most, about."""
CUT_EVERY = 64
"""One message in so many ends a batch by its hash."""
KEYS_TRIED = 64
"""Different batches that may begin alike (with the same two messages) in one owner's memory."""

ProgressFn = Callable[[int, int], None]
"""Called with (messages, bytes read) after each batch."""


@dataclass(slots=True)
class Ingested:
    """What a run read: messages, the bad lines that were left out, and the keys whose values no message has a place
    for, each with how many there were and where the first stands."""

    messages: int = 0
    bad: list[BadLine] = field(default_factory=list)
    unread: dict[str, tuple[int, str]] = field(default_factory=dict)


class BadInput(InputError):
    """A line of the file holds no message; what stands before it is stored."""

    tag = "bad-input"


def ingest(
    owner: OwnerMemory, items: Iterable[Item], *, thread: str, where: str, skip_bad: bool, told: ProgressFn
) -> Ingested:
    """Stores what is not stored yet. `thread` is for messages that name none; `where` begins each error.

    Raises BadInput at the first bad line unless `skip_bad`.
    """
    done = Ingested()
    writer = _Writer(owner, where)
    for batch in _batches(_good(items, done, where, skip_bad), thread):
        if isinstance(batch, BadLine):
            raise BadInput(
                f"{where}, {batch}. The {done.messages} messages before it are stored; mend the line and run again, "
                "it goes on there; or give --skip-bad"
            )
        writer.store(batch)
        done.messages += len(batch.entries)
        told(done.messages, batch.entries[-1].offset)
    return done


@dataclass(frozen=True, kw_only=True, slots=True)
class _Batch:
    """Messages of one thread that are stored in one transaction; `marks` are their hashes, after `before`."""

    thread: str
    entries: list[Entry]
    marks: list[str]
    before: str

    def after(self, count: int) -> _Batch:
        """What is left without the first `count` messages."""
        return _Batch(
            thread=self.thread,
            entries=self.entries[count:],
            marks=self.marks[count:],
            before=self.marks[count - 1],
        )


class _Writer:
    def __init__(self, owner: OwnerMemory, where: str) -> None:
        self._owner, self._where = owner, where
        self._times: dict[str, int] = {}

    def store(self, batch: _Batch) -> None:
        """Stores the batch, or what of it is not there yet."""
        base = _hash(batch.thread, batch.before, batch.marks[0])
        first = self._times.get(base, 0)  # keys that earlier batches of this run have taken
        for times in range(first, first + KEYS_TRIED):
            key = f"ingest:{base}:{times}"
            try:
                self._add(batch, len(batch.entries), key)
            except KeyReused:
                stored = self._stored_before(batch, key)
                if not stored:
                    continue  # another file that begins alike
                self._times[base] = times + 1
                self.store(batch.after(stored))
                return
            self._times[base] = times + 1
            return
        places = f"{batch.entries[0].place} to {batch.entries[-1].place}"
        raise InputError(f"{self._where}, {places}: {KEYS_TRIED} other files of this user begin like this; split it")

    def _stored_before(self, batch: _Batch, key: str) -> int:
        """How many first messages of the batch are stored under the key: it has grown since."""
        for count in range(len(batch.entries) - 1, 0, -1):
            try:
                self._add(batch, count, key)
            except KeyReused:
                continue
            return count
        return 0

    def _add(self, batch: _Batch, count: int, key: str) -> None:
        messages = [entry.message() for entry in batch.entries[:count]]
        try:
            self._owner.add_messages(messages, thread=batch.thread, key=key)
        except KeyReused:
            raise
        except InputError as error:
            places = f"{batch.entries[0].place} to {batch.entries[count - 1].place}"
            raise InputError(f"{self._where}, {places}: {error}") from error


def _good(items: Iterable[Item], done: Ingested, where: str, skip_bad: bool) -> Iterator[Item]:
    for item in items:
        if isinstance(item, BadLine) and skip_bad:
            done.bad.append(item)
            continue
        for key in () if isinstance(item, BadLine) else item.unread:
            count, place = done.unread.get(key, (0, item.place))
            done.unread[key] = count + 1, place
        yield item


def _batches(items: Iterable[Item], thread: str) -> Iterator[_Batch | BadLine]:
    entries: list[Entry] = []
    marks: list[str] = []
    before: dict[str, str] = {}  # of each thread, its last message in the batches that were given
    current, chars = thread, 0

    def batch() -> _Batch:
        return _Batch(thread=current, entries=list(entries), marks=list(marks), before=before.get(current, ""))

    for item in items:
        named = thread if isinstance(item, BadLine) else (item.thread or thread)
        ends = bool(marks) and (
            isinstance(item, BadLine)
            or named != current
            or len(entries) >= BATCH_MESSAGES
            or chars >= BATCH_CHARS
            or (len(marks) >= BATCH_LEAST and int(marks[-1][:8], 16) % CUT_EVERY == 0)
        )
        if ends:
            yield batch()
            before[current], chars = marks[-1], 0
            entries.clear()
            marks.clear()
        if isinstance(item, BadLine):
            yield item
            continue
        current = named
        entries.append(item)
        marks.append(_mark(item))
        chars += len(str(item.content))
    if entries:
        yield batch()


def _mark(entry: Entry) -> str:
    content = entry.content if isinstance(entry.content, str) else json.dumps(entry.content, sort_keys=True)
    more = json.dumps(dict(entry.more), sort_keys=True) if entry.more else ""
    labels = [json.dumps(entry.metadata, sort_keys=True)] if entry.metadata else []
    origin = [] if entry.origin is None else [f"origin: {entry.origin}"]
    return _hash(entry.role, entry.name or "", str(entry.at or ""), content, more, *labels, *origin)


def _hash(*parts: str) -> str:
    made = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8")
        made.update(len(raw).to_bytes(8, "big") + raw)
    return made.hexdigest()
