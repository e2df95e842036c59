"""A scripted language model behind real HTTP on loopback: OpenAI's /v1/chat/completions and /v1/models.

It answers what it is told, fails as it is told, and counts what it was asked. Standard library only. Example:

    with ModelServer() as server:
        server.reply_with({"city": "Nantes"})
        server.fail_next("http_503", times=2)
        ...  # a client on server.url
        assert server.calls == 3
"""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from socketserver import TCPServer
from types import TracebackType
from typing import Any, Final, Self

from embermem.testing import faults, wire
from embermem.testing.faults import Fault
from embermem.testing.wire import Call, Completion, Request

__all__ = ["Answer", "Call", "ModelServer"]

Answer = str | Mapping[str, Any] | Call | Callable[[Request], str | Mapping[str, Any] | Call]
"""What is answered: a text, an object (sent as JSON text), a call of a tool, or a function of the request."""

_MODEL: Final = "scripted"
_SSE: Final = "text/event-stream"
_ON_THE_WAY: Final = frozenset(
    {"slow", "hang", "disconnect", "garbage", "http_401", "http_429", "http_500", "http_503"}
)
"""Faults that a request for the list of models meets too."""
_LOOK_S: Final = 0.02
"""How often the accepting thread looks whether it is to end."""


class ModelServer:
    """A server on 127.0.0.1, up between `__enter__` and `__exit__`. Safe to use from several threads.

    Answers with `answer` until told otherwise. `port` 0 takes a free one. With `key`, a request that does not bring it
    is refused (401). An error of an answering function is answered as HTTP 500 and raised when the server closes.
    """

    def __init__(
        self,
        answer: Answer = "Hello.",
        *,
        port: int = 0,
        key: str | None = None,
        models: Sequence[str] = (_MODEL,),
    ) -> None:
        self.models = tuple(models)
        self._answer = answer
        self._key = key
        self._changed = threading.Condition()
        self._queue: deque[Fault | None] = deque()
        self._always: Fault | None = None
        self._requests: list[Request] = []
        self._authorizations: list[str | None] = []
        self._prompt_tokens = 0
        self._completion_tokens = 0
        self._misshapen = 0
        self._errors: list[BaseException] = []
        self._thread: threading.Thread | None = None
        self._http = _Http(("127.0.0.1", port), self)
        self.port: int = self._http.server_port
        self.url: str = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(_LOOK_S,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if not self._errors:
            return
        if error is None:
            raise self._errors[0]
        error.add_note(f"the answering function of the model server failed: {self._errors[0]!r}")

    def close(self) -> None:
        """Take no more connections and end those that are open, hanging ones too. May be called twice."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.server_close()
        self._http.end_connections()

    # ----------------------------------------------------------------------------------------------------- what it does

    def reply_with(self, answer: Answer) -> None:
        """Answer so from now on. A function is called by many threads at once, and must not change the request."""
        with self._changed:
            self._answer = answer

    def fail_next(self, kind: str, times: int = 1, after: int = 0, **detail: Any) -> None:
        """Queue a fault for the next `times` requests, when what is queued and then `after` good answers have gone.

        docs/guides/scripted-model.md lists kinds and details. Raises InputError for one that there is not.
        """
        fault = faults.make(kind, detail)
        with self._changed:
            self._queue.extend([None] * after)
            self._queue.extend([fault] * times)

    def fail_always(self, kind: str, **detail: Any) -> None:
        """Meet every request with this fault, once the queue is empty, until `recover`. Raises as `fail_next`."""
        fault = faults.make(kind, detail)
        with self._changed:
            self._always = fault

    def recover(self) -> None:
        """Forget all faults; what hangs goes on hanging."""
        with self._changed:
            self._queue.clear()
            self._always = None

    # ----------------------------------------------------------------------------------------------------- what it saw

    @property
    def requests(self) -> list[Request]:
        """The parsed bodies of all requests for an answer, in order of arrival, those that failed too.

        A body that OpenAI would refuse (see `wire.problem`) is refused with 400, and stands here as well, if it is one
        that could be read.
        """
        with self._changed:
            return list(self._requests)

    @property
    def calls(self) -> int:
        """How many requests for an answer arrived."""
        with self._changed:
            return len(self._requests)

    @property
    def authorizations(self) -> list[str | None]:
        """The header `Authorization` of each of `requests`."""
        with self._changed:
            return list(self._authorizations)

    @property
    def prompt_tokens(self) -> int:
        """Tokens (counter `approx`) of all text that clients sent: messages and schemas, of every request."""
        with self._changed:
            return self._prompt_tokens

    @property
    def completion_tokens(self) -> int:
        """Tokens of all text that was answered, or was about to be when the fault cut it off."""
        with self._changed:
            return self._completion_tokens

    def wait_for_calls(self, count: int, seconds: float = 10.0) -> None:
        """Return when `count` requests have arrived, answered or not. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= count, seconds):
                raise TimeoutError(f"{len(self._requests)} of {count} requests arrived in {seconds:g} s")

    # ------------------------------------------------------------------------------------------------ for the handlers

    def _arrived(self, request: Request, authorization: str | None) -> tuple[int, Fault | None]:
        """Note a request; its number and the fault that it meets."""
        try:
            tokens = wire.prompt_tokens(request)
        except (KeyError, TypeError, AttributeError):
            tokens = 0
        with self._changed:
            self._requests.append(request)
            self._authorizations.append(authorization)
            self._prompt_tokens += tokens
            self._changed.notify_all()
            return len(self._requests), self._taken(request)

    def _taken(self, request: Request) -> Fault | None:
        if self._queue:
            first = self._queue[0]
            if first is None or first.concerns(request):
                return self._queue.popleft()
            return None
        return self._always if self._always and self._always.concerns(request) else None

    def _completion(self, request: Request, fault: Fault | None) -> Completion:
        with self._changed:
            answer, turn = self._answer, self._misshapen
            self._misshapen += fault is not None and fault.kind == "wrong_shape"
        given = answer(request) if callable(answer) and fault is None else answer
        if isinstance(given, Call) and fault is None:
            return Completion(text=None, finish="tool_calls", call=given)
        made = faults.spoil(fault, lambda: _as_text(given, request), request, turn)
        with self._changed:
            self._completion_tokens += made.tokens
        return made

    def _admits(self, authorization: str | None) -> bool:
        return self._key is None or authorization == f"Bearer {self._key}"

    def _always_on_the_way(self) -> Fault | None:
        with self._changed:
            return self._always if self._always and self._always.kind in _ON_THE_WAY else None

    def _failed(self, error: BaseException) -> None:
        with self._changed:
            self._errors.append(error)


