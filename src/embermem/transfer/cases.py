"""The cases of one owner as a recall set, which `embermem bench recall` reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from embermem.core.errors import InputError
from embermem.core.types import RecallCase, Role, Utterance
from embermem.owner_memory import OwnerMemory


def recall_set(mine: OwnerMemory) -> dict[str, Any]:
    """One conversation: what was said, thread by thread, and a question for each case, whose evidence are the expected
    utterances. A question's category is its case's id, so that the figures by category tell each case. Of documents
    the passages of those that a case marks are there. Raises InputError where there are no cases."""
    cases = mine.cases()
    if not cases:
        raise InputError(f"{mine.owner} has no cases to export; add one in the playground or with `add_case`")
    owner = f"{mine.owner.user}/{mine.owner.agent}"
    threads = list(_threads(mine, cases))
    known = {turn["id"] for thread in threads for turn in thread["turns"]}
    asked = [_question(case, known) for case in cases]
    return {"name": f"cases of {owner}", "conversations": [{"id": owner, "threads": threads, "questions": asked}]}


def _threads(mine: OwnerMemory, cases: Iterable[RecallCase]) -> Iterable[dict[str, Any]]:
    """What was said by thread, in the order in which the threads began."""
    said = mine.utterances()
    marked = {one.seq for case in cases for one in (*case.expected, *case.unwanted)}
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


def _question(case: RecallCase, known: set[str]) -> dict[str, Any]:
    """A case without an expected utterance asks nothing that a measure of retrieval counts."""
    marked = {"evidence": case.expected, "unwanted": case.unwanted}
    return {
        "id": case.id,
        "text": case.query,
        "category": case.id,
        "at": case.asked_at.isoformat(),
        **{name: [one.utterance_id for one in some if one.utterance_id in known] for name, some in marked.items()},
        "note": case.note,
    }
