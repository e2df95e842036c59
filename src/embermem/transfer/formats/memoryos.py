"""MemoryOS's files: `short_term.json`, `mid_term.json`, `long_term_user.json` and `long_term_assistant.json`, and what
its variant on Chroma keeps: `metadata_USER_ASSISTANT.json` beside `chroma.sqlite3`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any

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
    statements,
    text_of,
)
from embermem.transfer.items import Entry, FactEntry, Found, LeftOut

_LABELS = {"source": "memoryos"}
_SHORT, _MID = ("[].user_input", "[].agent_response"), ("sessions", "access_frequency")
_LONG, _CHROMA = ("knowledge_base", "assistant_knowledge"), ("short_term_memory", "mid_term_sessions")
_TABLES = {"embeddings": ("id", "embedding_id"), "embedding_metadata": ("id", "key", "string_value")}
_THINKING = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_ERROR = "Error: Could not get response from LLM."
_NOTHING = ("", "None", "- None", "none")
_UPDATED = re.compile(r"--- Updated on .*? ---")


def sniff(files: Files) -> bool:
    kinds = [json_with(files, *keys) for keys in (_SHORT, _MID, _LONG, _CHROMA)]
    return any(kinds) or bool(_collections(files))


def read(files: Files, options: Options) -> Iterator[Found]:
    pages: list[tuple[str, Mapping[str, Any]]] = []
    for name in json_with(files, *_LONG):
        for place, _, value in json_of(files, name, lambda path: False):
            yield from _long_term(mapping(value), place, about="agent" if "assistant" in name.lower() else "user")
    for name in json_with(files, *_MID):
        for place, path, value in json_of(files, name, lambda path: path in ((), ("sessions",))):
            if path[:1] == ("sessions",) and len(path) > 1:
                pages += _numbered(mapping(value).get("details"), f"{place}.details")
    for name in json_with(files, *_CHROMA):
        for place, _, value in json_of(files, name, lambda path: False):
            pages += _chroma_sessions(mapping(value), place)
            yield from _profiles(mapping(value).get("user_profiles"), f"{place}.user_profiles")
    for name in _collections(files):
        for place, row in _rows(files, name):
            if row.get("type") == "page" or "user_input" in row:
                pages.append((place, row))
            elif isinstance(row.get("text"), str):
                about = "agent" if "assistant" in text_of(row.get("collection")) else "user"
                yield from _knowledge(row.get("text"), row.get("timestamp"), place, about)
    for name in json_with(files, *_SHORT):
        for place, _, value in json_of(files, name, lambda path: path == ()):
            pages.append((place, mapping(value)))
    yield from _pages(pages)


def _numbered(value: object, place: str) -> list[tuple[str, Mapping[str, Any]]]:
    return [(f"{place}[{number}]", mapping(one)) for number, one in enumerate(listed(value))]


def _chroma_sessions(value: Mapping[str, Any], place: str) -> list[tuple[str, Mapping[str, Any]]]:
    pages = []
    for name, session in mapping(value.get("mid_term_sessions")).items():
        pages += _numbered(mapping(session).get("pages_backup"), f"{place}.mid_term_sessions.{name}.pages_backup")
    return pages + _numbered(value.get("short_term_memory"), f"{place}.short_term_memory")


def _pages(pages: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Found]:
    """Each page once, in the order of time: one of two topics stands twice in MemoryOS."""
    seen: set[tuple[str, str, str]] = set()
    dated: list[tuple[datetime | None, str, Mapping[str, Any]]] = []
    for place, page in pages:
        asked, answered, at = (text_of(page.get(key)) for key in ("user_input", "agent_response", "timestamp"))
        if (asked, answered, at) in seen:
            yield LeftOut(what="pages that stand twice")
            continue
        seen.add((asked, answered, at))
        when = moment(at)
        if when is None and at:
            yield bad(place, f"timestamp is {at!r}", "its messages came in without a time of their own")
        dated.append((when, place, page))
    dated.sort(key=lambda one: "" if one[0] is None else one[0].isoformat())
    for when, place, page in dated:
        for key, role in (("user_input", "user"), ("agent_response", "assistant")):
            text = _THINKING.sub("", text_of(page.get(key))).strip()
            if text == _ERROR:
                yield bad(f"{place}.{key}", "it is an error message that MemoryOS stored", "it was left out")
            elif text:
                made = Entry(
                    place=f"{place}.{key}", role=role, content=text, at=when, thread="memoryos", metadata=_LABELS
                )
                yield made
            elif page.get(key) is not None:
                yield LeftOut(what="empty sides of pages")


def _long_term(value: Mapping[str, Any], place: str, about: str) -> Iterator[Found]:
    yield from _profiles(value.get("user_profiles"), f"{place}.user_profiles")
    for key, side in (("knowledge_base", "user"), ("assistant_knowledge", "agent")):
        for where, one in _numbered(value.get(key), f"{place}.{key}"):
            yield from _knowledge(
                one.get("knowledge"), one.get("timestamp"), where, "agent" if about == "agent" else side
            )


def _knowledge(text: object, at: object, place: str, about: str) -> Iterator[Found]:
    if text_of(text).strip() in _NOTHING:
        yield bad(place, "it has no knowledge in it")
        return
    for line in statements(text_of(text)):
        yield FactEntry(place=place, text=line, about=about, since=moment(at), metadata=_LABELS)


def _profiles(value: object, place: str) -> Iterator[Found]:
    for name, profile in mapping(value).items():
        of = mapping(profile)
        text = text_of(of.get("data")) or text_of(of.get("raw_text_profile")) or text_of(profile)
        at = moment(of.get("last_updated"))
        if text.strip() in _NOTHING or _ERROR in text:
            yield bad(f"{place}.{name}", "there is no profile in it")
            continue
        for line in statements(_UPDATED.sub("", _THINKING.sub("", text))):
            yield FactEntry(place=f"{place}.{name}", text=line, since=at, metadata={**_LABELS, "kind": "profile"})


# ------------------------------------------------------------------------------------------------------------- Chroma


def _collections(files: Files) -> list[str]:
    return sqlite_with(files, **_TABLES)


def _rows(files: Files, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What Chroma holds beside its vectors, one mapping an item."""
    sql = """select e.id, e.embedding_id, c.name as collection from embeddings e
             left join segments s on s.id = e.segment_id left join collections c on c.id = s.collection order by e.id"""
    values = "select key, string_value, int_value, float_value from embedding_metadata where id = ?"
    with closing(opened(files, name)) as db:
        for row in db.execute(sql):
            found: dict[str, Any] = {"collection": row["collection"]}
            for one in db.execute(values, (row["id"],)):
                told = (one["string_value"], one["int_value"], one["float_value"])
                found[one["key"]] = next((value for value in told if value is not None), None)
            if found.get("type") != "session":
                yield f"{files.where(name)}{row['collection']}, item {row['embedding_id']}", found


FORMAT = Format(name="memoryos", title="MemoryOS's files", sniff=sniff, read=read)
