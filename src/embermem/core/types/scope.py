"""What a read may see of an owner's memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime, time, tzinfo
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from embermem.core import metadata as metadata_of
from embermem.core.errors import InputError
from embermem.core.record import Record
from embermem.core.types.ids import Tier
from embermem.core.types.utterances import Utterance

__all__ = ["Kind", "Scope"]

_Word = TypeVar("_Word", bound=StrEnum)
_Any = TypeVar("_Any")
Several: TypeAlias = frozenset[_Any] | set[_Any] | list[_Any] | tuple[_Any, ...]
"""What is taken for several names; pydantic knows it too."""
_LONGEST = 512
_LONGEST_SHOWN = 200


class Kind(StrEnum):
    """What may be told: what was said in a talk, passages of documents, facts (with profile and traits), titles and
    summaries of segments."""

    MESSAGE = "message"
    DOCUMENT = "document"
    FACT = "fact"
    SEGMENT = "segment"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope(Record):
    """What a read may see, decided before anything is ranked; the default sees everything.

    An utterance is in scope if it meets all that is given: it is of one of `threads` and of none of `not_threads`, its
    metadata meet the filter `metadata` (`embermem.core.metadata`), one of `speakers` said it, its page is in one of
    `tiers`, it was said between `since` and `until` (both included; a date as `until` is that whole day), it came
    before the seq `before_seq`. `people` are names: of what they said themselves, and what facts about them rest on. A
    fact, summary or profile line is in scope if all its sources are. `kinds` says which of these are told; it does not
    limit what they may rest on. Isolation is never a scope: an owner's memory is reached only through its handle.

    Names may be given as a list, a tuple or a set; they are kept as a frozenset. A time may be a datetime, a date or
    ISO 8601; without a zone it takes the owner's. Raises InputError that says where.
    """

    threads: Several[str] | None = None
    not_threads: Several[str] = frozenset()
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    speakers: Several[str] | None = None
    people: Several[str] | None = None
    kinds: Several[Kind | str] | None = None
    tiers: Several[Tier | str] | None = None
    since: datetime | date | str | None = None
    until: datetime | date | str | None = None
    before_seq: int | None = None

    def __post_init__(self) -> None:
        filtered = None if self.metadata is None else metadata_of.checked_filter(self.metadata, "scope.metadata")
        clean = {
            "threads": _names(self.threads, "threads"),
            "not_threads": _names(self.not_threads, "not_threads") or frozenset(),
            "metadata": filtered or None,
            "speakers": _names(self.speakers, "speakers"),
            "people": _names(self.people, "people"),
            "kinds": _words(Kind, self.kinds, "kinds"),
            "tiers": _words(Tier, self.tiers, "tiers"),
            "since": _time(self.since, "since"),
            "until": _time(self.until, "until"),
        }
        before = self.before_seq
        if before is not None and (isinstance(before, bool) or not isinstance(before, int) or before < 0):
            raise InputError(f"scope.before_seq = {before!r} is not allowed; a whole number from 0")
        for name, value in clean.items():
            object.__setattr__(self, name, value)
        since, until = _naive(self.since, time.min), _naive(self.until, time.max)
        if since is not None and until is not None and (since.tzinfo is None) == (until.tzinfo is None):
            _check_order(since, until)

    def __repr__(self) -> str:
        """What is given, and nothing else: `threads=[]` sees nothing, and is not the same as no threads given."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.to_dict().items())
        return f"Scope({given if len(given) <= _LONGEST_SHOWN else f'{given[:_LONGEST_SHOWN]}…'})"

    @property
    def is_whole(self) -> bool:
        """Whether it leaves nothing out."""
        return self == Scope()

    @property
    def needs_sources(self) -> bool:
        """Whether what rests on nothing that was said, such as a fact that a caller brought, is out of scope: where
        threads, metadata, speakers, tiers or times are given, which it has none of."""
        given = self.threads, self.metadata, self.speakers, self.tiers, self.since, self.until
        return any(one is not None for one in given)

    def tells(self, kind: Kind) -> bool:
        """Whether it lets a kind be told."""
        return self.kinds is None or kind in self.kinds

    def in_zone(self, zone: tzinfo) -> Scope:
        """The same with `since` and `until` as times with a zone, both included. Raises InputError if the first is
        after the second, where only one of them was given with a zone."""
        since, until = _zoned(self.since, zone, time.min), _zoned(self.until, zone, time.max)
        if since is not None and until is not None:
            _check_order(since, until)
        return self if since is None and until is None else replace(self, since=since, until=until)

    @property
    def span(self) -> tuple[datetime | None, datetime | None]:
        """`since` and `until` of a scope in its zone (`in_zone`); a time without one is read as UTC."""
        return _zoned(self.since, UTC, time.min), _zoned(self.until, UTC, time.max)

    def admits(self, said: Utterance, tier: Tier | None = None) -> bool:
        """Whether an utterance is in scope, by all but `people`, which only the facts of its memory can say, and
        `kinds`. `tier` is that of its page; None is in no tier."""
        since, until = self.span
        return (
            (self.threads is None or said.thread in self.threads)
            and said.thread not in self.not_threads
            and (self.speakers is None or said.speaker in self.speakers)
            and (self.tiers is None or tier in self.tiers)
            and (self.before_seq is None or said.seq < self.before_seq)
            and (since is None or said.said_at >= since)
            and (until is None or said.said_at <= until)
            and (self.metadata is None or metadata_of.matches(self.metadata, said.metadata))
        )

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], where: str = "scope") -> Scope:
        """The scope of a JSON object, as `to_dict` gives it. Raises InputError."""
        if not isinstance(value, Mapping):
            raise InputError(f"{where} is {type(value).__name__}; give an object such as {{'threads': ['s1']}}")
        known = [one.name for one in fields(cls)]
        for name in value:
            if name not in known:
                raise InputError(f"{where}.{name} is not known; one of: {', '.join(known)}")
        return cls(**{name: one for name, one in value.items() if one is not None})

    def to_dict(self) -> dict[str, Any]:
        """The scope as a JSON object; what is not given is left out."""
        found: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value is None or (value == frozenset() and one.name == "not_threads"):
                continue
            if isinstance(value, frozenset):
                value = sorted(map(str, value))
            elif isinstance(value, date):
                value = value.isoformat()
            found[one.name] = _as_json(value)
        return found


