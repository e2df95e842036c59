"""Before something is forgotten, the person is asked, where the client can ask."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_talk import told
from mcp_types import ElicitResult
from serving import NO_TLS, served

from embermem import Memory
from embermem.http.mcp import PATH, create_app
from embermem.mcp.server import make_server

SAID = "My parrot is called Zazu."
YES = ElicitResult(action="accept", content={"forget": True})
ANSWERS = {
    "yes": YES,
    "no": ElicitResult(action="accept", content={"forget": False}),
    "declined": ElicitResult(action="decline"),
    "closed": ElicitResult(action="cancel"),
}


class Person:
    """Somebody at a client, who answers what is asked."""

    def __init__(self, answer: ElicitResult) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return self.answer


async def forget(client: Client) -> tuple[dict[str, Any], dict[str, Any], int]:
    """What a model is told when it forgets, first to see and then for good; and how many pages are left."""
    page = (await told(client, "add_memory", user_input=SAID))["page_id"]
    would = await told(client, "forget_memory", id=page)
    done = await told(client, "forget_memory", id=page, confirm=True)
    return would, done, (await told(client, "memory_stats"))["pages"]


def test_a_person_who_can_be_asked_decides(memory: Memory) -> None:
    async def script(owner: str, mode: Any, person: Person) -> tuple[dict[str, Any], dict[str, Any], int]:
        async with Client(make_server(memory, owner), mode=mode, elicitation_callback=person) as client:
            return await forget(client)

    for answer, mode in itertools.product(ANSWERS, ("auto", "legacy")):
        person = Person(ANSWERS[answer])
        would, done, left = asyncio.run(script(f"{answer} {mode}", mode, person))
        told = (would["done"], done["done"], left, "did not agree" in done["next"])
        assert told == (False, answer == "yes", answer != "yes", answer != "yes"), (answer, mode)
        (asked,) = person.asked
        assert asked.startswith("Forget for good: 1 page, 1 message")
        assert SAID in asked


def test_over_http_a_person_is_asked_where_the_protocol_needs_no_connection_back(memory: Memory) -> None:
    async def script(url: str, mode: Any, person: Person) -> tuple[dict[str, Any], dict[str, Any], int]:
        async with (
            httpx2.AsyncClient(trust_env=False, verify=NO_TLS, timeout=None) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, elicitation_callback=person) as client,
        ):
            return await forget(client)

    for mode, asked in (("auto", 1), ("legacy", 0)):
        with served(create_app(memory, user=mode)) as url:
            person = Person(YES)
            _, done, left = asyncio.run(script(url + PATH, mode, person))
            assert (done["done"], left, len(person.asked)) == (True, 0, asked), mode


def test_another_process_of_the_store_goes_on_with_the_answer(memory: Memory) -> None:
    page = memory.of("default").add(SAID)
    person = Person(YES)

    async def script(first: str, second: str) -> dict[str, Any]:
        between = httpx2.AsyncHTTPTransport(verify=NO_TLS)

        class Balanced(httpx2.AsyncBaseTransport):
            """Gives the calls of a tool to each of two servers by turns."""

            calls = 0

            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                if b"tools/call" in await request.aread():
                    self.calls += 1
                    request.url = httpx2.URL(second if self.calls % 2 else first)
                return await between.handle_async_request(request)

        async with (
            httpx2.AsyncClient(trust_env=False, transport=Balanced(), timeout=None) as http,
            Client(streamable_http_client(first, http_client=http), elicitation_callback=person) as client,
        ):
            return await told(client, "forget_memory", id=page, confirm=True)

    with served(create_app(memory)) as one, served(create_app(memory)) as other:
        assert asyncio.run(script(one + PATH, other + PATH))["done"]
    assert len(person.asked) == 1
