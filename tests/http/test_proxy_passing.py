"""What the proxy passes on without memory, what it refuses and in which form, and what holds for every protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx2
import openai
import pytest
from proxying import Spoken, spoken
from serving import key_for

from scripted import Opener

TALKS: dict[str, dict[str, Any]] = {
    "/v1/responses": {"input": "Hello."},
    "/v1/messages": {"messages": [{"role": "user", "content": "Hello."}]},
    "/api/chat": {"messages": [{"role": "user", "content": "Hello."}]},
}


@pytest.fixture
def proxy(opened: Opener) -> Iterator[Spoken]:
    """A proxy on an empty memory."""
    with spoken(opened) as one:
        yield one


def post(proxy: Spoken, path: str, **more: Any) -> httpx2.Response:
    """A request by a plain client."""
    with proxy.http as client:
        return client.post(path, json={"model": "m", "stream": False, **more})


def test_completions_embeddings_and_models_are_upstreams_and_nothing_is_kept(proxy: Spoken) -> None:
    client = proxy.openai
    assert client.completions.create(model="m", prompt="Hi").choices[0].text == "Hello."
    assert client.embeddings.create(model="m", input="Hi", encoding_format="float").data[0].embedding == [0.5, 1.0]
    assert [one.id for one in client.models.list()] == ["scripted"]
    assert client.conversations.create().id == "conv_1"
    assert [one.path for one in proxy.model.script.requests] == [
        "/v1/completions",
        "/v1/embeddings",
        "/v1/models",
        "/v1/conversations",
    ]
    assert proxy.memory.owners() == ()


def test_an_answer_that_comes_compressed_is_read(opened: Opener) -> None:
    for number, path in enumerate(TALKS):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.model.script.zipped = True
            answer = post(proxy, path, **TALKS[path])
            assert ("Hello." in answer.text, "content-encoding" in answer.headers) == (True, False), path
            assert [one.text for one in proxy.alice.utterances()] == ["Hello.", "Hello."], path


def test_a_request_may_be_large_and_one_that_is_too_large_is_refused_in_the_protocols_form(opened: Opener) -> None:
    for path in TALKS:
        with spoken(
            partial(opened, f"{list(TALKS).index(path)}.db"), proxy_body_bytes=6 * 2**20, http_body_bytes=2**20
        ) as proxy:
            body = json.loads(json.dumps(TALKS[path]))
            assert post(proxy, path, **body, x="a" * 5 * 2**20).status_code == 200, path
            assert len(proxy.model.last.raw) > 5 * 2**20, path
            refused = post(proxy, path, **body, x="a" * 7 * 2**20)
            assert refused.status_code == 413, path
            error = refused.json()["error"]
            assert "proxy_body_bytes" in (error if path == "/api/chat" else error["message"]), path


def test_where_the_client_leaves_a_stream_upstream_is_let_go_and_what_came_is_kept(opened: Opener) -> None:
    for number, path in enumerate(TALKS):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            script = proxy.model.script
            script.says, script.waits = "The heron stands in the reeds and waits.", threading.Event()
            body = {"model": "m", **TALKS[path], "stream": True}
            with proxy.http as client, client.stream("POST", path, json=body) as answer:
                came = b""
                for chunk in answer.iter_raw():
                    came += chunk
                    if b"The he" in came:
                        break
            assert script.left.wait(10.0), path
            for _ in range(500):
                texts = [one.text for one in proxy.alice.utterances()]
                if len(texts) == 2:
                    break
                threading.Event().wait(0.01)
            assert texts[1].startswith("The he"), path
            assert texts[1].endswith("\n[broken off]"), path


def test_the_user_and_other_headers_are_read_and_told_for_every_protocol(opened: Opener) -> None:
    for number, path in enumerate(TALKS):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.alice.add("My heron is called Bartholomew.", thread="long ago")
            asked = json.loads(json.dumps(TALKS[path]).replace("Hello.", "What is my heron called?"))
            for header, state in (("X-Ember-Memory", "off"), ("X-Ember-Store", "used")):
                with proxy.http as client:
                    body = {"model": "m", "stream": False, **asked}
                    answer = client.post(path, json=body, headers={header: "off", "X-Ember-Thread": "t"})
                assert (answer.headers["x-ember-memory"], answer.headers["x-ember-thread"]) == (state, "t"), path
                assert ("Bartholomew" in proxy.model.last.raw.decode()) == (state == "used"), path
            assert [one.thread for one in proxy.alice.utterances()] == ["long ago", "t", "t"], path


def test_no_address_leads_to_upstreams_others_and_what_it_holds_is_read_with_the_clients_own_key_only(
    proxy: Spoken, opened: Opener
) -> None:
    for path in ("/v1/responses/a%2F..%2Ffiles", "/v1/responses/%2e%2e/files", "/v1/models/..%5Cx"):
        with proxy.http as client:
            answer = client.get(httpx2.URL(proxy.url).copy_with(raw_path=path.encode()))
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), path
        assert proxy.model.script.requests == [], path

    for path in TALKS:
        assert post(proxy, f"{path}/", **TALKS[path]).status_code == 200, path
        assert proxy.model.last.path == path, path

    with proxy.http as plain:
        plain.post("/v1/responses", content=b"{}", headers={"Content-Encoding": "zstd", "OpenAI-Beta": "x"})
    sent = proxy.model.last
    assert (sent.raw, sent.headers["content-encoding"], sent.headers["openai-beta"]) == (b"{}", "zstd", "x")

    list(proxy.openai.files.list())
    assert proxy.model.last.path == "/v1/files"
    with spoken(lambda **given: opened("set.db", **given), proxy_key="sk-set") as theirs:
        for ask in (theirs.openai.files.list, theirs.openai.batches.list, theirs.openai.chat.completions.list):
            with pytest.raises(openai.PermissionDeniedError, match="own key"):
                list(ask())
        assert theirs.model.script.requests == []
        theirs.openai.responses.retrieve("resp_1")
        assert theirs.model.last.headers["authorization"] == "Bearer sk-set"


def test_a_key_that_may_only_read_asks_no_model_and_one_of_another_user_nothing(opened: Opener) -> None:
    with spoken(opened, require_keys=True) as proxy:
        _, reads = key_for(proxy.memory, "alice/*", read_only=True)
        _, others = key_for(proxy.memory, "bob/*")
        for key in (reads, others):
            headers = {"Authorization": f"Bearer {key}"}
            with proxy.http as client:
                for path, body in {**TALKS, "/v1/embeddings": {"input": "x"}, "/api/generate": {"prompt": "x"}}.items():
                    answer = client.post(path, json={"model": "m", **body}, headers=headers)
                    assert (path, answer.status_code) == (path, 403)
                    assert "error" in answer.json()
        assert proxy.model.script.requests == []


def test_without_an_upstream_each_protocols_clients_learn_what_to_set(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with spoken(opened, proxy_url="", proxy_anthropic_url="", proxy_ollama_url="") as proxy:
        told = {path: post(proxy, path, **body) for path, body in TALKS.items()}
    assert {answer.status_code for answer in told.values()} == {503}
    assert told["/v1/responses"].json()["error"]["code"] == "no_upstream"
    assert told["/v1/messages"].json()["error"]["type"] == "api_error"
    assert all("EMBERMEM_PROXY_URL" in answer.text for answer in told.values())
