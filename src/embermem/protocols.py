"""The seams: what a store, an embedder, an analyst, a token counter and a memory system must be able to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from embermem.types import (
    Annotation,
    ChainId,
    ChainTail,
    Fact,
    PageId,
    PageView,
    Persona,
    PersonaChange,
    Segment,
    SegmentId,
    ThreadId,
    Utterance,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from embermem.types import Vectors

    IntArray = NDArray[np.int64]


class Embedder(Protocol):
    """Turns texts into vectors. `name` and `dim` are stored beside every vector."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of different names are never compared."""

    @property
    def dim(self) -> int:
        """The length of one vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dim), float32, L2 norm 1 (0 for a text with nothing to embed).

        Safe to call from several threads. Raises EmbedderError; never returns a guess.
        """


class TokenCounter(Protocol):
    """Counts what a text costs in a prompt."""

    @property
    def name(self) -> str:
        """Named in every Context, so that a budget can be read."""

    def count(self, text: str) -> int:
        """Tokens of the text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileRequest:
    """What an analyst is shown at a promotion: a segment, its pages not yet analysed, and what is known."""

    segment: Segment
    pages: tuple[PageView, ...]
    persona: Persona
    nearest: tuple[Fact, ...]


class Analyst(Protocol):
    """Whatever reads pages and says what they mean. It proposes; the system applies."""

    @property
    def name(self) -> str:
        """Stored with every change that rests on it."""

    def annotate(self, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]) -> tuple[Annotation, ...]:
        """One annotation a page, in the batch's order.

        `tails` holds, for each thread of the batch that has one, the page before the batch; within the batch
        a page continues the one before it in the same thread. Raises AnalystError.
        """

    def profile(self, request: ProfileRequest) -> PersonaChange:
        """What the new pages of a segment say of the user and the agent. Raises AnalystError."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageMark:
    """Where a page stands: its segment and chain, if it has them by now."""

    page_id: PageId
    no: int
    segment_id: SegmentId | None
    chain_id: ChainId | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta:
    """What an owner's reader has not seen: everything newer than the (seq, revision) it named.

    `vector_seqs` (n,) and `vectors` (n, dim) float32 are those made by the embedder asked for. `persona` is whole,
    and None if nothing of it changed. `archived_facts` are those the cap moved out, whole as well.
    With `reset`, what the reader holds is to be thrown away first (a reindex, a rebuild).
    """

    seq: int
    revision: int
    utterances: tuple[Utterance, ...]
    vector_seqs: IntArray
    vectors: Vectors
    pages: tuple[PageMark, ...]
    segments: tuple[Segment, ...]
    persona: Persona | None
    archived_facts: tuple[Fact, ...] = ()
    reset: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Narrows a recall: only utterances before `before_seq`, none of the threads named."""

    before_seq: int | None = None
    not_threads: frozenset[ThreadId] = frozenset()
