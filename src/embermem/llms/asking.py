"""Questions to a language model, the careful way: within a budget, written down, tried again, repaired once, and after
a chat.

For each request: the breaker is asked, the ledger begins a line (which is where a limit says no), the request is made,
the line is ended. A retry, a doubled answer and a repair are requests of their own.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

from embermem.core import ids
from embermem.core.config import Settings
from embermem.core.errors import (
    ModelBusy,
    ModelError,
    ModelGaveWay,
    ModelRefused,
    ModelReplyError,
    ModelTimeout,
    ModelTooLong,
    ModelUnreachable,
    ModelWait,
    StoreError,
)
from embermem.core.types import Breaking, Owner
from embermem.llms import estimate
from embermem.llms.breaker import Breaker
from embermem.llms.endings import repeats
from embermem.llms.structured import filled, narrowed, read_answer, reply_schema, whole_items
from embermem.llms.turns import Turn, Turns, turns_at
from embermem.protocols import (
    AnswerForm,
    Call,
    ChatMessage,
    LanguageModel,
    Limits,
    ModelReply,
    ModelRequest,
    Purpose,
    ServedModel,
    UsageLog,
)

__all__ = ["ModelAsker"]

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

# Seconds before the first retry; doubled at each further one, and half as much again by chance, so that processes that
# failed together do not come back together.
FIRST_PAUSE_S = 0.5
# Low, so that the same page is read the same way; not 0, at which small models repeat themselves without end.
TEMPERATURE = 0.2
# Characters of what was wrong with an answer that the model is told.
FAULT_CHARS = 300
# Seconds that an answer may take at the speed of the last one: its limit of tokens is lowered to that; but to no fewer
# than so many, and only an answer of so many tokens tells a speed.
ANSWER_S = 120.0
_LEAST_TOKENS, _TIMED_TOKENS = 256, 32
# Tokens that servers leave free at the end of a context.
_SPARE_TOKENS = 8
# Seconds after which a question that gave way may be asked again.
GAVE_WAY_S = 2.0

UNUSABLE = "unusable"
"""The outcome of a request whose answer came and could not be used."""
GAVE_WAY = "gave way"
"""The outcome of one that was ended for a chat."""

_ON_THE_WAY = (ModelTimeout, ModelUnreachable, ModelBusy)
_BACKGROUND = frozenset({Purpose.ANNOTATE, Purpose.PROFILE, Purpose.REMEMBER})
_NOT_BILLED = (ModelUnreachable, ModelBusy, ModelRefused, ModelTooLong)


class ModelAsker:
    """An Asker on one model and one ledger. Safe to use from several threads; they share the breaker, and at most
    `model_concurrency` of them ask at once. A stream, which somebody reads, waits for no place, and on a server that
    answers one at a time the questions of the background give way to it."""

    def __init__(
        self,
        model: LanguageModel,
        ledger: UsageLog,
        settings: Settings,
        clock: Callable[[], datetime],
        sleep: Callable[[float], None] = time.sleep,
        new_id: Callable[[], str] = lambda: ids.new_id("k"),
        *,
        timer: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`clock` dates the ledger and the breaker's rest, `timer` measures a request, both in seconds; `chance` gives
        numbers in [0, 1)."""
        self._model = model
        self._ledger = ledger
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._new_id = new_id
        self._timer = timer
        self._chance = chance
        self._limits = Limits(
            calls=settings.calls_per_day,
            tokens=settings.tokens_per_day,
            owner_calls=settings.owner_calls_per_day,
            owner_tokens=settings.owner_tokens_per_day,
        )
        self._breaker = Breaker(failures=settings.model_breaker_failures, rest_s=settings.model_breaker_s, clock=clock)
        self._places = threading.BoundedSemaphore(settings.model_concurrency)
        address = settings.model_url or os.environ.get("OPENAI_BASE_URL")
        self._turns = turns_at(address) if address else Turns()
        self._speed: float | None = None
        self._one_at_a_time = isinstance(model, ServedModel) and model.one_at_a_time

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def breaking(self) -> Breaking:
        """See Asker.breaking."""
        return self._breaker.state

    @property
    def context_tokens(self) -> int | None:
        """See Asker.context_tokens."""
        return self._model.find_context() if isinstance(self._model, ServedModel) else None

    def ask(
        self,
        owner: Owner,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        answer: type[Answer],
        check: Callable[[Answer], None] = lambda _: None,
        *,
        accept: Callable[[Answer], bool] = lambda _: True,
        form: AnswerForm | None = None,
    ) -> Answer:
        """See Asker.ask. A cut answer is asked for once more with twice the tokens, but not where the question is
        divisible, and is read as far as it is whole if it is cut again; a wrong one is asked for once more with what is
        wrong with it: three answers at most. Once an answer was wrong, a limit or rest that forbids the next request
        does not hide it: ModelReplyError is raised, and counts as a try.
        """
        request = self._request(messages, answer, form)
        doubled = repaired = False
        failure: ModelReplyError | None = None
        while True:
            try:
                read = partial(_read, answer=answer, check=check, in_part=doubled)
                return self._answered(owner, purpose, request, read, accept)
            except ModelGaveWay:
                raise
            except ModelWait:
                if failure is None:
                    raise
                raise failure from None
            except ModelReplyError as error:  # it was empty: there is no fault to show
                failure = error
                if repaired:
                    raise
                repaired = True
            except _Unusable as wrong:
                reply = wrong.reply
                failure = self._wrong(purpose, reply)
                if reply.cut and self._fills_context(reply):
                    raise ModelTooLong(f"{self.model} has no room for its answer beside the prompt") from None
                if reply.cut and form is not None and form.divisible:
                    raise failure from None
                if reply.cut and not doubled:
                    request, doubled = replace(request, max_tokens=2 * request.max_tokens), True
                elif reply.cut or repaired:
                    raise failure from None  # the words of `wrong` may be the model's
                else:
                    request, repaired = _repair(request, str(wrong)), True

    def stream(self, owner: Owner, purpose: Purpose, messages: Sequence[ChatMessage]) -> Iterator[str]:
        """See Asker.stream. Nothing is asked before the first piece is; to stop early, close the iterator: what came
        until then stands in the ledger."""
        request = ModelRequest(messages=tuple(messages), max_tokens=self._settings.model_chat_tokens)
        failure: ModelError | None = None
        for attempt in range(self._settings.model_retries + 1):
            pieces: list[str] = []
            began = self._timer()
            try:
                with self._line(owner, purpose, request) as line, self._chat():
                    for piece in self._model.stream(request):
                        if isinstance(piece, ModelReply):
                            line.reply = piece
                        else:
                            pieces.append(piece)
                            line.text += piece
                            yield piece
                    if not line.text.strip():
                        raise ModelReplyError(f"{self.model} gave an empty answer", "")
                return
            except ModelWait:
                if failure is None:
                    raise
                raise failure from None
            except _ON_THE_WAY as error:
                if pieces or not self._may_retry(error, attempt, began):
                    raise
                failure = error
                self._pause(error, attempt)

    # ------------------------------------------------------------------------------------------------------- requests

    def _request(self, messages: Sequence[ChatMessage], answer: type[Any], form: AnswerForm | None) -> ModelRequest:
        most = self._settings.model_answer_tokens
        if form is not None:
            most = min(most, form.tokens)
            if self._speed is not None:
                most = min(most, max(_LEAST_TOKENS, int(self._speed * ANSWER_S)))
        schema = reply_schema(answer)
        schema = replace(schema, narrow=narrowed(schema.narrow, form.ids if form is not None else ()))
        if form is not None and form.example is not None:
            schema = replace(schema, example=filled(form.example))
        return ModelRequest(
            messages=tuple(messages),
            max_tokens=most,
            temperature=TEMPERATURE,
            schema=schema,
        )

    def _answered(
        self,
        owner: Owner,
        purpose: Purpose,
        request: ModelRequest,
        read: Callable[[ModelReply], Answer],
        accept: Callable[[Answer], bool],
    ) -> Answer:
        """What `read` makes of the reply; failures on the way are tried again. A limit or rest met then does not hide
        the failure. Raises _Unusable as `read` does."""
        failure: ModelError | None = None
        for attempt in range(self._settings.model_retries + 1):
            began = self._timer()
            try:
                with self._turn(purpose) as turn, self._line(owner, purpose, request) as line:
                    line.reply = self._whole(request, turn, line)
                    found = read(line.reply)
                    line.of_use = accept(found)
                    return found
            except ModelGaveWay:
                raise
            except ModelWait:
                if failure is None:
                    raise
                raise failure from None
            except _ON_THE_WAY as error:
                if not self._may_retry(error, attempt, began):
                    raise
                failure = error
                self._pause(error, attempt)
        raise AssertionError("unreachable: the last attempt returns or raises")

    @contextmanager
    def _turn(self, purpose: Purpose) -> Iterator[Turn]:
        """A place among the questions, and the turn of this one."""
        with self._places:
            if self._one_at_a_time and purpose in _BACKGROUND:
                with self._turns.background() as turn:
                    yield turn
            else:
                yield Turn()

    def _whole(self, request: ModelRequest, turn: Turn, line: _Line) -> ModelReply:
        """The reply to a request, as long as it need not give way. Raises ModelError, ModelGaveWay."""
        if not isinstance(self._model, ServedModel):
            return self._model.complete(request)
        stream, first = self._model.stream(request), 0.0
        turn.awaits(stream)
        try:
            for piece in stream:
                if isinstance(piece, ModelReply):
                    took = self._timer() - first
                    if line.text and took > 0 and piece.completion_tokens >= _TIMED_TOKENS:
                        self._speed = piece.completion_tokens / took
                    return piece
                first = first if line.text else self._timer()
                line.text += piece
                if turn.gave_way:
                    break
        except ModelError:
            if not turn.gave_way:
                raise
        finally:
            if isinstance(stream, _Closable):
                stream.close()
        if turn.gave_way:
            again = self._clock() + timedelta(seconds=GAVE_WAY_S)
            raise ModelGaveWay(f"{self.model} was asked to answer a chat first", again)
        raise ModelReplyError(f"{self.model} ended without an answer", line.text)

    def _may_retry(self, error: ModelError, attempt: int, began: float) -> bool:
        """Whether to try again at once: not after a long silence, which the next try would meet as well."""
        if isinstance(error, ModelTimeout) and self._timer() - began >= self._settings.model_timeout_s:
            return False
        asked = error.retry_after_s if isinstance(error, ModelBusy) else None
        patient = asked is None or asked <= self._settings.model_retry_max_s
        return patient and attempt < self._settings.model_retries

    def _pause(self, error: ModelError, attempt: int) -> None:
        """Wait before the next try: as long as the server asks, at least as long as we would."""
        ours = min(self._settings.model_retry_max_s, FIRST_PAUSE_S * 2.0**attempt * (1 + self._chance() / 2))
        asked = error.retry_after_s if isinstance(error, ModelBusy) else None
        self._sleep(max(ours, asked or 0.0))

    @contextmanager
    def _line(self, owner: Owner, purpose: Purpose, request: ModelRequest) -> Iterator[_Line]:
        """One request's line in the ledger, begun before the body and ended after it, whatever happens there.

        It is begun with the most that it can cost, so that a limit holds even if nobody lives to end it. If the ledger
        cannot be begun, nothing is asked. If it cannot be ended, the answer stands: the line stays as it was begun,
        and that is logged.
        """
        permit = self._breaker.ask()
        began = Call(
            id=self._new_id(),
            owner_id=owner.id,
            at=self._clock(),
            purpose=purpose,
            model=self.model,
            prompt_tokens=estimate.prompt_tokens(request),
            completion_tokens=request.max_tokens,
            cached_tokens=0,
            ms=0,
            outcome="started",
        )
        line, at = _Line(), self._timer()
        try:
            self._ledger.begin_call(owner, began, self._limits)
        except BaseException:
            self._breaker.give_back(permit)
            raise
        ended = replace(began, completion_tokens=0, outcome=ModelError.outcome)  # also of an interrupt
        heard = False
        try:
            yield line
            ended, heard = replace(ended, outcome="ok" if line.of_use else UNUSABLE), True
        except _ON_THE_WAY as error:
            ended = replace(ended, outcome=error.outcome)
            self._breaker.failed()
            permit = replace(permit, trial=None)
            raise
        except ModelError as error:
            ended = replace(ended, outcome=error.outcome)
            heard = isinstance(error, (ModelRefused, ModelReplyError))
            if isinstance(error, ModelReplyError):
                line.text = line.text or error.raw
            raise
        except _Unusable:
            ended, heard = replace(ended, outcome=UNUSABLE), True
            raise
        except ModelGaveWay:
            ended = replace(ended, outcome=GAVE_WAY)
            raise
        except GeneratorExit:  # whoever read the stream has enough
            ended, heard = replace(ended, outcome="ok"), bool(line.text)
            raise
        finally:
            if heard:
                self._breaker.succeeded()
            else:
                self._breaker.give_back(permit)
            self._end(line.costs(ended), at)

    def _end(self, call: Call, began_at: float) -> None:
        try:
            self._ledger.end_call(replace(call, ms=round(1000 * (self._timer() - began_at))))
        except StoreError as error:
            logger.warning("the ledger could not note how the call %s ended (%s)", call.id, type(error).__name__)

    def _chat(self) -> AbstractContextManager[None]:
        return self._turns.chat() if self._one_at_a_time else nullcontext()

    def _fills_context(self, reply: ModelReply) -> bool:
        """Whether an answer ended because the server's context was full: more tokens would not help."""
        context = self.context_tokens
        return context is not None and reply.prompt_tokens + reply.completion_tokens >= context - _SPARE_TOKENS

    def _wrong(self, purpose: Purpose, reply: ModelReply) -> ModelReplyError:
        what = "was cut at its limit of tokens" if reply.cut else "is not of the form asked for"
        return ModelReplyError(f"the answer of {self.model} ({purpose.value}) {what}", reply.text)


