"""The HTTP embedder against a real server on loopback that misbehaves in each known way."""

from __future__ import annotations

import socket
import traceback
from typing import Any

import numpy as np
import pytest
from embedding_server import KEY, EmbeddingServer, Reply, reply_with

from embermem.core.errors import ConfigError, EmbedderError, EmbedderMissing
from embermem.embedders.openai_http import MAX_WAIT_S, OpenAIEmbedder


def client(server: EmbeddingServer, **settings: Any) -> OpenAIEmbedder:
    """An embedder on the server that does not really sleep between attempts."""
    given = {"api_key": KEY, "model": "small", "sleep": lambda seconds: None, **settings}
    return OpenAIEmbedder(base_url=server.base_url, **given)


def test_a_good_reply_is_put_in_order_and_normalised() -> None:
    with EmbeddingServer(
        Reply(body=b'{"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]}')
    ) as server:
        vectors = client(server).embed(["a", "b"])
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0.0, 1.0]], atol=1e-7)
    assert server.questions == [{"model": "small", "input": ["a", "b"], "encoding_format": "float"}]
    assert server.authorizations == [f"Bearer {KEY}"]


def test_texts_go_in_batches_and_empty_ones_do_not_go() -> None:
    with EmbeddingServer() as server:
        vectors = client(server, batch_size=2).embed(["a", "", "b", " ", "c"])
    assert [question["input"] for question in server.questions] == [["a", "b"], ["c"]]
    assert vectors.any(axis=1).tolist() == [True, False, True, False, True]


def test_no_key_sends_no_authorization() -> None:
    with EmbeddingServer() as server:
        client(server, api_key=None).embed(["a"])
    assert server.authorizations == [None]


def test_dimensions_are_sent_and_known_before_any_request() -> None:
    with EmbeddingServer() as server:
        embedder = client(server, dimensions=16)
        assert (embedder.dim, server.questions) == (16, [])
        assert embedder.embed(["a"]).shape == (1, 16)
    assert server.questions[0]["dimensions"] == 16


def test_the_dimension_is_learnt_from_the_first_reply_and_asked_for_once() -> None:
    with EmbeddingServer() as server:
        embedder = client(server)
        assert embedder.dim == embedder.dim == 384
        assert len(server.questions) == 1


def test_long_texts_are_cut() -> None:
    with EmbeddingServer() as server:
        client(server, max_chars=10).embed(["a" * 100])
    assert server.questions[0]["input"] == ["a" * 10]


# ------------------------------------------------------------------------------------------------------- trouble


def test_a_refusal_that_may_pass_is_tried_again() -> None:
    for status in [408, 429, 500, 503]:
        with EmbeddingServer(Reply(status=status, body=b"busy")) as server:
            assert client(server).embed(["a"]).any()
            assert len(server.questions) == 2


def test_waits_are_what_the_server_asks_within_reason() -> None:
    cases: list[tuple[dict[str, str], list[float]]] = [
        ({}, [0.5, 1.0]), ({"Retry-After": "7"}, [7.0, 7.0]), ({"Retry-After": "86400"}, [MAX_WAIT_S, MAX_WAIT_S]),
        ({"Retry-After": "nonsense"}, [0.5, 1.0]), ({"Retry-After": "nan"}, [0.5, 1.0]),
        ({"Retry-After": "-1"}, [0.5, 1.0]),
    ]  # fmt: skip
    for headers, waits in cases:
        slept: list[float] = []
        with EmbeddingServer(*[Reply(status=429, body=b"", headers=headers)] * 2) as server:
            client(server, sleep=slept.append).embed(["a"])
        assert slept == waits


