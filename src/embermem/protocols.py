"""The seams: what a store, an embedder, an analyst, a token counter and a memory system must be able to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from embermem.types import Annotation, ChainTail, Fact, PageView, Persona, PersonaChange, Segment, ThreadId

if TYPE_CHECKING:
    from embermem.types import Vectors


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
