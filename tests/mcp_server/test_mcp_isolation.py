"""No tool and no resource gives one owner's words to another: by their ids in every argument, or by names that look
alike. In this process, and over HTTP with a key of somebody else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_talk import over_http, resource, text_of
from serving import key_for, served

from embermem import Memory
from embermem.core.errors import InputError
from embermem.http.mcp import PATH, create_app
from embermem.mcp.server import make_server
from lives import contents, fill_every_table, store_of
from proofs import bounded
from scripted import SMALL, Clock

WORDS = ("Quillport", "zebrawood", "Brigantia", "thread-zq", "Oriole", "Zoë", "heron", "Lyon", "figs")
"""What alice alone said, and what was understood of it."""
NAMES = (
    *("Alice", "alice ", " alice", "\u0430lice", "\uff41lice", "alice\u200b", "a\u0301lice", "alice\n", "\talice"),
    *("alice/default", "alice\ndefault", "../alice", "*", "%", "_____", "alice' OR '1'='1", "alice%00", "ali\\ce"),
    *("alicedefaul", "alice" * 100, "a", "\u202ealice"),
)
"""Names of others, some of which look like alice's or would match it in a pattern."""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Alice with something in every table, and mallory with little."""
    clock = Clock()
    settings = {**SMALL, "mid_term_segments": 50}
    with Memory(tmp_path_factory.mktemp("isolation") / "memory.db", clock=clock, **settings) as memory:
        fill_every_table(memory, clock, users=("alice",))
        alice = memory.of("alice")
        alice.add("I live in Quillport. I like zebrawood.", "Brigantia!", thread="thread-zq", key="Oriole")
        alice.settle()
        alice.set_profile(home="Quillport")
        memory.of("mallory").add("I like tea.", "I see.")
        memory.of("mallory").settle()
        yield memory


@pytest.fixture(scope="module")
def theirs(memory: Memory) -> list[str]:
    """Every id that stands for something of alice's and for nothing of mallory's, and ways to write one."""
    alice, mallory = memory.of("alice"), memory.of("mallory")
    pages = alice.pages()
    ids = [
        *(page.id for page in pages),
        *(one.id for page in pages for one in page.utterances),
        *(fact.id for fact in (*alice.facts(), *alice.past_facts())),
        *(one.id for one in alice.segments()),
        *(one.id for one in alice.chains()),
        *("user.home", "user.name", "user.birth_year", alice.owner.id, "l-1"),
    ]
    own = {
        *(one.id for one in mallory.facts()),
        *(one.id for one in mallory.segments()),
        *(one.id for one in mallory.chains()),
    }
    near = [f"{pages[0].id}{more}" for more in ("\n", " ", "%", "'--", "/..", "\u200b")]
    near += [f"../{pages[0].id}", f"alice/{pages[0].id}", pages[0].id.upper(), f"{alice.owner.id}/{pages[0].id}"]
    return [*(one for one in dict.fromkeys(ids) if one not in own), *near, "", "p", "*", "p%"]


def some(theirs: list[str]) -> list[str]:
    """Of each kind of id one, and some of the ways to write one."""
    return [*{one[:2] if one[:1] == "u" else one[:1]: one for one in reversed(theirs)}.values(), *theirs[-14::4]]


def nothing(text: str, item: str) -> str:
    """An answer with the id in it taken out: what it says is the same for an id that nobody has."""
    found = [word for word in WORDS if word in text]
    assert not found, (item, found, text)
    return re.sub(r"'[^']*'|\"[^\"]*\"", "ID", text.replace(item, "ID")) if item else text