def _as_text(answer: Answer, request: Request) -> str:
    given = answer(request) if callable(answer) else answer
    if isinstance(given, Call):
        return given.arguments
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


class _Http(ThreadingHTTPServer):
    """The listening socket and the open connections."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], model: ModelServer) -> None:
        self.model = model
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without asking the network for this machine's name, as HTTPServer would."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):  # OSError: the client left
            self.model._failed(error)

    def end_connections(self) -> None:
        with self._guard:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # it has ended by itself
                    continue


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: _Http
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].rstrip("/")
        model = self.server.model
        if fault := model._always_on_the_way():
            self._fail(fault, lambda: self._send(200, wire.models(model.models)))
        elif not model._admits(self.headers["Authorization"]):
            self._refuse("http_401")
        elif path == "/v1/models":
            self._send(200, wire.models(model.models))
        elif path.startswith("/v1/models/") and path.removeprefix("/v1/models/") in model.models:
            self._send(200, wire.models([path.removeprefix("/v1/models/")])["data"][0])
        else:
            self._send(404, wire.error(f"Unknown URL: GET {path}", "invalid_request_error", None))

    def do_POST(self) -> None:
        request = self._read()
        if self.path.partition("?")[0].rstrip("/") != "/v1/chat/completions":
            self._send(404, wire.error(f"Unknown URL: POST {self.path}", "invalid_request_error", None))
        elif not isinstance(request, dict):
            self._send(400, wire.error("The body is not a JSON object.", "invalid_request_error", None))
        else:
            self._answer(request)

    def _answer(self, request: Request) -> None:
        model = self.server.model
        number, fault = model._arrived(request, self.headers["Authorization"])
        if not model._admits(self.headers["Authorization"]):
            self._refuse("http_401")
        elif wrong := wire.problem(request):
            self._send(400, wire.error(wrong, "invalid_request_error", None))
        elif fault and fault.kind == "garbage" and request.get("stream"):
            self._stream([faults.GARBAGE.decode()])
        elif fault and fault.kind == "overflow":
            self._send(400, faults.overflow(fault, request))
        elif fault and fault.kind in (*faults.STATUSES, "garbage"):
            self._fail(fault, lambda: None)
        else:
            self._complete(request, fault, number)

    def _complete(self, request: Request, fault: Fault | None, number: int) -> None:
        try:
            completion = self.server.model._completion(request, fault)
        except Exception as error:  # noqa: BLE001 - the caller's function; raised again when the server closes
            self.server.model._failed(error)
            self._refuse("http_500")
            return
        if fault and fault.kind in _ON_THE_WAY:
            self._fail(fault, lambda: self._reply(completion, request, number))
        else:
            pause_s = float(fault.detail.get("seconds", 0.1)) if fault and fault.kind == "trickle" else 0.0
            self._reply(completion, request, number, pause_s)

    def _reply(self, completion: Completion, request: Request, number: int, pause_s: float = 0.0) -> None:
        if request.get("stream"):
            self._stream([json.dumps(one) for one in wire.events(completion, request, number)], pause_s)
        else:
            self._send(200, wire.body(completion, request, number))

    # ------------------------------------------------------------------------------------------------- on the way

    def _fail(self, fault: Fault, reply: Callable[[], None]) -> None:
        """Meet the request with a fault that is not one of the answer's text. `reply` sends the good answer."""
        detail = fault.detail
        match fault.kind:
            case "slow":
                if self._wait(float(detail.get("seconds", 1.0))):
                    reply()
            case "hang":
                if detail.get("midway"):
                    self._half(reply)
                self._wait(None)
                self.close_connection = True
            case "disconnect":
                if not detail.get("before"):
                    self._half(reply)
                self.close_connection = True
            case "garbage":
                self._send_bytes(200, faults.GARBAGE, "text/html")
            case _:
                self._refuse(fault.kind, detail.get("retry_after"))

    def _refuse(self, kind: str, retry_after: float | str | None = None) -> None:
        status, refusal = faults.STATUSES[kind]
        self._send(status, refusal, {} if retry_after is None else {"Retry-After": str(retry_after)})

    def _wait(self, seconds: float | None) -> bool:
        """Wait so long (None: for ever), and no longer than the client stays; whether it did."""
        self.wfile.flush()
        ready, _, _ = select.select([self.connection], [], [], seconds)
        if not ready:
            return True
        while self.connection.recv(1024):  # nothing is due before our answer; what comes is thrown away
            pass
        return False

    def _half(self, reply: Callable[[], None]) -> None:
        """Send half of what `reply` sends after the headers."""
        out = self.wfile
        self.wfile = caught = BytesIO()
        try:
            reply()
        finally:
            self.wfile = out
        head, _, rest = caught.getvalue().partition(b"\r\n\r\n")
        out.write(head + b"\r\n\r\n" + rest[: len(rest) // 2])
        out.flush()

    # -------------------------------------------------------------------------------------------------- the wire

    def _read(self) -> object:
        try:
            return json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)))
        except ValueError:
            return None

    def _send(self, status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(document, ensure_ascii=False).encode(), "application/json", headers)

    def _send_bytes(self, status: int, content: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def _stream(self, events: Sequence[str], pause_s: float = 0.0) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"{_SSE}; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in (*events, "[DONE]"):
            self._chunk(f"data: {event}\n\n".encode())
            if pause_s and not self._wait(pause_s):
                self.close_connection = True
                return
        self._chunk(b"")

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""
