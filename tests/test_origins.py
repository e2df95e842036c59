"""Where the text of an utterance comes from: given through every face, stored, moved and forgotten with it."""

from __future__ import annotations

import io
import json
from typing import Any

import httpx2
import mcp
import pytest
from mcp_talk import refused, talk, told
from proxying import ask, proxied
from serving import NO_TLS

from embermem import OwnerMemory
from embermem.client import Client
from embermem.core.errors import InputError, KeyReused
from embermem.core.types import UtteranceOrigin
from embermem.testing.model_server import ModelServer
from embermem.transfer import conversations
from embermem.transfer.items import BadLine, Entry
from forgotten import assert_gone
from json_lines import exported, imported
from scripted import Opener, Place
from soundness import assert_sound, rows

CASES: list[tuple[str, str | None, str]] = [
    ("user", None, "person"),
    ("user", "person", "person"),
    ("user", "pasted", "pasted"),
    ("user", "document", "document"),
    ("assistant", None, "assistant"),
    ("assistant", "document", "document"),
    ("system", None, "system"),
    ("tool", None, "tool"),
    ("function", None, "tool"),
    ("tool", "document", "document"),
]
"""A role, the origin that is given, and the one that its utterance has."""
GIVEN: list[dict[str, Any]] = [
    {"role": role, "content": f"Message {n}.", **({} if origin is None else {"origin": origin})}
    for n, (role, origin, _) in enumerate(CASES)
]
WANTED = [wanted for _, _, wanted in CASES]
VALUES = ("person", "assistant", "system", "tool", "document", "pasted")


def origins(mine: OwnerMemory) -> list[str]:
    return [one.origin.value for one in mine.utterances()]


def assert_lists_the_values(message: str) -> None:
    assert "origin" in message.lower()
    assert [value for value in VALUES if value not in message] == []


def test_every_face_takes_the_origin_of_a_message_and_refuses_an_unknown_one(opened: Opener) -> None:
    with (
        ModelServer() as model,
        proxied(opened(proxy_url=model.url), model) as proxy,
        Client(proxy.url) as client,
        httpx2.Client(base_url=proxy.url, trust_env=False, verify=NO_TLS) as http,
    ):
        memory, unknown = proxy.memory, [{"role": "user", "content": "Hi", "origin": "web"}]

        direct = memory.of("direct")
        direct.add_messages(GIVEN)
        direct.add("A poem.", "Nice.", origin="pasted")
        direct.add("Mine.", origin=UtteranceOrigin.PERSON)
        assert origins(direct) == [*WANTED, "pasted", "assistant", "person"]
        assert [one.utterance.origin for one in direct.search("poem", 1)] == ["pasted"]
        direct.add_document("The rent is due.", title="Lease")
        assert origins(direct)[-1] == "document"

        served = client.of("served")
        served.add_messages(GIVEN)
        page = served.page(served.add("A poem.", "Nice.", origin="pasted"))
        assert [one.origin for one in page.utterances] == ["pasted", "assistant"]
        assert origins(memory.of("served")) == [*WANTED, "pasted", "assistant"]
        assert [one.utterance.origin for one in served.search("poem", 1)] == ["pasted"]

        kept = http.post("/v1/memories", json={"messages": GIVEN, "user_id": "raw"}).json()["results"]
        assert [one["origin"] for one in kept] == WANTED
        found = http.get(f"/v1/memories/{kept[2]['id']}", params={"user_id": "raw"}).json()
        assert found["metadata"]["origin"] == "pasted"

        async def script(tools: mcp.Client) -> tuple[list[str], str, str]:
            added = await told(tools, "add_memory", user_input="A poem.", agent_response="Nice.", origin="pasted")
            why = await told(tools, "why", id=added["page_id"])
            wrong = await refused(tools, "add_memory", user_input="Hi", origin="web")
            empty = await refused(tools, "add_memory", user_input="", agent_response="Nice.", origin="pasted")
            return [one["origin"] for one in why["said"]], wrong, empty

        shown, wrong, empty = talk(memory, script)
        assert shown == ["pasted", "assistant"]
        assert empty.startswith("user_input is empty, and origin")

        call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
        asked = [{"role": "user", "content": "First."}, {"role": "user", "content": "A poem."}]
        ask(proxy.client(x_ember_origin="pasted"), asked)
        result = {"role": "tool", "tool_call_id": "c1", "content": "rain"}
        ask(proxy.client(), [*asked, {"role": "assistant", "content": None, "tool_calls": [call]}, result])
        assert origins(memory.of("alice"))[:5] == ["person", "pasted", "assistant", "assistant", "tool"]

        for refusal in (
            lambda: direct.add("Hi", origin="web"),
            lambda: direct.add_messages(unknown),
            lambda: served.add("Hi", origin="web"),
        ):
            with pytest.raises(InputError) as error:
                refusal()
            assert_lists_the_values(str(error.value))
        for handle in (direct, served):
            with pytest.raises(InputError, match="query is empty, and origin = 'pasted'"):
                handle.add(None, "Nice.", origin="pasted")
        headers = {"X-Ember-Origin": "web", "X-Ember-User": "alice"}
        for answer in (
            http.post("/v1/memories", json={"messages": unknown, "user_id": "raw"}),
            http.post("/v1/chat/completions", json={"model": "m", "messages": asked}, headers=headers),
        ):
            assert answer.status_code == 422
            assert_lists_the_values(answer.text)
        assert_lists_the_values(wrong)


def test_an_origin_is_stored_where_it_differs_from_the_roles_and_is_moved_and_forgotten_with_its_utterance(
    opened: Opener, place: Place, engine: str
) -> None:
    memory = opened()
    alice = memory.of("alice")
    alice.add_messages(GIVEN, key="k")
    stored = [row["origin"] for row in rows(place(), "SELECT origin FROM utterance ORDER BY seq")]
    assert stored == [None, None, "pasted", "document", None, "document", None, None, None, "document"]

    alice.add_messages([{**one, "origin": wanted} for one, wanted in zip(GIVEN, WANTED, strict=True)], key="k")
    assert len(alice.utterances()) == len(GIVEN)
    with pytest.raises(KeyReused):
        alice.add_messages([{**one, "origin": None} for one in GIVEN], key="k")

    other = opened("other.db")
    imported(other, exported(memory))
    assert origins(other.of("alice")) == WANTED
    assert_sound(place("other.db"))

    receipt = alice.forget(page=alice.utterances()[2].page_id)
    assert_gone(alice, receipt, engine)
    assert "pasted" not in origins(alice)
    assert_sound(place())


def test_a_file_of_messages_may_say_the_origin_of_each() -> None:
    lines = [
        {"role": "user", "content": "A poem.", "origin": "pasted"},
        {"query": "Another.", "response": "Nice.", "origin": "document"},
        {"role": "user", "content": "Hi", "origin": "web"},
        {"response": "Nice.", "origin": "pasted"},
    ]
    file = io.BytesIO("\n".join(map(json.dumps, lines)).encode())
    (source,) = conversations.read(file, conversations.Format.JSONL)
    *read, unknown, empty = source.items
    assert [one.message().get("origin") for one in read if isinstance(one, Entry)] == ["pasted", "document", None]
    assert isinstance(unknown, BadLine)
    assert_lists_the_values(str(unknown))
    assert str(empty) == "line 4: the query is empty, and its origin is given; give both or neither"
