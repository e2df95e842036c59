"""`embermem model check`: what the configured language model can do, tried within a bounded time.

Three things are asked, each of the model's real server: a free answer, for its speed; an answer of a form that the
prompt does not speak of, which only a grammar brings about; and two pages of a conversation, read as any others in a
memory that is thrown away. A check may cost a hosted model about 2,500 tokens.
"""

from __future__ import annotations

import math
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from embermem import bootstrap
from embermem.core.config import Settings
from embermem.core.errors import (
    EmberError,
    ModelBusy,
    ModelError,
    ModelMissing,
    ModelReplyError,
    ModelTimeout,
    ModelUnreachable,
)
from embermem.core.types import Role
from embermem.memory import Memory
from embermem.protocols import (
    BreakableStream,
    ChatMessage,
    LanguageModel,
    ModelReply,
    ModelRequest,
    ReplySchema,
    ServedModel,
    StructuredMode,
)
from embermem.reports.estimate import ANNOTATE_ANSWER, PROFILE_ANSWER, PROFILE_BESIDE, estimate
from embermem.transfer.items import Entry

__all__ = ["ModelCheck", "Speed", "check", "make_model"]

CHECK_S = 30.0
"""Seconds that a check takes at most."""
_SPEED_SHARE = 0.4
"""Of that time, at most so much is for the free answer."""
_ANSWER_TOKENS = 48
_PAGES = 200
"""Pages of the conversation for which the cost of a page is computed."""
_PATIENCE_S = 60.0
"""A batch's answer should take no longer: what came of one that fails is lost."""

