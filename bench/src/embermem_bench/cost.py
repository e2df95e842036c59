"""`embermem bench cost`: model calls and tokens for each response of a live conversation (MemoryOS paper, Table 3).

A conversation is lived page by page, as an agent with a memory would: what is remembered for the user's words is
recalled, the model is asked for a reply with it in the prompt, and then the exchange as it really went is observed and
understood. The model is a scripted server on loopback, `embermem.testing`: prompts are the real ones, and what depends
on answers, and the length of answers, is the script's. docs/research/studies.md has the rules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from embermem import bootstrap
from embermem.core import config
from embermem.core.errors import InputError, ModelMissing
from embermem.core.paging import PageTail, joins
from embermem.core.types import Added, PageId
from embermem.protocols import LanguageModel, ModelRequest
from embermem.testing import wire
from embermem.testing.model_server import ModelServer
from embermem_bench import ProgressFn, scripted
from embermem_bench.asking import chat_messages
from embermem_bench.datasets import Conversation, Turn
from embermem_bench.hosted import as_hosted
from embermem_bench.load_conversation import message
from embermem_bench.papers import published
from embermem_bench.results import Spent
from embermem_bench.systems import open_system, registry
from embermem_bench.unit import Clock

__all__ = [
    "PUBLISHED",
    "SYSTEMS",
    "WAYS",
    "Clock",
    "Row",
    "Said",
    "Way",
    "chosen",
    "costs",
    "live",
    "pages_of",
    "ways_of",
]

REPLY_TOKENS = 300
"""The longest reply that is asked for; the script's are shorter."""

SYSTEMS = ("memoryos", "memoryos:preset=paper", *(name for name in registry.SYSTEMS if name != "memoryos"))
"""What is measured unless systems are named."""
PUBLISHED: Mapping[str, tuple[float, int]] = {
    published.SYSTEMS[method]: (row["calls"], int(row["tokens"]))
    for row_of in published.MEMORYOS_3.rows.values()
    for method, row in row_of.items()
}
"""Calls and tokens per response on LoCoMo, as the MemoryOS paper has them (Table 3)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What one system spent, in one way of understanding. `context_tokens` are those of all contexts it recalled."""

    system: str
    way: str
    embedder: str
    pages: int
    responses: int
    remember: Spent
    recall: Spent
    answer: Spent
    context_tokens: int

    @property
    def all(self) -> Spent:
        """Everything that was asked of the model."""
        return Spent.total((self.remember, self.recall, self.answer))

    def as_json(self) -> dict[str, Any]:
        """Everything per response, and the paper's figures beside it where it has some."""
        published = PUBLISHED.get(self.system.partition(":")[0])
        return {
            "system": self.system,
            "way": self.way,
            "embedder": self.embedder,
            "pages": self.pages,
            "responses": self.responses,
            **_each(self.all, self.responses),
            "context_tokens": _ratio(self.context_tokens, self.responses),
            "remember": _each(self.remember, self.responses),
            "recall": _each(self.recall, self.responses),
            "answer": _each(self.answer, self.responses),
            "published": None if published is None else {"calls": published[0], "tokens": published[1]},
        }


