"""A conversation told to a memory, and where each of its turns went: what every bench that recalls does alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from embermem.core.errors import EmberError
from embermem.core.types import Scope, ThreadId, UtteranceId
from embermem_bench.datasets import Conversation, Question, Thread, Turn

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """Where each turn of a conversation went."""

    turn_of: Mapping[UtteranceId, str]
    seq_of: Mapping[str, int]
    thread_of: Mapping[str, str]
    at_of: Mapping[str, datetime]
    latest: datetime | None

    @classmethod
    def of(cls, conversation: Conversation, turn_of: Mapping[UtteranceId, str], seq_of: Mapping[str, int]) -> Stored:
        """Raises EmberError if a turn of the conversation that says something is not there."""
        turns = list(conversation.turns())
        if missing := [turn.id for _, turn in turns if turn.text.strip() and turn.id not in seq_of]:
            raise EmberError(f"{conversation.id}: {len(missing)} turns are in no page, first {missing[0]}")
        return cls(
            turn_of=turn_of,
            seq_of=seq_of,
            thread_of={turn.id: thread.id for thread, turn in turns},
            at_of={turn.id: turn.at for _, turn in turns},
            latest=max((turn.at for _, turn in turns), default=None),
        )

    def asked_at(self, question: Question) -> datetime | None:
        """When a question is asked: its own time, that of the turn it is, or the end of the conversation."""
        return question.at or (self.at_of[question.after_turn] if question.after_turn is not None else self.latest)

    def scope(self, question: Question) -> Scope | None:
        """What a question asked in mid-conversation may not see."""
        if question.after_turn is None:
            return None
        hidden = ThreadId(self.thread_of[question.after_turn])
        return Scope(before_seq=self.seq_of[question.after_turn], not_threads=frozenset({hidden}))


def add_conversation(owner: OwnerMemory, conversation: Conversation) -> dict[UtteranceId, str]:
    """Add the turns in file order, a thread at a time; return the turn of each utterance."""
    turn_of: dict[UtteranceId, str] = {}
    for thread, messages in messages_of(conversation):
        added = owner.add_messages(messages, thread=thread.id)
        turn_of |= zip(added.utterance_ids, (turn.id for turn in thread.turns), strict=True)
    return turn_of


def look_up(owner: OwnerMemory, conversation: Conversation, turn_of: Mapping[UtteranceId, str]) -> Stored:
    """Where the turns went, once their pages are there. Raises EmberError if a turn is in no page."""
    seq_of = {turn_of[u.id]: u.seq for page in owner.pages() for u in page.utterances}
    return Stored.of(conversation, turn_of, seq_of)


def messages_of(conversation: Conversation) -> Iterator[tuple[Thread, list[dict[str, object]]]]:
    """The messages of each thread in file order, as `add_messages` takes them, and the thread with their turns. Turns
    that say nothing are left out, and so are threads without any other."""
    for thread in conversation.threads:
        if said := tuple(turn for turn in thread.turns if turn.text.strip()):
            yield replace(thread, turns=said), [message(turn) for turn in said]


def message(turn: Turn) -> dict[str, object]:
    """A turn as `add_messages` takes it."""
    return {"role": str(turn.role), "content": turn.text, "name": turn.speaker, "at": turn.at}
