"""Every page of the inspector is asked with parameters that are drawn, and every action with fields that are: what is
wrong is told, nothing fails, and nobody is sent elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import NO_TLS, served

from embermem import Memory
from embermem.http.app import create_app
from proofs import bounded
from scripted import SMALL, Clock

OF_THE_PLAYGROUND = ("q", "budget", "k", "preset", "thread", "at", "as_of", "valid_at", "case", "find", "note")
UNDECLARED = {
    "/playground": (*OF_THE_PLAYGROUND, *(f"{name}2" for name in OF_THE_PLAYGROUND), "compare", "missing", "unwanted"),
}
"""Parameters that a page reads without declaring them."""
ODD = (
    *"""
    0 -1 1 3 ٣ 99999999 9223372036854775807 9223372036854775808 -9223372036854775809 NaN inf -inf 1e400 0x10
    true null //evil.example/ https://evil.example/ javascript:alert(1) 0001-01-01 0001-01-01T00:00:00+00:00
    0001-01-01T00:00:00+14:00 0001-01 0001 9999-12-31 9999-12-31T23:59:59.999999+00:00 9999-12-31T23:59:59-14:00
    9999-12 9999 0000-00-00 10000-01-01 2026-13-41 2026-W18-6 2026-04-31 2026-05-02T10:00:60Z ۱۴۰۵-۰۲-۱۲
    令和8年5月2日 <script>alert(1)</script> % _ f1-00 p1 s1 c1 q1-00 alice bob * cello alice/default any learnt
    consolidation default paper segment size
    """.split(),
    *(
        "",
        " ",
        "\x00",
        "a\x00b",
        "\r\nSet-Cookie: a=b",
        "/\\evil.example",
        "5 Iyar 5786",
        "'; DROP TABLE fact; --",
        '" OR "',
        "e\u0301\u202e\u200b",
        "\U0001f469\u200d\U0001f52c",
    ),
    *("9" * 30, "9" * 5000, "a" * 10_000),
)
odd = st.sampled_from(ODD) | st.text(st.characters(codec="utf-8"), max_size=20) | st.integers().map(str)
odd |= st.datetimes().map(lambda moment: moment.isoformat()) | st.dates().map(str)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One route: its address, and the names of what stands in it, in the query and in the form."""

    method: str
    path: str
    parts: tuple[str, ...]
    query: tuple[str, ...]
    form: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """A server, what it can be asked, and ids that are there."""

    http: httpx2.Client
    pages: tuple[Asked, ...]
    actions: tuple[Asked, ...]
    known: tuple[str, ...]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One server for all examples, over a memory in which there is something of each kind."""
    file = tmp_path_factory.mktemp("odd") / "memory.db"
    with Memory(file, **{**SMALL, "clock": Clock(), "http_rate_per_minute": 0}) as memory:
        known = lived(memory)
        app = create_app(memory)
        routes = tuple(inspected(app))
        with (
            served(app) as url,
            httpx2.Client(base_url=url, timeout=60, trust_env=False, verify=NO_TLS) as http,
        ):
            yield Service(
                http=http,
                pages=tuple(one for one in routes if one.method == "GET"),
                actions=tuple(one for one in routes if one.method == "POST"),
                known=known,
            )


def lived(memory: Memory) -> tuple[str, ...]:
    """A memory with pages, segments, facts, a conflict, a document and a key; the ids of them."""
    alice = memory.of("alice")
    for number in range(6):
        alice.add(f"I play the cello {number} times a week.", "Noted.", thread="first" if number % 2 else "second")
    alice.settle()
    facts = alice.learn(
        [{"text": "lives in Bern", "attribute": "lives_in", "value": "Bern"}, {"text": "plays the cello"}]
    )
    document = alice.add_document("The lease ends in May.", title="Lease")
    ids = (*(one.id for one in facts), alice.pages()[0].id, alice.segments()[0].id, document.id)
    return (*map(str, ids), "1", "2", "3")


def inspected(app: FastAPI) -> Iterator[Asked]:
    """Every route of the inspector."""
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if not isinstance(route, APIRoute) or not route.endpoint.__module__.startswith("embermem.http.inspector"):
            continue
        query, form = set(UNDECLARED.get(route.path, ())) | {"user", "agent", "done"}, set[str]()
        for one in dependants(route.dependant):
            query |= {field.alias for field in one.query_params}
            form |= {field.alias for field in one.body_params}
        parts = tuple(part.split("}")[0] for part in route.path.split("{")[1:])
        for method in sorted(route.methods or ()):
            yield Asked(
                method=method, path=route.path, parts=parts, query=tuple(sorted(query)), form=tuple(sorted(form))
            )


def dependants(one: Dependant) -> Iterator[Dependant]:
    """What a route depends on, through all that it depends on."""
    yield one
    for other in one.dependencies:
        yield from dependants(other)


def drawn_request(data: st.DataObject, service: Service, routes: tuple[Asked, ...]) -> dict[str, Any]:
    """A request of one of these routes, most of it sound or left out, the rest odd."""
    route = data.draw(st.sampled_from(routes), "route")
    some = odd | st.sampled_from(service.known)
    path = route.path
    for part in route.parts:
        name = quote(data.draw(st.sampled_from(service.known) | some, part), safe="")
        path = path.replace("{" + part + ":path}", name).replace("{" + part + "}", name)
    named = data.draw(st.lists(st.sampled_from(route.query), max_size=4, unique=True), "names")
    params = {name: data.draw(some, name) for name in named}
    if "user" not in params and data.draw(st.integers(0, 9), "whose"):
        params |= {"user": "alice", "agent": "default"}
    asked: dict[str, Any] = {"method": route.method, "url": path, "params": params}
    if route.form:
        fields = data.draw(st.lists(st.sampled_from(route.form), unique=True), "fields")
        asked["data"] = {name: data.draw(some, name) for name in fields}
    elif route.method == "POST":
        asked["data"] = {}
    if data.draw(st.booleans(), "part"):
        asked["headers"] = {"HX-Request": "true"}
    return asked


def assert_told(got: httpx2.Response) -> None:
    """An answer is a page, a way to one of ours, or says what was wrong."""
    what = (got.request.method, str(got.request.url)[:2000], got.status_code)
    assert got.status_code in (200, 303, 307, 308, 400, 401, 403, 404, 409, 413, 422, 503), what
    assert "set-cookie" not in got.headers or "evil" not in got.headers["set-cookie"], what
    for told in ("Traceback", "site-packages", "sqlite3.", "SELECT ", "<script>alert"):
        assert told not in got.text, what
    if "location" in got.headers:
        to = got.headers["location"]
        assert to.startswith("/"), (*what, to)
        assert not to.startswith(("//", "/\\")), (*what, to)
        assert urlsplit(to).netloc == "", (*what, to)


@settings(max_examples=bounded(40, proofs=400))
@given(data=st.data())
def test_every_page_and_action_takes_anything_and_says_what_was_wrong(service: Service, data: st.DataObject) -> None:
    for routes in (service.pages, service.actions):
        assert_told(service.http.request(**drawn_request(data, service, routes)))


def test_each_parameter_of_each_page_takes_odd_values(service: Service) -> None:
    wrong, drawn = [], count()
    shared = {"user", "agent", "done"}
    for place, route in enumerate(service.pages):
        path = route.path
        for part in route.parts:
            path = path.replace("{" + part + ":path}", "1").replace("{" + part + "}", service.known[0])
        for name in route.query if place % bounded(6, proofs=1) == 0 else {*route.query} - shared:
            for _ in range(bounded(1, proofs=20)):
                value = ODD[next(drawn) % len(ODD)]
                params = {"user": "alice", "agent": "default", "q": "cello", name: value}
                try:
                    assert_told(service.http.get(path, params=params))
                except (AssertionError, httpx2.HTTPError) as error:
                    wrong.append((path, name, value[:40], str(error)[:200]))
    assert wrong == []
