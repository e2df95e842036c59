"""Chat with one memory, and beside it what was recalled for an answer and what was learnt from it."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from anyio import CancelScope, CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from embermem.core.changes import Analysed, Noted, Placed, api_kind
from embermem.core.errors import EmberError, InputError, ModelMissing, ModelWait, NotFound
from embermem.core.types import Context, Fact, Page, Scope, Segment, Utterance
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.entries import NEWS, Entry, Teller, made_by
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place, when
from embermem.http.problems import problem_of
from embermem.http.serving import kept

if TYPE_CHECKING:
    from starlette.types import Receive, Send
    from starlette.types import Scope as Asked

    from embermem.chat import ChatStream

A_PAGE = 20
"""Exchanges of a thread shown at once."""
RECENT = 200
"""Pages among which the threads that may be chosen are looked for."""
ANSWERS = 500
"""Answers of which one server remembers what was recalled: ids and numbers, no text."""
AT_ONCE = 16
"""Replies of one server that are waited for at once; each holds a thread."""
FIRST_LINES = 5
"""Lines that were recalled, the most relevant first, before the others open."""
LOOK = 200
"""Changes after an exchange among which those are looked for that rest on it."""
MAIN = "main"

_T = TypeVar("_T")
_READ = (*NEWS, api_kind(Noted), api_kind(Placed), api_kind(Analysed))

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """What was recalled for an answer: ids and numbers. The words are read when they are shown, so that nothing that is
    forgotten meanwhile is kept here."""

    packed: tuple[tuple[str, float | None], ...]
    facts: tuple[str, ...]
    found: int
    tokens: int
    counter: str
    confidence: float
    partial: bool

    @classmethod
    def of(cls, context: Context) -> Recalled:
        """That of a context."""
        return cls(
            packed=tuple((hit.utterance.id, hit.relevance) for hit in context.packed if hit.space is None),
            facts=tuple(fact.id for fact in context.facts),
            found=len(context.hits),
            tokens=context.tokens,
            counter=context.counter,
            confidence=context.confidence,
            partial=context.partial,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledShown:
    """The same with its words; `gone` of its lines were forgotten since. `text` is what the model would read, where it
    was recalled now. `then`: it was computed again."""

    recalled: Recalled
    lines: Sequence[tuple[Utterance, float | None]]
    facts: Sequence[Fact]
    gone: int = 0
    text: str = ""
    then: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Learnt:
    """What became of an exchange: whether it was read, by whom and when; where it was placed; what was learnt."""

    read_by: str = ""
    read_at: datetime | None = None
    segment: Segment | None = None
    entries: Sequence[tuple[int, Entry]] = ()


class Chats:
    """What one server knows of its chats: what was recalled for the newest answers, and which threads are answered."""

    def __init__(self) -> None:
        self.threads = CapacityLimiter(AT_ONCE)
        self._lock = threading.Lock()
        self._recalled: OrderedDict[tuple[str, str], Recalled] = OrderedDict()
        self._busy: set[tuple[str, str]] = set()

    def recalled(self, owner_id: str, page_id: str) -> Recalled | None:
        """What was recalled for the answer on a page, if it is still known."""
        with self._lock:
            return self._recalled.get((owner_id, page_id))

    def keep(self, owner_id: str, page_id: str, context: Context) -> None:
        """Remember it; the oldest goes where there are too many."""
        with self._lock:
            self._recalled[owner_id, page_id] = Recalled.of(context)
            self._recalled.move_to_end((owner_id, page_id))
            while len(self._recalled) > ANSWERS:
                self._recalled.popitem(last=False)

    @contextmanager
    def answering(self, owner_id: str, thread: str) -> Iterator[None]:
        """While a thread is answered. A reply joins the newest page of its thread, so that a second message meanwhile
        would take the first one's: raises InputError."""
        with self._lock:
            if (owner_id, thread) in self._busy:
                raise InputError(
                    f"a reply in thread {thread!r} is being written, in another tab maybe; wait for it, or take "
                    "another thread"
                )
            self._busy.add((owner_id, thread))
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard((owner_id, thread))


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why there is no reply, and what was stored then."""

    why: str
    stored: str
    keeps_message: bool
    status: int = 200

    @classmethod
    def of(cls, error: EmberError, here: Place) -> Failure:
        """Of an error of `OwnerMemory.chat`."""
        problem = problem_of(error)
        unstored = isinstance(error, InputError | ModelMissing)
        why = problem.detail
        if isinstance(error, ModelWait):
            why = f"{error} (asked again from {when(error.retry_at, here.zone)} on)"
        stored = "Nothing was stored."
        if not unstored:
            stored = "Your message is stored, the reply is not. What you say next in this thread joins it."
        return cls(why=why, stored=stored, keeps_message=not unstored, status=problem.status)


@dataclass(frozen=True, kw_only=True)
class Message:
    """What a form sends."""

    text: str
    thread: str
    style: str | None
    budget: int | None


def message(
    text: Annotated[str, Form()] = "",
    thread: Annotated[str, Form()] = MAIN,
    style: Annotated[str, Form()] = "",
    budget: Annotated[str, Form()] = "",
) -> Message:
    """The message of a form. Raises InputError for a budget that is no number."""
    if budget.strip() and not (budget.strip().isascii() and budget.strip().isdigit() and len(budget) < 8):
        raise InputError(f"budget = {budget!r} is not allowed; give a number of tokens")
    return Message(
        text=text,
        thread=thread.strip() or MAIN,
        style=style.strip() or None,
        budget=int(budget) if budget.strip() else None,
    )


Sent = Annotated[Message, Depends(message)]


@router.get("/chat")
def chat(here: PageContext, thread: str = "", answer: str = "", before: int = 0, text: str = "") -> HTMLResponse:
    """The conversation of a thread, and beside it the memory for the answer chosen, the newest at first; with a text,
    what would be recalled for that."""
    return _page(here, thread=thread, answer=answer, before=before, text=text)


@router.get("/chat/again")
def again(here: PageContext, answer: str = "") -> HTMLResponse:
    """What was recalled for an answer, computed again as of then: a part that opens in place, or a page."""
    page = here.mine.page(answer)
    shown = _shown(here, *_recalled_then(here, page))
    if here.partial:
        return here.page("chat_recalled_part.html", recalled=replace(shown, then=True), first_lines=FIRST_LINES)
    return _page(here, thread=page.thread, answer=answer, recalled=replace(shown, then=True))


@router.post("/chat")
async def say(request: Request, here: Changing, sent: Sent) -> Any:
    """A message, and the page with the whole reply: for browsers without scripts."""
    chats = chats_of(request)

    def whole() -> RedirectResponse | HTMLResponse:
        try:
            with chats.answering(here.owner.id, sent.thread):
                stream = _begun(here, chats, sent)
                stream.whole()
        except EmberError as error:
            failure = Failure.of(error, here)
            text = "" if failure.keeps_message else sent.text
            made = _page(here, thread=sent.thread, failure=failure, said=text)
            made.status_code = failure.status
            return made
        return here.back("/chat", thread=sent.thread, answer=stream.page_id)

    return await run_sync(whole, limiter=chats.threads)


@router.post("/chat/stream")
async def stream(request: Request, here: Changing, sent: Sent) -> StreamingResponse:
    """The same as lines of JSON, as it comes: {"page"} once the message is stored, {"piece"} of the reply, and at the
    end {"done"}, or {"failed", "stored", "keeps"}. A client that leaves stops the reply, which is then not stored."""
    return _Stream(
        _lines(here, chats_of(request), sent),
        media_type="application/x-ndjson",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@router.post("/chat/answer")
def answer(here: Changing, sent: Sent, reply: Annotated[str, Form()] = "") -> RedirectResponse:
    """Store an exchange of which a person wrote the reply, or the reply to a message that has none."""
    if not reply.strip():
        raise InputError("the reply is empty; write what the agent answers")
    told = [{"role": "user", "content": sent.text}] if sent.text.strip() else []
    added = here.mine.add_messages([*told, {"role": "assistant", "content": reply}], thread=sent.thread)
    return here.back("/chat", thread=sent.thread, answer=added.page_ids[-1] if added.page_ids else "")


def chats_of(request: Request) -> Chats:
    """The chats of one server; made when first asked for."""
    return kept(request.app, "inspector_chats", Chats)


# -------------------------------------------------------------------------------------------------------- the reply


class _Stream(StreamingResponse):
    """A reply that ends with its client: what the generator holds is given back at once."""

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with CancelScope(shield=True):
                if isinstance(self.body_iterator, AsyncGenerator):
                    await self.body_iterator.aclose()


def _begun(here: Place, chats: Chats, sent: Message) -> ChatStream:
    """A reply that has begun: the message is stored, and what was recalled for it remembered."""
    made = here.mine.chat(sent.text, thread=sent.thread, style=sent.style, budget=sent.budget, stream=True)
    chats.keep(here.owner.id, made.page_id, made.context)
    return made


async def _lines(here: Place, chats: Chats, sent: Message) -> AsyncGenerator[str]:
    async def in_thread(work: Callable[[], _T]) -> _T:
        return await run_sync(work, limiter=chats.threads)

    try:
        with chats.answering(here.owner.id, sent.thread):
            made = await in_thread(partial(_begun, here, chats, sent))
            try:
                yield _line(page=made.page_id, at=here.link("/chat", thread=sent.thread, answer=made.page_id))
                while (piece := await in_thread(partial(next, made, None))) is not None:
                    yield _line(piece=piece)
            finally:
                with CancelScope(shield=True):
                    await in_thread(made.close)
        yield _line(done=made.page_id)
    except EmberError as error:
        failure = Failure.of(error, here)
        yield _line(failed=failure.why, stored=failure.stored, keeps=failure.keeps_message)


def _line(**told: object) -> str:
    return json.dumps(told) + "\n"


# ---------------------------------------------------------------------------------------------------------- the page


def _page(
    here: Place,
    *,
    thread: str,
    answer: str = "",
    before: int = 0,
    text: str = "",
    said: str = "",
    failure: Failure | None = None,
    recalled: RecalledShown | None = None,
) -> HTMLResponse:
    threads = _threads(here)
    thread = thread.strip() or (MAIN if here.may_write or not threads else threads[0])
    pages = here.mine.pages(thread=thread, limit=A_PAGE + 1, before=before if before > 0 else None)
    shown = pages[-A_PAGE:]
    chosen = _chosen(here, shown, answer)
    if text.strip():
        context = here.mine.recall(text, thread=thread)
        recalled = _shown(here, Recalled.of(context), context.text)
    elif recalled is None and chosen is not None:
        known = chats_of(here.request).recalled(here.owner.id, chosen.id)
        recalled = None if known is None else _shown(here, known)
    return here.page(
        "chat.html",
        title="Chat",
        thread=thread,
        threads=sorted({thread, MAIN, *threads}),
        pages=shown,
        older=shown[0].no if len(pages) > len(shown) else None,
        before=before,
        page=chosen,
        text=text,
        said=said or text,
        failure=failure,
        recalled=recalled,
        learnt=None if chosen is None or text.strip() else _learnt(here, chosen),
        label=charts.label,
        model=here.memory.model_name,
        budget=here.memory.settings.budget,
        first_lines=FIRST_LINES,
    )


def _threads(here: Place) -> Sequence[str]:
    """The threads of the newest pages, the newest first."""
    return tuple(dict.fromkeys(str(page.thread) for page in reversed(here.mine.pages(limit=RECENT))))


def _chosen(here: Place, pages: Sequence[Page], answer: str) -> Page | None:
    """The page of the answer that was chosen, else the newest."""
    if answer:
        return next((page for page in pages if page.id == answer), None) or here.mine.page(answer)
    return pages[-1] if pages else None


def _recalled_then(here: Place, page: Page) -> tuple[Recalled, str]:
    """What would have been recalled for a page's message when it was said."""
    asked = next((one for one in reversed(page.utterances) if not one.role.agent_side), None)
    if asked is None:
        raise InputError("nobody asked anything here")
    known = asked.recorded_at - timedelta(microseconds=1)
    context = here.mine.recall(
        asked.text, at=asked.said_at, thread=page.thread, as_of=known, scope=Scope(before_seq=asked.seq)
    )
    return Recalled.of(context), context.text


