"""Awaitable forms of the methods of `OwnerMemory`, each with the threads that run it."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from embermem.core.changes import Change
from embermem.core.messages import At
from embermem.owner_memory import OwnerMemory
from embermem.owner_memory.feed import AT_ONCE

_P = ParamSpec("_P")
_T = TypeVar("_T")

Way = Literal["read", "write", "work"]
"""Which threads run a call: `read` is dropped if its task is cancelled before it begins, `write` is still carried out,
`work` may take long."""
_PAUSE_S = 0.5
"""How often an awaited reader looks for changes."""


class Awaits:
    """An object of the synchronous API, and the threads in which it is called (`embermem.aio`)."""

    def _reached(self) -> Any:
        """The object. This is called in a thread."""
        raise NotImplementedError

    async def _through(self, way: Way, work: Callable[[], _T]) -> _T:
        """The result of the work, done in a thread."""
        raise NotImplementedError


def awaited(
    way: Way, method: Callable[Concatenate[Any, _P], _T]
) -> Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]]:
    """The method as an awaitable, with the same name, parameters and documentation. The object's own method of that
    name is called: that of a shared space looks at its grant."""
    name = method.__name__

    @functools.wraps(method)
    async def awaiting(self: Awaits, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        def call() -> _T:
            made: _T = getattr(self._reached(), name)(*args, **kwargs)
            return made

        return await self._through(way, call)

    return awaiting


class AwaitedOwner(Awaits):
    """The methods of `OwnerMemory`, awaited, but for `chat`."""

    add = awaited("write", OwnerMemory.add)
    add_messages = awaited("write", OwnerMemory.add_messages)
    add_many = awaited("write", OwnerMemory.add_many)
    settle = awaited("work", OwnerMemory.settle)
    analyse = awaited("work", OwnerMemory.analyse)
    understand_anew = awaited("work", OwnerMemory.understand_anew)
    share_person_with = awaited("write", OwnerMemory.share_person_with)
    person_shares = awaited("read", OwnerMemory.person_shares)
    recall = awaited("read", OwnerMemory.recall)
    overview = awaited("read", OwnerMemory.overview)
    search = awaited("read", OwnerMemory.search)
    visit = awaited("write", OwnerMemory.visit)
    marked = awaited("read", OwnerMemory.marked)
    pages = awaited("read", OwnerMemory.pages)
    page = awaited("read", OwnerMemory.page)
    utterance = awaited("read", OwnerMemory.utterance)
    utterances = awaited("read", OwnerMemory.utterances)
    segments = awaited("read", OwnerMemory.segments)
    segment = awaited("read", OwnerMemory.segment)
    heat = awaited("read", OwnerMemory.heat)
    chains = awaited("read", OwnerMemory.chains)
    persona = awaited("read", OwnerMemory.persona)
    people = awaited("read", OwnerMemory.people)
    facts = awaited("read", OwnerMemory.facts)
    instructions = awaited("read", OwnerMemory.instructions)
    past_facts = awaited("read", OwnerMemory.past_facts)
    facts_resting_on = awaited("read", OwnerMemory.facts_resting_on)
    fact = awaited("read", OwnerMemory.fact)
    named = awaited("read", OwnerMemory.named)
    traits = awaited("read", OwnerMemory.traits)
    profile = awaited("read", OwnerMemory.profile)
    agent_profile = awaited("read", OwnerMemory.agent_profile)
    changes = awaited("work", OwnerMemory.changes)
    diff = awaited("read", OwnerMemory.diff)
    change = awaited("read", OwnerMemory.change)
    history = awaited("read", OwnerMemory.history)
    state = awaited("read", OwnerMemory.state)
    stats = awaited("read", OwnerMemory.stats)
    find_facts = awaited("read", OwnerMemory.find_facts)
    get = awaited("read", OwnerMemory.get)
    update = awaited("write", OwnerMemory.update)
    delete = awaited("write", OwnerMemory.delete)
    items = awaited("read", OwnerMemory.items)
    edits = awaited("read", OwnerMemory.edits)
    why = awaited("read", OwnerMemory.why)
    correct = awaited("write", OwnerMemory.correct)
    pin = awaited("write", OwnerMemory.pin)
    pin_facts = awaited("write", OwnerMemory.pin_facts)
    retire = awaited("write", OwnerMemory.retire)
    retire_facts = awaited("write", OwnerMemory.retire_facts)
    merge_facts = awaited("write", OwnerMemory.merge_facts)
    conflicts = awaited("read", OwnerMemory.conflicts)
    settle_conflict = awaited("write", OwnerMemory.settle_conflict)
    set_profile = awaited("write", OwnerMemory.set_profile)
    set_agent_profile = awaited("write", OwnerMemory.set_agent_profile)
    set_profiles = awaited("write", OwnerMemory.set_profiles)
    learn = awaited("write", OwnerMemory.learn)
    add_instruction = awaited("write", OwnerMemory.add_instruction)
    set_user = awaited("write", OwnerMemory.set_user)
    merge_people = awaited("write", OwnerMemory.merge_people)
    split_people = awaited("write", OwnerMemory.split_people)
    undo = awaited("write", OwnerMemory.undo)
    undo_plan = awaited("read", OwnerMemory.undo_plan)
    forget = awaited("write", OwnerMemory.forget)
    forget_pages = awaited("write", OwnerMemory.forget_pages)
    forget_owner = awaited("write", OwnerMemory.forget_owner)
    readmit = awaited("write", OwnerMemory.readmit)
    verify = awaited("work", OwnerMemory.verify)
    add_document = awaited("write", OwnerMemory.add_document)
    documents = awaited("read", OwnerMemory.documents)
    document = awaited("read", OwnerMemory.document)
    passages = awaited("read", OwnerMemory.passages)
    original = awaited("read", OwnerMemory.original)
    originals = awaited("read", OwnerMemory.originals)
    forget_document = awaited("write", OwnerMemory.forget_document)
    retention = awaited("read", OwnerMemory.retention)
    fade = awaited("write", OwnerMemory.fade)
    expire = awaited("write", OwnerMemory.expire)
    timeline = awaited("read", OwnerMemory.timeline)
    events = awaited("read", OwnerMemory.events)
    standing = awaited("read", OwnerMemory.standing)
    add_webhook = awaited("write", OwnerMemory.add_webhook)
    webhooks = awaited("read", OwnerMemory.webhooks)
    remove_webhook = awaited("write", OwnerMemory.remove_webhook)
    replay_webhook = awaited("write", OwnerMemory.replay_webhook)

    async def watch(self, since: int | At = None) -> AsyncIterator[Change]:
        """Yield changes as they are made, by any process: those after a number or a time, by default after now."""
        state = await self._through("read", lambda: self._reached().state())
        last = 0 if state is None else state.revision
        last = since if isinstance(since, int) else last
        some = () if since is None or isinstance(since, int) else await self.changes(since, limit=AT_ONCE)
        while True:
            for change in some:
                yield change
            last = some[-1].no if some else last
            if not (some := await self.changes(last, limit=AT_ONCE)):
                await asyncio.sleep(_PAUSE_S)
