"""Ids, vectors, and the words that are one of a few: whose an utterance is, where a page is, whom a fact is about.

Ids are strings made by the client.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NewType

from embermem.core.record import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """One embedding, shape (dim,), L2 norm 1 (or 0 where there was nothing to embed)."""
    Vectors = NDArray[np.float32]
    """Many embeddings, shape (n, dim)."""
else:

    class _AsNumbers:
        """How pydantic, and so FastAPI, serves and reads a vector: as a list of numbers. It alone calls this."""

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            from pydantic_core import core_schema

            numbers = core_schema.plain_serializer_function_ser_schema(lambda vector: vector.tolist())
            return core_schema.no_info_plain_validator_function(_vector, serialization=numbers)

        @classmethod
        def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
            return {"type": "array", "items": {"type": "number"}}

    def _vector(given: Any) -> Any:
        import numpy as np

        return np.asarray(given, dtype=np.float32)

    Vector = Vectors = Annotated[Any, _AsNumbers]

OwnerId = NewType("OwnerId", str)
PageId = NewType("PageId", str)
UtteranceId = NewType("UtteranceId", str)
ThreadId = NewType("ThreadId", str)
ChainId = NewType("ChainId", str)
SegmentId = NewType("SegmentId", str)
FactId = NewType("FactId", str)
ItemId = NewType("ItemId", str)
"""Of a segment or a fact."""
DocumentId = NewType("DocumentId", str)


class Role(StrEnum):
    """The speaker's role, with OpenAI's names; and what nobody said in a talk, a passage of a document."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    DOCUMENT = "document"

    @property
    def agent_side(self) -> bool:
        """Whether it stands on the agent's side of a page."""
        return self in (Role.ASSISTANT, Role.TOOL)

    @property
    def origin(self) -> UtteranceOrigin:
        """The origin of its utterances where the caller gives none."""
        return UtteranceOrigin.PERSON if self is Role.USER else UtteranceOrigin(self.value)


class UtteranceOrigin(StrEnum):
    """Where the text of an utterance comes from, whoever sent it: written by a person, by the assistant, or by the
    application (`system`); returned by a tool; part of a document; or pasted by a person who did not write it."""

    PERSON = "person"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    DOCUMENT = "document"
    PASTED = "pasted"


SPOKEN = (Role.USER, Role.ASSISTANT, Role.SYSTEM, Role.TOOL)
"""The roles of what is said in a talk."""


class Tier(StrEnum):
    """Where a page is. Derived from its place and order, never stored."""

    SHORT = "short"
    PENDING = "pending"
    MID = "mid"
    ARCHIVE = "archive"


class About(StrEnum):
    """Which knowledge base a fact belongs to: the user's, or the agent's traits."""

    USER = "user"
    AGENT = "agent"


NO_USER = " "
"""The user of every space's owner. No caller can give it: a name that is blank is refused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner(Record):
    """One (user, agent) pair, or one shared space: the unit of isolation."""

    id: OwnerId
    user: str
    agent: str

    @property
    def space(self) -> str | None:
        """The space's name; None for the memory of a user."""
        return self.agent if self.user == NO_USER else None

    def __str__(self) -> str:
        return f"{self.user}/{self.agent}" if self.space is None else f"space {self.space}"
