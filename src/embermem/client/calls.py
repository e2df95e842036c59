"""The methods of the client, without a connection: what each asks of the HTTP API, and what it makes of the answers.

Each method is a generator (`wire.Steps`) that both senders run, so that the sync and the async client are one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from embermem.client import decode, wire
from embermem.client.wire import Pause, Request, Steps
from embermem.core import ids
from embermem.core.changes import Change
from embermem.core.errors import InputError, KeyReused, NotFound
from embermem.core.types import (
    About,
    Added,
    Conflict,
    Context,
    Fact,
    Faded,
    Forgotten,
    Hit,
    Link,
    Owner,
    OwnerStats,
    Page,
    PageId,
    Persona,
    ProfileField,
    Retention,
    Segment,
    Tier,
    Trait,
    Utterance,
    Verified,
    Why,
)

At = datetime | date | str | None
"""A time as callers give it: a datetime, a date, or ISO 8601; without a zone it takes the owner's."""
Expiry = datetime | date | str | timedelta | None
"""When something ends: a time as above, or how long from now, by the clock of this machine."""

MOST_AT_ONCE = 200
"""Items asked for at once where a list comes in parts: as many as the API gives."""
FIRST_LOOK_S = 0.05
"""The pause before the server is asked how far `settle` has come; doubles with each."""
LONGEST_LOOK_S = 2.0
"""No longer than this after it is done, `settle` returns."""
_IDS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")

_Item = TypeVar("_Item")
_Result = TypeVar("_Result", covariant=True)


class _Part(Protocol[_Result]):
    """A part of a list."""

    @property
    def results(self) -> Sequence[_Result]: ...
    @property
    def next_cursor(self) -> str | None: ...


def owners() -> Steps[tuple[Owner, ...]]:
    """Everyone with a memory on the server whom the key may reach."""
    found = yield from _listed("/v1/owners", {}, decode.Owners)
    return tuple(owner_of(one.user_id, one.agent_id) for one in found)