def costs(
    pages: Sequence[Said],
    system: str,
    options: Mapping[str, object],
    way: Way,
    *,
    label: str | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> Row:
    """Lives the pages with one system on a store and a scripted server of its own.

    `label` names the row; by default the system. Raises ConfigError for an unknown system or option, InputError without
    a page, ModelError where the script has no answer to a question.
    """
    if not pages:
        raise InputError("the conversation has no pages")
    clock, responses, context_tokens = Clock(pages[0].turns[0].at), 0, 0
    recalling, answering = Spent(), Spent()
    name = label or system
    with tempfile.TemporaryDirectory(prefix="embermem-cost-") as folder, ModelServer(scripted.answer) as server:
        asked = {"model": "scripted", "model_url": server.url, "model_key": "none", "background": False, **settings}
        model, meter = _model(asked), _Meter(server)
        with open_system(system, Path(folder) / "cost.db", options=options, clock=clock, **asked) as memory:
            owner = memory.of("user")

            def respond(page: Said) -> None:
                nonlocal responses, context_tokens, recalling, answering
                told(f"{name}, {way.name}", page.no, len(pages))
                if not page.query:
                    return
                before = meter.read()
                context = owner.recall(page.query, at=clock.now)
                recalled = meter.read()
                model.complete(_request(page.query, context.text, clock.now))
                owner.visit(context.packed)
                recalling = Spent.total((recalling, _less(recalled, before)))
                answering = Spent.total((answering, _less(meter.read(), recalled)))
                responses, context_tokens = responses + 1, context_tokens + context.tokens

            live(way, owner, memory.system, pages, clock, respond)
            embedder = memory.embedder_name
        spent = meter.read()
    return Row(
        system=name,
        way=way.name,
        embedder=embedder,
        pages=len(pages),
        responses=responses,
        remember=_less(spent, Spent.total((recalling, answering))),
        recall=recalling,
        answer=answering,
        context_tokens=context_tokens,
    )


def _model(settings: Mapping[str, Any]) -> LanguageModel:
    model = bootstrap.make_model(None, config.load(**settings))
    if model is None:
        raise ModelMissing("the settings name no model")
    return model


def _request(query: str, memory: str, now: datetime) -> ModelRequest:
    """The request for a reply, as `chat` makes it."""
    messages = tuple(chat_messages(memory or "-", query, now))
    return ModelRequest(messages=messages, max_tokens=REPLY_TOKENS, temperature=0.0)


class _Meter:
    """What a scripted server was asked so far, counted as a hosted server is sent it."""

    def __init__(self, server: ModelServer) -> None:
        self._server, self._calls, self._prompt_tokens = server, 0, 0

    def read(self) -> Spent:
        """Calls and tokens since the beginning."""
        new = self._server.requests[self._calls :]
        self._calls += len(new)
        self._prompt_tokens += sum(wire.prompt_tokens(as_hosted(one)) for one in new)
        answered = self._server.completion_tokens
        return Spent(calls=self._calls, prompt_tokens=self._prompt_tokens, completion_tokens=answered)


def _less(spent: Spent, before: Spent) -> Spent:
    return Spent(
        calls=spent.calls - before.calls,
        prompt_tokens=spent.prompt_tokens - before.prompt_tokens,
        completion_tokens=spent.completion_tokens - before.completion_tokens,
    )


def _each(spent: Spent, responses: int) -> dict[str, float | None]:
    """What was spent, per response."""
    return {
        "calls": _ratio(spent.calls, responses, 2),
        "prompt_tokens": _ratio(spent.prompt_tokens, responses),
        "completion_tokens": _ratio(spent.completion_tokens, responses),
        "tokens": _ratio(spent.tokens, responses),
    }


def _ratio(count: int, responses: int, digits: int = 1) -> float | None:
    return round(count / responses, digits) if responses else None


# ------------------------------------------------------------------------------------------------- a conversation lived


class Listener(Protocol):
    """The memory of one owner: OwnerMemory or OwnerSystem."""

    def add_messages(self, given: Sequence[Mapping[str, Any]], *, thread: str = ...) -> Added: ...

    def settle(self) -> int: ...


@runtime_checkable
class Worker(Protocol):
    """What does the work that is due, as a background thread has it done: Memory, or MemoryOS."""

    def work(self) -> int: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """When what was said is understood: what is done before each page, at its time, and after it."""

    name: str
    before: Callable[[Listener, object], object]
    after: Callable[[Listener, object], object]


def _nothing(owner: Listener, worker: object) -> None:
    return


def _settle(owner: Listener, worker: object) -> None:
    owner.settle()


def _work(owner: Listener, worker: object) -> None:
    if not isinstance(worker, Worker):
        raise InputError("this system does not work when something is due: it is settled")
    worker.work()


ONCE = Way(name="settled once, at the end", before=_nothing, after=_nothing)
"""A conversation that is imported."""
EACH = Way(name="settled after every page", before=_nothing, after=_settle)
"""An agent that wants every page understood before the next comes."""
DUE = Way(name="worked on when due", before=_work, after=_work)
"""An agent whose background thread waits for a batch, or ten minutes: MemoryOS only."""
WAYS = (ONCE, EACH, DUE)


def ways_of(system: str) -> tuple[Way, ...]:
    """The ways in which a live agent can use a system, the usual one first."""
    return (DUE, EACH) if system == "memoryos" else (EACH,)


def live(
    way: Way,
    owner: Listener,
    worker: object,
    pages: Sequence[Said],
    clock: Clock,
    respond: Callable[[Said], None] = lambda page: None,
) -> None:
    """Adds the pages at the times when they were said; what is still waiting at the end is settled.

    `respond` is called with each page before it is added, when all that is due by then is done.
    """
    for page in pages:
        clock.now = max(clock.now, page.turns[0].at)  # what waited since the last session is due by now
        way.before(owner, worker)
        respond(page)
        clock.now = max(clock.now, page.turns[-1].at)
        owner.add_messages([message(turn) for turn in page.turns], thread=page.thread)
        way.after(owner, worker)
    owner.settle()


# ------------------------------------------------------------------------------------------------------------ its pages


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A page before it is added; `no` counts from 1."""

    no: int
    thread: str
    turns: tuple[Turn, ...]

    @property
    def query(self) -> str:
        """What the user's side says in it; empty if the agent's side speaks alone."""
        return "\n".join(turn.text for turn in self.turns if not turn.role.agent_side)


def pages_of(talk: Conversation) -> tuple[Said, ...]:
    """The conversation's pages, in order, as Ember cuts them."""
    found = [(thread.id, turns) for thread in talk.threads for turns in _paged(thread.turns)]
    return tuple(Said(no=no, thread=thread, turns=turns) for no, (thread, turns) in enumerate(found, 1))


def _paged(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    tail, no = None, 0
    numbered: list[tuple[int, Turn]] = []
    for turn in turns:
        if not turn.text.strip():
            continue
        joined = joins(tail, turn.role)
        no += not joined
        answered = turn.role.agent_side or (joined and tail is not None and tail.answered)
        tail = PageTail(page_id=PageId(str(no)), answered=answered)
        numbered.append((no, turn))
    for _, page in groupby(numbered, key=lambda one: one[0]):
        yield tuple(turn for _, turn in page)


def chosen(talks: Sequence[Conversation], name: str | None) -> Conversation:
    """The conversation of that id, or the first. Raises InputError if there is none."""
    for talk in talks:
        if name in (None, talk.id):
            return talk
    raise InputError(f"no conversation {name!r}; there are: {', '.join(talk.id for talk in talks)}")
