"""Chat: the prompt for a model, and a reply that is stored only when it is complete.

What stays the same comes first, so that a server's cache holds it: the system prompt, the agent's profile and the
style; the newest turns of the conversation; then, in the last message, the time, the memory between markers, and the
query. These are functions over what was recalled; `OwnerMemory.chat` does the reading and writing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import groupby

from embermem import prompts
from embermem.core import injected_blocks, messages
from embermem.core.config import Settings
from embermem.core.errors import InputError, ModelMissing, ModelReplyError
from embermem.core.record import Record
from embermem.core.types import Context, Owner, Page, PageId, ProfileField, Role, ThreadId, Utterance
from embermem.index.tokens import counter
from embermem.prompts import data
from embermem.prompts.rendering import SHARED
from embermem.protocols import Asker, ChatMessage, Purpose

__all__ = [
    "ChatReply",
    "ChatStream",
    "compose",
    "kept",
    "no_model",
    "pieces",
    "refuse_unusable",
    "step_of",
    "turn_pages",
    "turns",
    "without",
]

_CALLER = "caller"
_NOTHING = "-"
"""Stands for a part of the prompt that nobody has set."""
_UTTERANCE = re.compile(r"(?:\d{4}-\d\d-\d\d )?#(\d+) ")
"""What the line of an utterance begins with, under a day's header or with the day before it."""
_HEADER = re.compile(r"\d{4}-\d\d-\d\d \S{1,12}:")
"""The line over a day: `2026-05-02 Sat:`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatReply(Record):
    """A stored reply: its text, the context used for it, and the page of query and reply."""

    text: str
    context: Context
    page_id: PageId


class ChatStream(Iterator[str]):
    """A reply piece by piece. `context` and `page_id` are known from the start.

    The reply is stored when the last piece was read, and `reply` contains it from then on. A reply that is interrupted,
    by `close()`, by an error or by dropping the iterator, is not stored; the user's message is stored in each case.
    Reading a piece raises ModelError, ModelWait; the last one StoreError too.
    """

    def __init__(
        self, pieces: Iterator[str], keep: Callable[[str], ChatReply], *, context: Context, page_id: PageId
    ) -> None:
        self.context = context
        self.page_id = page_id
        self.reply: ChatReply | None = None
        self._taken = _taken(pieces, self._keep)
        self._store = keep

    def __next__(self) -> str:
        return next(self._taken)

    def close(self) -> None:
        """Stop the reply and release the model's server. After the last piece it does nothing."""
        self._taken.close()

    def whole(self) -> ChatReply:
        """The reply, awaited to its end and stored. Raises ModelError if it was broken off before."""
        for _ in self:
            pass
        if self.reply is None:
            raise ModelReplyError("the reply was interrupted; ask again", "")
        return self.reply

    def _keep(self, text: str) -> None:
        self.reply = self._store(text)


def no_model() -> ModelMissing:
    """The error for a memory without a language model, with what to do."""
    return ModelMissing(
        "chat needs a language model, and none is set: set EMBERMEM_MODEL to its name and EMBERMEM_MODEL_URL to its "
        "endpoint, such as http://127.0.0.1:11434/v1 (or model and model_url in embermem.toml, or as arguments)"
    )


def refuse_unusable(
    query: str, *, system: str | None, style: str | None, budget: int | None, settings: Settings
) -> None:
    """Raise InputError if these arguments of `chat` cannot be used."""
    for text, where in ((system, "system"), (style, "style")):
        if text is not None:
            messages.checked(text, where, settings.max_text_chars)
    if budget is not None:
        messages.whole(budget, "budget", 1)
    if not messages.checked(query, "query", 2 * settings.max_text_chars).strip():
        raise InputError("query is empty: there is nothing to reply to")


def pieces(
    asker: Asker,
    owner: Owner,
    asked: Utterance,
    pages: Sequence[Page],
    context: Context,
    *,
    settings: Settings,
    zone: tzinfo,
    system: str | None,
    style: str | None,
    agent: Sequence[ProfileField] = (),
    key: bytes,
) -> Iterator[str]:
    """The model's reply to `asked`, piece by piece, with turns of these pages, the newest `turn_pages`."""
    limit, step = settings.chat_turn_tokens, step_of(settings)
    shown = turns(pages, asked.thread, asked.seq, limit, settings.token_counter, step=step)
    now = asked.said_at.astimezone(zone)
    prompt = compose(asked, shown, context, now=now, system=system, style=style, agent=agent, key=key)
    return asker.stream(owner, Purpose.CHAT, prompt)


def kept(
    said: Iterator[str], asked: Utterance, context: Context, *, key: bytes, store: Callable[[str], None]
) -> ChatStream:
    """A reply to `asked` in these pieces, made with this context; `store` is given its text when it was read to its
    end."""

    def keep(text: str) -> ChatReply:
        text = cleaned(text, key)
        store(text)
        return ChatReply(text=text, context=context, page_id=asked.page_id)

    return ChatStream(said, keep, context=context, page_id=asked.page_id)


