"""A chat goes before background work, on a server that answers one question at a time."""

from __future__ import annotations

import json
import select
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest
from scripted_llms import ALICE, MemoryLedger
from served_http import serving

from embermem.core.config import Settings
from embermem.core.errors import ModelGaveWay
from embermem.core.types import Role
from embermem.llms import ModelAsker, OpenAIChat
from embermem.protocols import ChatMessage, Purpose
from scripted import Clock

READ_S, PIECE_S = 0.8, 0.02


class SlowServer:
    """Reads a prompt for READ_S, then says a piece each PIECE_S, for one client after another; it leaves a client that
    has gone, as llama.cpp's server does."""

    def __init__(self) -> None:
        self.slot = threading.Lock()
        self.begun: list[str] = []
        self.left: list[str] = []
        self.changed = threading.Condition()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                structured = "response_format" in request
                name = "question" if structured else "chat"
                text = '{"city": "' + 40 * "Nantes, " + '"}' if structured else "Hello there."
                with outer.slot:
                    outer.note(outer.begun, name)
                    if not self.stays(READ_S):
                        outer.note(outer.left, name)
                        return
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.send_header("Connection", "close")
                    self.end_headers()
                    for at in range(0, len(text), 4):
                        chunk = json.dumps({"choices": [{"delta": {"content": text[at : at + 4]}}]})
                        self.wfile.write(f"data: {chunk}\n\n".encode())
                        self.wfile.flush()
                        if not self.stays(PIECE_S):
                            outer.note(outer.left, name)
                            return
                    self.wfile.write(b"data: [DONE]\n\n")

            def stays(self, seconds: float) -> bool:
                ready, _, _ = select.select([self.connection], [], [], seconds)
                if ready:
                    self.close_connection = True
                return not ready

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is printed."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def note(self, where: list[str], name: str) -> None:
        with self.changed:
            where.append(name)
            self.changed.notify_all()

    def wait_for(self, what: list[str], count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(what) >= count, 10.0)


@pytest.fixture
def server() -> Iterator[SlowServer]:
    server = SlowServer()
    with serving(server.http):
        yield server


class City(msgspec.Struct, frozen=True, kw_only=True):
    city: str


MESSAGES = (ChatMessage(role=Role.USER, text="Which city? Answer in JSON."),)


class Shared:
    """One asker, its background thread and its chat."""

    def __init__(self, url: str, **settings: Any) -> None:
        model = OpenAIChat(model="m", base_url=url, api_key=None, timeout_s=20.0)
        self.ledger = MemoryLedger()
        self.asker = ModelAsker(model, self.ledger, Settings(**{"model_breaker_failures": 1, **settings}), Clock())
        self.came: list[City | ModelGaveWay] = []

    def ask(self) -> None:
        try:
            self.came.append(self.asker.ask(ALICE, Purpose.ANNOTATE, MESSAGES, City))
        except ModelGaveWay as wait:
            self.came.append(wait)

    def in_background(self) -> threading.Thread:
        thread = threading.Thread(target=self.ask)
        thread.start()
        return thread

    def first_word_s(self) -> float:
        """Seconds until chat's first piece; the chat is read to its end."""
        began = time.monotonic()
        stream = self.asker.stream(ALICE, Purpose.CHAT, MESSAGES)
        next(stream)
        waited = time.monotonic() - began
        list(stream)
        return waited


@pytest.mark.parametrize("after_s", [0.2, READ_S + 0.4], ids=["while it reads the prompt", "amid its answer"])
def test_a_chat_does_not_wait_for_a_question_of_the_background(server: SlowServer, after_s: float) -> None:
    shared = Shared(server.url)
    background = shared.in_background()
    server.wait_for(server.begun, 1)
    time.sleep(after_s)
    waited = shared.first_word_s()
    background.join()
    assert waited < READ_S + 0.9
    assert server.left == ["question"]
    (wait,) = shared.came
    assert isinstance(wait, ModelGaveWay)
    assert (wait.retry_at - Clock().now).total_seconds() == 2.0
    assert sorted(shared.ledger.outcomes) == ["gave way", "ok"]
    shared.ask()  # the breaker, which one failure opens, has counted none
    assert isinstance(shared.came[-1], City)


def test_a_question_that_comes_during_a_chat_waits_for_its_end(server: SlowServer) -> None:
    shared = Shared(server.url)
    stream = shared.asker.stream(ALICE, Purpose.CHAT, MESSAGES)
    next(stream)
    background = shared.in_background()
    time.sleep(0.3)
    assert server.begun == ["chat"]
    list(stream)
    background.join()
    assert [type(one) for one in shared.came] == [City]


def test_whoever_chats_may_ask_in_the_middle_of_it(server: SlowServer) -> None:
    shared = Shared(server.url)
    stream = shared.asker.stream(ALICE, Purpose.CHAT, MESSAGES)
    next(stream)
    began = time.monotonic()
    shared.ask()
    assert time.monotonic() - began < 20.0
    assert [type(one) for one in shared.came] == [City]
    list(stream)


def test_background_work_is_let_through_after_giving_way_three_times(server: SlowServer) -> None:
    shared = Shared(server.url)
    for turn in range(4):
        begun = len(server.begun)
        background = shared.in_background()
        server.wait_for(server.begun, begun + 1)
        list(shared.asker.stream(ALICE, Purpose.CHAT, MESSAGES))
        background.join()
        assert isinstance(shared.came[turn], ModelGaveWay) is (turn < 3)
    assert shared.ledger.outcomes.count("gave way") == 3


def test_several_questions_at_once_all_give_way(server: SlowServer) -> None:
    shared = Shared(server.url)
    threads = [shared.in_background() for _ in range(3)]
    server.wait_for(server.begun, 1)
    time.sleep(0.3)
    assert shared.first_word_s() < READ_S + 0.9
    for thread in threads:
        thread.join()
    assert [type(one) for one in shared.came] == [ModelGaveWay] * 3


def test_at_a_public_service_a_question_goes_on_beside_a_chat() -> None:
    far = OpenAIChat(model="m", base_url="https://api.example.com/v1", api_key=None, timeout_s=1.0)
    assert not far.one_at_a_time
    for near in (
        "http://localhost:11434/v1",
        "http://192.168.1.7:8080/v1",
        "http://ollama:11434/v1",
        "http://[::1]/v1",
    ):
        assert OpenAIChat(model="m", base_url=near, api_key=None, timeout_s=1.0).one_at_a_time
