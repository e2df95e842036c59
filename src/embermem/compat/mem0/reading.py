"""One owner's memories as mem0 lists and ranks them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from embermem.compat.mem0.filters import equalities, matches
from embermem.compat.mem0.items import ID, SOURCE, Item, Spans, of_document, of_fact, of_page, spans_of, unheld
from embermem.core.errors import InputError, NotFound
from embermem.core.types import Document, DocumentId, Fact, FactId, Hit, Page, PageId, Scope, Utterance

if TYPE_CHECKING:
    from embermem.core.types import Vector
    from embermem.memory import OwnerMemory

_STEP = 200
"""Pages read at once."""
_VECTORS = 20_000
"""Texts whose vectors are kept."""


class Vectors:
    """The vectors of texts, those asked for last kept."""

    def __init__(self, embed: Callable[[Sequence[str]], Any]) -> None:
        self._embed = embed
        self._kept: OrderedDict[str, Vector] = OrderedDict()

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the query, in [0, 1]."""
        known = {text: self._kept[text] for text in (query, *texts) if text in self._kept}
        missing = [text for text in dict.fromkeys((query, *texts)) if text not in known]
        if missing:
            known.update(zip(missing, self._embed(missing), strict=True))
        for text, vector in known.items():
            self._kept[text] = vector
        while len(self._kept) > _VECTORS:
            self._kept.popitem(last=False)
        return [min(1.0, max(0.0, float(known[query] @ known[text]))) for text in texts]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What one call reads of an owner's memory. Made for each call: what it has read stays as it is."""

    memory: OwnerMemory
    user_id: str | None

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that hold, those above the cap too, oldest first."""
        return (*self.memory.facts(archived=True), *self.memory.facts())

    @cached_property
    def held(self) -> Spans:
        """Where facts rest that hold or once held: what was superseded is no memory again by its words."""
        return spans_of((*self.facts, *self.memory.past_facts()))

    def page(self, page: Page, cut: Spans | None = None) -> Item | None:
        """What of a page no fact holds, without the spans in `cut`; None where that is nothing."""
        texts = unheld(page, self.held, cut) if page.no > 0 else []
        return self._as_said(page, texts) if texts else None

    def _as_said(self, page: Page, texts: Sequence[tuple[Utterance, str]]) -> Item:
        """Words of a page, with the name of who said them, where one was given."""
        item, owner = of_page(page, texts), self.memory.owner
        return replace(item, actor_id=None) if item.actor_id in (owner.user, owner.agent) else item

    def document(self, document: Document) -> Item:
        """A text that was added as it is; where a part of it was forgotten through Ember, what is left. Raises
        NotFound."""
        kept = self.memory.originals([document.id]).get(document.id)
        if kept is None:
            left = "\n\n".join(one.text for one in self.memory.passages(document.id))
            kept = {"memory": left, "before": []}
        return of_document(document, kept)

    def _documents(self) -> Iterator[Item]:
        """The texts that were added as they are, the newest first."""
        for one in reversed(self.memory.documents(under=SOURCE)):
            with suppress(NotFound):  # forgotten meanwhile
                yield self.document(one)

    def listed(self, filters: Mapping[str, Any], most: int) -> list[Item]:
        """The newest memories that meet a filter."""

        def first(items: Iterator[Item]) -> list[Item]:
            return list(islice((one for one in items if matches(filters, one.held(self.user_id))), most))

        found = first(of_fact(one) for one in reversed(self.facts))
        found += first(item for page in self._pages() if (item := self.page(page)) is not None)
        taken = {one.id for one in found}
        found += [one for one in first(self._documents()) if one.id not in taken]
        return sorted(found, key=lambda one: one.created_at, reverse=True)[:most]

    def _pages(self) -> Iterator[Page]:
        """All pages, the newest first."""
        before: int | None = None
        while pages := self.memory.pages(limit=_STEP, before=before):
            yield from reversed(pages)
            before = pages[0].no

    def ranked(
        self, query: str, filters: Mapping[str, Any], most: int, least: float, vectors: Vectors
    ) -> list[tuple[Item, float, dict[str, float]]]:
        """The best memories for a query that meet a filter, with a score of `least` or more and its parts.

        The score is the mean of two estimates in [0, 1]: how near the vector of the memory is to the query's, and the
        relevance of the utterances that it rests on. A fact that rests on none has its nearness alone.
        """
        if most == 0:
            return []
        hits = self._hits(query, filters, max(4 * most, 60))
        facts = list(self._known(hits))
        taken = {item.id for item, _ in facts}
        told = (one for one in self._told(hits) if one[0].id not in taken)
        found = [one for one in facts if matches(filters, one[0].held(self.user_id))]
        found += islice((one for one in told if matches(filters, one[0].held(self.user_id))), max(2 * most, 20))
        near = vectors.cosines(query, [item.text for item, _ in found])
        scored = []
        for (item, relevance), cosine in zip(found, near, strict=True):
            score = cosine if relevance is None else (cosine + relevance) / 2
            if score >= least:
                parts = {"semantic_score": cosine, "relevance": cosine if relevance is None else relevance}
                scored.append((item, score, {**parts, "final_score": score, "threshold": least}))
        return sorted(scored, key=lambda one: -one[1])[:most]

    def _hits(self, query: str, filters: Mapping[str, Any], count: int) -> Sequence[Hit]:
        asked = {name: one for name, one in equalities(filters).items() if name in ("agent_id", "run_id")}
        return self.memory.search(query, count, scope=Scope(metadata=asked) if asked else None)

    def _known(self, hits: Sequence[Hit]) -> Iterator[tuple[Item, float | None]]:
        """Facts that rest on hits, each with the relevance of the best one; and facts that rest on nothing said."""
        said = {hit.utterance.id: hit.relevance or 0.0 for hit in hits}
        for fact in self.facts:
            relevances = [said[one.utterance_id] for one in fact.sources if one.utterance_id in said]
            if relevances or fact.own_metadata or not fact.sources:
                yield of_fact(fact), max(relevances, default=None)

    def _told(self, hits: Sequence[Hit]) -> Iterator[tuple[Item, float | None]]:
        """What of the pages of hits no fact holds, and texts that were added as they are, the most relevant first."""
        seen: set[str] = set()
        for hit in hits:
            passage = hit.passage
            place = hit.utterance.page_id if passage is None else passage.document
            if place in seen or (passage is not None and not passage.source.startswith(SOURCE)):
                continue
            seen.add(place)
            with suppress(NotFound):  # forgotten since the search
                known = self.page(self.memory.page(place)) if passage is None else self._of_document(place)
                if known is not None:
                    yield known, hit.relevance or 0.0

    def _of_document(self, document_id: str) -> Item:
        return self.document(self.memory.document(document_id))

    def find(self, item_id: str) -> Item | None:
        """The memory with an id, or what took its place; None where there is none."""
        kind = item_id[:1]
        try:
            if kind == "d":
                found = self._of_document(item_id)
                return found if found.id == item_id else None
            if kind == "f" and (fact := self._fact(item_id)) is not None:
                return of_fact(fact)
            if kind == "p":
                page = self.memory.page(item_id)
                return self.page(page) or self._as_said(page, [(one, one.text) for one in page.utterances])
        except (NotFound, InputError):
            pass
        if kind not in ("f", "p"):
            return None
        if (alias := self._alias(item_id)) is not None:
            return of_fact(alias)
        return next(map(self.document, self.memory.documents(source=f"{SOURCE}{item_id}")), None)

    def _fact(self, fact_id: str) -> Fact | None:
        """A fact that holds and is known by its own id."""
        fact = self.memory.fact(fact_id)
        known = fact.own_metadata.get(ID, fact.id)
        return fact if fact.retired_at is None and known == fact_id else None

    def _alias(self, item_id: str) -> Fact | None:
        return next((one for one in self.facts if one.own_metadata.get(ID) == item_id), None)

    def past(self, item_id: str) -> list[Fact]:
        """The facts that were known by an id, oldest first, with the one that is."""
        own = FactId(item_id)
        chain = [one for one in (*self.memory.past_facts(), *self.facts) if own in (one.id, one.own_metadata.get(ID))]
        return sorted(chain, key=lambda one: one.change_no)


def document_of(item: Item) -> DocumentId | None:
    """The document behind a memory; None where it is a fact or a page."""
    return item.what.id if isinstance(item.what, Document) else None


def page_of(item: Item) -> PageId | None:
    """The page behind a memory; None where it is a fact or a document."""
    return item.what.id if isinstance(item.what, Page) else None
