"""A query whose recall was wrong as a recall set, which `embermem bench recall` reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from embermem.core.errors import InputError
from embermem.core.types import Role, Utterance
from embermem.owner_memory import OwnerMemory


@dataclass(frozen=True, kw_only=True, slots=True)
class Marked:
    """A query whose recall was wrong: the numbers of the utterances that its context should have rested on, and of
    those that it should not have. `note` is in the person's own words."""

    query: str
    asked_at: datetime
    missing: tuple[int, ...]
    unwanted: tuple[int, ...]
    note: str = ""


def recall_set(mine: OwnerMemory, marked: Marked) -> dict[str, Any]:
    """One conversation: what was said, thread by thread, and the query as its question, whose evidence are the missing
    utterances. Of documents the passages of those that hold a marked one are there.

    Raises InputError for an empty query, and for one that marks nothing, an utterance as both, or one that is not
    there.
    """
    said = {one.seq: one for one in mine.utterances()}
    _check(marked, said)
    owner = f"{mine.owner.user}/{mine.owner.agent}"
    threads = list(_threads(said.values(), {*marked.missing, *marked.unwanted}))
    question = {
        "id": "marked",
        "text": marked.query.strip(),
        "category": "marked",
        "at": marked.asked_at.isoformat(),
        "evidence": _ids(said, marked.missing),
        "unwanted": _ids(said, marked.unwanted),
        "note": marked.note.strip(),
    }
    conversation = {"id": owner, "threads": threads, "questions": [question]}
    return {"name": f"a recall of {owner}", "conversations": [conversation]}


def _check(marked: Marked, said: Collection[int]) -> None:
    if not marked.query.strip():
        raise InputError("query is empty; give the query whose recall was wrong")
    if not marked.missing and not marked.unwanted:
        raise InputError("nothing is marked; mark at least one utterance that is missing or unwanted")
    if both := {*marked.missing} & {*marked.unwanted}:
        raise InputError(f"utterance #{min(both)} is marked as missing and as unwanted; leave it out of one of the two")
    if gone := {*marked.missing, *marked.unwanted}.difference(said):
        raise InputError(f"there is no utterance #{min(gone)} any more; mark another one")


def _ids(said: Mapping[int, Utterance], seqs: Iterable[int]) -> list[str]:
    return [said[seq].id for seq in sorted({*seqs})]


def _threads(said: Collection[Utterance], marked: Collection[int]) -> Iterable[dict[str, Any]]:
    """What was said by thread, in the order in which the threads began."""
    read = {one.thread for one in said if one.seq in marked}
    threads: dict[str, list[dict[str, Any]]] = {}
    for one in said:
        if one.passage is None or one.thread in read:
            threads.setdefault(one.thread, []).append(_turn(one))
    return ({"id": name, "turns": turns} for name, turns in threads.items())


def _turn(said: Utterance) -> dict[str, Any]:
    """A passage of a document is a turn of the system's: nobody said it."""
    role = Role.SYSTEM if said.role is Role.DOCUMENT else said.role
    at = said.said_at.isoformat()
    return {"id": said.id, "role": role.value, "speaker": said.speaker, "at": at, "text": said.text}
