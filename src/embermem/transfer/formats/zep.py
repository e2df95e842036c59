"""Zep and Graphiti: what their clients give, as JSON: edges (facts with the times in which they held), episodes and
messages, in lists alone or under `edges`, `facts`, `episodes` and `messages`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import bad, json_of, json_with, mapping, moment, text_of, untimed
from embermem.transfer.items import DocumentEntry, Entry, FactEntry, Found, LeftOut
from embermem.transfer.json_stream import Path

_LABELS = {"source": "zep"}
_LISTS = ("edges", "facts", "episodes", "messages")
_SIGNS = (
    *((f"{key}[].fact",) for key in ("edges", "facts")),
    ("[].fact", "[].uuid"),
    *((f"{prefix}[].content", f"{prefix}[].source_description") for prefix in ("", "episodes")),
    *((f"{prefix}[].content", f"{prefix}[].uuid", f"{prefix}[].role") for prefix in ("", "episodes", "messages")),
)
_LINE = re.compile(r"(?P<name>[^:\n]{1,80}?)\s*:\s+(?P<text>.*)")
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "norole": "user", "": "user"}


def _files(files: Files) -> list[str]:
    return sorted({name for signs in _SIGNS for name in json_with(files, *signs)})


def sniff(files: Files) -> bool:
    return bool(_files(files))


def _into(path: Path) -> bool:
    return path == () or path in [(key,) for key in _LISTS]


def read(files: Files, options: Options) -> Iterator[Found]:
    for name in _files(files):
        for place, path, value in json_of(files, name, _into):
            one = mapping(value)
            if not path or not isinstance(path[-1], int):
                continue  # nodes, and what describes the list
            if "fact" in one:
                yield from _edge(one, place)
            elif "content" in one:
                yield from _episode(one, place)
            else:
                yield bad(place, "neither a fact nor a content is in it")


def _edge(value: Mapping[str, Any], place: str) -> Iterator[Found]:
    text = text_of(value.get("fact")).strip()
    if not text:
        yield bad(place, "the fact is empty")
        return
    yield from untimed(value, place, "valid_at", "created_at", "invalid_at", "expired_at")
    since = moment(value.get("valid_at")) or moment(value.get("created_at"))
    until = moment(value.get("invalid_at")) or moment(value.get("expired_at"))
    named = text_of(value.get("name"))
    labels = {**_LABELS, **({"relation": named[:100]} if named else {})}
    yield FactEntry(place=place, text=text, since=since, until=until, metadata=labels)


def _episode(value: Mapping[str, Any], place: str) -> Iterator[Found]:
    text, source = text_of(value.get("content")), text_of(value.get("source")) or "message"
    yield from untimed(value, place, "reference_time", "valid_at", "created_at")
    at = moment(value.get("reference_time") or value.get("valid_at") or value.get("created_at"))
    uuid = text_of(value.get("uuid")) or text_of(value.get("uuid_")) or place
    if not text.strip():
        yield LeftOut(what="empty messages")
    elif source == "message" and "role" not in value and _LINE.match(text.splitlines()[0]):
        yield from _lines(text, place, at)
    elif source != "message" or "role" not in value:
        title = text_of(value.get("name")) or text_of(value.get("source_description")) or f"episode of {source}"
        yield DocumentEntry(place=place, text=text, title=title[:512], source=f"zep:{uuid}", at=at, metadata=_LABELS)
    else:
        role = text_of(value.get("role_type")) or text_of(value.get("role"))
        side = _ROLES.get(role.lower())
        if role.lower() in ("system", "function", "tool"):
            yield LeftOut(what=f"messages of the {role.lower()}")
            return
        name = text_of(value.get("role_name"))
        if not name and "role" in value:  # the name stands in `name`, and in older forms where the role does
            written = text_of(value.get("role"))
            name = text_of(value.get("name")) or ("" if written.lower() in _ROLES else written)
        thread = text_of(value.get("thread_id") or value.get("thread_uuid") or value.get("session_id")) or "zep"
        yield Entry(
            place=place,
            role=side or "user",
            content=text,
            name=name or None,
            thread=thread if thread == "zep" else f"zep:{thread}",
            at=at,
            metadata=_LABELS,
        )


def _lines(text: str, place: str, at: datetime | None) -> Iterator[Found]:
    """Graphiti's messages: one text in which the speaker stands before each line, `Ana (user): …`."""
    said: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is not None:
            said.append((match["name"].strip(), [match["text"]]))
        else:
            said[-1][1].append(line)
    for who, lines in said:
        name, _, kind = who.removesuffix(")").partition("(")
        side = _ROLES.get((kind or name).strip().lower())
        named = name.strip() if kind or side is None else ""
        content = "\n".join(lines).strip()
        if content:
            yield Entry(
                place=place,
                role=side or "user",
                content=content,
                name=named or None,
                thread="zep",
                at=at,
                metadata=_LABELS,
            )


FORMAT = Format(name="zep", title="Zep's or Graphiti's facts and episodes", sniff=sniff, read=read, ordered=False)
