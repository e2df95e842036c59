"""The methods of the client, without a connection: what each asks of the HTTP API, and what it makes of the answers.

Each method is a generator (`wire.Steps`) that both senders run, so that the sync and the async client are one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from embermem import ids
from embermem.changes import Change
from embermem.client import reading, wire
from embermem.client.wire import Pause, Request, Steps
from embermem.errors import InputError, KeyReused, NotFound
from embermem.protocols import OwnerStats
from embermem.types import (
    About,
    Added,
    Context,
    Fact,
    Forgotten,
    Hit,
    Owner,
    Page,
    PageId,
    Persona,
    ProfileField,
    Segment,
    Tier,
    Trait,
    Utterance,
)

At = datetime | date | str | None
"""A time as callers give it: a datetime, a date, or ISO 8601; without a zone it takes the owner's."""

MOST_AT_ONCE = 200
"""Items asked for at once where a list comes in parts: as many as the API gives."""
FIRST_LOOK_S = 0.05
"""The pause before the server is asked how far `settle` has come; doubles with each."""
LONGEST_LOOK_S = 2.0
"""No longer than this after it is done, `settle` returns."""
_IDS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")

_Item = TypeVar("_Item")
_Told = TypeVar("_Told", covariant=True)


class _Part(Protocol[_Told]):
    """A part of a list."""

    @property
    def results(self) -> Sequence[_Told]: ...
    @property
    def next_cursor(self) -> str | None: ...


