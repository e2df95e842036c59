"""The reading methods of the client: the requests of each, and how it reads the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from embermem.client import arguments, exchange
from embermem.client.exchange import Steps, read
from embermem.client.handles import call
from embermem.client.requests import OwnerRequests, fact_of
from embermem.core import messages
from embermem.core.changes import Change
from embermem.core.config import Mode
from embermem.core.errors import InputError, NotFound
from embermem.core.messages import At
from embermem.core.types import (
    About,
    Chain,
    Context,
    Document,
    Edit,
    Fact,
    Hit,
    OwnerStats,
    Page,
    Person,
    Persona,
    ProfileField,
    Scope,
    Segment,
    Tier,
    Trait,
    Utterance,
)
from embermem.wire import answers, memories
from embermem.wire.mapping import from_record


class ReadCalls(OwnerRequests):
    """The methods that recall, list and read one owner's memory."""

    @call
    def recall(
        self,
        query: str,
        *,
        at: At = None,
        budget: int | None = None,
        thread: str | None = None,
        scope: Scope | None = None,
        min_score: float = 0.0,
        mode: Mode = "ask",
        as_of: At = None,
        valid_at: At = None,
    ) -> Steps[Context]:
        """The little that matters for a query, as text within `budget` tokens, with its sources.

        `scope` limits what may be found and told. Utterances with a relevance below `min_score` (0 to 1) are left out.
        In `mode` "inject" a message that needs no memory gets an empty context. `as_of`: by what was known then.
        `valid_at`: by what was true then. The server counts what it packed as visited,
        unless it was asked of another time. `hits` are those that were packed; the persona is not told: ask `persona()`
        for it.
        """
        if budget is not None:
            messages.whole(budget, "budget", 1)
        times = {"at": at, "as_of": as_of, "valid_at": valid_at}
        asked = {"query": query, "min_score": messages.probability(min_score, "min_score"), "run_id": thread}
        asked["scope"] = arguments.scope_fields(scope)
        body = {**asked, "budget": budget, "mode": mode, "explain": True, **times, **self._bound}
        return memories.context_of(read((yield self._post("/v1/context", body)), memories.ContextAnswer), query)

    @call
    def overview(
        self,
        budget: int = 600,
        *,
        person: str | None = None,
        since: At = None,
        until: At = None,
        scope: Scope | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> Steps[Context]:
        """Who the user and the others are and what happened to them, by time, as text within `budget` tokens.

        `person`: of one person only; `since` and `until`: only of these days; `scope` limits what may be told. `as_of`
        and `valid_at` as in `recall`. Raises NotFound for an unknown person.
        """
        asked = {"budget": str(messages.whole(budget, "budget", 1)), **arguments.moment(as_of, valid_at)}
        times = (("since", since), ("until", until))
        asked |= {name: told for name, time in times if (told := arguments.time_text(time, name)) is not None}
        asked |= {} if person is None else {"person": messages.name(person, "person")}
        asked |= {} if (seen := arguments.scope_text(scope)) is None else {"scope": seen}
        answer = yield self._get("/v1/overview", asked, bound=True)
        return memories.context_of(read(answer, memories.ContextAnswer), "")

    @call
    def search(
        self,
        query: str,
        k: int = 10,
        *,
        at: At = None,
        scope: Scope | None = None,
        min_score: float = 0.0,
        as_of: At = None,
        valid_at: At = None,
    ) -> Steps[tuple[Hit, ...]]:
        """The best `k` utterances in `scope` for a query, of those with a relevance of `min_score` or more; by what was
        known `as_of` a time, or true at `valid_at`. `at` is the time of the query. Writes nothing."""
        least = messages.probability(min_score, "min_score")
        asked = {"query": query, "top_k": messages.whole(k, "k", 1), "min_score": least}
        body = {**asked, "scope": arguments.scope_fields(scope), "at": at, "as_of": as_of, "valid_at": valid_at}
        body |= self._bound
        found = read((yield self._post("/v1/search", body, repeatable=True)), memories.Found)
        return memories.hits_of(found.results)

    @call
    def pages(
        self,
        tier: Tier | str | None = None,
        *,
        limit: int | None = None,
        thread: str | None = None,
        scope: Scope | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> Steps[tuple[Page, ...]]:
        """Pages in order of arrival; of one tier; of one thread; the newest `limit`. At a time: as they stood `as_of`
        it; what was said by `valid_at`."""
        asked = {"tier": tier, "run_id": thread, "scope": arguments.scope_text(scope)}
        asked |= arguments.moment(as_of, valid_at)
        found = yield from self._list("/v1/pages", asked, answers.Pages, limit)
        return tuple(memories.page_of(one) for one in reversed(found))

    @call
    def page(self, page_id: str, *, as_of: At = None, valid_at: At = None) -> Steps[Page]:
        """Return one page, also as of a time. Raises NotFound."""
        answer = yield self._get(f"/v1/pages/{arguments.id_path(page_id, 'page')}", arguments.moment(as_of, valid_at))
        return memories.page_of(read(answer, memories.PageItem))

    @call
    def get(self, item_id: str, *, as_of: At = None) -> Steps[Item]:
        """Return a page, utterance, fact, segment or chain by its id, also as of a time; or a document. Raises
        NotFound."""
        path, then = f"/v1/memories/{arguments.id_path(item_id, 'memory')}", arguments.moment(as_of, None)
        if item_id.startswith("s"):
            return from_record(Segment, (yield from self._segment(item_id, then)))
        return _item_of((yield self._get(path, then)))

    @call
    def items(
        self,
        kind: str = "page",
        *,
        limit: int | None = None,
        after: str | int | None = None,
        order: str = "newest",
        scope: Scope | None = None,
    ) -> Steps[tuple[Item, ...]]:
        """The items of one kind ("page", "utterance", "fact", "segment", "chain" or "document"), the newest or
        the oldest first: the first `limit` after an item of that list, named by its id (a page or utterance also by its
        number), or all of them; those in `scope` (documents take none). Raises
        InputError, and NotFound for an unknown `after`."""
        asked = {"kind": kind, "order": order, "after": None if after is None else str(after)}
        asked["scope"] = arguments.scope_text(scope)
        found = yield from self._list("/v1/memories", asked, answers.Part, limit)
        if kind != "segment":
            return tuple(_item_of(exchange.encoded(one)) for one in found)
        held: dict[str, Segment] = {one.id: one for one in (yield from self.segments())}
        return tuple(held[one["id"]] for one in found if one["id"] in held)

    @call
    def utterance(self, utterance_id: str) -> Steps[Utterance]:
        """Return one utterance. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{arguments.id_path(utterance_id, 'utterance')}")
        return from_record(Utterance, read(answer, memories.UtteranceMemory))

    @call
    def segments(
        self, archived: bool = False, *, scope: Scope | None = None, as_of: At = None, valid_at: At = None
    ) -> Steps[tuple[Segment, ...]]:
        """The segments of mid-term memory, or of the archive, oldest first, all of which is in `scope`; as they stood
        at a time."""
        asked = {"archived": "true" if archived else None, "scope": arguments.scope_text(scope)}
        asked |= arguments.moment(as_of, valid_at)
        found = yield from self._list("/v1/segments", asked, answers.Segments)
        return tuple(from_record(Segment, one) for one in reversed(found))

    @call
    def segment(self, segment_id: str, *, as_of: At = None, valid_at: At = None) -> Steps[Segment]:
        """Return one segment, of mid-term memory or of the archive, also as of a time. Raises NotFound."""
        return from_record(Segment, (yield from self._segment(segment_id, arguments.moment(as_of, valid_at))))

    @call
    def heat(self, segment: Segment, *, as_of: At = None) -> Steps[float]:
        """Return the segment's heat (paper, Eq. 3), now or as of a time. Raises InputError for what is no segment."""
        if not isinstance(segment, Segment):
            raise InputError(f"segment is {type(segment).__name__}; heat() takes a Segment, as `segments` gives them")
        return (yield from self._segment(segment.id, arguments.moment(as_of, None))).heat

    @call
    def persona(self, *, as_of: At = None, valid_at: At = None) -> Steps[Persona]:
        """Profiles, traits and current facts; as they were known `as_of` a time, or were true `valid_at` one. Read in
        parts: what changes between them may show. `relations` is empty: `people` returns who is who."""
        profiles = yield from self._profiles(as_of, valid_at)
        traits = yield from self.traits(as_of=as_of, valid_at=valid_at)
        facts = yield from self.facts(as_of=as_of, valid_at=valid_at)
        return Persona(
            profile=memories.lines_of(profiles.user, About.USER),
            agent_profile=memories.lines_of(profiles.agent, About.AGENT),
            traits=traits,
            facts=tuple(fact for fact in facts if fact.about is About.USER),
            agent_facts=tuple(fact for fact in facts if fact.about is About.AGENT),
        )

    @call
    def people(self, *, as_of: At = None) -> Steps[tuple[Person, ...]]:
        """Return everybody whom this memory knows, the user and the agent first: speakers, and those mentioned by name
        or as somebody's relative, each with their names and the number of current facts; as known `as_of` a time."""
        found = read((yield self._get("/v1/people", arguments.moment(as_of, None))), answers.People)
        return tuple(from_record(Person, one) for one in found.results)

    @call
    def facts(
        self,
        about: About | str | None = None,
        archived: bool = False,
        *,
        person: str | None = None,
        scope: Scope | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> Steps[tuple[Fact, ...]]:
        """Everybody's facts, oldest first, or one `person`'s, by a name or kin word ("Ana", "Bob's sister", "user"); or
        what the cap of 100 moved to the archive. At a time: what was known `as_of` it, or was true then by what is
        known now. Raises NotFound for an unknown person."""
        asked = {"about": about, "person": person, "state": "archived" if archived else "current"}
        asked["scope"] = arguments.scope_text(scope)
        return (yield from self._facts({**asked, **arguments.moment(as_of, valid_at)}))

    @call
    def instructions(
        self, *, scope: Scope | None = None, as_of: At = None, valid_at: At = None
    ) -> Steps[tuple[Fact, ...]]:
        """Return the user's standing instructions that hold, oldest first; as known `as_of` a time, or in force at
        `valid_at`. Empty while it is undecided who the user is."""
        seen = {} if (told := arguments.scope_text(scope)) is None else {"scope": told}
        asked = self._get("/v1/instructions", {**seen, **arguments.moment(as_of, valid_at)})
        found = read((yield asked), answers.Instructions)
        return tuple(from_record(Fact, one) for one in found.results)

    @call
    def documents(self, *, source: str | None = None, under: str | None = None) -> Steps[tuple[Document, ...]]:
        """All documents, the first stored first; the one of a `source`, or those whose source begins with the text
        `under`."""
        told = {name: one for name, one in (("source", source), ("under", under or None)) if one is not None}
        return read((yield self._get("/v1/documents", told)), answers.Documents).results

    @call
    def original(self, item_id: str) -> Steps[Any]:
        """What was handed in as the `original` of a message or document, by the id of its utterance or document. Raises
        NotFound if there is none."""
        found = yield from self.originals([item_id])
        if item_id not in found:
            raise arguments.none_such(item_id, "original of")
        return found[item_id]

    @call
    def originals(
        self, ids: Sequence[str] | None = None, *, thread: str | None = None, last: int | None = None
    ) -> Steps[Mapping[str, Any]]:
        """Originals by the ids of their utterances and documents, in the order in which these were stored: all, those
        of some `ids` (at most 1,000), of the messages of a `thread`, or the `last` so many of them. Raises
        InputError."""
        told = None if ids is None else arguments.several(ids, "ids")
        answer = yield self._post("/v1/originals", {"ids": told, "run_id": thread, "last": last}, repeatable=True)
        return {one.id: one.original for one in read(answer, answers.Originals).results}

    @call
    def document(self, document_id: str) -> Steps[Document]:
        """One document. Raises NotFound."""
        return (yield from self._document(document_id)).document

    @call
    def passages(self, document_id: str) -> Steps[tuple[Utterance, ...]]:
        """The passages of a document, in the order of its text. Raises NotFound."""
        found = yield from self._document(document_id)
        return tuple(from_record(Utterance, one) for one in found.passages)

    def _document(self, document_id: str) -> Steps[answers.DocumentWhole]:
        path = f"/v1/documents/{arguments.id_path(document_id, 'document')}"
        return read((yield self._get(path)), answers.DocumentWhole)

    @call
    def past_facts(
        self, *, person: str | None = None, scope: Scope | None = None, as_of: At = None
    ) -> Steps[tuple[Fact, ...]]:
        """Return facts that have ended, superseded or retired, with the time until which they were true, everybody's or
        one `person`'s; also as of a time."""
        asked = {"person": person, "state": "past", "scope": arguments.scope_text(scope)}
        return (yield from self._facts({**asked, **arguments.moment(as_of, None)}))

    @call
    def fact(self, fact_id: str, *, as_of: At = None) -> Steps[Fact]:
        """One fact, in whatever state; as it stood at a time. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{arguments.id_path(fact_id, 'fact')}", arguments.moment(as_of, None))
        return fact_of(answer)

    @call
    def traits(self, *, as_of: At = None, valid_at: At = None) -> Steps[tuple[Trait, ...]]:
        """The user's traits, out of 90; age group and gender come from the profile. Those known `as_of` a time, or true
        `valid_at` one."""
        found = read((yield self._get("/v1/traits", arguments.moment(as_of, valid_at))), answers.Traits)
        return tuple(from_record(Trait, one) for one in found.results)

    @call
    def profile(
        self, person: str | None = None, *, as_of: At = None, valid_at: At = None
    ) -> Steps[tuple[ProfileField, ...]]:
        """Return the user's profile, or that of another `person`, from the facts about them; as known `as_of` a time,
        or true at `valid_at`. Raises NotFound for an unknown person."""
        if person is None:
            return memories.lines_of((yield from self._profiles(as_of, valid_at)).user, About.USER)
        answer = yield self._get("/v1/profile", {"person": person, **arguments.moment(as_of, valid_at)})
        return memories.lines_of(read(answer, memories.PersonProfile).person, About.USER)

    @call
    def agent_profile(self, *, as_of: At = None, valid_at: At = None) -> Steps[tuple[ProfileField, ...]]:
        """Return the agent's profile; as `profile`."""
        return memories.lines_of((yield from self._profiles(as_of, valid_at)).agent, About.AGENT)

    @call
    def changes(
        self, since: int | At = 0, *, limit: int | None = None, wait_s: float = 0.0
    ) -> Steps[tuple[Change, ...]]:
        """The log of what was derived, and why: the next `limit` changes after `since`, a number or a time, or all of
        them. If there are none, the server waits for up to `wait_s` seconds (60) until some are made; the client's time
        limit must be longer."""
        numbered = isinstance(since, int) and not isinstance(since, bool)
        asked = {"since": str(since)} if numbered else {"recorded_after": arguments.time_text(since, "since")}
        if not isinstance(wait_s, (int, float)):
            raise InputError(f"wait_s is {type(wait_s).__name__}; give a number of seconds")
        asked |= {"wait_s": f"{wait_s:g}"} if wait_s else {}
        return _changes((yield from self._list("/v1/changes", asked, answers.Changes, limit)))

    @call
    def change(self, no: int) -> Steps[Change]:
        """Return one change by its number. Raises NotFound."""
        found = yield from self.changes(messages.whole(no, "no", 1) - 1, limit=1)
        if not found or found[0].no != no:
            raise NotFound(f"there is no change {no}")
        return found[0]

    @call
    def history(self, item_id: str) -> Steps[tuple[Change, ...]]:
        """How a fact, page, segment or chain came to be what it is: the changes that name it. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{arguments.id_path(item_id, 'memory')}/history")
        return _changes(read(answer, answers.History).results)

    @call
    def edits(self, item_id: str) -> Steps[tuple[Edit, ...]]:
        """What changes did to a page, fact, segment or chain: each field from what to what, when, why and by
        whom. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{arguments.id_path(item_id, 'memory')}/history")
        return read(answer, answers.History).edits

    @call
    def stats(self) -> Steps[OwnerStats]:
        """Return counts of this memory."""
        return read((yield self._get("/v1/stats")), OwnerStats)

    def _segment(self, segment_id: str, then: Mapping[str, str]) -> Steps[memories.SegmentItem]:
        asked = self._get(f"/v1/segments/{arguments.id_path(segment_id, 'segment')}", then)
        return read((yield asked), memories.SegmentItem)

    def _profiles(self, as_of: At, valid_at: At) -> Steps[memories.Profile]:
        return read((yield self._get("/v1/profile", arguments.moment(as_of, valid_at))), memories.Profile)

    def _facts(self, asked: Mapping[str, str | None]) -> Steps[tuple[Fact, ...]]:
        found = yield from self._list("/v1/facts", asked, answers.Facts)
        return tuple(from_record(Fact, one) for one in reversed(found))


Item = Page | Utterance | Fact | Segment | Chain | Document


def _item_of(answer: bytes) -> Item:
    """The item in an answer, but for a segment, of which `/v1/segments` tells more."""
    kind = read(answer, _Kind).kind
    match kind:
        case "page":
            return memories.page_of(read(answer, memories.PageItem))
        case "utterance":
            return from_record(Utterance, read(answer, memories.UtteranceMemory))
        case "fact":
            return fact_of(answer)
        case "chain":
            return from_record(Chain, read(answer, memories.ChainMemory))
        case "document":
            return from_record(Document, read(answer, memories.DocumentMemory))
    raise exchange.unreadable(ValueError(f"an item of the kind {kind!r}"))


@dataclass(frozen=True)
class _Kind:
    """What an item is."""

    kind: str


def _changes(items: Sequence[memories.ChangeItem]) -> tuple[Change, ...]:
    """Raises ServerError for a decision of a kind that this version does not know."""
    try:
        return tuple(memories.change_of(one) for one in items)
    except ValueError as error:
        raise exchange.unreadable(error) from error
