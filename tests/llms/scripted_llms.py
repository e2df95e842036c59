"""Scripted stand-ins for the tests of language models: a server that answers raw bytes, a model, a ledger."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from embermem.core.errors import BudgetSpent, ModelUnreachable, StoreBusy
from embermem.core.types import Owner, OwnerId, Role
from embermem.protocols import Call, ChatMessage, Limits, ModelReply, ModelRequest

ALICE = Owner(id=OwnerId("a" * 32), user="alice", agent="default")


def question(text: str = "Which city? Answer in JSON.", **changes: Any) -> ModelRequest:
    """A request with one message."""
    return replace(ModelRequest(messages=(ChatMessage(role=Role.USER, text=text),), max_tokens=100), **changes)


def completion(text: str | None, **changes: Any) -> dict[str, Any]:
    """The body of a chat completion without usage."""
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], **changes}


@dataclass(frozen=True, kw_only=True)
class Raw:
    """What a raw server sends; `parts` are flushed one by one."""

    status: int = 200
    parts: Sequence[bytes] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, body: object, status: int = 200, **headers: str) -> Raw:
        """One JSON document; in a header's name `_` stands for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status=status, parts=(json.dumps(body).encode(),), headers=named)

    @classmethod
    def refusal(cls, message: str, code: str | None = None, status: int = 400, **headers: str) -> Raw:
        """An error in OpenAI's form."""
        return cls.json({"error": {"message": message, "code": code, "type": "x"}}, status, **headers)

    @classmethod
    def events(cls, *lines: str) -> Raw:
        """A stream of server-sent events, each line as it is."""
        return cls(parts=[f"{line}\n\n".encode() for line in lines], headers={"Content-Type": "text/event-stream"})


def always(answer: Raw) -> Callable[[dict[str, Any]], Raw]:
    """The function of a RawServer that gives one answer to every request."""
    return lambda _: answer


class RawServer:
    """Real HTTP on loopback that answers by a function of the parsed request."""

    def __init__(self, answer: Callable[[dict[str, Any]], Raw]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(request)
                outer.headers.append({key.lower(): value for key, value in self.headers.items()})
                raw = answer(request)
                self.send_response_only(raw.status)  # without a Date of its own
                for key, value in raw.headers.items():
                    self.send_header(key, value)
                self.send_header("Connection", "close")
                self.end_headers()
                try:
                    for part in raw.parts:
                        self.wfile.write(part)
                        self.wfile.flush()
                except OSError:  # the client left
                    return

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is printed."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


Turn = str | ModelReply | BaseException


class ScriptedModel:
    """A LanguageModel that takes its answers from a list, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *turns: Turn, pieces: int = 4, breaks_off: bool = False) -> None:
        """`pieces` is a stream's length of a piece; with `breaks_off` it never ends well."""
        self.turns = list(turns)
        self.pieces = pieces
        self.breaks_off = breaks_off
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        turn = self.turns.pop(0)
        if isinstance(turn, BaseException):
            raise turn
        return turn if isinstance(turn, ModelReply) else ModelReply(text=turn, prompt_tokens=7, completion_tokens=3)

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        reply = self.complete(request)
        for at in range(0, len(reply.text), self.pieces):
            yield reply.text[at : at + self.pieces]
        if self.breaks_off:
            raise ModelUnreachable("broke off")
        yield reply


class MemoryLedger:
    """A ledger in a list. It keeps to the limit of calls, and can be told to fail when a call ends."""

    def __init__(self, *, fails_at_end: bool = False) -> None:
        self.lines: dict[str, Call] = {}
        self.begun: list[Call] = []
        self.fails_at_end = fails_at_end

    def begin_call(self, owner: Owner, call: Call, limits: Limits) -> None:
        if limits.calls is not None and len(self.lines) >= limits.calls:
            raise BudgetSpent("the day's calls are spent", call.at)
        self.begun.append(call)
        self.lines[call.id] = call

    def end_call(self, call: Call) -> None:
        if self.fails_at_end:
            raise StoreBusy("held by others")
        self.lines[call.id] = call

    def calls(self, since: datetime, owner_id: OwnerId | None = None) -> tuple[Call, ...]:
        return tuple(call for call in self.lines.values() if call.at >= since)

    @property
    def outcomes(self) -> list[str]:
        return [call.outcome for call in self.lines.values()]
