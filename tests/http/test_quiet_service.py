"""A message without a reply is read within seconds, over real HTTP: by the server's thread, by a worker, at a proxy."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import openai
import pytest
from proxying import ask, proxied, texts, user
from serving import client, running

from embermem import Memory
from embermem.testing.model_server import ModelServer
from forked import ember
from scripted import Opener, Place

REAL: dict[str, Any] = {"clock": None, "quiet_s": 0.5, "pause_s": 0.0}


def until(come: Callable[[], object], seconds: float = 30.0) -> None:
    """Waits for something; it is no test of how long it takes."""
    end = time.monotonic() + seconds
    while not come():
        assert time.monotonic() < end
        time.sleep(0.02)


def values(memory: Memory) -> list[str]:
    return sorted(fact.value for fact in memory.of("alice").facts())


def said(memory: Memory, text: str) -> None:
    """One message of the user, through a server on this memory."""
    with running(memory) as url, client(url) as http:
        answer = http.post("/v1/memories", json={"messages": [user(text)], "user_id": "alice"})
        assert answer.status_code == 201
        until(lambda: http.get("/v1/facts", params={"user_id": "alice"}).json()["results"])


def test_a_server_reads_a_lone_message_by_itself(opened: Opener) -> None:
    memory = opened(background=True, poll_s=3600.0, **REAL)
    said(memory, "I live in Lyon.")
    assert values(memory) == ["Lyon"]
    assert len(texts(memory.of("alice"))) == 1


def test_a_server_without_a_worker_has_it_read_by_a_worker_of_another_process(opened: Opener, place: Place) -> None:
    memory = opened(background=False, **REAL)
    worker = ember(place(), "worker", more={"EMBERMEM_QUIET_S": "0.5", "EMBERMEM_POLL_S": "0.2"})
    try:
        said(memory, "I live in Lyon.")
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.communicate()
    assert values(memory) == ["Lyon"]


def test_the_proxy_s_conversation_is_read_while_its_reply_is_still_to_come(opened: Opener) -> None:
    come = threading.Event()

    def late(request: object) -> str:
        assert come.wait(30)
        return "A fine city."

    with ModelServer(late) as model:
        memory = opened(background=True, proxy_url=model.url, poll_s=3600.0, **REAL)
        with proxied(memory, model) as proxy:
            answers: list[str] = []
            asking = threading.Thread(target=lambda: answers.append(ask(proxy.client(), [user("I live in Lyon.")])))
            asking.start()
            try:
                until(lambda: values(memory) == ["Lyon"])
            finally:
                come.set()
                asking.join()
            assert answers == ["A fine city."]
            until(lambda: memory.of("alice").stats().without_vector == 0)
            assert texts(memory.of("alice")) == [["I live in Lyon.", "A fine city."]]
            assert values(memory) == ["Lyon"]
            assert len(model.requests) == 1


def test_the_proxy_s_message_is_read_though_no_reply_comes(opened: Opener) -> None:
    with ModelServer() as model:
        memory = opened(background=True, proxy_url="http://127.0.0.1:9/v1", poll_s=3600.0, **REAL)
        with proxied(memory, model) as proxy:
            with pytest.raises(openai.APIStatusError):
                ask(proxy.client(), [user("I live in Lyon.")])
            until(lambda: values(memory) == ["Lyon"])
            assert texts(memory.of("alice")) == [["I live in Lyon."]]
