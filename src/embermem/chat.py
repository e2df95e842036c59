"""Chat: the prompt for a model, and a reply that is stored only when it is complete.

What stays the same comes first, so that a server's cache holds it: the system prompt, the agent's profile and the
style; the newest turns of the conversation; then, in the last message, the time, the memory between markers, and the
query. These are pure functions over what was recalled; `OwnerMemory.chat` does the reading and writing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from embermem import prompts
from embermem.core import injected_blocks
from embermem.core.config import Settings
from embermem.core.errors import ModelMissing, ModelReplyError
from embermem.core.types import Context, Page, PageId, ProfileField, Role, ThreadId, Utterance
from embermem.index.tokens import counter
from embermem.prompts import data
from embermem.protocols import ChatMessage

__all__ = ["ChatReply", "ChatStream", "compose", "no_model", "step_of", "turns", "without"]

_CALLER = "caller"
_NOTHING = "-"
"""Stands for a part of the prompt that nobody has set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatReply:
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

    One utterance is one line that begins with its number; nothing that was said can look like one.
    """
    blocks = []
    for block in text.split("\n\n"):
        kept: list[str] = []
        for line in reversed(block.split("\n")):
            seq = line[1:].partition(" ")[0] if line.startswith("#") else ""
            over_nothing = _is_header(line) and not (kept and kept[-1].startswith("#"))
            if not (seq.isdecimal() and int(seq) in seqs) and not over_nothing:
                kept.append(line)
        if kept:
            blocks.append("\n".join(reversed(kept)))
    return "\n\n".join(blocks)


def _is_header(line: str) -> bool:
    return line[:4].isdecimal() and line.endswith(":")
