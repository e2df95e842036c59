"""What a file holds, kept aside until all of it was read: so nothing is stored of a file that breaks off, and all of it
is stored in the order of time, whatever the order of the file.

It lies in a temporary database without a name, which the system takes away with the process, however that ends.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from embermem.transfer.items import BadLine, DocumentEntry, Entry, FactEntry, Found, LeftOut, Myself, unstorable

TALK_GAP_S = 3600.0
"""Seconds of silence that end a stretch of a thread: the next one has its place in time by itself."""
PROBLEMS_KEPT = 10_000
"""Bad lines that are listed; the others are counted."""
_CACHE_KB = 16_000

_TABLES = """
create table message(no integer primary key, user text, thread text, at real, dated int, speaker text, body blob);
create table title(user text, thread text, title text, primary key(user, thread));
create table fact(no integer primary key, user text, at real, body blob);
create table document(no integer primary key, user text, at real, body blob);
"""
_IN_TIME = """
with gaps as (
  select no, thread, at, case when at - lag(at) over thread_in_time <= :gap then 0 else 1 end as begins
  from message where user = :user window thread_in_time as (partition by thread order by at, no)),
talks as (select no, thread, at, sum(begins) over (partition by thread order by at, no) as talk from gaps),
placed as (select no, thread, at, min(at) over (partition by thread, talk) as since from talks)
select body from placed join message using (no) order by placed.since, placed.thread, placed.at, no
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadSummary:
    """One thread of a file: how many messages, who speaks, from when to when; `undated` messages have no time."""

    thread: str
    title: str | None
    messages: int
    speakers: tuple[str, ...]
    since: datetime | None
    until: datetime | None
    undated: int


@dataclass(slots=True)
class Spool:
    """`ordered`: messages of a thread stay in the order in which they come; a clock that was set back moves nothing."""

    thread: str
    longest: int
    ordered: bool
    problems: list[BadLine] = field(default_factory=list)
    more_problems: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    me: str | None = None
    _db: sqlite3.Connection = field(default_factory=lambda: sqlite3.connect("", isolation_level=None))
    _last: dict[tuple[str, str], float] = field(default_factory=dict)
    _latest: float = 0.0
    _first: dict[str, str] = field(default_factory=dict)
    _encode: msgspec.json.Encoder = field(default_factory=msgspec.json.Encoder)

    def fill(self, found: Iterable[Found]) -> None:
        """Take all of it in. Raises what reading raises."""
        self._db.executescript(f"pragma cache_size = -{_CACHE_KB}; pragma journal_mode = off; {_TABLES}")
        self._db.execute("begin")
        for one in found:
            self._put(unstorable(one, self.longest) or one)
        self._db.execute("commit")

    def close(self) -> None:
        """Let go of everything."""
        self._db.close()

    def _put(self, one: Found) -> None:
        match one:
            case BadLine():
                if len(self.problems) < PROBLEMS_KEPT:
                    self.problems.append(one)
                else:
                    self.more_problems += 1
            case LeftOut():
                self.left_out[one.what] += 1
            case Myself():
                self.me = one.name
            case Entry():
                self._message(one)
            case FactEntry():
                self._keep("fact", one, one.since)
            case DocumentEntry():
                self._keep("document", one, one.at)

    def _message(self, one: Entry) -> None:
        for key in one.unread:
            what = f"values of the key {key!r}, which no message has a place for"
            place = self._first.setdefault(what, one.place)
            self.left_out[f"{what} (the first: {place})"] += 1
        user, thread = one.user or "", one.thread or self.thread
        last = self._last.get((user, thread))
        at = (last if last is not None else self._latest) if one.at is None else _seconds(one.at)
        if self.ordered and last is not None:
            at = max(at, last)
        self._last[user, thread] = self._latest = at
        values = (user, thread, at, int(one.at is not None), one.name or one.role, self._encode.encode(one))
        sql = "insert into message(user, thread, at, dated, speaker, body) values (?, ?, ?, ?, ?, ?)"
        self._db.execute(sql, values)
        if one.title:
            self._db.execute("insert or replace into title values (?, ?, ?)", (user, thread, one.title))

    def _keep(self, table: str, one: FactEntry | DocumentEntry, at: datetime | None) -> None:
        values = (one.user or "", None if at is None else _seconds(at), self._encode.encode(one))
        self._db.execute(f"insert into {table}(user, at, body) values (?, ?, ?)", values)

    def users(self) -> list[str]:
        """Whose memories the file names; the empty name is whoever imports it."""
        sql = "select user from message union select user from fact union select user from document order by 1"
        return [user for (user,) in self._db.execute(sql)]

    def counts(self, user: str) -> tuple[int, int, int]:
        """Messages, facts and documents of one of the users."""
        tables = ("message", "fact", "document")
        found = [self._db.execute(f"select count(*) from {t} where user = ?", (user,)).fetchone()[0] for t in tables]
        return found[0], found[1], found[2]

    def threads(self, user: str) -> list[ThreadSummary]:
        """The threads of a user, the oldest first."""
        sql = """select thread, title.title, count(*), min(at) filter (where dated), max(at) filter (where dated),
                   count(*) - sum(dated) from message left join title using (user, thread) where user = ?
                 group by thread order by min(at), min(no)"""
        speakers: dict[str, list[str]] = {}
        told = "select thread, speaker from message where user = ? group by thread, speaker order by count(*) desc"
        for thread, speaker in self._db.execute(told, (user,)):
            speakers.setdefault(thread, []).append(speaker)
        return [
            ThreadSummary(
                thread=thread,
                title=title,
                messages=count,
                speakers=tuple(speakers[thread]),
                since=_time(since),
                until=_time(until),
                undated=undated,
            )
            for thread, title, count, since, until, undated in self._db.execute(sql, (user,))
        ]

    def speakers(self) -> list[str]:
        """Everybody who speaks, who says most first."""
        return [one for (one,) in self._db.execute("select speaker from message group by 1 order by count(*) desc, 1")]

    def messages(self, user: str) -> Iterator[Entry]:
        """A user's messages in the order of time, each stretch of a thread in one piece."""
        decoder = msgspec.json.Decoder(Entry)
        for (body,) in self._db.execute(_IN_TIME, {"user": user, "gap": TALK_GAP_S}):
            yield decoder.decode(body)

    def facts(self, user: str) -> Iterator[FactEntry]:
        """A user's facts, the oldest first."""
        decoder = msgspec.json.Decoder(FactEntry)
        for (body,) in self._db.execute("select body from fact where user = ? order by at, no", (user,)):
            yield decoder.decode(body)

    def documents(self, user: str) -> Iterator[DocumentEntry]:
        """A user's documents, the oldest first."""
        decoder = msgspec.json.Decoder(DocumentEntry)
        for (body,) in self._db.execute("select body from document where user = ? order by at, no", (user,)):
            yield decoder.decode(body)


def _seconds(at: datetime) -> float:
    """For the order alone: a time without a zone counts as one of Greenwich."""
    return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
