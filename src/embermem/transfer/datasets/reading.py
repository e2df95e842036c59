"""What every format needs of JSON: typed values or an InputError that names the place; conversations put together."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from embermem.core.errors import InputError
from embermem.core.messages import checked
from embermem.transfer.datasets.records import Conversation, Question, Thread

_SHOWN = 60
"""Characters of a wrong value that its error shows."""


def read_text(path: Path) -> str:
    """A file in UTF-8. Raises InputError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    except ValueError as error:
        raise InputError(f"cannot read {str(path)!r}: {error}") from error


def read_json(path: Path) -> object:
    """The JSON of a file. Raises InputError."""
    return json_of(read_text(path), str(path))


def json_of(text: str, where: str) -> object:
    """Parsed JSON. A key that stands twice in one object is an error: one of its values would be lost."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            refuse(where, f"the key {_doubled([key for key, _ in pairs])!r} stands twice in one object")
        return made

    try:
        parsed: object = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if "\n" in text else ""
        raise InputError(f"{where}{line}: not JSON ({error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON that can be read ({error})") from error
    return parsed


def as_object(value: object, where: str) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, Mapping):
        refuse(where, f"expected an object, found {_kind(value)}")
    return dict(value)


def as_list(value: object, where: str) -> list[Any]:
    """A JSON list."""
    if not isinstance(value, list):
        refuse(where, f"expected a list, found {_kind(value)}")
    return value


def objects(value: object, where: str, one: str, *, of: str | None = None) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a JSON list, each with its place: "…, turn 3". `of` is what the list is called: "turns"."""
    for n, item in enumerate(as_list(value, f"{where}, {of or f'{one}s'}"), 1):
        place = f"{where}, {one} {n}"
        yield as_object(item, place), place


def text_of(item: Mapping[str, Any], key: str, where: str, *, empty: bool = False) -> str:
    """A text that a store can hold; a number stands for its digits. `empty`: may be missing or blank."""
    value = item.get(key)
    if value is None and empty:
        return ""
    text = _plain(value)
    if text is None or not (empty or text.strip()):
        refuse(where, f"{key!r} is missing or not a text")
    return checked(text, f"{where}: {key!r}", len(text))


def maybe_text(item: Mapping[str, Any], key: str, where: str) -> str | None:
    """A text or a number; None where it is missing, null or blank."""
    text = text_of(item, key, where, empty=True)
    return text if text.strip() else None


def maybe_flag(item: Mapping[str, Any], key: str, where: str, default: bool) -> bool:
    """True or false; `default` where it is missing or null."""
    value = item.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        refuse(where, f"{key!r} is {shown(value)}; expected true or false")
    return value


def ids_of(item: Mapping[str, Any], key: str, where: str) -> frozenset[str]:
    """A list of ids; none where it is missing or null."""
    found = as_list([] if item.get(key) is None else item[key], f"{where}, {key}")
    return frozenset(text_of({"id": one}, "id", f"{where}, {key}, {n}") for n, one in enumerate(found, 1))


def time_of(value: object, where: str) -> datetime:
    """A time in ISO 8601; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(_plain(value) or "")
    except ValueError:
        refuse(where, f"the time is {shown(value)}; expected ISO 8601, such as 2026-05-02T10:00:00")
    return utc(at, where)


def utc(at: datetime, where: str) -> datetime:
    """The time with a zone: UTC where it has none."""
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    try:
        at.astimezone(UTC)
    except (OverflowError, ValueError):
        refuse(where, f"the time {at.isoformat()} is outside of what can be stored")
    return at


def conversation(name: str, threads: tuple[Thread, ...], asked: Sequence[Question], where: str) -> Conversation:
    """The parts put together: ids stand once, and evidence that is not in the data is left out."""
    turn_ids = [turn.id for thread in threads for turn in thread.turns]
    thread_ids = [thread.id for thread in threads]
    for kind, ids in (("turn", turn_ids), ("thread", thread_ids), ("question", [q.id for q in asked])):
        if len(set(ids)) != len(ids):
            refuse(where, f"the {kind} id {_doubled(ids)!r} stands there twice")
    known_turns, known_threads = frozenset(turn_ids), frozenset(thread_ids)
    said = {turn.id: turn.text for thread in threads for turn in thread.turns}
    for question in asked:
        if question.after_turn is not None and question.after_turn not in known_turns:
            refuse(where, f"question {question.id}: after_turn {question.after_turn!r} is no turn of this conversation")
        if question.thread is not None and question.thread not in known_threads:
            refuse(where, f"question {question.id}: thread {question.thread!r} is no thread of this conversation")
        if question.quote is not None and not any(question.quote in said.get(turn, "") for turn in question.evidence):
            refuse(where, f"question {question.id}: no turn of its evidence says {question.quote!r}")
    questions = tuple(
        replace(q, evidence=q.evidence & known_turns, evidence_threads=q.evidence_threads & known_threads)
        for q in asked
    )
    return Conversation(id=name, threads=threads, questions=questions)


def distinct(conversations: tuple[Conversation, ...], where: str) -> tuple[Conversation, ...]:
    """The conversations, if there are any and no two have one id."""
    ids = [c.id for c in conversations]
    if not ids:
        refuse(where, "there is no conversation in it")
    if len(set(ids)) != len(ids):
        refuse(where, f"the conversation id {_doubled(ids)!r} stands there twice")
    return conversations


def shown(value: object) -> str:
    """A value as an error shows it: a short one as it is, of others the kind."""
    text = _plain(value)
    if text is None or len(text) > _SHOWN:
        return _kind(value)
    return repr(text) if isinstance(value, str) else text


def refuse(where: str, what: str) -> NoReturn:
    """Raises the InputError of a place."""
    raise InputError(f"{where}: {what}")


def _plain(value: object) -> str | None:
    """A text, or a number as text; None for all else, and for numbers too long to write out."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return str(value) if math.isfinite(value) else None
    except (OverflowError, ValueError):
        return None


def _kind(value: object) -> str:
    return "null" if value is None else f"a {type(value).__name__}"


def _doubled(ids: Sequence[str]) -> str:
    return next(one for one, count in Counter(ids).items() if count > 1)
