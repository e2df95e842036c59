"""Plain conversations, which `ingest` reads while they come: one stream of messages.

Line formats (JSON lines, `Name: text`) are read line by line, so that a long file costs no memory; the others are
read whole. A bad line becomes a `BadLine` in the stream: who reads decides whether to go on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import IO, Any

from embermem import languages
from embermem.core.errors import InputError
from embermem.core.messages import IGNORED_KEYS, SPOKEN_KEYS, TIME_NAMES, is_blank
from embermem.core.metadata import checked
from embermem.core.types import Role, UtteranceOrigin
from embermem.transfer.datasets import Conversation, is_locomo, is_neutral, parse
from embermem.transfer.files import MAX_LINE_BYTES
from embermem.transfer.items import BadLine, Entry, Item, unstorable

NAME_CHARS = 60
"""A longer text before the colon is no name."""

_NAMED = re.compile(rf"(?P<name>[^:：{{\[\"][^:：]{{0,{NAME_CHARS - 1}}}?)\s*(?::(?:\s+|$)|：)(?P<text>.*)", re.DOTALL)
_ROLE_NAMES = languages.merged(lambda one: one.talk.parts)
_ROLES = (*Role, "developer", "function")
_PASSED_ON = tuple(key for key in SPOKEN_KEYS if key not in ("role", "content", "name"))
TIMES = ("at", *TIME_NAMES)
THREADS = ("thread", "thread_id", "conversation", "conversation_id", "channel", "chat", "chat_id", "session_id")
"""Keys under which files keep a message's time and its thread."""
_READ = (
    frozenset(("role", "content", "name", "metadata", "origin", "query", "response", *_PASSED_ON, *TIMES, *THREADS))
    | IGNORED_KEYS
)
LINES_SHOWN = 16
"""Lines with something in them that show a file's format, as many as are stored at once at least."""


