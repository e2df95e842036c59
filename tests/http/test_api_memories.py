"""Memories over HTTP: kept once, found, corrected, forgotten; and what a client's text may not do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
from serving import Server, client, key_for, running

from embermem import Memory

SAID = [
    {"role": "user", "content": "I live in Lyon.", "at": "2026-05-02T10:00:00+02:00"},
    {"role": "assistant", "content": "Since when?"},
]
ALICE, BOB, CARL, DORA = ({"user_id": name} for name in ("alice", "bob", "carl", "dora"))


def known(server: Server, http: httpx2.Client) -> dict[str, Any]:
    """The fact that follows from `SAID`."""
    assert http.post("/v1/memories", json={"messages": SAID, **ALICE}).status_code == 201
    server.memory.of("alice").settle()
    for number in range(6):
        server.memory.of("alice").add(f"The weather is fine, day {number}.", "Good.")
    server.memory.of("alice").settle()
    facts = http.get("/v1/facts", params=ALICE).json()["results"]
    (fact,) = [one for one in facts if "Lyon" in one["memory"]]
    return dict(fact)


def test_what_is_added_can_be_read_by_each_id_and_a_text_begins_a_page_of_its_own(http: httpx2.Client) -> None:
    answer = http.post("/v1/memories", json={"messages": SAID, **ALICE, "run_id": "monday"})
    assert answer.status_code == 201
    first, second = answer.json()["results"]
    assert (first["event"], first["memory"], first["role"]) == ("ADD", "I live in Lyon.", "user")
    assert first["created_at"] == "2026-05-02T10:00:00+02:00"
    assert answer.json()["page_ids"] == [first["page_id"]] == [second["page_id"]]
    page = http.get(f"/v1/memories/{first['page_id']}", params=ALICE).json()
    assert (page["kind"], page["run_id"]) == ("page", "monday")
    assert [one["id"] for one in page["metadata"]["utterances"]] == [first["id"], second["id"]]
    spoken = http.get(f"/v1/memories/{second['id']}", params=ALICE).json()
    assert (spoken["kind"], spoken["memory"], spoken["metadata"]["page_id"]) == ("utterance", "Since when?", page["id"])
    assert spoken["metadata"]["tier"] == "short"

    (kept,) = http.post("/v1/memories", json={"messages": "Hello", **ALICE}).json()["results"]
    assert (kept["role"], kept["memory"]) == ("user", "Hello")

    def page_of(messages: object, **more: object) -> str:
        (page_id,) = http.post("/v1/memories", json={"messages": messages, **more, **ALICE}).json()["page_ids"]
        return str(page_id)

    said = [{"role": "user", "content": "Hello"}]
    fresh_page = page_of("Hello")
    assert page_of(said) == fresh_page == page_of("Hello", fresh=False)
    assert len({fresh_page, page_of("Hello"), page_of(said, fresh=True)}) == 3
    batch = {"items": [{"messages": "Hello"}, {"messages": said}, {"messages": said, "fresh": True}], **ALICE}
    (one,), (two,), (three,) = (
        item["page_ids"] for item in http.post("/v1/memories/batch", json=batch).json()["items"]
    )
    assert one == two != three


def test_the_same_key_keeps_one_page_whenever_it_comes_and_is_a_conflict_with_other_content(
    server: Server, http: httpx2.Client
) -> None:
    given: dict[str, Any] = {"json": {"messages": SAID, **ALICE}, "headers": {"Idempotency-Key": "one"}}
    http.post("/v1/memories", **given)
    assert http.delete("/v1/memories", params={**ALICE, "confirm": True}).status_code == 200
    again = http.post("/v1/memories", **given)
    assert (again.status_code, again.json()["page_ids"]) == (201, [])
    assert server.memory.owners() == ()

    same: dict[str, Any] = {"json": {"messages": SAID, **BOB}, "headers": {"Idempotency-Key": "one"}}
    first, repeated = http.post("/v1/memories", **same), http.post("/v1/memories", **same)
    assert (repeated.status_code, repeated.json()) == (201, first.json())
    assert len(server.memory.of("bob").pages()) == 1

    with ThreadPoolExecutor(8) as threads:
        sent = [
            threads.submit(
                http.post, "/v1/memories", json={"messages": SAID, **CARL}, headers={"Idempotency-Key": "one"}
            )
            for _ in range(8)
        ]
        answers = [one.result() for one in sent]
    assert {one.status_code for one in answers} == {201}
    assert len({one.text for one in answers}) == 1
    assert len(server.memory.of("carl").pages()) == 1

    key = {"Idempotency-Key": "one"}
    http.post("/v1/memories", json={"messages": "one", **DORA}, headers=key)
    other = http.post("/v1/memories", json={"messages": "two", **DORA}, headers=key)
    assert (other.status_code, other.json()["type"]) == (409, "urn:embermem:problem:key-reused")
    assert len(server.memory.of("dora").pages()) == 1


def test_a_batch_keeps_the_good_items_and_with_its_keys_nothing_twice_and_is_of_five_hundred_at_most(
    server: Server, http: httpx2.Client
) -> None:
    items: list[Any] = [
        {"messages": "first", "run_id": "a", "key": "k1"},
        {"message": "an unknown field"},
        {"messages": [{"role": "rat", "content": "an unknown role"}]},
        {"messages": "a\x00b"},
        {"messages": "at no time", "at": "tomorrow"},
        7,
        {"messages": "other content", "key": "k1"},
        {"messages": "last", "user_id": "bob"},
    ]
    answer = http.post("/v1/memories/batch", json={"items": items, **ALICE})
    assert answer.status_code == 200
    found = answer.json()["items"]
    assert [one["status"] for one in found] == [201, 422, 422, 422, 422, 422, 409, 201]
    assert "'message'" in found[1]["problem"]["detail"]
    assert "messages" in found[1]["problem"]["detail"]
    assert found[0]["results"][0]["memory"] == "first"
    assert [page.thread for page in server.memory.of("alice").pages()] == ["a"]
    assert [page.query for page in server.memory.of("bob").pages()] == ["last"]

    sent = [{"messages": f"said {number}", "run_id": f"t{number}", "key": f"k{number}"} for number in range(20)]
    first = http.post("/v1/memories/batch", json={"items": sent[:12], **CARL}).json()["items"]
    whole = http.post("/v1/memories/batch", json={"items": sent, **CARL}).json()["items"]
    assert whole[:12] == first
    assert len(server.memory.of("carl").pages()) == 20

    many = [{"messages": "x"}] * 501
    assert http.post("/v1/memories/batch", json={"items": many}).status_code == 422


def test_one_owner_that_the_key_does_not_hold_refuses_the_whole_batch(memory: Memory) -> None:
    _, text = key_for(memory, "alice")
    with running(memory) as url, client(url, text) as http:
        items = [{"messages": "mine"}, {"messages": "theirs", "user_id": "bob"}, {"messages": "mine", "agent_id": "x"}]
        assert http.post("/v1/memories/batch", json={"items": items, **ALICE}).status_code == 403
        assert memory.owners() == ()
        assert http.post("/v1/memories/batch", json={"items": items[:1], **ALICE}).status_code == 200


def test_the_habits_of_another_memory_work(server: Server, http: httpx2.Client) -> None:
    fact = known(server, http)
    found = http.post("/v1/search", json={"query": "Where do I live?", "filters": ALICE, "limit": 3}).json()["results"]
    assert found[0]["memory"] == "I live in Lyon."
    assert http.get(f"/v1/memories/{fact['id']}", params=ALICE).json()["memory"] == fact["memory"]
    updated = http.put(f"/v1/memories/{fact['id']}", json={"memory": "alice lives in Paris", **ALICE}).json()
    assert updated["memory"] == "alice lives in Paris"
    listed = http.get("/v1/memories", params={"kind": "fact", **ALICE}).json()["results"]
    texts = [one["memory"] for one in listed]
    assert "alice lives in Paris" in texts
    assert fact["memory"] not in texts
    old = http.get(f"/v1/memories/{fact['id']}", params=ALICE).json()
    assert old["metadata"]["superseded_by"] == updated["id"]
    history = http.get(f"/v1/memories/{fact['id']}/history", params=ALICE).json()["results"]
    assert [one["cause"] for one in history][-1] == "correction"
    assert all(decision["kind"] for one in history for decision in one["decisions"])
    gone = http.delete(f"/v1/memories/{updated['id']}", params=ALICE).json()
    assert updated["id"] in gone["facts"]
    assert http.get(f"/v1/memories/{updated['id']}", params=ALICE).status_code == 404


def test_what_was_said_is_not_rewritten_and_is_forgotten_as_a_preview_names_and_when_confirmed(
    http: httpx2.Client, server: Server
) -> None:
    (kept,) = http.post("/v1/memories", json={"messages": "Hello", **ALICE}).json()["results"]
    for item, words in ((kept["id"], kept["page_id"]), (kept["page_id"], "forget")):
        for method in ("PUT", "PATCH"):
            answer = http.request(method, f"/v1/memories/{item}", json={"text": "Bye", **ALICE})
            assert (answer.status_code, answer.json()["type"]) == (409, "urn:embermem:problem:conflict")
            assert words in answer.json()["detail"]
    answer = http.delete(f"/v1/memories/{kept['id']}", params=ALICE)
    assert answer.status_code == 409
    assert kept["page_id"] in answer.json()["detail"]

    page_id = http.post("/v1/memories", json={"messages": SAID, **BOB}).json()["page_ids"][0]
    preview = http.delete(f"/v1/memories/{page_id}", params={"dry_run": True, **BOB}).json()
    assert preview["dry_run"] is True
    assert len(server.memory.of("bob").pages()) == 1
    gone = http.delete(f"/v1/memories/{page_id}", params=BOB).json()
    assert (gone["pages"], gone["sha256"]) == ([page_id], preview["sha256"])
    assert server.memory.of("bob").pages() == ()

    for thread in ("one", "two"):
        http.post("/v1/memories", json={"messages": SAID, "run_id": thread, **CARL})
    unconfirmed = http.delete("/v1/memories", params={"run_id": "one", **CARL})
    assert (unconfirmed.status_code, "confirm=true" in unconfirmed.json()["detail"]) == (422, True)
    assert len(http.delete("/v1/memories", params={"dry_run": True, **CARL}).json()["pages"]) == 2
    assert len(http.delete("/v1/memories", params={"run_id": "one", "confirm": True, **CARL}).json()["pages"]) == 1
    assert [page.thread for page in server.memory.of("carl").pages()] == ["two"]
    assert http.delete("/v1/memories", params={"confirm": True, **CARL}).status_code == 200
    assert server.memory.of("carl").pages() == ()

    http.post("/v1/memories", json={"messages": SAID, **DORA})
    for name in ("scopes", "thread", "filter"):
        refused = http.delete("/v1/memories", params={name: '{"threads": ["one"]}', "confirm": True, **DORA})
        assert refused.status_code == 422
        assert f"query.{name}: is not known; one of: agent_id, before, confirm" in refused.json()["detail"]
    assert len(server.memory.of("dora").pages()) == 1


def test_an_id_that_is_none_of_the_owners_is_not_found(http: httpx2.Client) -> None:
    http.post("/v1/memories", json={"messages": "Hello", **ALICE})
    for item in ("p0", "u0", "f0-000", "x", "%00", "..%2f..", "\u2067p"):
        for method in ("GET", "DELETE"):
            assert http.request(method, f"/v1/memories/{item}", params=ALICE).status_code == 404
        assert http.put(f"/v1/memories/{item}", json={"text": "x", **ALICE}).status_code == 404
        assert http.get(f"/v1/memories/{item}/history", params=ALICE).status_code == 404

    theirs = http.post("/v1/memories", json={"messages": "Hello", **ALICE}).json()
    for item in (theirs["page_ids"][0], theirs["results"][0]["id"]):
        assert http.get(f"/v1/memories/{item}", params={"user_id": "bob"}).status_code == 404
        assert http.delete(f"/v1/memories/{item}", params={"user_id": "bob"}).status_code == 404

    for file in ("\x9f", "no base64", "A", "é"):
        answer = http.post("/v1/documents", json={"file": file, "title": "Notes", **ALICE})
        assert answer.status_code == 422, answer.text
        assert "base64" in answer.json()["detail"], file


def test_a_text_comes_back_to_the_character_and_messages_of_other_tools_are_taken_as_they_are(
    http: httpx2.Client,
) -> None:
    texts = (
        "\u202etfel ot thgir\u2066",
        "\u200f\u200e\u202e",
        "\U0001f469\u200d\U0001f467 e\u0301 \ufdfd",
        "<script>alert(1)</script>",
        "x" * 999_999,
        "\ufeff\u2028\x1b[2J\x07",
    )
    for text in texts:
        kept = http.post("/v1/memories", json={"messages": text, **ALICE}).json()["results"][0]
        assert kept["memory"] == text
        assert http.get(f"/v1/memories/{kept['id']}", params=ALICE).json()["memory"] == text

    messages = [
        {"role": "developer", "content": "Be kind."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "see", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "a cat", "tool_call_id": "1"},
    ]
    taken = http.post("/v1/memories", json={"messages": messages, **ALICE}).json()["results"]
    assert [one["role"] for one in taken] == ["system", "user", "assistant", "tool"]
    assert "see({})" in taken[2]["memory"]


REFUSED = (
    rb'{"messages": "half \ud83d"}',
    rb'{"messages": "nul \u0000"}',
    rb'{"messages": [{"role": "user", "content": "half \udc00"}]}',
    rb'{"messages": [{"role": "user", "content": [{"type": "text", "text": "\u0000"}]}]}',
    rb'{"messages": [{"role": "user", "content": [{"type": "\ud800", "text": 1}]}]}',
    rb'{"messages": [{"role": "user", "content": "x", "name": "\ud800"}]}',
    rb'{"messages": "x", "user_id": "\u0000"}',
    rb'{"messages": "x", "user_id": "\ud800"}',
    rb'{"messages": "x", "user_id": " "}',
    rb'{"messages": "x", "run_id": "a\u0000"}',
    rb'{"messages": "x", "at": "\ud800"}',
    rb'{"messages": "x", "at": "0001-01-01T00:00:00+14:00"}',
    rb'{"messages": "x", "\ud800": 1}',
    rb'{"messages": []}',
    rb'{"messages": [[]]}',
    rb'{"messages": [{"role": "user", "content": NaN}]}',
    rb"{",
    b"\xff\xfe",
    b"[]",
    b"",
)


def test_a_body_that_cannot_be_stored_is_refused_with_words_and_an_unknown_field_named(
    server: Server, http: httpx2.Client
) -> None:
    for body in REFUSED:
        answer = http.post("/v1/memories", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), (body, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]
    assert server.memory.owners() == ()

    answer = http.post("/v1/memories", json={"messages": "x", "infer": False})
    assert answer.status_code == 422
    assert "'infer'" in answer.json()["detail"]
    assert "messages, run_id, at" in answer.json()["detail"]
    said = {"role": "assistant", "content": "Yes.", "reasoning_content": "hm", "id": "msg_1", "tool_call_id": None}
    assert http.post("/v1/memories", json={"messages": [said]}).status_code == 201
    answer = http.post("/v1/memories", json={"messages": [said, said | {"nmae": "Ana"}]})
    assert answer.status_code == 422
    assert ".1: 'nmae' is an unknown field (did you mean name?)" in answer.json()["detail"]

    endless = b'{"messages": ' + b"[" * 200_000
    assert http.post("/v1/memories", content=endless, headers={"Content-Type": "application/json"}).status_code in (
        400,
        422,
    )

    for depth in (100, 300, 470, 480, 2000):
        part = b'[{"a":' * depth + b"1" + b"}]" * depth
        deep = b'{"messages": [{"role": "user", "content": [{"type": "chart", "data": ' + part + b"}]}]}"
        answer = http.post("/v1/memories", content=deep, headers={"Content-Type": "application/json"})
        assert answer.status_code in (201, 400, 422), depth
        assert answer.status_code == 201 or depth > 300