def test_a_retry_date_is_read_against_the_servers_own_clock() -> None:
    slept: list[float] = []
    with EmbeddingServer(
        Reply(status=503, body=b"", headers={"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}),
    ) as server:
        client(server, sleep=slept.append).embed(["a"])
    assert slept == [0.5]  # long past by the reply's Date


def test_a_lost_connection_is_tried_again() -> None:
    with EmbeddingServer(Reply(cut=True)) as server:
        assert client(server).embed(["a"]).any()
        assert len(server.questions) == 2


def test_a_server_that_always_fails_is_given_up() -> None:
    with EmbeddingServer(*[Reply(status=500, body=b"the model crashed")] * 9) as server:
        with pytest.raises(EmbedderError, match=r"HTTP 500: the model crashed"):
            client(server, retries=2).embed(["a"])
        assert len(server.questions) == 3


def test_a_connection_that_is_always_lost_is_an_error() -> None:
    with EmbeddingServer(*[Reply(cut=True)] * 9) as server, pytest.raises(EmbedderError, match="did not answer"):
        client(server, retries=1).embed(["a"])


def test_a_slow_server_is_given_up_at_the_timeout() -> None:
    with EmbeddingServer(*[Reply(delay=5.0)] * 2) as server, pytest.raises(EmbedderError, match="did not answer"):
        client(server, retries=1, timeout=0.1).embed(["a"])


def test_a_wrong_question_is_not_asked_again() -> None:
    with EmbeddingServer(Reply(status=400, body=b"too long")) as server:
        with pytest.raises(EmbedderError, match="HTTP 400: too long"):
            client(server).embed(["a"])
        assert len(server.questions) == 1


def test_an_unknown_model_is_missing() -> None:
    with EmbeddingServer(Reply(status=404, body=b"no such model")) as server, pytest.raises(EmbedderMissing):
        client(server).embed(["a"])


def test_an_address_where_nobody_listens_is_missing() -> None:
    with socket.socket() as taken:  # bound and not listening: the port stays ours, and refuses
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        embedder = OpenAIEmbedder(base_url=url, api_key=None, model="small", retries=1, sleep=lambda seconds: None)
        with pytest.raises(EmbedderMissing, match="cannot be reached"):
            embedder.embed(["a"])


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with EmbeddingServer() as other:
        moved = Reply(status=307, body=b"", headers={"Location": f"{other.base_url}/embeddings"})
        with EmbeddingServer(moved) as server, pytest.raises(EmbedderError, match="HTTP 307"):
            client(server).embed(["a"])
        assert other.questions == []


def test_a_reply_that_is_not_what_was_asked_for_is_an_error() -> None:
    cases: list[Reply] = [
        Reply(body=b"<html>hello</html>"), Reply(body=b""), Reply(body=b"\xff\xfe"), Reply(body=b"[]"),
        Reply(body=b'{"data": null}'), Reply(body=b'{"data": [1, 2]}'),
        Reply(body=b'{"data": [{"index": "0", "embedding": [1]}, {"index": null, "embedding": [1]}]}'),
        Reply(body=b'{"data": [{"index": true, "embedding": [1]}, {"index": false, "embedding": [1]}]}'),
        Reply(body=b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}'), reply_with([]),
        reply_with([[1.0, 2.0]]), reply_with([[1.0, 2.0]] * 3), reply_with([[1.0, 2.0], [1.0]]),
        reply_with([[1.0, 2.0], [1.0, float("nan")]]), reply_with([[1.0, 2.0], [1.0, float("inf")]]),
        reply_with([[1.0, 2.0], [1.0, None]]), reply_with([[1.0, 2.0], [0.0, 0.0]]), reply_with([[], []]),
        reply_with([1.0, 2.0]), reply_with(["AACAPw==", "AACAPw=="]),
    ]  # fmt: skip
    for reply in cases:
        with EmbeddingServer(reply) as server, pytest.raises(EmbedderError):
            client(server).embed(["a", "b"])


def test_a_dimension_that_changes_is_an_error() -> None:
    with EmbeddingServer(reply_with([[1.0, 2.0]]), reply_with([[1.0, 2.0, 3.0]])) as server:
        embedder = client(server)
        embedder.embed(["a"])
        with pytest.raises(EmbedderError, match="3 numbers, expected 2"):
            embedder.embed(["b"])


def test_the_key_is_in_no_error_even_if_the_server_repeats_it() -> None:
    refusal = Reply(status=401, body=f"Incorrect API key provided: {KEY}.".encode())
    with EmbeddingServer(refusal) as server, pytest.raises(EmbedderError) as caught:
        client(server).embed(["a"])
    assert "HTTP 401: Incorrect API key provided: ***" in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_settings_that_cannot_work_are_refused_at_once_without_telling_secrets() -> None:
    cases: list[dict[str, Any]] = [
        {"base_url": "localhost:11434/v1"}, {"base_url": "file:///etc/passwd"},
        {"base_url": "http://me:secret@localhost/v1"}, {"api_key": "secret\n"}, {"batch_size": 0}, {"dimensions": 0},
        {"max_chars": 0}, {"timeout": 0}, {"retries": -1},
    ]  # fmt: skip
    for settings in cases:
        good: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "api_key": None, "model": "small"}
        with pytest.raises(ConfigError) as caught:
            OpenAIEmbedder(**good | settings)
        assert "secret" not in str(caught.value)
