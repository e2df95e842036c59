"""What every data set is made into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from embermem.core.types import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One message of a data set. `text` has the picture's caption in it."""

    id: str
    speaker: str
    role: Role
    text: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """One session of a conversation."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question, its answer, and where that stands: turns, or threads of which any turn counts.

    `answer` is the gold one; None where the file has none. `trap` is a wrong answer that the question lures to: it is
    never a gold one. Not `answerable`: the conversation does not say, and the right reply says so; `answer` is None.
    `thread` is the thread that it is asked in, at its end: recall is told so, since the question may leave out what the
    thread's last turns name. `quote` is the piece of an evidence turn, as it stands there, that holds the answer.
    """

    id: str
    text: str
    category: str
    at: datetime | None = None
    after_turn: str | None = None
    thread: str | None = None
    evidence: frozenset[str] = frozenset()
    evidence_threads: frozenset[str] = frozenset()
    quote: str | None = None
    answer: str | None = None
    trap: str | None = None
    answerable: bool = True

    @property
    def has_evidence(self) -> bool:
        """Whether retrieval can be measured with it."""
        return bool(self.evidence or self.evidence_threads)


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What a model noted of a speaker, and the turns that it rests on, in the order of the conversation."""

    speaker: str
    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """What one owner said and heard, and all that is asked about it.

    `observations` and `summaries` (by thread) are a model's, if the file has any; `embermem_bench.recorded`
    replays them.
    """

    id: str
    threads: tuple[Thread, ...]
    questions: tuple[Question, ...]
    observations: tuple[Observation, ...] = ()
    summaries: Mapping[str, str] = field(default_factory=dict)

    @property
    def with_evidence(self) -> tuple[Question, ...]:
        """The questions that retrieval is measured with."""
        return tuple(question for question in self.questions if question.has_evidence)

    @property
    def skipped(self) -> int:
        """How many questions have no usable evidence: measures of retrieval leave them out."""
        return len(self.questions) - len(self.with_evidence)

    @property
    def speakers(self) -> tuple[str, ...]:
        """Who speaks, in the order of their first turns."""
        return tuple(dict.fromkeys(turn.speaker for _, turn in self.turns()))

    def turns(self) -> Iterator[tuple[Thread, Turn]]:
        """Every turn with its thread, in the order in which they were said."""
        return ((thread, turn) for thread in self.threads for turn in thread.turns)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """Conversations of one file. `headline` names the categories that the headline figures cover; None: all."""

    name: str
    conversations: tuple[Conversation, ...]
    headline: frozenset[str] | None = None
