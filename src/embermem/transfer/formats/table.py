"""Tables: CSV, and JSON lines of any keys. A column or key is a message's text, another its speaker, time or thread;
what is what is known by common names, or told ({"text": "body"}). Any other name that is told is metadata."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from embermem.core.errors import InputError
from embermem.core.metadata import checked
from embermem.transfer.conversations import THREADS, TIMES
from embermem.transfer.files import Files, text_lines, text_of_head
from embermem.transfer.formats.dates import written_time
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import bad, first_objects, mapping, moment
from embermem.transfer.items import BadLine, Entry, Found, LeftOut

KNOWN = {
    "text": ("text", "content", "message", "body", "msg", "utterance"),
    "speaker": ("speaker", "author", "from", "name", "sender", "user", "username", "who"),
    "role": ("role", "side"),
    "time": TIMES,
    "thread": THREADS,
}
_ROLES = {
    **dict.fromkeys(("user", "human", "customer", "client"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "agent", "model", "gpt"), "assistant"),
    **dict.fromkeys(("system", "tool"), "tool"),
}
_DELIMITERS = (",", "\t", ";", "|")
_LONGEST_CELL = 10_000_000


def sniff_csv(files: Files) -> bool:
    return any(
        "text" in _columns(_header(files, name)[1], {}) and len(_header(files, name)[1]) > 1 for name in files.names
    )


def sniff_lines(files: Files) -> bool:
    return any("text" in _columns(_first_object(files, name), {}) for name in files.names)


def read_csv(files: Files, options: Options) -> Iterator[Found]:
    """Rows of a table with a header."""
    csv.field_size_limit(_LONGEST_CELL)
    for name in files.names:
        delimiter, header = _header(files, name)
        columns = _columns(header, options.columns)
        if "text" not in columns:
            raise InputError(
                f"{files.where(name)}no column is known as the text; the columns are {', '.join(header) or 'none'}: "
                "give --map text=COLUMN"
            )
        yield from _rows(files, name, delimiter, columns, options)


def _rows(files: Files, name: str, delimiter: str, columns: Mapping[str, str], options: Options) -> Iterator[Found]:
    where, broken = files.where(name), list[BadLine]()

    def lines() -> Iterator[str]:
        for _, line in text_lines(files, name):
            if isinstance(line, BadLine):
                broken.append(line)
            yield "" if isinstance(line, BadLine) else line + "\n"

    rows = csv.reader(lines(), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        place = f"{where}line {rows.line_num + 1}"
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            raise InputError(f"{place}: no row of a table ({error}); look for a quote that is not closed") from error
        yield from broken
        broken.clear()
        if not row:
            continue
        if not header:
            header = [one.strip() for one in row]
        elif len(row) != len(header):
            yield bad(place, f"it has {len(row)} columns, and the header has {len(header)}", "mend the line")
        else:
            yield _message(dict(zip(header, row, strict=True)), columns, place, options)
    yield from broken


def read_lines(files: Files, options: Options) -> Iterator[Found]:
    """JSON lines of any keys."""
    for name in files.names:
        columns = _columns(_first_object(files, name), options.columns)
        for number, line in text_lines(files, name):
            place = f"{files.where(name)}line {number}"
            if isinstance(line, BadLine):
                yield line
            elif line.strip():
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    yield bad(place, f"not JSON ({error})", "write one object a line")
                    continue
                yield _message(_flat(mapping(value)), columns, place, options)


def _message(row: Mapping[str, Any], columns: Mapping[str, str], place: str, options: Options) -> Found:
    cells = {what: row.get(column) for what, column in columns.items()}
    text, written, speaker = cells.get("text"), cells.get("time"), cells.get("speaker")
    if text is None:
        return bad(place, f"there is no {columns.get('text', 'text')!r} in it", "give --map text=COLUMN")
    if not str(text).strip():
        return LeftOut(what="empty messages")
    try:
        at = _time(written, options.dates)
        labels = checked(
            {key: one for key, one in cells.items() if key not in KNOWN and one not in (None, "")}, "metadata"
        )
    except InputError as error:
        return bad(place, str(error), "mend the line")
    if written not in (None, "") and at is None:
        return bad(place, f"the time is {written!r}", "write ISO 8601, seconds since 1970, or give --dates dmy")
    given = str(cells.get("role") or "").strip().lower()
    side = _ROLES.get(given) or (_ROLES.get(str(speaker or "").strip().lower()) if not given else None)
    if given and side is None:
        return bad(place, f"the role is {given!r}", f"allowed: {', '.join(_ROLES)}")
    name = None if speaker in (None, "") or (not given and side is not None) else str(speaker).strip()
    thread = cells.get("thread")
    return Entry(
        place=place,
        role=side or "user",
        content=str(text),
        name=name,
        at=at,
        thread=None if thread in (None, "") else str(thread),
        metadata=labels,
    )


def _time(written: object, order: str | None) -> datetime | None:
    if written in (None, ""):
        return None
    return moment(written) or (written_time(written, order) if isinstance(written, str) else None)


def _columns(names: Mapping[str, Any] | list[str], told: Mapping[str, str]) -> dict[str, str]:
    """Which column is what: as told, or by its name."""
    there = list(names)
    if unknown := [one for one in told.values() if there and one not in there]:
        raise InputError(f"there is no column {unknown[0]!r}; there are: {', '.join(there)}")
    by_name = {name.strip().lower(): name for name in reversed(there)}
    found = {what: by_name[one] for what, several in KNOWN.items() for one in reversed(several) if one in by_name}
    return {**{what: one for what, one in found.items() if one not in told.values()}, **told}


def _header(files: Files, name: str) -> tuple[str, list[str]]:
    """The delimiter and the columns: the first line cut where that gives the most."""
    line = next((one for one in text_of_head(files.heads[name]).splitlines() if one.strip()), "")
    if line.lstrip()[:1] in ("{", "["):
        return ",", []
    found = [(one, [cell.strip() for cell in next(csv.reader([line], delimiter=one), [])]) for one in _DELIMITERS]
    return max(found, key=lambda one: len(one[1]))


def _first_object(files: Files, name: str) -> dict[str, Any]:
    return next((_flat(one) for one in first_objects(files, name)), {})


def _flat(value: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """An object's values by their paths: `author.name`."""
    found: dict[str, Any] = {}
    for key, one in value.items():
        if isinstance(one, dict):
            found |= _flat(one, f"{above}{key}.")
        else:
            found[f"{above}{key}"] = one
    return found


CSV = Format(name="csv", title="a table with a header", sniff=sniff_csv, read=read_csv, ordered=False)
LINES = Format(name="json-lines", title="JSON lines of any keys", sniff=sniff_lines, read=read_lines, ordered=False)
