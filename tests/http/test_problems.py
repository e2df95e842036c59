"""Failures as problem details: one form, the right status, and no word that is not the client's to read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import anyio
import httpx2
import pytest
from fastapi import Request
from serving import Server, client
from starlette.responses import Response

from embermem.core import errors
from embermem.core.errors import EmberError
from embermem.http import problems
from embermem.http.app import create_app
from embermem.http.problems import Problem, problem_of
from scripted import Opener

LATER = datetime.now(UTC) + timedelta(seconds=90)


def every_error(kind: type[EmberError] = EmberError) -> Iterator[type[EmberError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from every_error(below)


def made(kind: type[EmberError], text: str) -> EmberError:
    """One error of a kind."""
    if issubclass(kind, errors.ModelReplyError):
        return kind(text, "raw")
    if issubclass(kind, errors.ModelWait):
        return kind(text, LATER)
    if issubclass(kind, problems.TooManyRequests):
        return kind(text, 2.5)
    return kind(text)


def test_each_error_is_a_problem_with_its_type_status_and_time_to_come_again_and_without_a_stranger_s_words() -> None:
    for kind in {kind.__name__: kind for kind in every_error()}.values():
        problem = problem_of(made(kind, "what it says"))
        assert problem.status == 500 or problem.status in problems.ANSWERS, kind
        assert problem.kind == problem.title.lower().replace(" ", "-"), kind
        assert problem.detail, kind

    for error, its_kind, status, retry in (
        (errors.InputError("x"), "input-error", 422, None),
        (errors.KeyReused("x"), "key-reused", 409, None),
        (errors.NotFound("x"), "not-found", 404, None),
        (errors.StoreBusy("x"), "store-busy", 503, "1"),
        (errors.StoreFull("x"), "store-full", 507, None),
        (errors.StoreReadOnly("x"), "store-read-only", 503, None),
        (errors.StoreCorrupt("x"), "store-corrupt", 500, None),
        (errors.StaleLease("x"), "stale-lease", 409, "1"),
        (errors.EmbedderMismatch("x"), "embedder-mismatch", 503, None),
        (errors.ModelMissing("x"), "model-missing", 503, None),
        (errors.ModelTimeout("x"), "model-timeout", 504, None),
        (errors.ModelBusy("x", 2.5), "model-busy", 503, "3"),
        (errors.ModelBusy("x"), "model-busy", 503, None),
        (errors.ModelRefused("x"), "model-refused", 502, None),
        (errors.BudgetSpent("x", LATER), "budget-spent", 503, "90"),
        (problems.Unauthorized("x"), "unauthorized", 401, None),
        (problems.TooManyRequests("x", 0.1), "too-many-requests", 429, "1"),
        (ValueError("x"), "internal", 500, None),
    ):
        if isinstance(error, errors.ModelWait):  # the cases are written down long before they are tried
            error.retry_at = datetime.now(UTC) + timedelta(seconds=90)
        problem = problem_of(error)
        assert (problem.kind, problem.status) == (its_kind, status), (error, its_kind, status, retry)
        told = problem.headers.get("Retry-After")
        assert told == retry or (retry is not None and told is not None and 0 <= int(retry) - int(told) <= 60), (
            error,
            its_kind,
            status,
            retry,
        )

    for strange in (errors.StoreBusy("/srv/memory.db: locked"), errors.StoreError("/srv/memory.db"), OSError("/srv/x")):
        assert "/srv" not in str(problem_of(strange).body())


def test_what_cannot_be_read_or_is_not_there_is_a_problem_with_the_request_s_id(server: Server) -> None:
    with client(server.url) as c:
        got = c.post("/v1/search", json={"query": "x", "top_k": "many"})
    assert got.status_code == 422
    assert got.headers["content-type"] == "application/problem+json"
    problem = got.json()
    assert problem["type"] == "urn:embermem:problem:input-error"
    assert problem["instance"].endswith(got.headers["x-request-id"])
    assert any("top_k" in one["where"] for one in problem["errors"])
    assert all(one["what"] for one in problem["errors"])

    for content in (
        b"{",
        b"",
        b"\xff",
        b'"\\ud800"',
        b"null",
        b"[]",
        b'{"query": "\\ud800", "x\\ud800": 1}',
        b"[" * 5000,
    ):
        with client(server.url) as c:
            got = c.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
        assert got.status_code in (400, 422), content
        assert got.headers["content-type"] == "application/problem+json", content

    with client(server.url) as c:
        nowhere = c.get("/v1/nowhere")
        assert (nowhere.status_code, nowhere.json()["type"]) == (404, "urn:embermem:problem:not-found")
        wrong = c.put("/v1/search")
        assert (wrong.status_code, wrong.json()["type"]) == (405, "urn:embermem:problem:method-not-allowed")
        assert wrong.headers["allow"] == "POST"

    with client(server.url) as c:
        assert c.get("/health", headers={"X-Request-Id": "a-b_c.9"}).headers["x-request-id"] == "a-b_c.9"
        ids = set()
        for given in ("", "x" * 65, "two words", "<b>", "é"):
            ids.add(c.get("/health", headers=[(b"X-Request-Id", given.encode())]).headers["x-request-id"])
        assert len(ids) == 5
        assert all(one.isalnum() for one in ids)


def test_an_error_that_nobody_foresaw_is_told_without_its_words_and_logged_under_the_request_s_id(
    opened: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(opened())

    @app.get("/breaks")
    def breaks() -> None:
        raise RuntimeError("the word is heron-4711")

    @app.get("/shaped")
    @problems.shaped(as_text)
    def shaped() -> None:
        raise errors.ModelBusy("wait", 2.0)

    async def both() -> tuple[httpx2.Response, httpx2.Response]:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as c:
            return await c.get("/breaks", headers={"X-Request-Id": "mine-1"}), await c.get("/shaped")

    broke, told = anyio.run(both)
    assert (broke.status_code, broke.headers["x-request-id"]) == (500, "mine-1")
    assert "heron" not in broke.text
    assert broke.headers["x-content-type-options"] == "nosniff"
    assert next(getattr(record, "request_id", None) for record in caplog.records if record.exc_info) == "mine-1"
    assert (told.status_code, told.text, told.headers["retry-after"]) == (503, "model-busy: wait", "2")


def as_text(problem: Problem, request: Request) -> Response:
    return Response(f"{problem.kind}: {problem.detail}", problem.status)
