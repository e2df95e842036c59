"""The neutral recall-set format: threads and questions as the benches use them, in file order."""

from __future__ import annotations

from typing import Any

from embermem.core.types import SPOKEN, Role
from embermem.transfer.datasets.reading import (
    as_object,
    conversation,
    distinct,
    ids_of,
    maybe_flag,
    maybe_text,
    objects,
    refuse,
    shown,
    text_of,
    time_of,
)
from embermem.transfer.datasets.records import Conversation, Dataset, Question, Thread, Turn


def is_neutral(document: object) -> bool:
    """Whether the JSON looks like the neutral recall-set format."""
    return isinstance(document, dict) and "conversations" in document


def dataset(document: object, name: str, where: str) -> Dataset:
    """The whole file. `name` is used if it brings none. Raises InputError."""
    root = as_object(document, where)
    made = tuple(_conversation(*one) for one in objects(root["conversations"], where, "conversation"))
    return Dataset(name=maybe_text(root, "name", where) or name, conversations=distinct(made, where))


def _conversation(item: dict[str, Any], where: str) -> Conversation:
    name = text_of(item, "id", where)
    where = f"{where} ({name})"
    threads = tuple(_thread(*one) for one in objects(item.get("threads"), where, "thread"))
    asked = [_question(*one) for one in objects(item.get("questions", []), where, "question")]
    return conversation(name, threads, asked, where)


def _thread(item: dict[str, Any], where: str) -> Thread:
    at = item.get("at")
    turns = tuple(_turn(turn, at, place) for turn, place in objects(item.get("turns"), where, "turn"))
    return Thread(id=text_of(item, "id", where), turns=turns)


def _turn(item: dict[str, Any], thread_at: object, where: str) -> Turn:
    role = item.get("role", "user")
    if role not in SPOKEN:
        refuse(where, f"role is {shown(role)}; allowed: {', '.join(Role)}")
    return Turn(
        id=text_of(item, "id", where),
        speaker=maybe_text(item, "speaker", where) or role,
        role=Role(role),
        text=text_of(item, "text", where, empty=True),
        at=time_of(item.get("at", thread_at), where),
    )


def _question(item: dict[str, Any], where: str) -> Question:
    at = item.get("at")
    answer = maybe_text(item, "answer", where)
    answerable = maybe_flag(item, "answerable", where, default=True)
    if answer is not None and not answerable:
        refuse(where, "it has an answer, and says that it is not answerable")
    return Question(
        id=text_of(item, "id", where),
        text=text_of(item, "text", where),
        category=text_of(item, "category", where, empty=True),
        at=None if at is None else time_of(at, where),
        after_turn=maybe_text(item, "after_turn", where),
        thread=maybe_text(item, "thread", where),
        evidence=ids_of(item, "evidence", where),
        evidence_threads=ids_of(item, "evidence_threads", where),
        quote=maybe_text(item, "quote", where),
        answer=answer,
        trap=maybe_text(item, "trap", where),
        answerable=answerable,
    )