_TEXT = (
    "A small club meets by a lake. Its members count birds each Sunday, and write down what they saw and where. In "
    "spring the herons come back to the old willow, and somebody climbs up to mend the nest box. The hut is open from "
    "nine to five, but not on Mondays. Last year a storm took its roof, and the neighbours brought boards and nails. "
    "Ana keeps the book of sightings; her brother drives the boat. In autumn they cook soup for everybody who helped, "
    "and read aloud what was seen in the year. Nobody knows who planted the willow. "
)
_BIRD = ReplySchema(
    name="Bird",
    schema={
        "type": "object",
        "properties": {"bird": {"type": "string", "enum": ["kestrel"]}},
        "required": ["bird"],
        "additionalProperties": False,
    },
)
_EXCHANGES = (
    ("My name is Ana, and I moved to Nantes in May.", "Welcome to Nantes, Ana! How do you like it?"),
    ("I like it. My brother Luis will visit me next week.", "How nice. Will you show him the castle?"),
    ("Yes. He loves castles. I bought him a book about them.", "He will be glad."),
)
"""The newest page waits in short-term memory, so two are read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Speed:
    """Tokens a second of the prompt and of the answer; None where the answer was too short to tell."""

    prompt: float | None
    answer: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCheck:
    """What was found. `form`: how the server is made to answer in a form, None if no answer showed it. `thinks`:
    whether the model reasons before it answers, None if its answer was not waited for. `understands`: whether its
    answer about the pages could be used, in `requests` requests; None if no answer came. `page_tokens` and `page_s` are
    what one page will cost, on the average of a long conversation. `settings` are those to take, `notes` say in
    sentences what will work and what will not."""

    model: str
    seconds: float
    first_token_s: float
    speed: Speed
    context_tokens: int | None
    form: Literal["grammar", "json", "prompt"] | None
    thinks: bool | None
    understands: bool | None
    requests: int
    outcomes: tuple[str, ...]
    page_tokens: int
    page_s: float | None
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def make_model(settings: Settings) -> LanguageModel:
    """The model that the settings name; nothing is asked. Raises ModelMissing where they name none, or where its
    package is not installed."""
    made = bootstrap.make_model(None, settings)
    if made is None:
        raise ModelMissing(
            "no model is set: set EMBERMEM_MODEL to its name and EMBERMEM_MODEL_URL to its endpoint, such as "
            "http://127.0.0.1:11434/v1 (or model and model_url in embermem.toml)"
        )
    return made


def check(made: LanguageModel, settings: Settings, within_s: float = CHECK_S) -> ModelCheck:
    """Try a model. Raises ModelError where it does not answer within `within_s` seconds."""
    begun = time.monotonic()
    model = _Bounded(made, begun + within_s)
    free = _free_answer(model, begun + _SPEED_SHARE * within_s)
    form = _form(model)
    requests, outcomes, understands = _pages(model, settings)
    tokens, page_s = _page_cost(settings, free.speed)
    found = ModelCheck(
        model=made.name,
        seconds=round(time.monotonic() - begun, 1),
        first_token_s=round(free.first_s, 2),
        speed=free.speed,
        context_tokens=model.find_context(),  # the refusal of a page may have told it
        form=form,
        thinks=free.thinks,
        understands=understands,
        requests=requests,
        outcomes=outcomes,
        page_tokens=tokens,
        page_s=page_s,
    )
    return replace(found, settings=_advised(found, settings), notes=_notes(found, model.over))


class _Bounded:
    """A ServedModel that asks nothing after a deadline, and breaks off what it asked before it."""

    def __init__(self, model: LanguageModel, deadline: float) -> None:
        self._model = model
        self._deadline = deadline

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._deadline

    @property
    def structured_mode(self) -> StructuredMode:
        """See ServedModel."""
        return self._model.structured_mode if isinstance(self._model, ServedModel) else StructuredMode.PROMPT

    @property
    def one_at_a_time(self) -> bool:
        """See ServedModel."""
        return isinstance(self._model, ServedModel) and self._model.one_at_a_time

    def find_context(self) -> int | None:
        """See ServedModel."""
        return self._model.find_context() if isinstance(self._model, ServedModel) else None

    def complete(self, request: ModelRequest) -> ModelReply:
        """See LanguageModel."""
        *_, last = self.stream(request)
        assert isinstance(last, ModelReply)
        return last

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """See LanguageModel."""
        return self.until(request, self._deadline)

    def until(self, request: ModelRequest, deadline: float) -> Iterator[str | ModelReply]:
        """The same with an earlier deadline. Raises ModelTimeout there."""
        late = ModelTimeout(f"the model {self.name} did not answer within the time of the check")
        over = min(deadline, self._deadline)
        left = over - time.monotonic()
        if left <= 0:
            raise late
        stream = self._model.stream(request)
        timer = threading.Timer(left, stream.break_off) if isinstance(stream, BreakableStream) else None
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            for piece in stream:
                yield piece
                if time.monotonic() >= over and not isinstance(piece, ModelReply):
                    raise late
        except ModelError:
            if time.monotonic() >= over:
                raise late from None
            raise
        finally:
            if timer is not None:
                timer.cancel()


# ------------------------------------------------------------------------------------------------------ what is asked


@dataclass(frozen=True, kw_only=True, slots=True)
class _Free:
    speed: Speed
    first_s: float
    thinks: bool | None


def _free_answer(model: _Bounded, deadline: float) -> _Free:
    """A free answer's speed. Raises ModelError where nothing comes before the deadline of the whole check."""
    # Begins with a word of its own: no cache holds it.
    prompt = f"{secrets.token_hex(8)}\n{_TEXT}\nTell in your own words what the club does in a year."
    request = ModelRequest(messages=(ChatMessage(role=Role.USER, text=prompt),), max_tokens=_ANSWER_TOKENS)
    begun = time.monotonic()
    first_at = last_at = 0.0
    pieces, reply = 0, None
    stream = model.stream(request)
    for piece in stream:
        if isinstance(piece, ModelReply):
            reply = piece
            break
        pieces, last_at = pieces + 1, time.monotonic()
        first_at = first_at or last_at
        if last_at >= deadline and pieces > 1:
            break
    ended = time.monotonic()
    if not pieces:  # it thought for as long as it was allowed to
        return _Free(speed=Speed(prompt=None, answer=_rate(reply, ended - begun)), first_s=ended - begun, thinks=True)
    asked = reply.prompt_tokens - reply.cached_tokens if reply else len(prompt) // 4
    answered = pieces
    thinks = None if reply is None else reply.completion_tokens > 2 * pieces + 8
    took = last_at - first_at
    return _Free(
        speed=Speed(
            prompt=None if thinks else round(asked / max(first_at - begun, 1e-3), 1),
            answer=round((answered - 1) / took, 1) if answered > 4 and took > 0 else None,
        ),
        first_s=first_at - begun,
        thinks=thinks,
    )


def _rate(reply: ModelReply | None, took: float) -> float | None:
    return None if reply is None or took <= 0 else round(reply.completion_tokens / took, 1)


def _form(model: _Bounded) -> Literal["grammar", "json", "prompt"] | None:
    """How an answer of a form comes about. The prompt does not speak of the form, so that only a grammar can."""
    words = "In which season do herons build their nests? Answer in one short sentence."
    request = ModelRequest(
        messages=(ChatMessage(role=Role.USER, text=words),), max_tokens=_ANSWER_TOKENS, temperature=0.2, schema=_BIRD
    )
    try:
        text = model.complete(request).text
    except ModelReplyError as error:
        text = error.raw
    except ModelError:
        return None
    try:
        obeyed = msgspec.json.decode(text.strip()) == {"bird": "kestrel"}
    except (msgspec.DecodeError, UnicodeError):
        obeyed = False
    match model.structured_mode:
        case StructuredMode.JSON_SCHEMA:
            return "grammar" if obeyed else "prompt"
        case StructuredMode.JSON_OBJECT:
            return "json"
        case StructuredMode.PROMPT:
            return "prompt"