def compose(
    asked: Utterance,
    shown: Sequence[Utterance],
    context: Context,
    *,
    now: datetime,
    system: str | None,
    style: str | None,
    agent: Sequence[ProfileField],
    key: bytes,
) -> tuple[ChatMessage, ...]:
    """The prompt for `asked`, a message of the user, after the turns `shown` (see `turns`).

    What stands in a turn is not told again by the memory. Neighbours of one role are one message, as some servers ask.
    Of the agent's profile only what callers set stands outside the markers, each field on one line.
    """
    memory = data.seen(without(context.text, {utterance.seq for utterance in shown}))
    told = [f"{line.name.replace('_', ' ')} {line.value}" for line in agent if line.set_by == _CALLER]
    first = prompts.load("chat").fill(
        system=system or prompts.load("chat_system").fill(),
        agent=" ".join(data.seen("; ".join(told)).split()) or _NOTHING,
        style=style or _NOTHING,
    )
    *before, last = _joined([*shown, asked])
    asking = prompts.load("chat_asked").fill(
        now=now.strftime("%Y-%m-%d (%a) %H:%M"),
        memory=injected_blocks.wrap(memory or _NOTHING, key),
        query=last.text,
    )
    return (ChatMessage(role=Role.SYSTEM, text=first), *before, replace(last, text=asking))


def step_of(settings: Settings) -> int:
    """Pages by which the turns of a prompt move on at once, when short-term memory is full: half of it. In preset
    `paper` one, because there short-term memory is what the model is shown."""
    return 1 if settings.preset == "paper" else (settings.short_term_pages + 1) // 2


def turn_pages(settings: Settings) -> int:
    """How many of the newest pages the turns of a prompt are chosen from."""
    return settings.short_term_pages + step_of(settings) - 1


def turns(
    pages: Sequence[Page], thread: ThreadId, before_seq: int, limit: int, count_by: str, *, step: int = 1
) -> list[Utterance]:
    """The newest utterances of a thread's pages, oldest first, within `limit` tokens of the counter `count_by`.

    Only what user and agent said, and nothing from `before_seq` on; the first one is the user's. The first that does
    not fit ends it: what is older, or longer, is for recall to tell.

    With a `step` they begin at the same page until so many more were added, and so does the prompt that a server's
    cache holds: of the oldest pages up to `step - 1` are left out, or of those within the limit half as many.
    """
    count = counter(count_by).count
    said = [(page.no, u) for page in pages if page.thread == thread for u in page.utterances if u.seq < before_seq]
    first = _steady(pages[0].no, step) if pages else 0
    fitting: list[tuple[int, Utterance]] = []
    for no, utterance in sorted(said, key=lambda one: -one[1].seq):
        if no >= first and utterance.role in (Role.USER, Role.ASSISTANT) and utterance.text.strip():
            limit -= count(utterance.text)
            if limit < 0:
                first = no if step == 1 else _steady(no + 1, step // 2)
                break
            fitting.append((no, utterance))
    return _from_user(u for no, u in fitting if no >= first) or _from_user(u for _, u in fitting)


def _steady(no: int, step: int) -> int:
    """The first number, from `no` on, of a page at which turns may begin."""
    return no + (1 - no) % step


def _from_user(newest_first: Iterable[Utterance]) -> list[Utterance]:
    """Utterances in their order, from the first of the user on."""
    shown = list(newest_first)
    while shown and shown[-1].role is not Role.USER:
        shown.pop()
    return shown[::-1]


def cleaned(text: str, key: bytes) -> str:
    """A model's reply as it is stored and shown: without our own blocks, and without what no store can hold.

    Raises ModelReplyError if nothing is left.
    """
    kept = injected_blocks.strip(text, key).replace("\x00", "").encode("utf-8", "replace").decode("utf-8").strip()
    if not kept:
        raise ModelReplyError("the model's reply is empty; ask again", text)
    return kept


def _taken(pieces: Iterator[str], keep: Callable[[str], None]) -> Generator[str]:
    """The pieces as they are taken; when the last one has been, `keep` gets them all."""
    taken: list[str] = []
    try:
        for piece in pieces:
            taken.append(piece)
            yield piece
    finally:
        if isinstance(pieces, Generator):
            pieces.close()
    keep("".join(taken))


def _joined(said: Sequence[Utterance]) -> Iterator[ChatMessage]:
    for role, together in groupby(said, key=lambda utterance: utterance.role):
        yield ChatMessage(role=role, text="\n".join(utterance.text for utterance in together))


def without(text: str, seqs: set[int]) -> str:
    """A context's text without the lines of these utterances, and without a header that then stands over nothing.

    One utterance is one line that begins with its number; nothing that was said can look like one. What is told from a
    shared space has numbers of its own, and stays.
    """
    blocks, given = [], text.split("\n\n")
    for place, block in enumerate(given):
        if SHARED.fullmatch(block.partition("\n")[0]):
            blocks += given[place:]
            break
        kept: list[str] = []
        for line in reversed(block.split("\n")):
            told = _UTTERANCE.match(line)
            over_nothing = _is_header(line) and not (kept and kept[-1].startswith("#"))
            if not (told and int(told[1]) in seqs) and not over_nothing:
                kept.append(line)
        if kept:
            blocks.append("\n".join(reversed(kept)))
    return "\n\n".join(blocks)


def _is_header(line: str) -> bool:
    return _HEADER.fullmatch(line) is not None
