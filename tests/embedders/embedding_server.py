"""A real HTTP server on loopback that speaks OpenAI's `/embeddings`, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from embermem.embedders.hashed import HashedNgrams

KEY = "sk-secret-0123456789"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One scripted reply. `body` None: the right vectors. `cut` ends the connection before the body's end."""

    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False


def reply_with(embeddings: object) -> Reply:
    """A reply in the right form with these rows."""
    assert isinstance(embeddings, list)
    return Reply(body=json.dumps({"data": [{"index": i, "embedding": e} for i, e in enumerate(embeddings)]}).encode())


class EmbeddingServer:
    """Serves the scripted replies in turn, then good ones: vectors of 384 numbers, not normalised, last text first."""

    def __init__(self, *script: Reply) -> None:
        self.script = deque(script)
        self.questions: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self._stop = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.base_url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.questions.append(question)
                server.authorizations.append(self.headers["Authorization"])
                try:
                    reply = server.script.popleft()
                except IndexError:
                    reply = Reply()
                server._stop.wait(reply.delay)
                body = reply.body if reply.body is not None else _right(question)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if reply.cut else body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _right(question: dict[str, Any]) -> bytes:
    vectors = 3.0 * HashedNgrams().embed(question["input"])[:, : question.get("dimensions")]
    vectors[:, 0] += 0.1
    rows = [{"object": "embedding", "index": i, "embedding": v.tolist()} for i, v in enumerate(vectors)]
    return json.dumps({"object": "list", "data": rows[::-1], "model": question["model"]}).encode()
