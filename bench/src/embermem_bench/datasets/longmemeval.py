"""LongMemEval's format: one question an instance, with a history of its own, a haystack of sessions.

Each instance is one conversation. Sessions stand in the order of their dates (the file with the answer sessions only is
not sorted). A question whose id ends in `_abs` asks for what was not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from embermem.core.types import SPOKEN, Role
from embermem.transfer.datasets.reading import (
    as_list,
    as_object,
    conversation,
    distinct,
    ids_of,
    maybe_flag,
    maybe_text,
    refuse,
    shown,
    text_of,
)
from embermem.transfer.datasets.records import Conversation, Dataset, Question, Thread, Turn

ABSTENTION = "_abs"
"""The end of the id of a question that has no answer, and of its category here."""

_DATE = re.compile(r"\s*([0-9]{4}/[0-9]{1,2}/[0-9]{1,2})\s*(?:\([^)]*\))?\s*([0-9]{1,2}:[0-9]{2})\s*")


def is_longmemeval(document: object) -> bool:
    """Whether the JSON looks like LongMemEval's format: one instance, or a list of them."""
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and "haystack_sessions" in first


def dataset(document: object, name: str, where: str) -> Dataset:
    """The whole file. The headline is the types of questions that have an answer. Raises InputError."""
    instances = [document] if isinstance(document, dict) else as_list(document, where)
    made = tuple(
        _instance(as_object(item, f"{where}, instance {n}"), f"{where}, instance {n}")
        for n, item in enumerate(instances, 1)
    )
    answerable = frozenset(q.category for talk in made for q in talk.questions if q.answerable)
    return Dataset(name=name, conversations=distinct(made, where), headline=answerable)


def _instance(item: Mapping[str, Any], where: str) -> Conversation:
    name = text_of(item, "question_id", where)
    where = f"{where} ({name})"
    sessions = sorted(_sessions(item, where), key=lambda session: session.at)
    cited = ids_of(item, "answer_session_ids", where)
    question = replace(
        _question(item, name, where),
        evidence=frozenset(turn for session in sessions for turn in session.holding),
        evidence_threads=frozenset(session.thread.id for session in sessions if session.id in cited),
    )
    return conversation(name, tuple(session.thread for session in sessions), [question], where)


def _question(item: Mapping[str, Any], name: str, where: str) -> Question:
    """Of an abstention the `answer` of the file only says what was not said: it is no gold answer."""
    answerable = not name.endswith(ABSTENTION)
    kind = text_of(item, "question_type", where)
    return Question(
        id=name,
        text=text_of(item, "question", where),
        category=kind if answerable else f"{kind}{ABSTENTION}",
        at=_time(item["question_date"], f"{where}, question_date") if item.get("question_date") else None,
        answer=maybe_text(item, "answer", where) if answerable else None,
        answerable=answerable,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Session:
    """A session under the id of the file, its thread under one of its own, and the turns that hold the answer."""

    id: str
    at: datetime
    thread: Thread
    holding: frozenset[str]


def _sessions(item: Mapping[str, Any], where: str) -> Iterator[_Session]:
    said = as_list(item.get("haystack_sessions"), f"{where}, haystack_sessions")
    ids = as_list(item.get("haystack_session_ids"), f"{where}, haystack_session_ids")
    dates = as_list(item.get("haystack_dates"), f"{where}, haystack_dates")
    if not len(said) == len(ids) == len(dates):
        refuse(where, f"{len(said)} sessions, {len(ids)} session ids and {len(dates)} dates; expected as many each")
    given = [text_of({"id": one}, "id", f"{where}, session {n}") for n, one in enumerate(ids, 1)]
    for n, (turns, one, own, date) in enumerate(zip(said, given, _made_distinct(given), dates, strict=True), 1):
        yield _session(turns, one, own, _time(date, f"{where}, session {n}"), f"{where}, session {n}")


def _session(turns: object, given: str, own: str, at: datetime, where: str) -> _Session:
    items = [as_object(turn, f"{where}, turn {n}") for n, turn in enumerate(as_list(turns, where), 1)]
    made = tuple(_turn(turn, f"{own}:{n}", at, f"{where}, turn {n}") for n, turn in enumerate(items, 1))
    holding = frozenset(
        turn.id
        for n, (turn, item) in enumerate(zip(made, items, strict=True), 1)
        if maybe_flag(item, "has_answer", f"{where}, turn {n}", default=False)
    )
    return _Session(id=given, at=at, thread=Thread(id=own, turns=made), holding=holding)


def _turn(item: Mapping[str, Any], name: str, at: datetime, where: str) -> Turn:
    role = item.get("role")
    if role not in SPOKEN:
        refuse(where, f"role is {shown(role)}; allowed: {', '.join(Role)}")
    return Turn(id=name, speaker=str(role), role=Role(role), text=text_of(item, "content", where, empty=True), at=at)


def _made_distinct(ids: Sequence[str]) -> list[str]:
    """The ids, with `#2`, `#3` … after one that was there before."""
    given, made = set(ids), dict[str, None]()
    for one in ids:
        name, number = one, 1
        while name in made or (number > 1 and name in given):
            number += 1
            name = f"{one}#{number}"
        made[name] = None
    return list(made)


def _time(value: object, where: str) -> datetime:
    try:
        match = _DATE.fullmatch(value) if isinstance(value, str) else None
        if match is not None:
            return datetime.strptime(f"{match[1]} {match[2]}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
    except ValueError:
        pass
    refuse(where, f'the date is {shown(value)}; expected a form like "2023/05/30 (Tue) 23:40"')