def tries(theirs: list[str]) -> Callable[[Client], Awaitable[int]]:
    """A script that puts each of these ids into each argument that takes a text."""

    async def script(client: Client) -> int:
        told = 0

        async def call(tool: str, **arguments: object) -> tuple[bool, str]:
            nonlocal told
            told += 1
            result = await client.call_tool(tool, arguments)
            return result.is_error, f"{text_of(result.content)}\n{result.structured_content}"

        for item in theirs:
            for tool, arguments in (
                ("why", {"id": item}),
                ("forget_memory", {"id": item}),
                ("forget_memory", {"id": item, "confirm": True}),
                ("correct_memory", {"fact_id": item, "text": "likes coal"}),
            ):
                refused, text = await call(tool, **arguments)
                assert refused, (tool, item, text)
                told_of = nothing(text, item)
                made_up = item[:1] + "".join("0" if one.isalnum() else one for one in item[1:])
                if re.fullmatch(r"[pu][0-9a-z]{24}", item):  # an id that nobody has gets the same answer
                    _, other = await call(tool, **{**arguments, next(iter(arguments)): made_up})
                    assert nothing(other, made_up) == told_of
            for tool, arguments in (
                ("search_memory", {"query": item or "x"}),
                ("retrieve_memory", {"query": f"{item} x", "thread": item or "thread-zq"}),
            ):
                refused, text = await call(tool, **arguments)
                nothing(text, "")
            for uri in (f"ember://segments/{item}", f"ember://segments/{item.encode().hex()}"):
                try:
                    nothing(await resource(client, uri), item)
                except (MCPError, ValueError) as error:
                    nothing(str(error), "")
        for tool in ("get_user_profile", "memory_stats"):
            nothing((await call(tool))[1], "")
        for day in ("2026-05-01", "2026-05-02T10:00:00Z", "2027-01-01"):
            for when in ("as_of", "valid_at"):
                for tool in ("search_memory", "retrieve_memory"):
                    nothing((await call(tool, query="Where do I live? My pet?", **{when: day}))[1], "")
                nothing((await call("get_user_profile", include_assistant_knowledge=True, **{when: day}))[1], "")
        for uri in ("ember://profile", "ember://segments"):
            nothing(await resource(client, uri), "")
        return told

    return script


def of_alice(memory: Memory) -> dict[str, list[Any]]:
    """Every row of alice's."""
    mine = memory.of("alice").owner.id
    place = store_of(memory)._database.place
    return {table: [row for row in rows if mine in row] for table, rows in contents(place).items()}


def test_ids_of_another_owner_lead_nowhere_in_any_argument(memory: Memory, theirs: list[str]) -> None:
    before = of_alice(memory)
    assert len(theirs) > 60
    assert talk_as(memory, "mallory", tries(bounded(some(theirs), proofs=theirs))) > 80
    assert of_alice(memory) == before


def test_over_http_a_key_of_another_owner_leads_nowhere_either(memory: Memory, theirs: list[str]) -> None:
    before = of_alice(memory)
    _, key = key_for(memory, "mallory/default")

    async def whole() -> int:
        with served(create_app(memory, require_keys=True)) as url:
            async with over_http(url + PATH, key) as client:
                return await tries(some(theirs)[:: bounded(4, proofs=1)])(client)

    assert asyncio.run(whole()) > 30
    assert of_alice(memory) == before


def test_a_name_that_looks_like_another_reaches_nothing_of_it(memory: Memory) -> None:
    for name in NAMES[:: bounded(3, proofs=1)]:

        async def script(client: Client) -> str:
            tools = ("memory_stats", "get_user_profile")
            told = [str((await client.call_tool(tool, {})).structured_content) for tool in tools]
            for tool, query in (("retrieve_memory", "Where do I live?"), ("search_memory", "zebrawood heron figs")):
                told.append(text_of((await client.call_tool(tool, {"query": query})).content))
            return "\n".join(told)

        for user, agent in ((name, "default"), ("alice", name)):
            if (user, agent) != ("alice", "default"):
                nothing(asyncio.run(_with(memory, user, agent, script)), "")


def test_a_name_that_no_store_can_hold_is_refused(memory: Memory) -> None:
    for name in ("", " ", "\0", "alice\0", "a" * 513, "\ud800"):
        for user, agent in ((name, "default"), ("alice", name)):
            with pytest.raises(InputError):
                make_server(memory, user, agent)


def talk_as(memory: Memory, user: str, script: Callable[[Client], Awaitable[int]]) -> int:
    """A script against a server that is bound to a user and the default agent."""
    told: int = asyncio.run(_with(memory, user, "default", script))
    return told


async def _with(memory: Memory, user: str, agent: str, script: Callable[[Client], Awaitable[Any]]) -> Any:
    async with Client(make_server(memory, user, agent)) as client:
        return await script(client)
