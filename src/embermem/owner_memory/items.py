"""Any item by its id: read, changed, forgotten; and lists of items of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import messages
from embermem.core.changes import Cause, Decision, FactAdded, FactExpires
from embermem.core.errors import InputError, NotFound, Unchangeable
from embermem.core.ids import MADE_ID, made_order
from embermem.core.messages import At, Expiry
from embermem.core.types import (
    Chain,
    ChainId,
    Document,
    DocumentId,
    Edit,
    Fact,
    FactId,
    Forgotten,
    Page,
    PageId,
    Scope,
    Segment,
    SegmentId,
    Utterance,
    Why,
    thread_of,
)
from embermem.owner_memory.correcting import Correcting
from embermem.owner_memory.documents import Documents
from embermem.owner_memory.fact_lists import FactLists
from embermem.owner_memory.retaining import Retaining
from embermem.owner_memory.ruling import Ruling
from embermem.owner_memory.timelines import Timelines
from embermem.protocols import NOW, FactSelection, Moment, Within

Item = Page | Utterance | Fact | Segment | Chain | Document
KINDS = ("page", "utterance", "fact", "segment", "chain", "document")
"""The kinds of items. An id begins with the first letter of its kind."""
ORDERS = ("newest", "oldest")
_STEP = 64
"""Pages and utterances read at once."""


@checked
class Items(FactLists, Correcting, Ruling, Documents, Retaining, Timelines):
    """The same calls for items of every kind."""

    def get(self, item_id: str, *, as_of: At = None) -> Item:
        """Return a page, utterance, fact, segment or chain by its id, also as of a time; or a document. Raises
        NotFound."""
        match kind_of(item_id):
            case "page":
                return self.page(item_id, as_of=as_of)
            case "utterance":
                return self.utterance(item_id)
            case "fact":
                return self.fact(item_id, as_of=as_of)
            case "segment":
                return self.segment(item_id, as_of=as_of)
            case "chain":
                found = self._store.reads.chains(self.owner.id, moment=self._moment(as_of), ids=[ChainId(item_id)])
                if not (shown := self._hidden(as_of).shown_chains(found)):
                    raise self._none_such("chain", item_id)
                return shown[0]
        return self.document(item_id)

    @telemetry.spanned(telemetry.UPDATE, "update")
    def update(
        self,
        item_id: str,
        text: str | None = None,
        *,
        value: str | None = None,
        pinned: bool | None = None,
        expires_at: Expiry = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Fact | Page:
        """Change an item, in one change; returns it as it is then. None leaves something as it is.

        `text`, `value` and `metadata` (the fact's own, in place of those that it has) replace a fact by a new one
        with a new id, as `correct` does: the old one remains in `past_facts`. `pinned` and `expires_at` change a fact
        itself; of a page, `expires_at` alone can be changed.
        `expire(…, at=None)` takes an expiry away. What was said and what is derived from it cannot be changed: raises
        Unchangeable, which says what to do instead. Raises NotFound, and InputError if nothing is given.
        """
        if (text, value, pinned, expires_at, metadata) == (None,) * 5:
            raise InputError("nothing to update: give text, value, pinned, expires_at or metadata")
        kind, words = kind_of(item_id), (text, value, pinned, metadata) != (None,) * 4
        if kind == "page" and not words:
            self.expire(page_id=item_id, at=expires_at, key=key)
            return self.page(item_id)
        if kind != "fact":
            raise self._unchangeable(kind, item_id)
        if value is not None and text is None:
            raise InputError("value needs text: give the fact in words too")
        return self._update_fact(item_id, text, value, pinned, expires_at, metadata, key)

    def delete(self, item_id: str, *, dry_run: bool = False, key: str | None = None) -> Forgotten:
        """Forget a page, a fact, a segment or a document by its id, as `forget` does; returns its receipt. Raises
        NotFound, and Unchangeable for an item that is forgotten with another one."""
        match kind_of(item_id):
            case "page":
                return self.forget(page=item_id, dry_run=dry_run, key=key)
            case "fact":
                return self.forget(fact=item_id, dry_run=dry_run, key=key)
            case "segment":
                return self.forget(segment=item_id, dry_run=dry_run, key=key)
            case "document":
                if key is None:
                    self.document(item_id)
                return self.forget(thread=thread_of(DocumentId(item_id)), dry_run=dry_run, key=key)
            case "utterance":
                page_id = self.utterance(item_id).page_id
                raise Unchangeable(f"an utterance is forgotten with its page: delete {page_id}")
        self.get(item_id)
        raise Unchangeable("a chain is forgotten with its pages: delete these")

    def items(
        self,
        kind: str = "page",
        *,
        limit: int | None = None,
        after: str | int | None = None,
        order: str = "newest",
        scope: Scope | None = None,
    ) -> tuple[Item, ...]:
        """Return the items of one kind ("page", "utterance", "fact", "segment", "chain" or "document"), the newest or
        the oldest first: the first `limit` after an item of that list, or all of them; those in `scope`, as
        `pages`, `facts` and the others list them (documents take none).

        `after` is the id of the last item that is known; of a page or utterance its `no` or `seq` too, which is valid
        also after it was forgotten. Facts are current ones, segments those of mid-term memory. New items neither skip
        nor repeat any. Raises InputError, and NotFound for an unknown `after`.
        """
        kind, order = _one_of(KINDS, kind, "kind"), _one_of(ORDERS, order, "order")
        if limit is not None:
            messages.whole(limit, "limit", 0)
        newest = order == "newest"
        found: Iterable[Item]
        if kind in ("page", "utterance"):
            seen = self._in_scope(scope, NOW)
            found = self._in_steps(kind, self._number(kind, after), newest, None if seen is None else seen.within)
        else:
            if isinstance(after, int):
                raise InputError(f"after = {after} is a number; give the id of a {kind}")
            if scope is not None and kind == "document":
                raise InputError("documents take no scope: leave it out")
            made: Mapping[str, Callable[[], Sequence[Fact | Segment | Chain | Document]]] = {
                "fact": lambda: self.facts(scope=scope),
                "segment": lambda: self.segments(scope=scope),
                "chain": lambda: self.chains(scope=scope),
                "document": self.documents,
            }
            items = sorted(made[kind](), key=lambda item: made_order(item.id), reverse=newest)
            start = None if after is None else made_order(after)
            found = (
                one for one in items if start is None or ((made_order(one.id) < start) is newest and one.id != after)
            )
        return tuple(islice(found, limit))

    def edits(self, item_id: str) -> tuple[Edit, ...]:
        """Return what changes did to an item, oldest first: each field from what to what, when, why and by whom.

        `item_id` is that of a page, fact, segment or chain, a trait's dimension, or a profile line such as
        "user.home". `history` returns the changes themselves. Raises NotFound.
        """
        from embermem.memoryos.history import item_history

        owner_id, store = self.owner.id, self._store
        if MADE_ID.fullmatch(item_id):
            if kind_of(item_id) == "utterance":
                self.utterance(item_id)
                return ()  # what was said never changes
            log = item_history.history(store.change_log.changes_naming(owner_id, item_id), item_id)
            if not log:
                self.get(item_id)
        else:
            log = item_history.of_persona(store.change_log.changes(owner_id), item_id)
            if not log:
                raise self._none_such("item, trait or profile line", item_id)
        return tuple(item_history.edits(log, lambda moment: self._item_at(item_id, moment)))

    def why(self, item_id: str) -> Why:
        """Return why something is remembered: the words it rests on, the changes that made it, what it replaced, what
        replaced it, and its conflicts. `str()` formats the result for a terminal.

        `item_id` is that of a fact, segment or chain, a trait's dimension, or a profile line such as "user.home" or
        "agent.description". Raises NotFound.
        """
        from embermem.memoryos.history import provenance

        people = self._people()
        found = provenance.why(self._store, self.owner.id, item_id, self._parts.clock(), people)
        if found is None:
            raise self._none_such("fact, segment, chain, trait or profile line", item_id)
        return found

    def _item_at(self, item_id: str, moment: Moment) -> object | None:
        """An item as it was at a moment; None where there was none."""
        store, owner_id = self._store, self.owner.id
        if not MADE_ID.fullmatch(item_id):
            persona = store.reads.persona(owner_id, moment)
            lines = (*persona.profile, *persona.agent_profile)
            named = {**{f"{one.whose.value}.{one.name}": one for one in lines}}
            return named.get(item_id) or next((one for one in persona.traits if one.dimension == item_id), None)
        found: Sequence[object]
        match kind_of(item_id):
            case "page":
                short = self._parts.settings.short_term_pages
                found = store.reads.pages_by_id(owner_id, [PageId(item_id)], short, moment=moment)
            case "fact":
                found = store.reads.facts(owner_id, FactSelection(ids=frozenset({FactId(item_id)})), moment)
            case "segment":
                found = store.reads.segments(owner_id, ids=[SegmentId(item_id)], moment=moment)
            case "chain":
                found = store.reads.chains(owner_id, ids=[ChainId(item_id)], moment=moment)
            case _:
                return None
        return found[-1] if found else None

    def _update_fact(
        self,
        fact_id: str,
        text: str | None,
        value: str | None,
        pinned: bool | None,
        ends: Expiry,
        metadata: Mapping[str, Any] | None,
        key: str | None,
    ) -> Fact:
        from embermem.memoryos.correct.corrections import labelling, pinning

        replaced = text is not None or metadata is not None
        told = (text, value, pinned, ends) if metadata is None else (text, value, pinned, ends, metadata)
        once = self._once(key, "update", fact_id, *told)
        if (before := self._done_before(once)) is not None:
            return self.fact(f"f{before}-000" if replaced else fact_id)
        labels = None
        if metadata is not None:
            labels = self._cleaned_labels(self._inbox().metadata(metadata, "metadata"), "fact")
        expires = None if ends is None else self._inbox().expiry(ends, "expires_at")

        def decided(no: int, seq: int) -> Sequence[Decision]:
            fact = self.fact(fact_id)
            made: list[Decision] = []
            if text is not None:
                made += self._corrected(fact, text, value, no, seq)
                if labels is not None:
                    made = [replace(one, metadata=labels) if isinstance(one, FactAdded) else one for one in made]
                kept = next(one.expires_at for one in made if isinstance(one, FactAdded))
                fact = replace(fact, id=FactId(f"f{no}-000"), expires_at=kept)
            elif labels is not None:
                made += labelling(fact, labels, no=no, seq=seq)
                fact = replace(fact, id=FactId(f"f{no}-000"))
            if pinned is not None:
                made += pinning([fact], pinned, self.persona(), self._parts.settings)
            if expires is not None and fact.expires_at != expires:
                made.append(FactExpires(fact_id=fact.id, at=expires))
            return list(dict.fromkeys(made))

        no = self._changing(Cause.CORRECTION, decided, once=once)
        self._parts.added()
        return self.fact(f"f{no}-000" if replaced else fact_id)

    def _unchangeable(self, kind: str, item_id: str) -> Unchangeable:
        self.get(item_id)
        if kind in ("page", "utterance"):
            page_id = item_id if kind == "page" else self.utterance(item_id).page_id
            return Unchangeable(
                f"what was said cannot be changed, its metadata neither: forget the page {page_id}, or correct a fact "
                "that rests on it"
            )
        if kind == "document":
            return Unchangeable(
                "a document, its metadata too, is changed by adding it again with its source: `add_document`"
            )
        return Unchangeable(f"a {kind} follows from its pages and cannot be changed; correct facts, or forget pages")

    def _number(self, kind: str, after: str | int | None) -> int | None:
        """The number of a page, or the seq of an utterance."""
        if after is None or isinstance(after, int):
            return after
        return self.page(after).no if kind == "page" else self.utterance(after).seq

    def _in_steps(
        self, kind: str, after: int | None, newest: bool, within: Within | None
    ) -> Iterator[Page | Utterance]:
        """Pages or utterances from a number on, read in steps. Numbers that were forgotten leave gaps."""
        state = self.state()
        last = 0 if state is None else state.pages if kind == "page" else state.seq
        if newest:
            high = last if after is None else min(after - 1, last)
            while high > 0:
                yield from reversed(self._between(kind, max(0, high - _STEP), high, within))
                high -= _STEP
        else:
            low = max(after or 0, 0)
            while low < last:
                yield from self._between(kind, low, low + _STEP, within)
                low += _STEP

    def _between(self, kind: str, low: int, high: int, within: Within | None) -> Sequence[Page | Utterance]:
        """Those numbered above `low`, up to `high`."""
        if kind == "page":
            short = self._parts.settings.short_term_pages
            found = self._store.reads.pages(self.owner.id, short, after=low, before=high + 1, within=within)
            return self._hidden().shown_pages(found)
        hidden = self._hidden().pages
        said = self._store.log.utterances(self.owner.id, low, high - low, within=within)
        return [one for one in said if one.seq <= high and one.page_id not in hidden]


def kind_of(item_id: str) -> str:
    """The kind of an item, by its id. Raises NotFound."""
    for kind in KINDS:
        if item_id.startswith(kind[0]):
            return kind
    told = ", ".join(f"of {kind}s with {kind[0]}" for kind in KINDS)
    raise NotFound(f"no memory {item_id!r}: ids begin with the first letter of the kind: {told}")


def _one_of(known: Sequence[str], given: str, where: str) -> str:
    if given not in known:
        raise InputError(f"{where} = {given!r} is not allowed; one of: {', '.join(known)}")
    return given