@runtime_checkable
class _Closable(Protocol):
    """A stream that can be stopped early."""

    def close(self) -> None: ...


class _Line:
    """What is known of a request while it is made: the reply, or of a stream the text that came."""

    def __init__(self) -> None:
        self.reply = ModelReply(text="", prompt_tokens=-1, completion_tokens=-1)
        self.text = ""
        self.of_use = True

    def costs(self, call: Call) -> Call:
        """The call with its tokens: counted, if the reply came; else what was asked, and what came of an answer. What
        the server did not take up costs nothing."""
        if self.reply.prompt_tokens >= 0:
            counted = self.reply
            return replace(
                call,
                prompt_tokens=counted.prompt_tokens,
                completion_tokens=counted.completion_tokens,
                cached_tokens=counted.cached_tokens,
            )
        if not self.text and call.outcome in {error.outcome for error in _NOT_BILLED}:
            return replace(call, prompt_tokens=0)
        return replace(call, completion_tokens=estimate.text_tokens(self.text))


class _Unusable(Exception):
    """An answer that is none of the form, or fails the caller's check. Its words are for the model."""

    def __init__(self, words: str, reply: ModelReply) -> None:
        super().__init__(words)
        self.reply = reply


def _read(reply: ModelReply, answer: type[Answer], check: Callable[[Answer], None], *, in_part: bool) -> Answer:
    """The answer, of the form and sound; `in_part`: of one that was cut and is `lenient`, what had come of its lists.
    Raises _Unusable."""
    try:
        came = whole_items(reply.text) if in_part and reply.cut and getattr(answer, "lenient", False) else ""
        found = read_answer(came or reply.text, answer)
        check(found)
    except ValueError as error:
        words = "It repeats itself without end." if repeats(reply.text) else str(error)
        raise _Unusable(words, reply) from error
    return found


def _repair(request: ModelRequest, problem: str) -> ModelRequest:
    """The question again, with what was wrong with the answer. The answer itself is not shown: small models copy it."""
    *before, last = request.messages
    words = f"An earlier answer to this could not be used. {problem[:FAULT_CHARS]} Answer anew, whole, in JSON."
    return replace(request, messages=(*before, replace(last, text=f"{last.text}\n\n{words}")))
