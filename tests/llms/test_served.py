"""What servers say of their context, each in its own way."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from scripted_llms import MemoryLedger, question
from served_http import serving

from embermem.core.config import Settings
from embermem.core.errors import ModelTooLong
from embermem.llms import ModelAsker, OpenAIChat
from embermem.llms.served import context_of, is_near
from embermem.testing.model_server import ModelServer
from scripted import Clock


class Told:
    """A server that says of itself what it is given, by path; a float is a wait."""

    def __init__(self) -> None:
        self.pages: dict[str, Any] = {}
        self.asked: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                outer.asked.append(f"{self.command} {self.path}")
                outer.headers.append(dict(self.headers))
                page = outer.pages.get(self.path)
                if isinstance(page, float):
                    time.sleep(page)
                away = page.get("location") if isinstance(page, dict) else None
                self.send_response(404 if page is None else 302 if away else 200)
                if away:
                    self.send_header("Location", away)
                self.end_headers()
                self.wfile.write(page if isinstance(page, bytes) else json.dumps(page).encode())

            do_POST = do_GET  # noqa: N815 - the name that the base class calls

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is printed."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.http.server_port}"
        self.url = f"{self.root}/v1"


@pytest.fixture
def told() -> Iterator[Told]:
    told = Told()
    with serving(told.http):
        yield told


OLLAMA = {"/api/show": {"model_info": {"qwen3.context_length": 40960, "qwen3.block_count": 36}}}


def test_the_context_is_read_where_each_server_tells_it(told: Told) -> None:
    """llama.cpp, vLLM under its name and another, OpenRouter, LM Studio, Ollama in four ways, nothing, and rubbish."""
    cases: list[tuple[dict[str, Any], int | None, bool]] = [
        ({"/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 1}}, 8192, True),
        ({"/v1/models": {"data": [{"id": "n", "max_model_len": 1}, {"id": "m", "max_model_len": 2048}]}}, 2048, True),
        ({"/v1/models": {"data": [{"id": "/models/m", "max_model_len": 2048}]}}, 2048, True),
        ({"/v1/models": {"data": [{"id": "m", "context_length": 131072}]}}, 131072, True),
        (
            {
                "/v1/models": {"data": [{"id": "m"}]},
                "/api/v0/models": {"data": [{"id": "m", "max_context_length": 9, "loaded_context_length": 4096}]},
            },
            4096,
            True,
        ),
        ({**OLLAMA, "/api/ps": {"models": [{"name": "m:latest", "context_length": 16384}]}}, 16384, True),
        ({"/api/show": {"parameters": "temperature 0.6\nnum_ctx    8192\n", **OLLAMA["/api/show"]}}, 8192, True),
        (OLLAMA, 4096, False),
        ({"/api/show": {"model_info": {"tiny.context_length": 2048}}}, 2048, False),
        ({}, None, True),
        ({"/props": [], "/v1/models": {"data": {"id": "m"}}, "/api/show": b"no JSON"}, None, True),
        ({"/props": {"default_generation_settings": {"n_ctx": "many"}}}, None, True),
        ({"/props": {"default_generation_settings": {"n_ctx": -1}}}, None, True),
    ]
    for pages, tokens, last in cases:
        told.pages = pages
        assert context_of(told.url, "m", None) == (tokens, last), pages


def test_only_the_configured_host_is_asked_with_its_key_and_no_redirect_is_followed(told: Told) -> None:
    told.pages = {"/props": {"location": f"{told.root}/elsewhere"}, "/elsewhere": {"n": 1}}
    assert context_of(told.url, "m", "sk-7") == (None, True)
    assert "GET /elsewhere" not in told.asked
    assert all(headers["Authorization"] == "Bearer sk-7" for headers in told.headers)


def test_a_server_that_is_slow_to_say_or_gone_costs_seconds_at_most(told: Told) -> None:
    told.pages = {"/props": 4.0}
    began = time.monotonic()
    assert context_of(told.url, "m", None) == (None, False)
    assert time.monotonic() - began < 3.5
    assert len(told.asked) == 1
    assert context_of("http://127.0.0.1:1/v1", "m", None) == (None, False)


def test_an_asker_asks_once_and_not_before_somebody_wants_to_know(told: Told) -> None:
    told.pages = {"/props": {"default_generation_settings": {"n_ctx": 8192}}}
    model = OpenAIChat(model="m", base_url=told.url, api_key=None, timeout_s=5.0)
    asker = ModelAsker(model, MemoryLedger(), Settings(), Clock())
    assert told.asked == []
    assert [asker.context_tokens for _ in range(3)] == [8192] * 3
    assert told.asked == ["GET /props"]


def test_a_known_context_bounds_what_is_asked_for_beside_the_prompt() -> None:
    with ModelServer("Hello.") as server:
        server.fail_next("overflow", tokens=1024)
        model = OpenAIChat(model="m", base_url=server.url, api_key=None, timeout_s=5.0)
        with pytest.raises(ModelTooLong):
            model.complete(question("x" * 8000))
        model.complete(question("x" * 3600, max_tokens=500))
        model.complete(question("Hello?", max_tokens=500))
    assert [request["max_tokens"] for request in server.requests] == [100, 1024 - 900 - 4, 500]


def test_an_address_is_near_on_this_machine_and_in_private_networks() -> None:
    cases = [
        ("http://127.0.0.1:11434/v1", True), ("http://[::1]:8080/v1", True), ("http://10.1.2.3/v1", True),
        ("http://ollama:11434/v1", True), ("http://box.local/v1", True), ("https://api.deepseek.com/v1", False),
        ("http://8.8.8.8/v1", False),
    ]  # fmt: skip
    assert {url: got for url, near in cases if (got := is_near(url)) is not near} == {}