class OwnerCalls:
    """One owner's memory behind the HTTP API. `new_key` makes a key that nobody else has."""

    def __init__(self, owner: Owner, new_key: Callable[[], str]) -> None:
        self._owner = {"user_id": owner.user, "agent_id": owner.agent}
        self._new_key = new_key

    # --------------------------------------------------------------------------------------------------------- in

    def add(
        self,
        query: str | None,
        response: str | None = None,
        *,
        at: At = None,
        thread: str = "main",
        key: str | None = None,
        expires_at: Expiry = None,
    ) -> Steps[PageId]:
        """Add an exchange; the id of its page. When it returns, the page is on the server's disk.

        It is sent with a key, yours or one made here, so an answer that is lost never doubles it. A response alone
        joins the newest page of its thread. `expires_at` is when the page is forgotten by itself. Raises InputError, of
        which KeyReused for a key of other content, or of what was forgotten.
        """
        sides = (("user", query), ("assistant", response))
        messages = [{"role": role, "content": text} for role, text in sides if text is not None]
        if not messages:
            raise InputError("query and response are both None: there is nothing to add")
        added = yield from self.add_messages(
            messages, thread=thread, at=at, key=key, fresh=query is not None, expires_at=expires_at
        )
        if not added.page_ids and key is None:
            raise InputError("these words, said then, were forgotten; they are not stored again")
        if not added.page_ids:
            raise KeyReused(f"what was stored under the key {key!r} was forgotten; it is not stored again")
        return added.page_ids[-1]

    def add_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thread: str = "main",
        at: At = None,
        key: str | None = None,
        fresh: bool = False,
        expires_at: Expiry = None,
    ) -> Steps[Added]:
        """Add messages in OpenAI's format, in one transaction. Each may carry a `name` and an `at` of its own.

        With `fresh`, the first that the user says begins a page of its own, as `add` does. They are sent with a key,
        yours or one made here. `redactions` of the answer say what the server took out before. Raises InputError.
        """
        headers = {"Idempotency-Key": self._new_key() if key is None else _header(key)}
        if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
            raise InputError("messages must be a list of mappings such as {'role': 'user', 'content': 'Hello'}")
        times = {"at": at, "expires_at": _end(expires_at)}
        body = wire.encoded({"messages": messages, "run_id": thread, "fresh": bool(fresh), **times, **self._owner})
        answer = yield Request(method="POST", path="/v1/memories", headers=headers, body=body, repeatable=True)
        added = decode.read(answer, decode.Added)
        return Added(
            page_ids=added.page_ids, utterance_ids=tuple(one.id for one in added.results), redactions=added.redactions
        )

    def settle(self, progress: Callable[[int, int], None] | None = None) -> Steps[int]:
        """Understand what is pending, now; the number of pages placed into segments.

        The server works; it is asked from time to time how far it has come, and `progress` is told.
        """
        answer = yield self._post("/v1/settle", {}, repeatable=True)
        pause = FIRST_LOOK_S
        while (operation := decode.read(answer, decode.Operation)).status == "running":
            if progress is not None and operation.total is not None:
                progress(operation.done, operation.total)
            yield Pause(seconds=pause)
            pause = min(2 * pause, LONGEST_LOOK_S)
            answer = yield self._get(f"/v1/operations/{_path(operation.id, 'operation')}")
        if operation.error is not None:
            raise wire.failure(operation.error, status=operation.error.status, wait_s=None, now=datetime.now(UTC))
        return (operation.result or {}).get("placed", operation.done)

    # -------------------------------------------------------------------------------------------------------- out

    def recall(
        self,
        query: str,
        *,
        at: At = None,
        budget: int | None = None,
        thread: str | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> Steps[Context]:
        """The little that matters for a query, as text within `budget` tokens, with its sources.

        `as_of`: by what was known then. `valid_at`: by what was true then. The server counts what it packed as visited,
        unless it was asked of another time. `hits` are those that were packed; the persona is not told: ask `persona()`
        for it.
        """
        if budget is not None:
            _whole(budget, "budget")
        times = {"at": at, "as_of": as_of, "valid_at": valid_at}
        body = {"query": query, "budget": budget, "run_id": thread, "explain": True, **times}
        return decode.read((yield self._post("/v1/context", body)), decode.ContextAnswer).made(query)

    def search(self, query: str, k: int = 10, *, as_of: At = None, valid_at: At = None) -> Steps[tuple[Hit, ...]]:
        """The best `k` utterances for a query; by what was known `as_of` a time, or true at `valid_at`. Writes
        nothing."""
        body = {"query": query, "top_k": _whole(k, "k"), "as_of": as_of, "valid_at": valid_at}
        return decode.read((yield self._post("/v1/search", body, repeatable=True)), decode.Found).made()

    def pages(
        self,
        tier: Tier | str | None = None,
        *,
        limit: int | None = None,
        thread: str | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> Steps[tuple[Page, ...]]:
        """Pages in order of arrival; of one tier; of one thread; the newest `limit`. At a time: as they stood `as_of`
        it; what was said by `valid_at`."""
        asked = {"tier": tier, "run_id": thread, **_then(as_of, valid_at)}
        found = yield from self._list("/v1/pages", asked, decode.Pages, limit)
        return tuple(one.made() for one in reversed(found))

    def page(self, page_id: str, *, as_of: At = None, valid_at: At = None) -> Steps[Page]:
        """One page; as it stood at a time. Raises NotFound."""
        answer = yield self._get(f"/v1/pages/{_path(page_id, 'page')}", _then(as_of, valid_at))
        return decode.read(answer, decode.PageItem).made()

    def utterance(self, utterance_id: str) -> Steps[Utterance]:
        """One utterance. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{_path(utterance_id, 'utterance')}")
        return decode.read(answer, decode.UtteranceItem).made()

    def segments(self, archived: bool = False, *, as_of: At = None, valid_at: At = None) -> Steps[tuple[Segment, ...]]:
        """The segments of mid-term memory, or of the archive, oldest first; as they stood at a time, without visits."""
        asked = {"archived": "true" if archived else None, **_then(as_of, valid_at)}
        found = yield from self._list("/v1/segments", asked, decode.Segments)
        return tuple(one.made() for one in reversed(found))

    def segment(self, segment_id: str, *, as_of: At = None, valid_at: At = None) -> Steps[Segment]:
        """One segment, of mid-term memory or of the archive; as it stood at a time. Raises NotFound."""
        return (yield from self._segment(segment_id, _then(as_of, valid_at))).made()

    def heat(self, segment: Segment) -> Steps[float]:
        """The segment's heat now (paper, Eq. 3)."""
        return (yield from self._segment(segment.id, {})).heat

    def persona(self, *, as_of: At = None, valid_at: At = None) -> Steps[Persona]:
        """Profiles, traits and current facts; as they were known `as_of` a time, or were true `valid_at` one. Read in
        parts: what changes between them may show."""
        profiles = yield from self._profiles(as_of, valid_at)
        traits = yield from self.traits(as_of=as_of, valid_at=valid_at)
        facts = yield from self.facts(as_of=as_of, valid_at=valid_at)
        return Persona(
            profile=profiles.made(About.USER),
            agent_profile=profiles.made(About.AGENT),
            traits=traits,
            facts=tuple(fact for fact in facts if fact.about is About.USER),
            agent_facts=tuple(fact for fact in facts if fact.about is About.AGENT),
        )

    def facts(
        self, about: About | str | None = None, archived: bool = False, *, as_of: At = None, valid_at: At = None
    ) -> Steps[tuple[Fact, ...]]:
        """What is known of the user and the agent, oldest first; or what the cap of 100 moved to the archive. At a
        time: what was known `as_of` it, or was true then by what is known now."""
        return (yield from self._facts(about, "archived" if archived else "current", _then(as_of, valid_at)))

    def past_facts(self, *, as_of: At = None) -> Steps[tuple[Fact, ...]]:
        """Facts that no longer hold: superseded or retired, with the time until which they were true; or no longer held
        at a time."""
        return (yield from self._facts(None, "past", _then(as_of, None)))

    def fact(self, fact_id: str, *, as_of: At = None) -> Steps[Fact]:
        """One fact, in whatever state; as it stood at a time. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{_path(fact_id, 'fact')}", _then(as_of, None))
        return decode.read(answer, decode.FactItem).made()

    def traits(self, *, as_of: At = None, valid_at: At = None) -> Steps[tuple[Trait, ...]]:
        """The user's traits, out of 90; age group and gender come from the profile. Those known `as_of` a time, or true
        `valid_at` one."""
        return decode.read((yield self._get("/v1/traits", _then(as_of, valid_at))), decode.Traits).made()

    def profile(self, *, as_of: At = None, valid_at: At = None) -> Steps[tuple[ProfileField, ...]]:
        """The user's profile; as it was known `as_of` a time, or was true `valid_at` one."""
        return (yield from self._profiles(as_of, valid_at)).made(About.USER)

    def agent_profile(self, *, as_of: At = None, valid_at: At = None) -> Steps[tuple[ProfileField, ...]]:
        """The agent's profile; as `profile`."""
        return (yield from self._profiles(as_of, valid_at)).made(About.AGENT)

    def set_profile(self, /, **fields: str | int | None) -> Steps[None]:
        """Set fields of the user's profile, such as name or birth_year; None takes one away. Raises InputError."""
        yield self._profiles_set(fields, None)

    def set_agent_profile(self, /, *description: str | None, **fields: str | int | None) -> Steps[None]:
        """Set the agent's profile: a description of its role, or fields of any name; None takes one away."""
        if len(description) > 1:
            raise InputError("give one description of the agent, and the rest as fields")
        yield self._profiles_set(None, {**dict(zip(("description",), description, strict=False)), **fields})

    def set_profiles(
        self,
        *,
        user: Mapping[str, str | int | None] | None = None,
        agent: Mapping[str, str | int | None] | None = None,
    ) -> Steps[None]:
        """Set fields of both profiles in one change: all of them or, where one is refused, none. Raises InputError."""
        yield self._profiles_set(user, agent)

    def changes(self, since: int | At = 0, *, limit: int | None = None) -> Steps[tuple[Change, ...]]:
        """The log of what was derived, and why: the next `limit` changes after `since`, a number or a time, or all of
        them."""
        numbered = isinstance(since, int) and not isinstance(since, bool)
        asked = {"since": str(since)} if numbered else {"recorded_after": _time(since, "since")}
        found = yield from self._list("/v1/changes", asked, decode.Changes, limit)
        return tuple(one.made() for one in found)

    def change(self, no: int) -> Steps[Change]:
        """One change by its number. Raises NotFound."""
        found = yield from self.changes(_whole(no, "no") - 1, limit=1)
        if not found or found[0].no != no:
            raise NotFound(f"there is no change {no}")
        return found[0]

    def history(self, item_id: str) -> Steps[tuple[Change, ...]]:
        """How a fact, page, segment or chain came to be what it is: the changes that name it. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{_path(item_id, 'memory')}/history")
        return tuple(one.made() for one in decode.read(answer, decode.History).results)

    def stats(self) -> Steps[OwnerStats]:
        """Counts of this memory."""
        return decode.read((yield self._get("/v1/stats")), OwnerStats)

    # ------------------------------------------------------------------------------------- corrected and forgotten

    def correct(self, fact_id: str, text: str, *, value: str | None = None) -> Steps[Fact]:
        """A fact was wrong: the new one, which takes its place. Raises NotFound, InputError."""
        path = f"/v1/facts/{_path(fact_id, 'fact')}/correct"
        return decode.read((yield self._post(path, {"text": text, "value": value})), decode.FactItem).made()

    def pin(self, fact_id: str, pinned: bool = True) -> Steps[Fact]:
        """Keep a fact from the cap of 100, or no longer; the fact as it is then. Raises NotFound, InputError."""
        path = f"/v1/facts/{_path(fact_id, 'fact')}/pin"
        return decode.read((yield self._post(path, {"pinned": bool(pinned)})), decode.FactItem).made()

    def retire(self, fact_id: str) -> Steps[Fact]:
        """A fact is true no longer, from now on. Raises NotFound, InputError."""
        path = f"/v1/facts/{_path(fact_id, 'fact')}/retire"
        return decode.read((yield self._post(path, {})), decode.FactItem).made()

    def forget(
        self,
        *,
        page: str | None = None,
        fact: str | None = None,
        segment: str | None = None,
        thread: str | None = None,
        before: At = None,
        matching: str | None = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> Steps[Forgotten]:
        """Take a page, a fact, or many pages out of the server's store, for good: all of a segment or a thread, all
        that were wholly said `before` a time, or all that hold every word of a query (`matching`), and with a `limit`
        also so many of those that search finds for it. The answer says what went, and is a receipt for `verify`.

        With `dry_run` nothing changes: the answer says what would go. Raises InputError unless exactly one is named,
        NotFound for none such.
        """
        items = {"page": page, "fact": fact, "segment": segment}
        many = {"run_id": thread, "before": _time(before, "before"), "matching": matching}
        named = [(kind, one) for kind, one in {**items, **many}.items() if one is not None]
        if len(named) != 1:
            raise InputError("name exactly one of page, fact, segment, thread, before and matching")
        ((kind, one),) = named
        if kind in many:
            found = {} if limit is None else {"limit": str(_whole(limit, "limit"))}
            asked = self._delete("/v1/memories", {kind: one, **found, "confirm": "true"}, dry_run)
        else:
            if not str(one).startswith(kind[0]):  # the API tells them apart by their ids alone
                raise _none_such(one, kind)
            asked = self._delete(f"/v1/memories/{_path(one, kind)}", {}, dry_run)
        return decode.read((yield asked), Forgotten)

    def verify(self, receipt: Forgotten | str) -> Steps[Verified]:
        """Whether what a receipt says is gone is gone from the server's store. The receipt is what `forget` and
        `forget_owner` gave, or its JSON. Raises InputError for one of a dry run, and for what is none."""
        try:
            told = Forgotten.from_json(receipt) if isinstance(receipt, str) else receipt
        except ValueError as error:
            raise InputError(str(error)) from error
        return decode.read((yield self._post("/v1/verify", {"receipt": told}, repeatable=True)), Verified)

    def forget_owner(self, *, dry_run: bool = False) -> Steps[Forgotten]:
        """Take all of this memory away, for good; what went. With `dry_run`, say what would go."""
        return decode.read((yield self._delete("/v1/memories", {"confirm": "true"}, dry_run)), Forgotten)

    def undo(self, change_no: int) -> Steps[int]:
        """Take back what a change taught the persona; the number of the change that does so.

        Raises NotFound for no such change, InputError where nothing can be taken back.
        """
        answer = yield self._post(f"/v1/changes/{_path(str(change_no), 'change')}/undo", {})
        return decode.read(answer, decode.Undoing).change_no

    # ------------------------------------------------------------------------- where it comes from, and when it ends

    def why(self, item_id: str) -> Steps[Why]:
        """Why something is remembered: the words said that it rests on, the changes that made it, what it replaced and
        what replaced it. `item_id` is that of a fact, segment, chain or link, a trait's dimension, or a profile line
        such as "user.home". Raises NotFound."""
        return decode.read((yield self._get(f"/v1/why/{_item(item_id)}")), Why)

    def conflicts(self, as_of: At = None) -> Steps[tuple[Conflict, ...]]:
        """Facts that are both held and cannot both be so, in the order in which that was found; those of a moment."""
        return decode.read((yield self._get("/v1/conflicts", _then(as_of, None))), decode.Conflicts).results

    def settle_conflict(self, fact_id: str, other_id: str) -> Steps[None]:
        """Both facts of a conflict may stand: they are not marked as one again. Raises NotFound for no such facts,
        InputError where they are not in conflict."""
        both = {"fact_id": _path(fact_id, "fact"), "other_id": _path(other_id, "fact")}
        yield self._post("/v1/conflicts/settle", both)

    def learn(self, facts: Sequence[Mapping[str, Any]]) -> Steps[tuple[Fact, ...]]:
        """Learn facts that the caller brings himself, in one change; what each became, in their order.

        Each has a `text`, and may have a `subject`, an `attribute`, a `value`, `about`, `valid_from` and `expires_at`.
        Raises InputError that names the place, and then learns none of them.
        """
        if isinstance(facts, (str, bytes, Mapping)) or not isinstance(facts, Sequence):
            raise InputError(
                "facts must be a list of mappings such as {'text': 'lives in Lyon', 'attribute': 'lives_in'}"
            )
        answer = yield self._post("/v1/facts", {"facts": [_brought(one) for one in facts]})
        return tuple(one.made() for one in decode.read(answer, decode.Learnt).results)

    def links(self, item_id: str | None = None, *, as_of: At = None) -> Steps[tuple[Link, ...]]:
        """The links that stand, oldest first; those of one fact or segment; those that stood at a time. Raises
        InputError, and NotFound for no such fact or segment."""
        one = {} if item_id is None else {"item_id": _path(item_id, "fact or segment")}
        return decode.read((yield self._get("/v1/links", {**one, **_then(as_of, None)})), decode.Links).results

    def link(self, from_id: str, to_id: str, reason: str) -> Steps[Link]:
        """Link two memories, facts or segments, and say why. `unlink` takes it back. Raises NotFound, InputError."""
        ends = {"from_id": _path(from_id, "fact or segment"), "to_id": _path(to_id, "fact or segment")}
        return decode.read((yield self._post("/v1/links", {**ends, "reason": reason})), Link)

    def unlink(self, link_id: str) -> Steps[Link]:
        """Take a link back; the link as it was. Raises NotFound, InputError for one that was taken back before."""
        return decode.read((yield self._delete(f"/v1/links/{_path(link_id, 'link')}", {}, False)), Link)

    def retention(self, at: At = None) -> Steps[tuple[Retention, ...]]:
        """How much of each fact and segment is retained now or at another time, the least first. Writes nothing."""
        told = _time(at, "at")
        answer = yield self._get("/v1/retention", {} if told is None else {"at": told})
        return decode.read(answer, decode.Retained).results

    def fade(self, *, dry_run: bool = False) -> Steps[Faded]:
        """Move to the archive what is retained less than the server's setting `retention_floor`; with `dry_run`, say
        what would go."""
        asked = self._post("/v1/fade", {"dry_run": bool(dry_run)}, repeatable=bool(dry_run))
        return decode.read((yield asked), Faded)

    def expire(self, *, fact_id: str | None = None, page_id: str | None = None, at: Expiry) -> Steps[None]:
        """Say when a fact or a page ends by itself: a time, or a timedelta from now; None takes that back. Raises
        NotFound, and InputError unless exactly one is named, for a time that is over, and for a fact that no longer
        holds."""
        if (fact_id is None) == (page_id is None):
            raise InputError("name exactly one of fact_id and page_id")
        kind, item_id = ("fact", fact_id) if page_id is None else ("page", page_id)
        ends = _end(at)
        yield self._post(f"/v1/{kind}s/{_path(item_id, kind)}/expire", {"at": wire.NULL if ends is None else ends})

    # --------------------------------------------------------------------------------------------------- requests

    def _get(self, path: str, params: Mapping[str, str] = MappingProxyType({})) -> Request:
        return Request(method="GET", path=path, params={**self._owner, **params}, repeatable=True)

    def _post(self, path: str, fields: Mapping[str, object], *, repeatable: bool = False) -> Request:
        body = wire.encoded({**fields, **self._owner})
        return Request(method="POST", path=path, body=body, repeatable=repeatable)

    def _delete(self, path: str, params: Mapping[str, str], dry_run: bool) -> Request:
        dry = {"dry_run": "true"} if dry_run else {}
        return Request(method="DELETE", path=path, params={**self._owner, **params, **dry}, repeatable=dry_run)

    def _profiles_set(
        self, user: Mapping[str, str | int | None] | None, agent: Mapping[str, str | int | None] | None
    ) -> Request:
        body = wire.encoded({"user": user or None, "agent": agent or None, **self._owner})
        return Request(method="PATCH", path="/v1/profile", body=body)

    def _list(
        self, path: str, filters: Mapping[str, str | None], kind: type[_Part[_Item]], limit: int | None = None
    ) -> Steps[list[_Item]]:
        given = {name: value for name, value in filters.items() if value is not None}
        return (yield from _listed(path, {**self._owner, **given}, kind, limit))

    def _segment(self, segment_id: str, then: Mapping[str, str]) -> Steps[decode.SegmentItem]:
        asked = self._get(f"/v1/segments/{_path(segment_id, 'segment')}", then)
        return decode.read((yield asked), decode.SegmentItem)

    def _profiles(self, as_of: At, valid_at: At) -> Steps[decode.Profile]:
        return decode.read((yield self._get("/v1/profile", _then(as_of, valid_at))), decode.Profile)

    def _facts(self, about: About | str | None, state: str, then: Mapping[str, str]) -> Steps[tuple[Fact, ...]]:
        found = yield from self._list("/v1/facts", {"about": about, "state": state, **then}, decode.Facts)
        return tuple(one.made() for one in reversed(found))


def owner_of(user: str, agent: str) -> Owner:
    """The owner of a (user, agent) pair. Raises InputError for what is no name."""
    for name, where in ((user, "user"), (agent, "agent")):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{where} = {name!r} is not a name; give a text that is not empty")
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{where} has half of a surrogate pair at {error.start}") from error
    return Owner(id=ids.owner_id(user, agent), user=user, agent=agent)


def _listed(
    path: str, params: Mapping[str, str], kind: type[_Part[_Item]], limit: int | None = None
) -> Steps[list[_Item]]:
    """The items of a list that comes in parts, or its first `limit`, in the order of the API."""
    found: list[_Item] = []
    cursor: dict[str, str] = {}
    while limit is None or len(found) < limit:
        wanted = MOST_AT_ONCE if limit is None else min(MOST_AT_ONCE, limit - len(found))
        asked = {**params, **cursor, "limit": str(wanted)}
        part = decode.read((yield Request(method="GET", path=path, params=asked, repeatable=True)), kind)
        found += part.results
        if part.next_cursor is None:
            break
        cursor = {"cursor": part.next_cursor}
    return found


def _then(as_of: At, valid_at: At) -> Mapping[str, str]:
    """The moment that a read looks back to, as parameters of a query; none for now. Raises InputError."""
    times = (("as_of", as_of), ("valid_at", valid_at))
    return {name: told for name, time in times if (told := _time(time, name)) is not None}


def _time(at: object, where: str) -> str | None:
    """A time as text. Raises InputError for what is none."""
    if at is None or (isinstance(at, str) and at.isascii()):
        return at
    if isinstance(at, date):  # a datetime is one
        return at.isoformat()
    raise InputError(f"{where} = {at!r} is not a time; give a datetime or an ISO 8601 text")


def _end(at: Expiry) -> datetime | date | str | None:
    """When something ends; a span, as the time that it comes to. Raises InputError."""
    try:
        return datetime.now(UTC) + at if isinstance(at, timedelta) else at
    except OverflowError as error:
        raise InputError(f"{at} from now is outside the times that can be stored") from error


def _brought(fact: object) -> object:
    """A fact that the caller brings, as it is sent."""
    if isinstance(fact, Mapping) and isinstance(ends := fact.get("expires_at"), timedelta):
        return {**fact, "expires_at": _end(ends)}
    return fact


def _item(item_id: object) -> str:
    """The name of anything remembered, a profile line's included, as a part of a path. Raises NotFound for what is the
    name of nothing."""
    if not isinstance(item_id, str) or not item_id.strip(".") or "/" in item_id or not item_id.isprintable():
        raise _none_such(item_id, "memory")
    return quote(item_id, safe="")


def _path(item_id: object, kind: str) -> str:
    """An id as a part of a path. Raises NotFound for what is the id of nothing: it could name another path."""
    if not isinstance(item_id, str) or not item_id or not _IDS.issuperset(item_id):
        raise _none_such(item_id, kind)
    return quote(item_id, safe="")


def _none_such(item_id: object, kind: str) -> NotFound:
    return NotFound(f"no {kind} {item_id!r}")


def _whole(number: object, where: str) -> int:
    """A whole number. A server might take what is nearly one. Raises InputError."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise InputError(f"{where} = {number!r} is not allowed; a whole number from 1")
    return number


def _header(key: str) -> str:
    """A key as a header may hold it. Raises InputError."""
    if not isinstance(key, str) or not key or key != key.strip() or not (key.isascii() and key.isprintable()):
        raise InputError(f"key = {key!r} cannot be sent; give letters, digits and signs of ASCII")
    return key