class Format(StrEnum):
    """What a file may be; `auto` looks at its first lines."""

    AUTO = "auto"
    JSONL = "jsonl"
    MESSAGES = "messages"
    RECALL = "recall"
    LOCOMO = "locomo"
    TEXT = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The messages of one conversation. `name` is its id in the file, or None where the file is one conversation."""

    name: str | None
    items: Iterable[Item]
    total: int | None = None


def read(file: IO[bytes], form: Format, me: str | None = None, longest: int = 1_000_000) -> list[Source]:
    """The conversations of a file. `me` names the speaker on the user's side; without it, the first to speak.

    A text of more than `longest` characters is a bad line, as is one that no store can hold.

    Raises InputError if a file that must be read whole cannot be understood.
    """
    first, lines = _first_lines(file)
    found = _detect(first) if form is Format.AUTO else form
    if found is Format.JSONL:
        sources = [Source(name=None, items=_json_lines(lines))]
    elif found is Format.TEXT:
        sources = [Source(name=None, items=_text_lines(lines, me))]
    else:
        sources = _document(b"".join(lines), form, me)
    return [replace(source, items=_storable(source.items, longest)) for source in sources]


def _first_lines(file: IO[bytes]) -> tuple[list[bytes], Iterator[bytes]]:
    """The first lines with something in them, and all lines from the start of the file."""
    kept: list[bytes] = []
    first: list[bytes] = []
    while len(first) < LINES_SHOWN and (line := file.readline(MAX_LINE_BYTES)):
        kept.append(line if kept else line.removeprefix(b"\xef\xbb\xbf"))
        if kept[-1].strip():
            first.append(kept[-1].strip())
    return first, chain(kept, iter(lambda: file.readline(MAX_LINE_BYTES), b""))


def _detect(lines: list[bytes]) -> Format:
    first = lines[0] if lines else b""
    if first[:1] in (b"{", b"["):
        try:
            value = json.loads(first)
        except (ValueError, RecursionError):
            if first in (b"{", b"[") or first.endswith((b",", b"{", b"[")):
                return Format.MESSAGES  # JSON over several lines
        else:
            if isinstance(value, list) or is_neutral(value) or is_locomo(value):
                return Format.MESSAGES
    return line_format(line.decode("utf-8", "replace") for line in lines)


def line_format(lines: Iterable[str]) -> Format:
    """The format that most of some lines have: no line by itself decides how the others are read."""
    given = list(lines)
    objects = sum(1 for line in given if line.startswith("{"))
    return Format.JSONL if objects and objects >= sum(map(is_named, given)) else Format.TEXT


def json_object(line: str) -> Mapping[str, Any] | None:
    """The object of JSON that a line is; None for any other line."""
    try:
        value = json.loads(line) if line.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# ------------------------------------------------------------------------------------------------------ lines


def _json_lines(lines: Iterator[bytes]) -> Iterator[Item]:
    for place, line, offset in _decoded(lines):
        if isinstance(line, BadLine):
            yield line
        elif line.strip():
            yield from _json_line(line, place, offset)


def _json_line(line: str, place: str, offset: int) -> Iterator[Item]:
    advice = 'expected {"role", "content"} or {"query", "response"}'
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        yield BadLine(place=place, what=f"not JSON ({error.msg} at column {error.colno})", advice=advice)
        return
    except (ValueError, RecursionError) as error:
        yield BadLine(place=place, what=f"not JSON that can be read ({error})", advice=advice)
        return
    yield from messages_of(value, place, offset)


def messages_of(value: object, place: str, offset: int = 0) -> Iterator[Item]:
    """The messages of one JSON object: a message, an exchange, or a list under "messages"."""
    if not isinstance(value, dict):
        yield BadLine(place=place, what=f"a {type(value).__name__}, not an object", advice="write one object a line")
        return
    if isinstance(value.get("messages"), list):
        items = (
            item
            for number, one in enumerate(value["messages"], 1)
            for item in messages_of(one, f"{place}, message {number}", offset)
        )
        yield from _beside(items, value, ("messages",))
        return
    if "role" not in value and not ("query" in value or "response" in value):
        yield BadLine(
            place=place,
            what=f"neither a role nor a query is in it (found: {', '.join(map(str, value)) or 'nothing'})",
            advice='expected {"role", "content"} or {"query", "response"}',
        )
        return
    made = list(_exchange(value, place, offset) if "role" not in value else [_message(value, place, offset)])
    made = list(_beside(made, value, _READ))
    bad = next((item for item in made if isinstance(item, BadLine)), None)
    yield from made if bad is None else [bad]


def _beside(items: Iterable[Item], value: Mapping[str, Any], read: Collection[str]) -> Iterator[Item]:
    """The messages; the first of them names the keys whose values no message has a place for."""
    unread = tuple(str(key) for key, one in value.items() if key not in read and one not in (None, "", [], {}))
    for item in items:
        if isinstance(item, Entry):
            yield replace(item, unread=(*item.unread, *unread))
            unread = ()
        else:
            yield item


def _exchange(value: Mapping[str, Any], place: str, offset: int) -> Iterator[Item]:
    sides = [(Role.USER, value.get("query")), (Role.ASSISTANT, value.get("response"))]
    if all(content is None or is_blank(content) for _, content in sides):
        yield BadLine(place=place, what="query and response are empty", advice="give at least one of them")
    elif value.get("origin") is not None and (sides[0][1] is None or is_blank(sides[0][1])):
        yield BadLine(place=place, what="the query is empty, and its origin is given", advice="give both or neither")
    for role, content in sides:
        if content is not None and not is_blank(content):
            own = ("origin",) if role is Role.USER else ()
            rest = {name: value[name] for name in ("metadata", *own, *TIMES, *THREADS) if name in value}
            yield _message({"role": role.value, "content": content, **rest}, place, offset)


def _message(value: Mapping[str, Any], place: str, offset: int) -> Item:
    role, content = value["role"], value.get("content")
    if role not in _ROLES:
        return BadLine(place=place, what=f"role is {role!r}", advice=f"allowed: {', '.join(_ROLES)}")
    more = {key: value[key] for key in _PASSED_ON if value.get(key) is not None}
    if not (isinstance(content, (str, list)) or (content is None and (more or role in ("tool", "function")))):
        return BadLine(place=place, what=f"content is {_kind(content)}", advice="write a text or a list of parts")
    given = [[key for key in keys if value.get(key) is not None] for keys in (TIMES, THREADS)]
    for keys in given:
        if len({str(value[key]) for key in keys}) > 1:
            return BadLine(place=place, what=f"{' and '.join(keys)} differ", advice="leave one of them")
    for key in ("name", *given[1]):
        if not isinstance(value.get(key), (str, int, type(None))):
            return BadLine(place=place, what=f"{key} is {_kind(value[key])}", advice="write a text")
    at = value[given[0][0]] if given[0] else None
    said_at = time_of(at)
    if at is not None and said_at is None:
        return BadLine(
            place=place,
            what=f"{given[0][0]} is {at!r}",
            advice="write ISO 8601 (2026-05-02T10:00:00+02:00) or seconds since 1970",
        )
    try:
        metadata = checked(value.get("metadata"), "metadata")
    except InputError as error:
        return BadLine(place=place, what=str(error), advice="write texts, numbers, true, false or lists of texts")
    origin = value.get("origin")
    if origin is not None and origin not in tuple(UtteranceOrigin):
        return BadLine(place=place, what=f"origin is {origin!r}", advice=f"allowed: {', '.join(UtteranceOrigin)}")
    name, thread = value.get("name"), value[given[1][0]] if given[1] else None
    return Entry(
        place=place,
        role="system" if role == "developer" else "tool" if role == "function" else str(role),
        content=content,
        name=_named(name),
        thread=_named(thread),
        at=said_at,
        more=more,
        metadata=metadata,
        origin=None if origin is None else UtteranceOrigin(origin),
        offset=offset,
    )


def _named(value: object) -> str | None:
    return str(value) if value is not None and str(value).strip() else None


def is_named(line: str) -> bool:
    """Whether a line is of the form `Name: text`."""
    return _named_line(line) is not None


def _named_line(line: str) -> re.Match[str] | None:
    return _NAMED.fullmatch(line.strip())


def _text_lines(lines: Iterator[bytes], me: str | None) -> Iterator[Item]:
    """`Name: text`; an indented line goes on with the message before it."""
    open_entry: Entry | None = None
    first: str | None = me
    for place, line, offset in _decoded(lines):
        if isinstance(line, BadLine):
            yield line
            continue
        if not line.strip():
            continue
        if line[0] in " \t" and open_entry is not None:
            open_entry = _longer(open_entry, line.strip(), offset)
            continue
        match = _named_line(line)
        if match is None:
            yield BadLine(
                place=place,
                what=f"no name stands before a colon in {line.strip()[:40]!r}",
                advice="write `Name: text`, and indent a line that goes on",
            )
            continue
        if open_entry is not None:
            yield open_entry
        name = match["name"].strip()
        role = _ROLE_NAMES.get(name.lower()) if me is None else None
        if role is None:
            first = name if first is None else first
            role = Role.USER if name == first else Role.ASSISTANT
            open_entry = Entry(place=place, role=role, content=match["text"], name=name, offset=offset)
        else:
            open_entry = Entry(place=place, role=role, content=match["text"], offset=offset)
    if open_entry is not None:
        yield open_entry


def _longer(entry: Entry, line: str, offset: int) -> Entry:
    return Entry(place=entry.place, role=entry.role, content=f"{entry.content}\n{line}", name=entry.name, offset=offset)


def _decoded(lines: Iterator[bytes]) -> Iterator[tuple[str, str | BadLine, int]]:
    offset = 0
    for number, raw in enumerate(lines, 1):
        offset += len(raw)
        place = f"line {number}"
        if len(raw) >= MAX_LINE_BYTES:
            what = f"longer than {MAX_LINE_BYTES // 2**20} MB"
            yield place, BadLine(place=place, what=what, advice="split it into several messages"), offset
            continue
        try:
            yield place, raw.decode("utf-8").rstrip("\r\n"), offset
        except UnicodeDecodeError as error:
            what = f"not UTF-8 (byte {raw[error.start]:#04x} at column {error.start + 1})"
            yield place, BadLine(place=place, what=what, advice="save the file as UTF-8"), offset


# -------------------------------------------------------------------------------------------------- documents


def _document(raw: bytes, form: Format, me: str | None) -> list[Source]:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON that can be read ({error})") from error
    if is_neutral(value) or is_locomo(value) or form in (Format.RECALL, Format.LOCOMO):
        return [_conversation(one, me) for one in parse(value, "file", "the file").conversations]
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        raise InputError(
            "the JSON is no list of messages, no recall set and no LoCoMo file; "
            "expected [{role, content}, …] or one object a line"
        )
    items: Iterator[Item] = (item for n, one in enumerate(messages, 1) for item in messages_of(one, f"message {n}"))
    if isinstance(value, dict):
        items = _beside(items, value, ("messages",))
    return [Source(name=None, items=items, total=len(messages))]


def _conversation(one: Conversation, me: str | None) -> Source:
    items = (
        Entry(
            place=turn.id,
            role=turn.role if me is None else (Role.USER if turn.speaker == me else Role.ASSISTANT),
            content=turn.text,
            thread=thread.id,
            name=turn.speaker,
            at=turn.at,
        )
        for thread, turn in one.turns()
    )
    return Source(name=one.id, items=items, total=sum(1 for _ in one.turns()))


# ------------------------------------------------------------------------------------------------------ values


def time_of(value: object) -> datetime | None:
    """A time in ISO 8601 or in seconds since 1970; None for what is neither."""
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None


def _storable(items: Iterable[Item], longest: int) -> Iterator[Item]:
    """Marks as bad what no store can hold, so that its line is named."""
    return (unstorable(item, longest) or item for item in items)


def _kind(value: object) -> str:
    return "missing" if value is None else f"of type {type(value).__name__}"