def _names(value: object, where: str) -> frozenset[str] | None:
    if value is None:
        return None
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InputError(f"scope.{where} is {type(value).__name__}; give several names, such as ['s1']")
    names = tuple(value)
    for one in names:
        if not isinstance(one, str) or not one.strip() or len(one) > _LONGEST:
            raise InputError(f"scope.{where} holds {one!r}, which is not a name")
    return frozenset(names)


def _words(kind: type[_Word], value: object, where: str) -> frozenset[_Word] | None:
    names = _names(value, where)
    if names is None:
        return None
    allowed = ", ".join(kind)
    for one in names:
        if one not in tuple(kind):
            raise InputError(f"scope.{where} holds {str(one)!r}, which is not allowed; of: {allowed}")
    return frozenset(kind(one) for one in names)


def _time(value: object, where: str) -> datetime | date | None:
    if isinstance(value, str):
        try:
            text = value.strip()
            return date.fromisoformat(text) if len(text) == len("2026-05-02") else datetime.fromisoformat(text)
        except ValueError as error:
            raise InputError(f"scope.{where} = {value!r} is not a time; give ISO 8601 such as 2026-05-02") from error
    if value is not None and not isinstance(value, date):
        raise InputError(f"scope.{where} is {type(value).__name__}; give a datetime, a date or an ISO 8601 text")
    return value


def _zoned(at: datetime | date | str | None, zone: tzinfo, of_day: time) -> datetime | None:
    moment = _naive(at, of_day)
    return moment if moment is None or moment.utcoffset() is not None else moment.replace(tzinfo=zone)


def _naive(at: datetime | date | str | None, of_day: time) -> datetime | None:
    """A time as it was given, a day by its first or last moment."""
    assert not isinstance(at, str)  # read when the scope was made
    return at if at is None or isinstance(at, datetime) else datetime.combine(at, of_day)


def _check_order(since: datetime, until: datetime) -> None:
    if since > until:
        raise InputError(f"scope.since = {since.isoformat()} is after scope.until = {until.isoformat()}")


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_json(one) for name, one in value.items()}
    return [_as_json(one) for one in value] if isinstance(value, (tuple, list)) else value
