"""A scripted model that speaks OpenAI's, Anthropic's and Ollama's protocols as their clients read them, over real HTTP
on loopback. `embermem.testing.model_server` speaks chat completions only, and fails in more ways."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from embermem.testing import wire
from embermem.testing.wire import Call

Events = list[tuple[str, dict[str, Any]]]
_PIECE = 6


@dataclass(frozen=True, kw_only=True)
class Request:
    """What arrived."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """Parsed."""
        return dict(json.loads(self.raw))


@dataclass
class Script:
    """What is said next, and how."""

    says: str | Call = "Hello."
    calls: Call | None = None
    """Said in place of that where a request has tools, and no result of one yet."""
    also: tuple[Call, ...] = ()
    """Called beside `says`, where that is a call too, by a response."""
    zipped: bool = False
    cut_after: int | None = None
    """So many events of a stream are sent, then the connection is closed."""
    waits: threading.Event | None = None
    """After the first events, a stream waits for it."""
    status: int = 200
    requests: list[Request] = field(default_factory=list)
    responses: dict[str, list[Any]] = field(default_factory=dict)
    """What each response follows, and its output."""
    left: threading.Event = field(default_factory=threading.Event)
    """Set when a client left amid a stream."""

    def next(self, body: dict[str, Any]) -> str | Call:
        """What is said to a request."""
        told = json.dumps([body.get("messages"), body.get("input")])
        results = ('"role": "tool"', '"tool_result"', '"function_call_output"')
        if self.calls is not None and body.get("tools") and not any(one in told for one in results):
            return self.calls
        return self.says


class ProtocolsServer:
    """Up between `__enter__` and `__exit__`."""

    def __init__(self) -> None:
        self.script = Script()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.script))
        self._http.daemon_threads = True
        self.root = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def last(self) -> Request:
        """The newest request."""
        return self.script.requests[-1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_DELETE(self) -> None:
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def _answer(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"] or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(method=self.command, path=self.path, headers=headers, raw=raw)
            script.requests.append(request)
            path = self.path.partition("?")[0]
            body = json.loads(raw) if raw else {}
            if script.status != 200:
                self._send(script.status, REFUSALS[_family(path)], {"retry-after": "7", "request-id": "req_1"})
            elif self.command != "POST":
                self._send(200, _got(path, self.command, script))
            elif path == "/v1/responses":
                self._respond(body)
            elif path == "/v1/messages":
                self._message(body)
            elif path in ("/api/chat", "/api/generate"):
                self._chat(body, path)
            elif path == "/v1/chat/completions":
                self._complete(body)
            else:
                self._send(200, _asked(path, body, script))

        def _respond(self, body: dict[str, Any]) -> None:
            before = body.get("previous_response_id")
            if before is not None and before not in script.responses:
                self._send(400, {"error": {"message": f"Previous response {before} not found.", "type": "x"}})
                return
            number = len(script.responses) + 1
            items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
            response = response_of(script.next(body), number, body, script.also)
            script.responses[response["id"]] = [*script.responses.get(str(before), []), *items, *response["output"]]
            if body.get("stream"):
                self._stream(response_events(response))
            else:
                self._send(200, response)

        def _complete(self, body: dict[str, Any]) -> None:
            says, number = script.next(body), len(script.requests)
            call = says if isinstance(says, Call) else None
            text = None if call else str(says)
            made = wire.Completion(text=text, call=call, finish="tool_calls" if call else "stop")
            if body.get("stream"):
                events = [json.dumps(event) for event in wire.events(made, body, number)]
                self._stream_of([f"data: {one}\n\n".encode() for one in (*events, "[DONE]")], "text/event-stream")
            else:
                self._send(200, wire.body(made, body, number))

        def _message(self, body: dict[str, Any]) -> None:
            message = message_of(script.next(body), len(script.requests), body)
            if body.get("stream"):
                self._stream(message_events(message))
            else:
                self._send(200, message, {"request-id": "req_1", "anthropic-ratelimit-requests-limit": "50"})

        def _chat(self, body: dict[str, Any], path: str) -> None:
            says = script.next(body)
            lines = list(chat_lines(says, body, path))
            if body.get("stream", True):
                self._stream_of([json.dumps(line).encode() + b"\n" for line in lines], "application/x-ndjson")
            elif path == "/api/chat":
                self._send(200, {**lines[-1], "message": whole_chat(says)})
            else:
                self._send(200, {**lines[-1], "response": says})

        def _stream(self, events: Events) -> None:
            pieces = [f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events]
            self._stream_of(pieces, "text/event-stream; charset=utf-8")

        def _stream_of(self, pieces: list[bytes], kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                for number, piece in enumerate(pieces):
                    if number == script.cut_after:
                        self.close_connection = True
                        return
                    if script.waits is not None and number == len(pieces) // 2 and not script.waits.wait(0.0):
                        while not script.waits.wait(0.05):
                            self._chunk(b"\n" if kind.endswith("ndjson") else b": wait\n\n")
                    self._chunk(piece)
                self._chunk(b"")
            except OSError:
                script.left.set()
                self.close_connection = True

        def _chunk(self, content: bytes) -> None:
            self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
            self.wfile.flush()

        def _send(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
            content = json.dumps(document).encode()
            zipped = {"Content-Encoding": "gzip"} if script.zipped else {}
            content = gzip.compress(content) if script.zipped else content
            self.send_response(status)
            lengths = {"Content-Type": "application/json", "Content-Length": str(len(content))}
            for name, value in {**lengths, **zipped, **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    return Handler


REFUSALS: dict[str, dict[str, Any]] = {
    "openai": {"error": {"message": "Slow down.", "type": "rate", "param": None, "code": "rate_limit_exceeded"}},
    "anthropic": {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}},
    "ollama": {"error": "Slow down."},
}


def _family(path: str) -> str:
    if path.startswith("/api/"):
        return "ollama"
    return "anthropic" if path.startswith("/v1/messages") else "openai"


def _got(path: str, method: str, script: Script) -> dict[str, Any]:
    response_id = path.removeprefix("/v1/responses/")
    if path.endswith("/input_items"):
        return {"object": "list", "data": [{"type": "message", "id": "msg_1", "role": "user", "content": []}]}
    if path.startswith("/api/"):
        return {"models": [{"name": "scripted", "model": "scripted"}], "version": "0.1"}
    if response_id != path and method == "GET":
        return response_of(script.says, 1, {"model": "scripted"}) | {"id": response_id}
    if method == "DELETE":
        return {"id": response_id, "object": "response", "deleted": True}
    return {"object": "list", "data": [{"id": "scripted", "object": "model", "type": "model"}], "has_more": False}


def _asked(path: str, body: dict[str, Any], script: Script) -> dict[str, Any]:
    if path == "/v1/embeddings":
        return {"object": "list", "model": "m", "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 1.0]}]}
    if path == "/v1/completions":
        return {"id": "cmpl-1", "object": "text_completion", "choices": [{"index": 0, "text": script.says}]}
    if path == "/v1/messages/count_tokens":
        return {"input_tokens": 12}
    if path.endswith("/cancel"):
        return response_of("", 1, body) | {"status": "cancelled"}
    if path == "/api/embed":
        return {"model": "m", "embeddings": [[0.5, 1.0]]}
    return {"id": "conv_1", "object": "conversation"}


# ------------------------------------------------------------------------------------------------------- responses


def response_of(says: str | Call, number: int, body: dict[str, Any], also: tuple[Call, ...] = ()) -> dict[str, Any]:
    """A response, with an item of reasoning before what is said. `also` are the other calls that it makes."""
    text: dict[str, Any] = {"type": "output_text", "text": says, "annotations": []}
    message = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [text]}
    said: list[dict[str, Any]] = [message]
    if isinstance(says, Call):
        numbers = [str(number), *(f"{number}_{at}" for at in range(len(also)))]
        said = [
            {"type": "function_call", "id": f"fc_{one}", "status": "completed", "call_id": f"call_{one}"}
            | {"name": call.name, "arguments": call.arguments}
            for one, call in zip(numbers, (says, *also), strict=True)
        ]
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": body.get("model", "scripted"),
        "output": [{"type": "reasoning", "id": f"rs_{number}", "summary": []}, *said],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage | details,
    }


def response_events(response: dict[str, Any]) -> Events:
    """The same as a stream."""
    made: list[dict[str, Any]] = [{"type": "response.created", "response": {**response, "output": []}}]
    for at, item in enumerate(response["output"]):
        where = {"output_index": at, "item_id": item["id"]}
        made.append({"type": "response.output_item.added", "output_index": at, "item": {**item, "content": []}})
        if item["type"] == "message":
            part, text = item["content"][0], item["content"][0]["text"]
            empty = {**part, "text": ""}
            made.append({"type": "response.content_part.added", **where, "content_index": 0, "part": empty})
            for piece in _pieces(text):
                delta = {"content_index": 0, "delta": piece, "logprobs": []}
                made.append({"type": "response.output_text.delta", **where, **delta})
            made.append({"type": "response.output_text.done", **where, "content_index": 0, "text": text})
            made.append({"type": "response.content_part.done", **where, "content_index": 0, "part": part})
        elif item["type"] == "function_call":
            for piece in _pieces(item["arguments"]):
                made.append({"type": "response.function_call_arguments.delta", **where, "delta": piece})
            done = {"arguments": item["arguments"], "name": item["name"]}
            made.append({"type": "response.function_call_arguments.done", **where, **done})
        made.append({"type": "response.output_item.done", "output_index": at, "item": item})
    made.append({"type": "response.completed", "response": response})
    return [(event["type"], event | {"sequence_number": number}) for number, event in enumerate(made)]


# -------------------------------------------------------------------------------------------------------- messages


def message_of(says: str | Call, number: int, body: dict[str, Any]) -> dict[str, Any]:
    """A message, with a block of thinking before what is said."""
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    said: dict[str, Any] = {"type": "text", "text": says}
    if isinstance(says, Call):
        said = {"type": "tool_use", "id": f"toolu_{number}", "name": says.name, "input": json.loads(says.arguments)}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [thinking, said],
        "stop_reason": "tool_use" if isinstance(says, Call) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def message_events(message: dict[str, Any]) -> Events:
    """The same as a stream."""
    made: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for at, block in enumerate(message["content"]):
        kind, name = block["type"], "text"
        text: str = block.get("text", "")
        empty = {**block, "input": {}} if kind == "tool_use" else {"type": kind, kind: "", "signature": ""}
        if kind == "tool_use":
            kind, name, text = "input_json", "partial_json", json.dumps(block["input"], separators=(",", ":"))
        elif kind == "thinking":
            name, text = "thinking", block["thinking"]
        made.append({"type": "content_block_start", "index": at, "content_block": empty})
        for piece in _pieces(text):
            made.append({"type": "content_block_delta", "index": at, "delta": {"type": f"{kind}_delta", name: piece}})
        made.append({"type": "content_block_stop", "index": at})
    made.append({"type": "ping"})
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    made += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
    return [(event["type"], event) for event in made]


# ---------------------------------------------------------------------------------------------------------- Ollama


def whole_chat(says: str | Call) -> dict[str, Any]:
    """The message of an answer."""
    if isinstance(says, Call):
        function = {"name": says.name, "arguments": json.loads(says.arguments)}
        return {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    return {"role": "assistant", "content": says}


def chat_lines(says: str | Call, body: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """The lines of a stream."""
    head = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
    pieces = [whole_chat(says)] if isinstance(says, Call) else [whole_chat(piece) for piece in _pieces(says)]
    empty = {"role": "assistant", "content": ""}
    for message in [*pieces, empty]:
        held = {"message": message} if path == "/api/chat" else {"response": message["content"]}
        ended = {"done_reason": "stop", "eval_count": 1} if message is empty else {}
        yield {**head, **held, "done": message is empty, **ended}


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
