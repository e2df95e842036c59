"""The methods of the client, without a connection: the requests of each, and how it reads the answers.

Each method is a generator (`exchange.Steps`) that both senders run, so the sync and the async client share it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from embermem.client import arguments, exchange
from embermem.client.exchange import Pause, Request, Steps, read
from embermem.client.handles import call
from embermem.client.reading import ReadCalls
from embermem.client.requests import fact_of
from embermem.core.errors import InputError, KeyReused
from embermem.core.fields import FieldValue
from embermem.core.messages import At, Expiry, sides
from embermem.core.types import (
    Added,
    AddedItem,
    Analysis,
    Conflict,
    DocumentAdded,
    Fact,
    Faded,
    Forgotten,
    Page,
    PageId,
    Retention,
    Scope,
    Share,
    Verified,
    Webhook,
    Why,
)
from embermem.wire import answers, memories
from embermem.wire.mapping import from_record

FIRST_LOOK_S = 0.05
"""The pause before the server is asked how far `settle` has come; doubles with each."""
LONGEST_LOOK_S = 2.0
"""No longer than this after it is done, `settle` returns."""


class OwnerCalls(ReadCalls):
    """One owner's memory over the HTTP API: `ReadCalls`, and the methods that change it."""

    # --------------------------------------------------------------------------------------------------------- in

    @call
    def add(
        self,
        query: str | None,
        response: str | None = None,
        *,
        at: At = None,
        thread: str = "main",
        key: str | None = None,
        expires_at: Expiry = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Steps[PageId]:
        """Add an exchange; the id of its page. When it returns, the page is on the server's disk.

        It is sent with a key, yours or one made here, so an answer that is lost never doubles it. A response alone
        joins the newest page of its thread. `expires_at` is when the page is forgotten by itself. `metadata` is a small
        JSON object of your own. Raises InputError, of which KeyReused for a key of other content, or of what was
        forgotten.
        """
        messages = [{"role": role.value, "content": text} for role, text, _ in sides(query, response)]
        added = yield from self.add_messages(
            messages,
            thread=thread,
            at=at,
            key=key,
            fresh=messages[0]["role"] == "user",
            expires_at=expires_at,
            metadata=metadata,
        )
        if not added.page_ids and key is None:
            raise InputError("this message was forgotten and is not stored again")
        if not added.page_ids:
            raise KeyReused(f"the content stored under the key {key!r} was forgotten and is not stored again")
        return added.page_ids[-1]

    @call
    def add_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thread: str = "main",
        at: At = None,
        key: str | None = None,
        fresh: bool = False,
        expires_at: Expiry = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Steps[Added]:
        """Add messages in OpenAI's format, in one transaction. Each may carry a `name`, an `at` and `metadata` of its
        own, and an `original`, which `original` returns; `metadata` are those of all.

        With `fresh`, the first that the user says begins a page of its own, as `add` does. They are sent with a key,
        yours or one made here. `redactions` of the answer say what the server took out before. Raises InputError.
        """
        if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
            raise InputError("messages must be a list of mappings such as {'role': 'user', 'content': 'Hello'}")
        arguments.messages(messages)
        times = {"at": at, "expires_at": arguments.expiry(expires_at)}
        given = {"messages": messages, "run_id": thread, "fresh": bool(fresh), "metadata": metadata}
        answer = yield self._write("/v1/memories", {**given, **times}, key)
        added = read(answer, memories.Added)
        return Added(
            page_ids=added.page_ids, utterance_ids=tuple(one.id for one in added.results), redactions=added.redactions
        )

    @call
    def add_many(
        self, items: Sequence[Mapping[str, Any]], *, thread: str = "main", at: At = None
    ) -> Steps[tuple[AddedItem, ...]]:
        """Add up to 500 items, each on its own; what became of each, in order. An item has `messages`, a list or one
        text of the user, and may have `thread`, `at`, `key`, `fresh`, `expires_at` and `metadata`. Items without a key
        get one here, so a lost answer never doubles them. Raises InputError if nothing of it can be sent."""
        if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Sequence):
            raise InputError("items must be a list of mappings such as {'messages': 'Hello'}")
        told = [arguments.batch_item(one, self._new_key) for one in items]
        body = exchange.encoded({"items": told, "run_id": thread, "at": at, **self._owner})
        answer = yield Request(method="POST", path="/v1/memories/batch", body=body, repeatable=True)
        found = read(answer, dict[str, list[dict[str, Any]]]).get("items", [])
        return tuple(_item_of(index, one) for index, one in enumerate(found))

    @call
    def settle(self, progress: Callable[[int, int], None] | None = None) -> Steps[int]:
        """Understand what is pending, now; the number of pages placed into segments.

        The server works; it is asked from time to time how far it has come, and `progress` is told. Raises InputError.
        """
        return (yield from self._worked("/v1/settle", progress)).get("placed", 0)

    @call
    def analyse(self, progress: Callable[[int, int], None] | None = None) -> Steps[Analysis]:
        """Do what `settle` does, and analyse what is in mid-term memory, whatever its heat; returns what was done. The
        server works, and `progress` is told. Raises InputError."""
        done = yield from self._worked("/v1/analyse", progress)
        return Analysis(placed=done["placed"], analysed=done["analysed"], promoted=done["promoted"])

    def _worked(self, path: str, progress: Callable[[int, int], None] | None) -> Steps[Mapping[str, int]]:
        """The counts of an operation that this path begins, once it is done."""
        if progress is not None and not callable(progress):
            raise InputError(f"progress is {type(progress).__name__}, which cannot be called")
        answer = yield self._post(path, {}, repeatable=True)
        pause = FIRST_LOOK_S
        while (operation := read(answer, answers.OperationItem)).status == "running":
            if progress is not None and operation.total is not None:
                progress(operation.done, operation.total)
            yield Pause(seconds=pause)
            pause = min(2 * pause, LONGEST_LOOK_S)
            answer = yield self._get(f"/v1/operations/{arguments.id_path(operation.id, 'operation')}")
        if operation.error is not None:
            raise exchange.failed(operation.error, datetime.now(UTC))
        return operation.result or {}

    @call
    def set_profile(self, /, **fields: FieldValue | None) -> Steps[None]:
        """Set fields of the user's profile, such as name or birth_year; None takes one away. Raises InputError."""
        yield self._profiles_set(fields, None)

    @call
    def set_agent_profile(self, /, *description: str | None, **fields: FieldValue | None) -> Steps[None]:
        """Set the agent's profile: a description of its role, or fields of any name; None removes one."""
        if len(description) > 1:
            raise InputError("give one description of the agent, and everything else as fields")
        yield self._profiles_set(None, {**dict(zip(("description",), description, strict=False)), **fields})

    @call
    def set_profiles(
        self,
        *,
        user: Mapping[str, FieldValue | None] | None = None,
        agent: Mapping[str, FieldValue | None] | None = None,
        key: str | None = None,
    ) -> Steps[None]:
        """Set fields of both profiles in one change: all of them, or none if one is refused. Raises InputError."""
        yield self._profiles_set(user, agent, key)

    # ------------------------------------------------------------------------------------- corrected and forgotten

    @call
    def correct(
        self,
        fact_id: str,
        text: str,
        *,
        value: str | None = None,
        valid_from: At = None,
        valid_to: At = None,
        key: str | None = None,
    ) -> Steps[Fact]:
        """A fact was wrong: the new one, which takes its place. Raises NotFound, InputError."""
        path = f"/v1/facts/{arguments.id_path(fact_id, 'fact')}/correct"
        given = (("valid_from", valid_from), ("valid_to", valid_to))
        times = {name: told for name, time in given if (told := arguments.time_text(time, name)) is not None}
        return fact_of((yield self._write(path, {"text": text, "value": value, **times}, key)))

    @call
    def pin(self, fact_id: str, pinned: bool = True, *, key: str | None = None) -> Steps[Fact]:
        """Keep a fact from the cap of 100, or no longer; the fact as it is then. Raises NotFound, InputError."""
        path = f"/v1/facts/{arguments.id_path(fact_id, 'fact')}/pin"
        return fact_of((yield self._write(path, {"pinned": bool(pinned)}, key)))

    @call
    def retire(self, fact_id: str, *, key: str | None = None) -> Steps[Fact]:
        """A fact is true no longer, from now on. Raises NotFound, InputError."""
        path = f"/v1/facts/{arguments.id_path(fact_id, 'fact')}/retire"
        return fact_of((yield self._write(path, {}, key)))

    @call
    def pin_facts(self, fact_ids: Sequence[str], pinned: bool = True, *, key: str | None = None) -> Steps[int]:
        """Pin several facts in one change, or no longer; the number of the change, 0 if there was nothing to change.
        Raises NotFound, InputError."""
        told = {"fact_ids": arguments.several(fact_ids, "fact_ids"), "pinned": bool(pinned)}
        return read((yield self._write("/v1/facts/pin", told, key)), answers.FactsChanged).change_no

    @call
    def retire_facts(self, fact_ids: Sequence[str], *, key: str | None = None) -> Steps[int]:
        """Several facts are true no longer, from now on, in one change; its number. Raises NotFound, InputError."""
        told = {"fact_ids": arguments.several(fact_ids, "fact_ids")}
        return read((yield self._write("/v1/facts/retire", told, key)), answers.FactsChanged).change_no

    @call
    def merge_facts(self, keep: str, others: Sequence[str], *, key: str | None = None) -> Steps[Fact]:
        """Make one fact of several that say the same, in one change: with the words of `keep`, and what all of them
        rest on. Raises NotFound, InputError."""
        told = {"keep": keep, "others": arguments.several(others, "others")}
        return fact_of((yield self._write("/v1/facts/merge", told, key)))

    @call
    def forget(
        self,
        *,
        page: str | None = None,
        fact: str | None = None,
        segment: str | None = None,
        thread: str | None = None,
        before: At = None,
        matching: str | None = None,
        scope: Scope | None = None,
        dry_run: bool = False,
        key: str | None = None,
    ) -> Steps[Forgotten]:
        """Take a page, a fact, or many pages out of the server's store, for good: all of a segment or a thread, all
        that were wholly said `before` a time, or all that hold every word of a query (`matching`); all of a `scope`,
        which may cut no page. The answer says what went, and is a receipt for `verify`.

        With `dry_run` nothing changes: the answer says what would go. Raises InputError unless exactly one is named,
        NotFound for none such.
        """
        items = {"page": page, "fact": fact, "segment": segment}
        many = {"run_id": thread, "before": arguments.time_text(before, "before"), "matching": matching}
        many["scope"] = arguments.scope_text(scope)
        named = [(kind, one) for kind, one in {**items, **many}.items() if one is not None]
        if len(named) != 1:
            raise InputError("give exactly one of page, fact, segment, thread, before, matching and scope")
        ((kind, one),) = named
        if kind in many:
            asked = self._delete("/v1/memories", {kind: one, "confirm": "true"}, dry_run, key)
        else:
            if not str(one).startswith(kind[0]):  # the API tells them apart by their ids alone
                raise arguments.none_such(one, kind)
            asked = self._delete(f"/v1/memories/{arguments.id_path(one, kind)}", {}, dry_run, key)
        return read((yield asked), Forgotten)

    @call
    def add_document(
        self,
        document: str | bytes | Path,
        *,
        title: str | None = None,
        source: str | None = None,
        at: At = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        original: Any = None,
        expires_at: Expiry = None,
    ) -> Steps[DocumentAdded]:
        """Store a document on the server, or replace what changed of the one with its `source`: a text, a Path that is
        read here, or the bytes of a file whose name is `source`. The server reads its format. `original` is any JSON
        value, which `original` returns; `expires_at` is when the document is forgotten by itself. Raises InputError."""
        body: dict[str, object] = {"title": title, "source": source, "metadata": metadata}
        body |= {"original": arguments.original(original, "original"), "expires_at": arguments.expiry(expires_at)}
        if isinstance(document, Path):
            body["source"] = str(document.resolve()) if source is None else source
            document = arguments.file_bytes(document)
        if isinstance(document, bytes):
            body["file"] = base64.b64encode(document).decode()
        else:
            body["text"] = document
        asked = self._post("/v1/documents", {**body, "at": arguments.time_text(at, "at")}, repeatable=True)
        if key is not None:
            asked = replace(asked, headers={"Idempotency-Key": arguments.header(key)})
        return read((yield asked), DocumentAdded)

    @call
    def forget_document(self, document_id: str, *, dry_run: bool = False) -> Steps[Forgotten]:
        """Take a document and its passages away, for good; what went. Raises NotFound."""
        path = f"/v1/documents/{arguments.id_path(document_id, 'document')}"
        return read((yield self._delete(path, {}, dry_run)), Forgotten)

    @call
    def verify(self, receipt: Forgotten | str) -> Steps[Verified]:
        """Whether what a receipt says is gone is gone from the server's store. The receipt is what `forget` and
        `forget_owner` gave, or its JSON. Raises InputError for one of a dry run, and for what is none."""
        try:
            told = Forgotten.from_json(receipt) if isinstance(receipt, str) else receipt
        except ValueError as error:
            raise InputError(str(error)) from error
        return read((yield self._post("/v1/verify", {"receipt": told}, repeatable=True)), Verified)

    @call
    def forget_owner(self, *, dry_run: bool = False) -> Steps[Forgotten]:
        """Take all of this memory away, for good; what went. With `dry_run`, say what would go."""
        asked = replace(self._delete("/v1/memories", {"confirm": "true"}, dry_run), headers={}, repeatable=dry_run)
        return read((yield asked), Forgotten)

    @call
    def undo(self, change_no: int, *, key: str | None = None) -> Steps[int]:
        """Take back what a change taught the persona; the number of the change that does so.

        Raises NotFound for no such change, InputError where nothing can be taken back.
        """
        answer = yield self._write(f"/v1/changes/{arguments.id_path(str(change_no), 'change')}/undo", {}, key)
        return read(answer, answers.Undoing).change_no

    @call
    def add_instruction(self, text: str, *, expires_at: Expiry = None, key: str | None = None) -> Steps[Fact]:
        """Add a standing instruction of the user's, in the user's words; returns the fact. It ends an earlier one about
        the same matter; `retire` ends it, or `expires_at` does. Raises InputError."""
        told = {"text": text, "expires_at": arguments.expiry(expires_at)}
        return fact_of((yield self._write("/v1/instructions", told, key)))

    @call
    def set_user(self, name: str, *, key: str | None = None) -> Steps[int]:
        """Say which speaker is the user; what is known of that person becomes the user's profile. Returns and raises as
        `merge_people`."""
        return read((yield self._write("/v1/people/user", {"name": name}, key)), answers.PeopleRuled).change_no

    @call
    def merge_people(self, one: str, other: str, *, key: str | None = None) -> Steps[int]:
        """Say that two names belong to one person; the number of the change, which `undo` takes. Raises NotFound for an
        unknown name, InputError if they are one person already."""
        names = {"one": one, "other": other}
        return read((yield self._write("/v1/people/merge", names, key)), answers.PeopleRuled).change_no

    @call
    def split_people(self, one: str, other: str, *, key: str | None = None) -> Steps[int]:
        """Say that two names belong to different people. Returns and raises as `merge_people`."""
        names = {"one": one, "other": other}
        return read((yield self._write("/v1/people/split", names, key)), answers.PeopleRuled).change_no

    @call
    def share_person_with(self, agent: str, shared: bool = True) -> Steps[Share]:
        """Let another agent of this user tell what this one knows of the user, or no longer. Returns the grant. Raises
        NotFound if it was not shared."""
        answer = yield self._post("/v1/person-shares", {"with_agent": agent, "shared": bool(shared)})
        return from_record(Share, read(answer, memories.ShareItem))

    @call
    def person_shares(self, *, past: bool = False) -> Steps[tuple[Share, ...]]:
        """The agents with which this one shares what it knows of the user; with `past` also those with which it did."""
        answer = yield self._get("/v1/person-shares", {"past": "true"} if past else {})
        return tuple(from_record(Share, one) for one in read(answer, answers.Shares).results)

    # ------------------------------------------------------------------------- where it comes from, and when it ends

    @call
    def why(self, item_id: str) -> Steps[Why]:
        """Why something is remembered: the words said that it rests on, the changes that made it, what it replaced and
        what replaced it. `item_id` is that of a fact, segment or chain, a trait's dimension, or a profile line
        such as "user.home". Raises NotFound."""
        return read((yield self._get(f"/v1/why/{arguments.item_path(item_id)}")), Why)

    @call
    def conflicts(self, as_of: At = None) -> Steps[tuple[Conflict, ...]]:
        """Facts that are both held and cannot both be so, in the order in which that was found; those of a moment."""
        return read((yield self._get("/v1/conflicts", arguments.moment(as_of, None))), answers.Conflicts).results

    @call
    def settle_conflict(
        self, fact_id: str, other_id: str, *, wrong: str | None = None, key: str | None = None
    ) -> Steps[int]:
        """Say that both facts of a conflict may stay, or which of them is `wrong`: the pair is not reported again. The
        number of the change. Raises NotFound for unknown facts, InputError if they are not in conflict."""
        both = {"fact_id": arguments.id_path(fact_id, "fact"), "other_id": arguments.id_path(other_id, "fact")}
        told = both if wrong is None else {**both, "wrong": wrong}
        return read((yield self._write("/v1/conflicts/settle", told, key)), answers.ConflictSettled).change_no

    @call
    def learn(self, facts: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Steps[tuple[Fact, ...]]:
        """Learn facts that the caller brings himself, in one change; what each became, in their order.

        Each has a `text`, and may have a `subject`, an `attribute`, a `value`, `about`, `valid_from`, `valid_to`,
        `expires_at` and `metadata`. Raises InputError that names the place, and then learns none of them.
        """
        if isinstance(facts, (str, bytes, Mapping)) or not isinstance(facts, Sequence):
            raise InputError(
                "facts must be a list of mappings such as {'text': 'lives in Lyon', 'attribute': 'lives_in'}"
            )
        answer = yield self._write("/v1/facts", {"facts": [arguments.brought_fact(one) for one in facts]}, key)
        return tuple(from_record(Fact, one) for one in read(answer, answers.Learnt).results)

    @call
    def retention(self, at: At = None) -> Steps[tuple[Retention, ...]]:
        """How much of each fact and segment is retained now or at another time, the least first. Writes nothing."""
        told = arguments.time_text(at, "at")
        answer = yield self._get("/v1/retention", {} if told is None else {"at": told})
        return read(answer, answers.Retained).results

    @call
    def fade(self, *, dry_run: bool = False, key: str | None = None) -> Steps[Faded]:
        """Move to the archive what is retained less than the server's setting `retention_floor`; with `dry_run`, say
        what would go."""
        asked = self._write("/v1/fade", {"dry_run": bool(dry_run)}, key)
        return read((yield asked), Faded)

    @call
    def expire(
        self, *, fact_id: str | None = None, page_id: str | None = None, at: Expiry, key: str | None = None
    ) -> Steps[None]:
        """Say when a fact or a page ends by itself: a time, or a timedelta from now; None takes that back. Raises
        NotFound, and InputError unless exactly one is named, for a time that is over, and for a fact that no longer
        holds."""
        if (fact_id is None) == (page_id is None):
            raise InputError("give exactly one of fact_id and page_id")
        kind, item_id = ("fact", fact_id) if page_id is None else ("page", page_id)
        ends = arguments.expiry(at)
        path = f"/v1/{kind}s/{arguments.id_path(item_id, kind)}/expire"
        yield self._write(path, {"at": exchange.NULL if ends is None else ends}, key)

    # ------------------------------------------------------------------------------------------------- any item, feed

    @call
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
    ) -> Steps[Fact | Page]:
        """Change a fact, or the expiry of a page; returns it as it is then. None leaves something as it is. Raises
        NotFound, InputError, and Unchangeable for what was said and what follows from it."""
        told: dict[str, object] = {"text": text, "value": value, "pinned": pinned, "metadata": metadata}
        told["expires_at"] = arguments.expiry(expires_at)
        path = f"/v1/memories/{arguments.id_path(item_id, 'memory')}"
        answer = yield self._write(path, told, key, method="PATCH")
        if item_id.startswith("p"):
            return memories.page_of(read(answer, memories.PageItem))
        return fact_of(answer)

    @call
    def delete(self, item_id: str, *, dry_run: bool = False, key: str | None = None) -> Steps[Forgotten]:
        """Forget a page, a fact or a segment by its id; returns its receipt. Raises NotFound, and Unchangeable for an
        item that is forgotten with another one."""
        asked = self._delete(f"/v1/memories/{arguments.id_path(item_id, 'memory')}", {}, dry_run, key)
        return read((yield asked), Forgotten)

    @call
    def add_webhook(
        self,
        url: str,
        *,
        events: Sequence[str] = (),
        text: bool = False,
        since: str | None = None,
        key: str | None = None,
    ) -> Steps[Webhook]:
        """Send what is new to an address, signed; the webhook with its `secret`, which no later call returns. Raises
        InputError for an address that the server does not allow."""
        told = {"url": url, "events": arguments.several(events, "events"), "text": bool(text), "since": since}
        return read((yield self._write("/v1/webhooks", told, key)), Webhook)

    @call
    def webhooks(self) -> Steps[tuple[Webhook, ...]]:
        """Return the webhooks of this memory, oldest first, without their secrets."""
        return read((yield self._get("/v1/webhooks")), answers.Webhooks).results

    @call
    def remove_webhook(self, webhook_id: str) -> Steps[None]:
        """Send nothing to it any more. Raises NotFound."""
        yield self._delete(f"/v1/webhooks/{arguments.id_path(webhook_id, 'webhook')}", {}, False)

    @call
    def replay_webhook(self, webhook_id: str, since: str | None = None) -> Steps[Webhook]:
        """Send what came after a position again, by default what its receiver was not told yet. Raises NotFound, and
        InputError for what is no position."""
        path = f"/v1/webhooks/{arguments.id_path(webhook_id, 'webhook')}/replay"
        return read((yield self._write(path, {"since": since}, None)), Webhook)

    def _profiles_set(
        self,
        user: Mapping[str, FieldValue | None] | None,
        agent: Mapping[str, FieldValue | None] | None,
        key: str | None = None,
    ) -> Request:
        return self._write("/v1/profile", {"user": user or None, "agent": agent or None}, key, method="PATCH")


def _item_of(index: int, item: Mapping[str, Any]) -> AddedItem:
    """What became of an item of a batch."""
    if "problem" in item:
        problem: Mapping[str, Any] = item["problem"]
        kind = str(problem.get("type", "")).rpartition(":")[2]
        return AddedItem(index=index, error=f"items[{index}]: {problem.get('detail', '')}", error_kind=kind)
    kept = exchange.read(exchange.encoded(item), answers.BatchKept)
    ids = tuple(one.id for one in kept.results)
    return AddedItem(index=index, added=Added(page_ids=kept.page_ids, utterance_ids=ids, redactions=kept.redactions))
