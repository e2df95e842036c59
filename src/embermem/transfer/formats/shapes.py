"""What several formats share: times, threads of answers with branches, texts cut into statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from embermem.transfer.conversations import LINES_SHOWN, Format, json_object, line_format
from embermem.transfer.files import SQLITE, Files, text_of_head
from embermem.transfer.items import BadLine
from embermem.transfer.json_stream import Into, Path, keys_seen, place, walk

LONGEST_STATEMENT = 2000
"""Characters of a fact."""

_MARKS = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|[-=*_]{3,}.*|\*\*[^*]+\*\*:?)\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_MILLISECONDS, _MICROSECONDS = 1e11, 1e14


def moment(value: object) -> datetime | None:
    """A time in ISO 8601, or in seconds, milli- or microseconds since 1970; None for what is none of these."""
    if isinstance(value, str) and value.strip():
        try:
            return datetime.fromisoformat(value.strip().removesuffix(" UTC"))
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        scale = 1e6 if abs(value) >= _MICROSECONDS else 1e3 if abs(value) >= _MILLISECONDS else 1
        try:
            return datetime.fromtimestamp(value / scale, UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return None


def untimed(one: Mapping[str, Any], place: str, *keys: str) -> Iterator[BadLine]:
    """The problems of times that are there and are none."""
    for key in keys:
        value = one.get(key)
        if value not in (None, "", 0) and moment(value) is None:
            yield bad(place, f"{key} is {str(value)[:80]!r}, no time", "it came in without that time")


def text_of(value: object) -> str:
    """A text, or nothing."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """An object of JSON, or an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> Sequence[Any]:
    """A list of JSON, or an empty one."""
    return value if isinstance(value, list) else ()


def json_with(files: Files, *keys: str) -> list[str]:
    """The JSON files that begin with all of these keys (`json_stream.keys_seen`)."""
    found = []
    for name in files.names:
        if name not in files.keys:
            head = files.heads[name]
            is_json = text_of_head(head[:1000]).lstrip()[:1] in ("[", "{")
            files.keys[name] = keys_seen(head) if is_json else frozenset()
        if set(keys) <= files.keys[name]:
            found.append(name)
    return found


def json_of(files: Files, name: str, into: Into) -> Iterator[tuple[str, Path, Any]]:
    """The values of a JSON file, each with its place and its path."""
    where = files.where(name)
    with files.open(name) as file:
        for path, value in walk(file, into, where):
            yield f"{where}{place(path)}", path, value


def first_lines(files: Files, name: str) -> list[str]:
    """The lines with something in them that a text file begins with, as many as show how its lines are written."""
    found = (line for line in text_of_head(files.heads[name]).splitlines() if line.strip())
    return list(islice(found, LINES_SHOWN))


def first_objects(files: Files, name: str) -> list[Mapping[str, Any]]:
    """The objects of JSON that stand in lines of their own among the first ones; none in JSON over several lines."""
    lines = first_lines(files, name)
    if not lines or lines[0].strip() == "{" or lines[0].startswith("["):
        return []
    found = [one for line in lines if (one := json_object(line)) is not None]
    return found if line_format(lines) is Format.JSONL else []


def tables_of(files: Files, name: str) -> Mapping[str, frozenset[str]]:
    """The tables of an SQLite file with their columns; none of any other file, or of one within an archive."""
    if not files.heads[name].startswith(SQLITE):
        return {}
    from sqlite3 import DatabaseError

    try:
        with closing(opened(files, name)) as db:
            tables = [row[0] for row in db.execute("select name from sqlite_master where type = 'table'")]
            columns = "select name from pragma_table_info(?)"
            return {table: frozenset(row[0] for row in db.execute(columns, (table,))) for table in tables}
    except DatabaseError:
        return {}


def opened(files: Files, name: str) -> Any:
    """A connection that reads an SQLite file and writes nothing."""
    import sqlite3

    uri = f"{files.real(name).resolve().as_uri()}?mode=ro"
    made = sqlite3.connect(uri, uri=True)
    made.row_factory = sqlite3.Row
    return made


def sqlite_with(files: Files, **tables: Sequence[str]) -> list[str]:
    """The SQLite files that have these tables with these columns."""
    found = []
    for name in files.names:
        there = tables_of(files, name) if files.heads[name].startswith(SQLITE) else {}
        if there and all(table in there and set(columns) <= there[table] for table, columns in tables.items()):
            found.append(name)
    return found


def statements(text: str) -> Iterator[str]:
    """The lines of a text as statements: without bullets, headings and rules; long ones in sentences."""
    for line in text.splitlines():
        if not line.strip() or _HEADING.fullmatch(line):
            continue
        one = _MARKS.sub("", line).strip()
        if len(one) <= LONGEST_STATEMENT:
            yield one
            continue
        for sentence in _SENTENCE_END.split(one):
            yield sentence[:LONGEST_STATEMENT]


def lineage(parents: Mapping[str, str | None], last: str | None) -> list[str]:
    """The nodes from the first to the last one, by their parents."""
    chain: dict[str, None] = {}
    while last is not None and last in parents and last not in chain:
        chain[last] = None
        last = parents[last]
    return list(reversed(chain))


def branches(parents: Mapping[str, str | None], current: Sequence[str]) -> list[list[str]]:
    """The other branches: each from where it leaves what was told before, to its end."""
    told = set(current)
    inner = set(parents.values())
    found = []
    for leaf in (one for one in parents if one not in inner and one not in told):
        chain = [one for one in lineage(parents, leaf) if one not in told]
        told.update(chain)
        found.append(chain)
    return found


def bad(place: str, what: str, advice: str = "it was left out") -> BadLine:
    """What cannot be read."""
    return BadLine(place=place, what=what, advice=advice)