_NO_ANSWER = frozenset({ModelTimeout.outcome, ModelUnreachable.outcome, ModelBusy.outcome, ModelError.outcome})
"""Outcomes of requests to which no answer came; so are those of an HTTP status."""


def _pages(model: _Bounded, settings: Settings) -> tuple[int, tuple[str, ...], bool | None]:
    """Requests about two pages of a conversation, how each ended, and whether the model's answer could be used; None
    where no answer came."""
    since = datetime.now(UTC)
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(
            Path(folder) / "check.db",
            model=model,
            preset=settings.preset,
            background=False,
            embedder="hashed",
            short_term_pages=1,
            model_retries=0,
            attempts=1,
        )
        with memory:
            someone = memory.of("someone")
            for query, response in _EXCHANGES:
                someone.add(query, response)
            with suppress(EmberError):  # the usage log tells how the requests ended
                someone.settle()
            calls = memory.calls(since)
            analysts = {change.analyst for change in someone.changes()}
    outcomes = tuple(call.outcome for call in calls)
    understood = any(name.startswith("model:") for name in analysts)
    tried = any(one not in _NO_ANSWER and not one.startswith("HTTP ") for one in outcomes)
    return len(calls), outcomes, understood if understood or tried else None


# --------------------------------------------------------------------------------------------------- what comes of it


def _page_cost(settings: Settings, speed: Speed) -> tuple[int, float | None]:
    """Tokens and seconds of one page, on the average of a long conversation of such pages as were tried."""
    said = [
        Entry(place="", role=role, content=text)
        for number in range(_PAGES)
        for role, text in zip(("user", "assistant"), _EXCHANGES[number % len(_EXCHANGES)], strict=True)
    ]
    cost = estimate(said, "someone", "main", settings)
    tokens = (cost.prompt_tokens + cost.completion_tokens) / _PAGES
    if not speed.prompt or not speed.answer:
        return round(tokens), None
    took = (cost.prompt_tokens / speed.prompt + cost.completion_tokens / speed.answer) / _PAGES
    return round(tokens), round(took, 1)


def _advised(found: ModelCheck, settings: Settings) -> dict[str, Any]:
    """The settings to take, where they are not what is set."""
    advised: dict[str, Any] = {}
    if found.speed.answer:
        pages = max(1, min(settings.batch_pages, int(_PATIENCE_S * found.speed.answer / ANNOTATE_ANSWER)))
        advised["batch_pages"] = pages
    if found.context_tokens is not None:
        most = max(64, found.context_tokens // 2)
        advised["model_answer_tokens"] = min(settings.model_answer_tokens, most)
        advised["model_chat_tokens"] = min(settings.model_chat_tokens, most)
        advised["chat_turn_tokens"] = min(settings.chat_turn_tokens, most)
    if found.speed.prompt:
        first_s = (PROFILE_BESIDE + 1500) / found.speed.prompt
        # A server may take five times as long to begin its answer as it may be silent within it.
        advised["model_timeout_s"] = max(settings.model_timeout_s, float(10 * math.ceil(2 * first_s / 5 / 10)))
    return {name: value for name, value in advised.items() if value != getattr(settings, name)}


def _notes(found: ModelCheck, late: bool) -> tuple[str, ...]:
    notes = ["Chat: works."]
    if found.understands:
        notes.append("Understanding: the model's answer about two pages could be used.")
    elif found.understands is None and late:
        notes.append(
            "Understanding: not tried, as the time of the check was over; give --seconds more. Pages that the model "
            "cannot read in time are left to the extractive analyst."
        )
    elif found.understands is None:
        notes.append(
            "Understanding: not tried, as the model gave no answer about two pages "
            f"({', '.join(found.outcomes) or 'nothing was asked'}). Run the check again."
        )
    else:
        notes.append(
            "Understanding: the model's answer about two pages could not be used "
            f"({', '.join(found.outcomes)}). Such pages are left to the extractive analyst."
        )
    forms = {
        "grammar": "Form: the server has a grammar for the form of an answer.",
        "json": "Form: the server knows JSON, but no schema; the form is shown in the prompt.",
        "prompt": "Form: the server has no grammar; the form is shown in the prompt, which small models often miss.",
        None: "Form: no answer showed whether the server has a grammar.",
    }
    notes.append(forms[found.form])
    if found.thinks:
        notes.append("Thinking: the model reasons before it answers, which costs time; turn it off at the server.")
    if found.context_tokens is not None and found.context_tokens < PROFILE_BESIDE + PROFILE_ANSWER + 2000:
        notes.append("Context: small; start the server with 8,192 tokens or more, if its memory allows.")
    return tuple(notes)