def _shown(here: Place, recalled: Recalled, text: str = "") -> RecalledShown:
    """What was recalled, in the words that are still there."""
    lines, gone = [], 0
    for utterance_id, relevance in recalled.packed:
        try:
            lines.append((here.mine.utterance(utterance_id), relevance))
        except NotFound:
            gone += 1
    lines.sort(key=lambda line: -(line[1] or 0.0))
    named = here.mine.named(recalled.facts)
    facts = [one for fact_id in recalled.facts if isinstance(one := named.get(fact_id), Fact)]
    gone += len(recalled.facts) - len(facts)
    return RecalledShown(recalled=recalled, lines=lines, facts=facts, gone=gone, text=text)


def _learnt(here: Place, page: Page) -> Learnt:
    """What became of an exchange, as far as it was read by now."""
    seqs = {one.seq for one in page.utterances}
    since = page.utterances[0].recorded_at - timedelta(microseconds=1)
    changes = here.mine.changes(since, limit=LOOK, kinds=_READ)
    found = Learnt(segment=here.mine.segment(page.segment_id) if page.segment_id else None)
    for change in changes:
        notes = [one for one in change.decisions if isinstance(one, Noted) and one.page_id == page.id]
        if notes and notes[-1].upto_seq >= page.last_seq:
            found = replace(found, read_by=made_by(change), read_at=change.recorded_at)
    entries = [
        (told.change.no, entry)
        for told in Teller(here.mine, changes).told()
        for entry in told.entries
        if any(source.seq in seqs for source in entry.sources)
    ]
    return replace(found, entries=entries)
