"""LangGraph's stores: items as JSON (namespace, key, value, times), or the file of its `SqliteStore`.

A memory (a value with one text that says what is known) comes in as a fact; any other value as a document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import (
    LONGEST_STATEMENT,
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
from embermem.transfer.items import DocumentEntry, FactEntry, Found

_SIGNS = (("[].namespace", "[].key", "[].value"), ("items[].namespace", "items[].key", "items[].value"))
_TABLE = ("prefix", "key", "value", "created_at", "updated_at")
_TEXTS = ("content", "memory", "text", "data", "fact")


def _files(files: Files) -> list[str]:
    return [name for signs in _SIGNS for name in json_with(files, *signs)]


def sniff(files: Files) -> bool:
    return bool(_files(files) or sqlite_with(files, store=_TABLE))


def read(files: Files, options: Options) -> Iterator[Found]:
    for name in _files(files):
        for place, path, value in json_of(files, name, lambda path: path in ((), ("items",))):
            if path and isinstance(path[-1], int):
                yield from _item(mapping(value), place)
    for name in sqlite_with(files, store=_TABLE):
        with closing(opened(files, name)) as db:
            for row in db.execute("select * from store order by created_at, prefix, key"):
                place = f"{files.where(name)}store, {row['prefix']}/{row['key']}"
                try:
                    value = json.loads(row["value"])
                except (ValueError, TypeError) as error:
                    yield bad(place, f"its value is not JSON ({error})")
                    continue
                yield from _item({**dict(row), "value": value, "namespace": text_of(row["prefix"]).split(".")}, place)


def _item(item: Mapping[str, Any], place: str) -> Iterator[Found]:
    space = [str(one) for one in listed(item.get("namespace"))]
    value, name = item.get("value"), f"{'/'.join(space)}/{item.get('key')}"
    text = _memory(value)
    yield from untimed(item, place, "created_at", "updated_at")
    at, changed = (_time(item.get(key)) for key in ("created_at", "updated_at"))
    labels = {"source": "langgraph", "namespace": "/".join(space)[:200]}
    if not isinstance(value, dict) or not value:
        yield bad(place, "its value is no object, or an empty one")
    elif text is not None:
        yield FactEntry(place=place, text=text, since=changed or at, metadata=labels)
    else:
        body = json.dumps(value, ensure_ascii=False, indent=1)
        yield DocumentEntry(
            place=place, text=body, title=name[-512:], source=f"langgraph:{name}"[-512:], at=at, metadata=labels
        )


def _time(value: object) -> datetime | None:
    """A store's time; without a zone it is UTC, as SQLite writes it."""
    at = moment(value)
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _memory(value: object) -> str | None:
    """The text of a value that holds one and little else."""
    of = mapping(value)
    inner = of.get("content") if isinstance(of.get("content"), dict) else of
    texts = [text_of(mapping(inner).get(key)).strip() for key in _TEXTS]
    found = next((text for text in texts if text), None)
    others = [one for key, one in mapping(inner).items() if key not in _TEXTS and isinstance(one, (dict, list))]
    return found if found is not None and not others and len(found) <= LONGEST_STATEMENT else None


FORMAT = Format(name="langgraph", title="a LangGraph store", sniff=sniff, read=read, ordered=False)
