"""What a file holds, one thing at a time, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from embermem.core.errors import InputError
from embermem.core.messages import is_empty
from embermem.core.metadata import Metadata
from embermem.core.types import UtteranceOrigin

NAME_LIMIT = 512
"""A longer name or thread cannot be stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One message of a file. `place` says where it stands; `offset` how many bytes were read up to it. `user` is whose
    memory it belongs to, where a file says so; `title` is what its thread is called; `unread` are the keys beside it
    whose values no message has a place for."""

    place: str
    role: str
    content: object
    thread: str | None = None
    name: str | None = None
    at: datetime | None = None
    more: Mapping[str, object] = field(default_factory=dict)
    metadata: Metadata = field(default_factory=dict)
    origin: UtteranceOrigin | None = None
    offset: int = 0
    user: str | None = None
    title: str | None = None
    unread: tuple[str, ...] = ()

    def message(self) -> dict[str, object]:
        """The message in the OpenAI format, as `add_messages` takes it."""
        made: dict[str, object] = {"role": self.role, "content": self.content, **self.more}
        if self.name is not None:
            made["name"] = self.name
        if self.at is not None:
            made["at"] = self.at
        if self.metadata:
            made["metadata"] = self.metadata
        if self.origin is not None:
            made["origin"] = self.origin
        return made


@dataclass(frozen=True, kw_only=True, slots=True)
class FactEntry:
    """One fact of a file, true from `since`, and until `until` if it no longer holds. `standing`: an instruction to the
    agent in the user's words."""

    place: str
    text: str
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    about: str = "user"
    since: datetime | None = None
    until: datetime | None = None
    standing: bool = False
    metadata: Metadata = field(default_factory=dict)
    user: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentEntry:
    """One text of a file that nobody said. `source` tells it from others."""

    place: str
    text: str
    title: str
    source: str
    at: datetime | None = None
    metadata: Metadata = field(default_factory=dict)
    user: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BadLine:
    """A line that holds no message: where, what is wrong, what to do."""

    place: str
    what: str
    advice: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}; {self.advice}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Something that is left out by rule: "messages of the system"."""

    what: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Myself:
    """What the user is called in the file, where it says so."""

    name: str


Item = Entry | BadLine
"""What a conversation is made of."""
Found = Entry | FactEntry | DocumentEntry | BadLine | LeftOut | Myself
"""What any format gives."""


def unstorable(found: Found, longest: int) -> BadLine | None:
    """What no store can hold, so that its place is named."""
    texts: Iterable[tuple[str, str, int]]
    names: Iterable[tuple[str, str | None, int]]
    match found:
        case Entry():
            if _says_nothing(found):
                return BadLine(place=found.place, what="the message is empty", advice="write a text, or leave it out")
            texts = [("the text", text, longest) for text in texts_in([found.content, *found.more.values()])]
            names = [("the name", found.name, NAME_LIMIT), ("the thread", found.thread, NAME_LIMIT)]
        case FactEntry():
            texts = [("the fact", found.text, 2000)]
            names = [("the subject", found.subject, 200)]
        case DocumentEntry():
            texts = [("the document", found.text, 10_000_000)]
            names = [("the source", found.source, NAME_LIMIT)]
        case _:
            return None
    given = [(what, text, limit) for what, text, limit in (*names, ("the user", found.user, NAME_LIMIT)) if text]
    for what, text, _ in given:
        if not text.strip():
            return BadLine(place=found.place, what=f"{what} is blank: {text!r}", advice="give a name or leave it out")
    for what, text, limit in (*texts, *given):
        if len(text) > limit:
            told = f"{what} has {len(text):,} characters, more than {limit:,}"
            return BadLine(place=found.place, what=told, advice="make it shorter")
        if "\x00" in text:
            return BadLine(place=found.place, what=f"{what} has a NUL character", advice="take it out")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            told = f"{what} has half of a surrogate pair"
            return BadLine(place=found.place, what=told, advice="write whole characters")
    return None


def _says_nothing(entry: Entry) -> bool:
    try:
        return is_empty(entry.message(), entry.place)
    except InputError:
        return False  # another check names what is wrong with it


def texts_in(value: object) -> Iterator[str]:
    """Every text within lists and objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
