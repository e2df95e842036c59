"""A recorded analyst: what a model once noted of a conversation, told as if it were asked now.

It tells what good facts and summaries are worth to recall, without a model and the same each time. LoCoMo's file has a
model's observations, each with the turns it rests on, and a summary a session. Where the file says nothing, the
extractive analyst speaks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from embermem import bootstrap
from embermem.analysts import ExtractiveAnalyst, keywords
from embermem.core.types import (
    About,
    Annotation,
    ChainTail,
    FactProposal,
    Owner,
    PageView,
    PersonaChange,
    Role,
    Source,
    ThreadId,
    Utterance,
)
from embermem.memoryos.system import MemoryOS
from embermem.protocols import Analyst, ProfileRequest
from embermem_bench.datasets import Conversation, Observation

if TYPE_CHECKING:
    from collections.abc import Callable

    from embermem.core.config import Settings

ATTRIBUTE = "observed"
"""What a recorded fact is to its subject: the file has no attributes."""
_KEYWORDS = 8
"""Keywords of a page, as many as the extractive analyst gives."""


class RecordedAnalyst:
    """An `Analyst` with a model's notes on some conversations, each held by the owner whose user is its id.

    The n-th turn of a conversation must be the owner's n-th utterance: the recall bench stores it so.
    """

    name = "recorded-v1"

    def __init__(
        self,
        conversations: Iterable[Conversation],
        extractive: Analyst,
        keywords: Callable[[str, int], tuple[str, ...]],
    ) -> None:
        self._notes = {conversation.id: _notes(conversation) for conversation in conversations}
        self._extractive = extractive
        self._keywords = keywords

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        """What was noted of each page, and its thread's summary as its chain's."""
        read = self._extractive.annotate(owner, tails, batch)
        notes = self._notes.get(owner.user, _Notes())
        return tuple(self._noted(notes, view, plain) for view, plain in zip(batch, read, strict=True))

    def profile(self, request: ProfileRequest) -> PersonaChange:
        """The same notes, of the request's pages; of segments nothing was noted."""
        notes = self._notes.get(request.owner.user, _Notes())
        plain = self._extractive.profile(request)
        told = [fact for view in request.pages for fact in notes.facts(view.page.utterances)]
        return replace(plain, facts=tuple(told) or plain.facts)

    def _noted(self, notes: _Notes, view: PageView, plain: Annotation) -> Annotation:
        facts, summary = notes.facts(view.page.utterances), notes.summaries.get(view.page.thread)
        if facts:
            said = [u.text for u in view.page.utterances]
            words = self._keywords("\n".join([*said, *(fact.text for fact in facts)]), _KEYWORDS)
            plain = replace(plain, facts=facts, keywords=words)
        if summary is not None:
            sources = tuple(_source(u) for u in view.page.utterances)
            plain = replace(plain, chain_summary=summary, summary_sources=sources)
        return plain


@contextmanager
def reading_with(file: Path, settings: Settings, conversations: Iterable[Conversation]) -> Iterator[MemoryOS]:
    """A system on the store in a file whose analyst is the recorded one. What it settles, every memory of the file
    recalls."""
    with closing(bootstrap.open_store(file, settings)) as store:
        embedder = bootstrap.choose_embedder(store, settings)
        analyst = RecordedAnalyst(conversations, ExtractiveAnalyst(), keywords)
        yield bootstrap.make_system(store, embedder, settings, bootstrap.wall_clock, analyst=analyst)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Note:
    """An observation, with the places of the turns it rests on, from 1, and whose knowledge base it belongs to."""

    observation: Observation
    seqs: tuple[int, ...]
    about: About


@dataclass(frozen=True, kw_only=True, slots=True)
class _Notes:
    """The notes on one conversation: observations by the place of the last turn, and summaries by thread."""

    observed: Mapping[int, Sequence[_Note]] = field(default_factory=dict)
    summaries: Mapping[str, str] = field(default_factory=dict)

    def facts(self, utterances: Sequence[Utterance]) -> tuple[FactProposal, ...]:
        """The facts whose last source is one of these utterances; their other sources only as far as they are too."""
        by_seq = {u.seq: u for u in utterances}
        return tuple(
            _proposal(note, [by_seq[seq] for seq in note.seqs if seq in by_seq])
            for last in sorted(by_seq.keys() & self.observed.keys())
            for note in self.observed[last]
        )


def _notes(conversation: Conversation) -> _Notes:
    seq_of = {turn.id: seq for seq, (_, turn) in enumerate(conversation.turns(), 1)}
    users = {turn.speaker for _, turn in conversation.turns() if turn.role is Role.USER}
    observed: defaultdict[int, list[_Note]] = defaultdict(list)
    for observation in conversation.observations:
        seqs = tuple(seq_of[turn] for turn in observation.turns)
        about = About.USER if observation.speaker in users else About.AGENT
        observed[seqs[-1]].append(_Note(observation=observation, seqs=seqs, about=about))
    return _Notes(observed=observed, summaries=conversation.summaries)


def _proposal(note: _Note, sources: Sequence[Utterance]) -> FactProposal:
    return FactProposal(
        about=note.about,
        subject=note.observation.speaker,
        attribute=ATTRIBUTE,
        value=note.observation.text,
        text=note.observation.text,
        sources=tuple(_source(u) for u in sources),
        single=False,
    )


def _source(utterance: Utterance) -> Source:
    return Source(seq=utterance.seq, utterance_id=utterance.id)