def owners() -> Steps[tuple[Owner, ...]]:
    """Everyone with a memory on the server whom the key may reach."""
    found = yield from _listed("/v1/owners", {}, reading.Owners)
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
    ) -> Steps[PageId]:
        """Add an exchange; the id of its page. When it returns, the page is on the server's disk.

        It is sent with a key, yours or one made here, so an answer that is lost never doubles it. A response alone
        joins the newest page of its thread. Raises InputError, of which KeyReused for a key of other content, or of
        what was forgotten.
        """
        sides = (("user", query), ("assistant", response))
        messages = [{"role": role, "content": text} for role, text in sides if text is not None]
        if not messages:
            raise InputError("query and response are both None: there is nothing to add")
        added = yield from self.add_messages(messages, thread=thread, at=at, key=key, fresh=query is not None)
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
    ) -> Steps[Added]:
        """Add messages in OpenAI's format, in one transaction. Each may carry a `name` and an `at` of its own.

        With `fresh`, the first that the user says begins a page of its own, as `add` does. They are sent with a key,
        yours or one made here. Raises InputError.
        """
        headers = {"Idempotency-Key": self._new_key() if key is None else _header(key)}
        if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
            raise InputError("messages must be a list of mappings such as {'role': 'user', 'content': 'Hello'}")
        body = wire.encoded({"messages": messages, "run_id": thread, "at": at, "fresh": bool(fresh), **self._owner})
        answer = yield Request(method="POST", path="/v1/memories", headers=headers, body=body, repeatable=True)
        added = reading.read(answer, reading.Added)
        return Added(page_ids=added.page_ids, utterance_ids=tuple(one.id for one in added.results))

    def settle(self, progress: Callable[[int, int], None] | None = None) -> Steps[int]:
        """Understand what is pending, now; the number of pages placed into segments.

        The server works; it is asked from time to time how far it has come, and `progress` is told.
        """
        answer = yield self._post("/v1/settle", {}, repeatable=True)
        pause = FIRST_LOOK_S
        while (operation := reading.read(answer, reading.Operation)).status == "running":
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
        self, query: str, *, at: At = None, budget: int | None = None, thread: str | None = None
    ) -> Steps[Context]:
        """The little that matters for a query, as text within `budget` tokens, with its sources.

        The server counts what it packed as visited. `hits` are those that were packed; the persona is not told: ask
        `persona()` for it.
        """
        if budget is not None:
            _whole(budget, "budget")
        body = {"query": query, "at": at, "budget": budget, "run_id": thread, "explain": True}
        return reading.read((yield self._post("/v1/context", body)), reading.ContextAnswer).made(query)

    def search(self, query: str, k: int = 10) -> Steps[tuple[Hit, ...]]:
        """The best `k` utterances for a query. Writes nothing."""
        asked = self._post("/v1/search", {"query": query, "top_k": _whole(k, "k")}, repeatable=True)
        return reading.read((yield asked), reading.Found).made()

    def pages(
        self, tier: Tier | str | None = None, *, limit: int | None = None, thread: str | None = None
    ) -> Steps[tuple[Page, ...]]:
        """Pages in order of arrival; of one tier; of one thread; the newest `limit`."""
        found = yield from self._list("/v1/pages", {"tier": tier, "run_id": thread}, reading.Pages, limit)
        return tuple(one.made() for one in reversed(found))

    def page(self, page_id: str) -> Steps[Page]:
        """One page. Raises NotFound."""
        answer = yield self._get(f"/v1/pages/{_path(page_id, 'page')}")
        return reading.read(answer, reading.PageItem).made()

    def utterance(self, utterance_id: str) -> Steps[Utterance]:
        """One utterance. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{_path(utterance_id, 'utterance')}")
        return reading.read(answer, reading.UtteranceItem).made()

    def segments(self, archived: bool = False) -> Steps[tuple[Segment, ...]]:
        """The segments of mid-term memory, or of the archive, oldest first."""
        found = yield from self._list("/v1/segments", {"archived": "true" if archived else None}, reading.Segments)
        return tuple(one.made() for one in reversed(found))

    def segment(self, segment_id: str) -> Steps[Segment]:
        """One segment, of mid-term memory or of the archive. Raises NotFound."""
        return (yield from self._segment(segment_id)).made()

    def heat(self, segment: Segment) -> Steps[float]:
        """The segment's heat now (paper, Eq. 3)."""
        return (yield from self._segment(segment.id)).heat

    def persona(self) -> Steps[Persona]:
        """Profiles, traits and current facts. Read in parts: what changes between them may show."""
        profiles = yield from self._profiles()
        traits = yield from self.traits()
        facts = yield from self.facts()
        return Persona(
            profile=profiles.made(About.USER),
            agent_profile=profiles.made(About.AGENT),
            traits=traits,
            facts=tuple(fact for fact in facts if fact.about is About.USER),
            agent_facts=tuple(fact for fact in facts if fact.about is About.AGENT),
        )

    def facts(self, about: About | str | None = None, archived: bool = False) -> Steps[tuple[Fact, ...]]:
        """What is known of the user and the agent, oldest first; or what the cap of 100 moved to the archive."""
        return (yield from self._facts(about, "archived" if archived else "current"))

    def past_facts(self) -> Steps[tuple[Fact, ...]]:
        """Facts that no longer hold: superseded or retired, with the time until which they were true."""
        return (yield from self._facts(None, "past"))

    def fact(self, fact_id: str) -> Steps[Fact]:
        """One fact, in whatever state. Raises NotFound."""
        answer = yield self._get(f"/v1/memories/{_path(fact_id, 'fact')}")
        return reading.read(answer, reading.FactItem).made()

    def traits(self) -> Steps[tuple[Trait, ...]]:
        """The user's traits, out of 90; age group and gender come from the profile."""
        return reading.read((yield self._get("/v1/traits")), reading.Traits).made()

    def profile(self) -> Steps[tuple[ProfileField, ...]]:
        """The user's profile."""
        return (yield from self._profiles()).made(About.USER)

    def agent_profile(self) -> Steps[tuple[ProfileField, ...]]:
        """The agent's profile."""
        return (yield from self._profiles()).made(About.AGENT)

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

    def changes(self, since: int = 0, *, limit: int | None = None) -> Steps[tuple[Change, ...]]:
        """The log of what was derived, and why: the next `limit` changes after `since`, or all of them."""
        found = yield from self._list("/v1/changes", {"since": str(since)}, reading.Changes, limit)
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
        return tuple(one.made() for one in reading.read(answer, reading.History).results)

    def stats(self) -> Steps[OwnerStats]:
        """Counts of this memory."""
        return reading.read((yield self._get("/v1/stats")), OwnerStats)

    # ------------------------------------------------------------------------------------- corrected and forgotten

    def correct(self, fact_id: str, text: str, *, value: str | None = None) -> Steps[Fact]:
        """A fact was wrong: the new one, which takes its place. Raises NotFound, InputError."""
        path = f"/v1/facts/{_path(fact_id, 'fact')}/correct"
        return reading.read((yield self._post(path, {"text": text, "value": value})), reading.FactItem).made()

    def pin(self, fact_id: str, pinned: bool = True) -> Steps[Fact]:
        """Keep a fact from the cap of 100, or no longer; the fact as it is then. Raises NotFound, InputError."""
        path = f"/v1/facts/{_path(fact_id, 'fact')}/pin"
        return reading.read((yield self._post(path, {"pinned": bool(pinned)})), reading.FactItem).made()

    def retire(self, fact_id: str) -> Steps[Fact]:
        """A fact is true no longer, from now on. Raises NotFound, InputError."""
        path = f"/v1/facts/{_path(fact_id, 'fact')}/retire"
        return reading.read((yield self._post(path, {})), reading.FactItem).made()

    def forget(
        self, *, page: str | None = None, fact: str | None = None, thread: str | None = None, dry_run: bool = False
    ) -> Steps[Forgotten]:
        """Take a page, a fact, or all pages of a thread out of the server's store, for good; what went.

        With `dry_run` nothing changes: the answer says what would go. Raises InputError unless exactly one is named,
        NotFound for none such.
        """
        if sum(one is not None for one in (page, fact, thread)) != 1:
            raise InputError("name exactly one of page, fact and thread")
        if thread is not None:
            asked = self._delete("/v1/memories", {"run_id": thread, "confirm": "true"}, dry_run)
        else:
            kind, item_id = ("page", page) if fact is None else ("fact", fact)
            if not str(item_id).startswith(kind[0]):  # the API tells them apart by their ids alone
                raise _none_such(item_id, kind)
            asked = self._delete(f"/v1/memories/{_path(item_id, kind)}", {}, dry_run)
        return reading.read((yield asked), Forgotten)

    def forget_all(self, *, dry_run: bool = False) -> Steps[Forgotten]:
        """Take all of this memory away, for good; what went. With `dry_run`, say what would go."""
        return reading.read((yield self._delete("/v1/memories", {"confirm": "true"}, dry_run)), Forgotten)

    def undo(self, change_no: int) -> Steps[int]:
        """Take back what a change taught the persona; the number of the change that does so.

        Raises NotFound for no such change, InputError where nothing can be taken back.
        """
        answer = yield self._post(f"/v1/changes/{_path(str(change_no), 'change')}/undo", {})
        return reading.read(answer, reading.Undoing).change_no

    # --------------------------------------------------------------------------------------------------- requests

    def _get(self, path: str) -> Request:
        return Request(method="GET", path=path, params=self._owner, repeatable=True)

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

    def _segment(self, segment_id: str) -> Steps[reading.SegmentItem]:
        asked = self._get(f"/v1/segments/{_path(segment_id, 'segment')}")
        return reading.read((yield asked), reading.SegmentItem)

    def _profiles(self) -> Steps[reading.Profile]:
        return reading.read((yield self._get("/v1/profile")), reading.Profile)

    def _facts(self, about: About | str | None, state: str) -> Steps[tuple[Fact, ...]]:
        found = yield from self._list("/v1/facts", {"about": about, "state": state}, reading.Facts)
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
        part = reading.read((yield Request(method="GET", path=path, params=asked, repeatable=True)), kind)
        found += part.results
        if part.next_cursor is None:
            break
        cursor = {"cursor": part.next_cursor}
    return found


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
