"""mem0's methods over the memories that a caller reaches: in a process (`memory.py`), or by the service's paths."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from embermem.compat.mem0 import arguments, changing
from embermem.compat.mem0.arguments import Ids
from embermem.compat.mem0.exceptions import ValidationError, not_found
from embermem.compat.mem0.filters import Way, checked, ways
from embermem.compat.mem0.items import ACTOR, ENDS, ROLE, SOURCE, Item, of_fact
from embermem.compat.mem0.reach import NO_USER, Reach, Shared
from embermem.compat.mem0.reading import Reading
from embermem.core.errors import InputError
from embermem.core.ids import new_id
from embermem.core.types import Added, Fact, Scope

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.memory import OwnerMemory

logger = logging.getLogger(__name__)

_UNSET: Any = object()


class Memories:
    """mem0's methods over the memories that a caller reaches."""

    def __init__(self, reach: Reach, shared: Shared) -> None:
        self._reach, self._shared = reach, shared

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: int | float | str | datetime | None = None,
        expiration_date: object = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Store messages; returns under `results` the memories that they made, each with its `event`.

        With `infer`, facts are learnt from the messages, and what no fact holds is a memory by its words; without, each
        message is a memory as it is. `metadata` are plain values and lists of texts, 4 KB at most. `timestamp` is when
        it was said. `prompt` changes nothing. Raises ValidationError, InputError.
        """
        ids = arguments.required({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        labels = arguments.own_metadata(metadata, "add()")
        labels.update({name: value for name, value in ids.given.items() if name != "user_id"})
        if (day := arguments.expiration(expiration_date)) is not None:
            labels[ENDS] = day
        if memory_type not in (None, arguments.PROCEDURAL):
            raise ValidationError(
                f"Invalid 'memory_type'. Please pass {arguments.PROCEDURAL} to create procedural memories.",
                "VALIDATION_002",
                {"provided_type": memory_type, "valid_type": arguments.PROCEDURAL},
                f"Use '{arguments.PROCEDURAL}' to create procedural memories.",
            )
        said = arguments.messages_of(messages)
        memory = self._of(ids, write=True)
        if agent_id is not None and memory_type is not None:
            text = "\n".join(f"{one['role']}: {one['content']}" for one in said)
            said = [{"role": "assistant", "content": text}] if said else []
            labels["memory_type"] = memory_type
            return {"results": [_told(one) for one in self._kept(memory, said, labels, timestamp)]}
        if not infer:
            return {"results": self._kept(memory, said, labels, timestamp)}
        return {"results": self._learnt(memory, ids, said, labels, timestamp) if said else []}

    def _kept(
        self, memory: OwnerMemory, said: Sequence[Mapping[str, Any]], labels: Mapping[str, Any], timestamp: object
    ) -> list[dict[str, Any]]:
        """Each message as a memory of its own words."""
        made = []
        for one in said:
            name = one.get("name")
            metadata = {**labels, ROLE: one["role"], **({ACTOR: name} if name else {})}
            document_id = changing.put(
                memory,
                one["content"],
                source=f"{SOURCE}{new_id('m')}",
                title=str(name or memory.owner.user),
                metadata=metadata,
                at=_moment(timestamp),
            )
            told = {"id": self._public(memory, document_id), "memory": one["content"], "event": "ADD"}
            made.append({**told, "actor_id": name or None, "role": one["role"]})
        return made

    def _learnt(
        self,
        memory: OwnerMemory,
        ids: Ids,
        said: Sequence[Mapping[str, Any]],
        labels: Mapping[str, Any],
        timestamp: object,
    ) -> list[dict[str, Any]]:
        """What messages taught, and what of them no fact holds."""
        state = memory.state()
        before = 0 if state is None else state.revision
        day = labels.get(ENDS)
        added = memory.add_messages(
            [{name: one[name] for name in ("role", "content", "name") if one.get(name)} for one in said],
            thread=ids.run_id or "main",
            at=_moment(timestamp),
            fresh=True,
            metadata=labels,
            expires_at=None if day is None else arguments.end_of(str(day)),
        )
        if self._shared.at_once:
            memory.settle()
        reading = self._reading(memory)
        new = [self._event(memory, of_fact(one), "ADD") for one in reading.facts if one.change_no > before]
        ended = [one for one in memory.past_facts() if one.change_no <= before and _ended_since(one, reading, before)]
        return [
            *new,
            *(self._event(memory, of_fact(one), "DELETE") for one in ended),
            *self._said(memory, reading, added),
        ]

    def _said(self, memory: OwnerMemory, reading: Reading, added: Added) -> list[dict[str, Any]]:
        """The memories of pages that messages made or joined."""
        found = []
        for page_id in added.page_ids:
            page = memory.page(page_id)
            joined = page.utterances[0].id not in added.utterance_ids
            if (item := reading.page(page)) is not None:
                found.append(self._event(memory, item, "UPDATE" if joined else "ADD"))
        return found

    def _event(self, memory: OwnerMemory, item: Item, event: str) -> dict[str, Any]:
        return {"id": self._public(memory, item.id), "memory": item.text, "event": event}

    def search(
        self,
        query: str,
        *,
        top_k: int | None = None,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        limit: int | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        reference_date: object = None,
        show_expired: bool = False,
    ) -> dict[str, Any]:
        """Return under `results` the best memories for a query, each with a `score` in [0, 1].

        Whose they are stands in `filters`, as in mem0 2.x, or in `user_id`, `agent_id` and `run_id`, as in 1.x; `limit`
        is 1.x's name of `top_k`. `rerank` and `show_expired` change nothing: what is expired is forgotten. Raises
        InputError.
        """
        if reference_date is not None:
            raise InputError("reference_date is not supported; filter by created_at, as {'created_at': {'lt': '…'}}")
        score, most, asked = arguments.least(threshold), arguments.most(top_k, limit), arguments.asked(query)
        readings, wanted = self._asked(filters, user_id, agent_id, run_id)
        found = [
            (reading, *one)
            for reading in readings
            for one in reading.ranked(asked, wanted, most, score, self._shared.vectors)
        ]
        results = []
        for reading, item, value, parts in sorted(found, key=lambda one: -one[2])[:most]:
            one = self._result(reading, item)
            one = {**_until(one, "metadata"), "score": value, **one}
            results.append({**one, "score_details": parts} if explain else one)
        return {"results": results}

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        show_expired: bool = False,
        limit: int | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """Return memories under `results`, the newest first; arguments are as those of `search`."""
        most = arguments.most(top_k, limit)
        readings, wanted = self._asked(filters, user_id, agent_id, run_id)
        found = [(reading, item) for reading in readings for item in reading.listed(wanted, most)]
        found.sort(key=lambda one: one[1].created_at, reverse=True)
        return {"results": [self._result(reading, item) for reading, item in found[:most]]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None where there is none with this id."""
        found = self._found(memory_id, write=False)
        if found is None:
            return None
        one = self._result(found[0], found[1])
        return {**_until(one, "metadata"), "score": None, **one}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory; its id stays. `metadata` are added to those it has. `data` is 1.x's name of `text`. Raises
        MemoryNotFoundError (a ValueError), InputError."""
        words = data if text is None else text
        if words is None and metadata is None and expiration_date is _UNSET:
            raise InputError("At least one of text, metadata, or expiration_date must be provided.")
        labels = arguments.own_metadata(metadata, "update()")
        if expiration_date is not _UNSET:
            labels[ENDS] = arguments.expiration(expiration_date) or ""
        with self._shared.changing:
            reading, item = self._must_find(memory_id)
            changing.update(reading.memory, item, words, labels)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory, and the words that it rests on. Raises MemoryNotFoundError (a ValueError)."""
        with self._shared.changing:
            reading, item = self._must_find(memory_id)
            changing.delete(reading.memory, item)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Forget all memories of a user; with an agent or run, those that were added with it. Raises InputError."""
        ids = arguments.ids_of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if not ids.given:
            raise InputError(
                "At least one filter is required to delete all memories. If you want to delete all memories, use the "
                "`reset()` method."
            )
        memory, wanted = self._of(ids, write=True), _labels(ids)
        with self._shared.changing:
            if memory.state() is None and not memory.documents():
                pass  # nothing was added
            elif not wanted:
                memory.forget_owner()
            else:
                memory.forget_pages([page.id for page in memory.pages(scope=Scope(metadata=wanted))])
                reading = self._reading(memory)
                for item in reading.listed(wanted, 2**31):
                    changing.delete(memory, item)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what became of a memory, oldest first. Of one that was deleted nothing is left: an empty list."""
        place = self._place(memory_id, write=False)
        return [] if place is None else changing.history(place[0], place[1], memory_id)

    def reset(self) -> None:
        """Forget every memory that is reached and that mem0's calls can name, for good."""
        logger.warning("Resetting all memories")
        all_of = [self._reach.owner(owner.user, owner.agent, write=True) for owner in self._owners()]
        with self._shared.changing:
            for memory in all_of:
                memory.forget_owner()

    def users(self) -> list[str]:
        """Return the users of whom there are memories."""
        return sorted({one.user for one in self._owners() if one.user != NO_USER})

    # ------------------------------------------------------------------------------------------ owners and ids

    def _asked(
        self, given: Mapping[str, Any] | None, user_id: str | None, agent_id: str | None, run_id: str | None
    ) -> tuple[list[Reading], Mapping[str, Any]]:
        """The memories that a read reads, and its filter; ids beside the filter narrow it too."""
        beside = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        wanted = checked(
            {"AND": [{} if given is None else given, beside]} if isinstance(given, Mapping | None) else given
        )
        owners = dict.fromkeys(owner for way in ways(wanted) for owner in self._named(way))
        return [self._reading(self._reach.owner(*owner, write=False)) for owner in owners], wanted

    def _named(self, way: Way) -> Iterator[tuple[str, str]]:
        """The owners whose memories have such ids, as (user, agent)."""
        if "user_id" not in way and "agent_id" not in way:
            yield NO_USER, "default"
        elif "user_id" in way:
            users = way["user_id"]
            yield from ((user, "default") for user in (self.users() if users is None else sorted(users)))
        else:
            agents = way["agent_id"]
            known = (one.agent for one in self._owners() if one.user == NO_USER) if agents is None else sorted(agents)
            yield from ((NO_USER, agent) for agent in known)

    def _of(self, ids: Ids, *, write: bool) -> OwnerMemory:
        """A user's memory; without a user, the agent's own."""
        if ids.user_id is not None:
            return self._reach.owner(ids.user_id, "default", write=write)
        return self._reach.owner(NO_USER, ids.agent_id or "default", write=write)

    def _owners(self) -> list[Owner]:
        """The owners that mem0's calls can name."""
        return [one for one in self._reach.owners() if one.agent == "default" or one.user == NO_USER]

    def _reading(self, memory: OwnerMemory) -> Reading:
        user = memory.owner.user
        return Reading(memory=memory, user_id=None if user == NO_USER else user)

    def _public(self, memory: OwnerMemory, item_id: str) -> str:
        return f"{item_id}.{memory.owner.id}"

    def _result(self, reading: Reading, item: Item) -> dict[str, Any]:
        return item.result(self._public(reading.memory, item.id), reading.user_id)

    def _place(self, memory_id: str, *, write: bool) -> tuple[Reading, str] | None:
        """Where an id points: into an owner's memory, if that is reached."""
        item_id, _, owner_id = str(memory_id).partition(".")
        known = self._shared.owners
        if owner_id not in known:
            known.update((str(owner.id), owner) for owner in self._owners())
        owner = known.get(owner_id)
        if owner is None or not item_id or not self._reach.may(owner):
            return None
        memory = self._reach.owner(owner.user, owner.agent, write=write)
        return self._reading(memory), item_id

    def _found(self, memory_id: str, *, write: bool) -> tuple[Reading, Item] | None:
        place = self._place(memory_id, write=write)
        item = None if place is None else place[0].find(place[1])
        return None if place is None or item is None else (place[0], item)

    def _must_find(self, memory_id: str) -> tuple[Reading, Item]:
        found = self._found(memory_id, write=True)
        if found is None:
            raise not_found(memory_id)
        return found


def _ended_since(fact: Fact, reading: Reading, before: int) -> bool:
    """Whether a fact ended by what was learnt since: it was superseded by a fact that is new."""
    return any(one.id == fact.superseded_by and one.change_no > before for one in reading.facts)


def _labels(ids: Ids) -> dict[str, str]:
    return {name: value for name, value in ids.given.items() if name != "user_id"}


def _told(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in ("id", "memory", "event")}


def _until(result: Mapping[str, Any], last: str) -> dict[str, Any]:
    """The first entries of a result, in order, up to one."""
    names = list(result)
    return {name: result[name] for name in names[: names.index(last) + 1]}


def _moment(timestamp: object) -> datetime | str | None:
    """A time as mem0's platform takes it: seconds of Unix, ISO 8601, or a datetime."""
    if timestamp is None or isinstance(timestamp, datetime | str):
        return timestamp
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
        return datetime.fromtimestamp(timestamp, UTC)
    raise InputError(f"timestamp is {type(timestamp).__name__}; give seconds of Unix time, ISO 8601 or a datetime")
