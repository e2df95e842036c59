"""What goes over the wire, without a wire: requests, replies, when to ask again, and failures as our errors.

A sender (`transports.py`) does what `acts` yields: it puts a `Request` on a connection and hands back what came of it,
a `Reply` or a `Broken`; it lets the time of a `Pause` go by. Nothing here waits, sends or asks the time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec

from embermem.core import errors
from embermem.core.errors import (
    AccessRefused,
    EmberError,
    InputError,
    ModelBusy,
    ModelReplyError,
    ModelWait,
    ServerBusy,
    ServerError,
    ServerTimeout,
    ServerUnreachable,
)
from embermem.core.retry_after import Headers, retry_after_s
from embermem.wire.mapping import with_nulls

_T = TypeVar("_T")

FIRST_PAUSE_S = 0.25
"""The pause before a second try; doubles with each. A server that starts again is back within a second or two."""
LONGEST_PAUSE_S = 30.0
"""Who is asked to wait for longer is told so at once, rather than kept."""
_PROBLEM = "urn:embermem:problem:"
_LONGEST_SHOWN = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is asked of a server. `repeatable`: asked twice, it does no more than asked once."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    repeatable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Pause:
    """Some time passes before the next request."""

    seconds: float


Steps = Generator[Request | Pause, bytes, _T]
"""A call: it yields what is to be done, is sent the body of each answer, and returns what it is for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Broken:
    """There was no answer. `sent`: the request may have reached the server; `late`: it took too long."""

    why: str
    sent: bool
    late: bool


NULL = msgspec.Raw(b"null")
"""A field whose value is nothing, told as such: what is None is left out."""


def encoded(fields: Mapping[str, object]) -> bytes:
    """Fields as a JSON body, without those that are None; times as ISO 8601. Raises InputError."""
    try:
        return msgspec.json.encode({name: value for name, value in fields.items() if value is not None})
    except (TypeError, ValueError, msgspec.EncodeError) as error:
        raise InputError(f"what was given cannot be sent as JSON: {error}") from error


def acts(
    steps: Steps[_T], retries: int, now: Callable[[], datetime]
) -> Generator[Request | Pause, Reply | Broken | None, _T]:
    """A call with its retries: what a sender has to do, one after the other; at its end the call's result.

    Each request is to be answered by what came of it, each pause by None. Raises what the call raises, and the error of
    an answer that is none.
    """
    try:
        step = next(steps)
        while True:
            if isinstance(step, Pause):
                yield step
                step = next(steps)
            else:
                step = steps.send((yield from _asked(step, retries, now)))
    except StopIteration as done:
        result: _T = done.value
        return result


def _asked(
    request: Request, retries: int, now: Callable[[], datetime]
) -> Generator[Request | Pause, Reply | Broken | None, bytes]:
    """One request until it is answered, or is not to be sent again."""
    for tries in itertools.count(1):
        outcome = yield request
        assert outcome is not None, "a request is answered by what came of it"
        pause = pause_before_again(request, outcome, tries, retries)
        if pause is None:
            return answered(outcome, now())
        yield Pause(seconds=pause)
    raise AssertionError("unreachable: the loop returns or raises")


def pause_before_again(request: Request, outcome: Reply | Broken, tries: int, retries: int) -> float | None:
    """Seconds to wait before the request is sent again, after `tries` of it; None to leave it at that.

    A request that never reached the server is sent again whatever it asks, and so is one that the server turned away
    for its number (429). After any other failure it is sent again only where it is repeatable.
    """
    if tries > retries:
        return None
    pause = min(FIRST_PAUSE_S * 2 ** (tries - 1), LONGEST_PAUSE_S)
    if isinstance(outcome, Broken):
        return pause if request.repeatable or not outcome.sent else None
    if outcome.status == 429 or (request.repeatable and outcome.status in (502, 503, 504)):
        asked = retry_after_s(outcome.headers)
        if asked is None:
            return pause if _may_pass(outcome) else None
        return asked if asked <= LONGEST_PAUSE_S else None
    return None


def answered(outcome: Reply | Broken, now: datetime) -> bytes:
    """The body of a good answer. Raises the error of any other, read from its problem details.

    `now` is the time from which a server's request to wait counts.
    """
    if isinstance(outcome, Broken):
        raise (ServerTimeout if outcome.late else ServerUnreachable)(outcome.why)
    if 200 <= outcome.status < 300:
        return outcome.body
    problem = _problem(outcome.body)
    raise failure(problem, status=outcome.status, wait_s=retry_after_s(outcome.headers), now=now)


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Why a request failed (RFC 9457), as far as we read it."""

    type: str = ""
    detail: str = ""
    status: int | None = None


def failure(problem: Problem, *, status: int | None, wait_s: float | None, now: datetime) -> EmberError:
    """The error that a problem tells of: that of `embermem.core.errors` where it is one, else a ServerError."""
    kind = _KINDS.get(problem.type.removeprefix(_PROBLEM)) if problem.type.startswith(_PROBLEM) else None
    said = problem.detail or f"the server answered with HTTP status {status}"
    if kind is not None:
        if issubclass(kind, ModelWait):
            return kind(said, now + timedelta(seconds=wait_s or 0.0))
        if issubclass(kind, ModelBusy):
            return kind(said, wait_s)
        return kind(said, "") if issubclass(kind, ModelReplyError) else kind(said)
    if status in (401, 403):
        return AccessRefused(said, status)
    if status in (429, 503):
        return ServerBusy(said, status, wait_s)
    return ServerError(said, status)


def failed(problem: Mapping[str, object], now: datetime) -> EmberError:
    """The error for work that failed after its request was answered."""
    told = msgspec.convert(problem, type=Problem, strict=False)
    return failure(told, status=told.status, wait_s=None, now=now)


def read(body: bytes, kind: type[_T]) -> _T:
    """An answer as a record of `embermem.wire`, or as a type of the core that the API returns unchanged. Unknown fields
    are ignored, because a newer server may send more. Raises ServerError."""
    try:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.ValidationError:
            return msgspec.convert(with_nulls(kind, msgspec.json.decode(body)), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise unreadable(error) from error


def unreadable(error: Exception) -> ServerError:
    """The error of an answer that is not what the API says."""
    return ServerError(f"the server's answer cannot be read; is it an Ember of this version? ({_cut(str(error))})")


def _problem(body: bytes) -> Problem:
    try:
        return msgspec.json.decode(body, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Problem()


def _may_pass(reply: Reply) -> bool:
    """Whether a refusal without a time to wait may be over soon: not one in which a server of ours tells of a fault
    that stays, such as a disk that is full or a model that is not set."""
    return not _problem(reply.body).type.startswith(_PROBLEM)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


_KINDS: Mapping[str, type[EmberError]] = {
    kind.tag: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, EmberError) and not issubclass(kind, ServerError)
}
