"""What programs read of the published code's parts: what is recalled, and short-term memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from embermem.core.errors import InputError
from embermem.core.types import About, Fact, Page, PageId
from embermem.memory import OwnerMemory

_TIME = "%Y-%m-%d %H:%M:%S"


class Retriever:
    """What memory holds for a query, without a model."""

    KNOWLEDGE: ClassVar[int] = 20
    """Facts of each kind that are told, as in the published code."""

    def __init__(self, owner: OwnerMemory, most_pages: int) -> None:
        self._owner = owner
        self._most_pages = most_pages

    def retrieve_context(
        self,
        user_query: str,
        user_id: str,
        segment_similarity_threshold: float = 0.1,
        page_similarity_threshold: float = 0.1,
        knowledge_threshold: float = 0.01,
        top_k_sessions: int = 5,
        top_k_knowledge: int = KNOWLEDGE,
    ) -> dict[str, Any]:
        """Return `retrieved_pages`, `retrieved_user_knowledge`, `retrieved_assistant_knowledge` and `retrieved_at`, the
        best first. Raises InputError for another user, and for an argument that would have no effect."""
        if user_id != self._owner.owner.user:
            raise InputError(f"user_id = {user_id!r} is another user; open a Memoryos of that one")
        no_effect = {
            "segment_similarity_threshold": (segment_similarity_threshold, 0.1),
            "page_similarity_threshold": (page_similarity_threshold, 0.1),
            "knowledge_threshold": (knowledge_threshold, 0.01),
            "top_k_sessions": (top_k_sessions, 5),
        }
        for name, (given, usual) in no_effect.items():
            if given != usual:
                raise InputError(f"{name} = {given!r} has no effect here; leave it out")
        if type(top_k_knowledge) is not int or not 0 <= top_k_knowledge <= self.KNOWLEDGE:
            raise InputError(f"top_k_knowledge = {top_k_knowledge!r}; give a whole number from 0 to {self.KNOWLEDGE}")
        found = self._owner.recall(user_query)
        self._owner.visit(found)
        ids = dict.fromkeys(hit.utterance.page_id for hit in found.hits)
        return {
            "retrieved_pages": [self._page(page_id) for page_id in list(ids)[: self._most_pages]],
            "retrieved_user_knowledge": self._known(found.facts, About.USER)[:top_k_knowledge],
            "retrieved_assistant_knowledge": self._known(found.facts, About.AGENT)[:top_k_knowledge],
            "retrieved_at": datetime.now().astimezone().strftime(_TIME),
        }

    def _known(self, facts: Sequence[Fact], about: About) -> list[dict[str, Any]]:
        return [self.knowledge(fact) for fact in facts if fact.about is about]

    @staticmethod
    def knowledge(fact: Fact) -> dict[str, Any]:
        """A fact, as an entry of a knowledge base."""
        return {"knowledge": fact.text, "timestamp": fact.recorded_at.astimezone().strftime(_TIME)}

    def _page(self, page_id: PageId) -> dict[str, Any]:
        page = self._owner.page(page_id)
        return {"page_id": page.id, **exchange(page)}


class ShortTermMemory:
    """The newest pages."""

    def __init__(self, owner: OwnerMemory, max_capacity: int) -> None:
        self._owner = owner
        self.max_capacity = max_capacity

    def get_all(self) -> list[dict[str, Any]]:
        """Return them, oldest first."""
        return [exchange(page) for page in self._owner.pages(tier="short")]


def exchange(page: Page) -> dict[str, Any]:
    """A page, as the published code has it."""
    return {
        "user_input": page.query,
        "agent_response": page.response,
        "timestamp": page.said_at.astimezone().strftime(_TIME),
    }
