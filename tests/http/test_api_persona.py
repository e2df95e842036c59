"""Profile, facts, traits, changes and counts over HTTP."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import httpx2
from serving import Server

ALICE, BOB = ({"user_id": name, "agent_id": "tutor"} for name in ("alice", "bob"))


def facts_of(server: Server, http: httpx2.Client) -> list[dict[str, Any]]:
    """Facts that were learnt of Alice, newest first."""
    alice = server.memory.of("alice", "tutor")
    alice.add("My name is Alice. I live in Lyon. My sister Ana works as a nurse.", "Nice.")
    for number in range(6):
        alice.add(f"The weather is fine, day {number}.", "Good.")
    alice.settle()
    found: list[dict[str, Any]] = http.get("/v1/facts", params=ALICE).json()["results"]
    assert len(found) >= 2
    return found


REFUSED: tuple[dict[str, Any], ...] = (
    {},
    {"user": {}},
    {"user": {"no word": "x"}},
    {"user": {"name": ["x"]}},
    {"user": {"name": "a\x00"}},
    {"user": {"birth_year": "soon"}},
    {"user": {"name": "x" * 2001}},
    {"agent": {"x" * 65: "x"}},
    {"person": {"name": "x"}},
)


def test_a_profile_is_set_in_one_change_read_and_taken_away_and_one_that_cannot_be_kept_is_refused(
    server: Server, http: httpx2.Client
) -> None:
    for fields in REFUSED:
        assert http.patch("/v1/profile", json={**fields, **ALICE}).status_code == 422, fields
    assert server.memory.owners() == ()

    headers = {"Content-Type": "application/json"}
    for body in (rb'{"user": {"\ud800": "x"}}', rb'{"user": {"name": "\ud800"}}', rb'{"\ud800": 1}'):
        assert http.patch("/v1/profile", content=body, headers=headers).status_code == 422

    good = {"user": {"name": "Alice", "birth_year": 1994, "self": "me"}, "agent": {"description": "patient"}}
    answer = http.patch("/v1/profile", json={**good, **BOB})
    assert answer.status_code == 200, answer.text
    profile = http.get("/v1/profile", params=BOB).json()
    assert answer.json() == profile
    assert {name: one["value"] for name, one in profile["user"].items()} == {
        "name": "Alice",
        "birth_year": "1994",
        "self": "me",
    }
    assert (profile["user"]["name"]["set_by"], profile["agent"]["description"]["value"]) == ("caller", "patient")
    assert "name" not in http.patch("/v1/profile", json={"user": {"name": None}, **BOB}).json()["user"]

    both = {"user": {"name": "Alice"}, "agent": {"description": "patient"}}
    assert http.patch("/v1/profile", json={**both, **ALICE}).status_code == 200
    bad = {"user": {"name": "Bob"}, "agent": {"birth_year": "long ago"}}
    assert http.patch("/v1/profile", json={**bad, **ALICE}).status_code == 422
    halves = http.get("/v1/profile", params=ALICE).json()
    assert halves["user"]["name"]["value"] == "Alice"
    assert {line["change_no"] for half in halves.values() for line in half.values()} == {1}
    assert len(http.get("/v1/changes", params=ALICE).json()["results"]) == 1


def test_a_fact_is_pinned_corrected_and_retired_and_one_that_is_not_there_not_found(
    server: Server, http: httpx2.Client
) -> None:
    fact = next(one for one in facts_of(server, http) if "Lyon" in one["memory"])
    data = fact["metadata"]
    assert (data["about"], data["pinned"], data["retired_at"]) == ("user", False, None)
    assert http.get(f"/v1/memories/{data['sources'][0]}", params=ALICE).json()["kind"] == "utterance"
    pinned = http.post(f"/v1/facts/{fact['id']}/pin", json={"pinned": True, **ALICE}).json()
    assert pinned["metadata"]["pinned"] is True
    body = {"text": "alice lives in Paris", "value": "Paris", **ALICE}
    new = http.post(f"/v1/facts/{fact['id']}/correct", json=body).json()
    assert (new["memory"], new["metadata"]["value"]) == ("Alice lives in Paris", "Paris")
    assert http.post(f"/v1/facts/{new['id']}/retire", json=ALICE).json()["metadata"]["retired_at"] is not None
    past = http.get("/v1/facts", params={"state": "past", **ALICE}).json()["results"]
    assert {fact["id"], new["id"]} <= {one["id"] for one in past}
    current = http.get("/v1/facts", params={"about": "user", **ALICE}).json()["results"]
    assert not {fact["id"], new["id"]} & {one["id"] for one in current}
    assert http.get("/v1/facts", params={"state": "archived", "about": "agent", **ALICE}).json()["results"] == []

    for what in ("pin", "retire", "correct"):
        least = {"text": "x"} if what == "correct" else {}
        assert http.post(f"/v1/facts/f9-000/{what}", json={**least, **ALICE}).status_code == 404


def test_a_change_is_listed_with_its_decisions_and_taken_back(server: Server, http: httpx2.Client) -> None:
    facts = facts_of(server, http)
    changes = http.get("/v1/changes", params={"limit": 200, **ALICE}).json()["results"]
    assert [one["change_no"] for one in changes] == list(range(1, len(changes) + 1))
    taught = next(one for one in changes if any(told["kind"] == "fact_added" for told in one["decisions"]))
    since = http.get("/v1/changes", params={"since": taught["change_no"], **ALICE}).json()["results"]
    assert since == changes[taught["change_no"] :]
    undone = http.post(f"/v1/changes/{taught['change_no']}/undo", json=ALICE)
    assert (undone.status_code, undone.json()["change_no"]) == (200, len(changes) + 1)
    assert len(http.get("/v1/facts", params=ALICE).json()["results"]) < len(facts)
    assert http.post(f"/v1/changes/{taught['change_no']}/undo", json=ALICE).status_code == 422
    assert http.post("/v1/changes/999/undo", json=ALICE).status_code == 404
    for number in ("0", "-1", "x", str(2**70)):
        assert http.post(f"/v1/changes/{number}/undo", json=ALICE).status_code == 422


def test_traits_stats_and_owners_are_those_of_the_memory(server: Server, http: httpx2.Client) -> None:
    alice = server.memory.of("alice", "tutor")
    alice.set_profile(birth_year=1994, name="Alice")
    alice.add("I love to meet many people at parties, I am very outgoing.", "Good.")
    alice.settle()
    traits = http.get("/v1/traits", params=ALICE).json()["results"]
    assert [one["dimension"] for one in traits] == [trait.dimension for trait in alice.traits()]
    assert traits
    counts = asdict(alice.stats())
    assert http.get("/v1/stats", params=ALICE).json() == {**counts, "outdated": list(counts["outdated"]), "waiting": []}
    assert http.get("/v1/owners").json()["results"] == [{"user_id": "alice", "agent_id": "tutor"}]


def test_instructions_are_listed_added_and_retired_and_facts_found_by_words_origin_days_and_state(
    server: Server, http: httpx2.Client
) -> None:
    alice = server.memory.of("alice", "tutor")
    alice.add("Always answer in metric units.", "I will.")
    alice.settle()
    (rule,) = http.get("/v1/instructions", params=ALICE).json()["results"]
    assert (rule["metadata"]["value"], rule["memory"]) == (
        "use metric units",
        "alice wants the assistant to use metric units",
    )
    added = http.post("/v1/instructions", json={"text": "Use imperial units.", **ALICE})
    assert added.status_code == 201
    assert added.json()["metadata"]["value"] == "use imperial units"
    assert [one["id"] for one in http.get("/v1/instructions", params=ALICE).json()["results"]] == [added.json()["id"]]
    assert http.get("/v1/instructions", params={"as_of": "2020-01-01", **ALICE}).json()["results"] == []
    assert http.post(f"/v1/facts/{added.json()['id']}/retire", json=ALICE).status_code == 200
    assert http.get("/v1/instructions", params=ALICE).json()["results"] == []
    for body in ({"text": ""}, {"text": " "}, {}, {"text": "Be brief.", "expires_at": "2020-01-01T00:00:00Z"}):
        assert http.post("/v1/instructions", json={**body, **ALICE}).status_code == 422

    dora = server.memory.of("dora")
    dora.learn(
        [
            {"text": "likes Crème brûlée", "attribute": "likes", "valid_from": "2025-01-10"},
            {"text": "plays the cello", "attribute": "plays", "valid_from": "2020-01-10"},
        ]
    )
    likes, plays = dora.facts()
    dora.pin(likes.id)

    def found(**filters: str) -> list[str]:
        answer = http.get("/v1/facts", params={"user_id": "dora", **filters})
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["results"]]

    assert found() == found(origin="caller") == found(recorded_since="2001-01-01") == [plays.id, likes.id]
    assert found(text="creme BRÛL") == found(attribute="likes") == found(state="pinned") == [likes.id]
    assert found(held_until="2024-12-31") == [plays.id]
    assert found(origin="document") == found(state="conflict") == found(recorded_until="2001-01-01") == []
    first = http.get("/v1/facts", params={"user_id": "dora", "limit": 1, "text": "l"}).json()
    again = {"user_id": "dora", "limit": 1, "text": "l", "cursor": first["next_cursor"]}
    rest = http.get("/v1/facts", params=again).json()
    assert [one["id"] for one in (*first["results"], *rest["results"])] == [plays.id, likes.id]
    assert rest["next_cursor"] is None
    for wrong in ({**again, "text": "e"}, {"user_id": "dora", "text": "l", "as_of": "2030-01-01"}):
        assert http.get("/v1/facts", params=wrong).status_code == 422


GROUP = {"user_id": "group", "agent_id": "tutor"}


def talked(server: Server) -> None:
    """Two people who speak as users, and the sister of one."""
    group = server.memory.of("group", "tutor")
    said = [("Vera", "I live in Lyon. My sister Ana works as a nurse."), ("Kit", "I live in Oslo.")]
    said += [("Kit", f"The tulip number {number} is red.") for number in range(8)]
    group.add_messages([{"role": "user", "name": name, "content": text} for name, text in said])
    group.settle()


def test_people_are_listed_and_asked_of_one_by_one_and_who_is_who_is_said(server: Server, http: httpx2.Client) -> None:
    talked(server)
    people = http.get("/v1/people", params=GROUP).json()["results"]
    assert {one["name"]: (one["names"], one["roles"]) for one in people} == {
        "Vera": (["Vera"], ["user"]),
        "Kit": (["Kit"], ["user"]),
        "Ana": (["Ana", "Vera's sister"], []),
    }
    assert http.get("/v1/people", params={"as_of": "2020-01-01", **GROUP}).json()["results"] == []

    (fact,) = http.get("/v1/facts", params={"person": "Vera's sister", **GROUP}).json()["results"]
    assert (fact["metadata"]["person"], fact["metadata"]["value"]) == ("Ana", "nurse")
    profile = http.get("/v1/profile", params={"person": "Kit", **GROUP}).json()
    assert {name: line["value"] for name, line in profile["person"].items()} == {"home": "Oslo"}
    first = http.get("/v1/facts", params={"person": "Vera", "limit": 1, **GROUP}).json()
    assert first["next_cursor"]
    of_another = {"person": "Kit", "cursor": first["next_cursor"], **GROUP}
    assert http.get("/v1/facts", params=of_another).status_code == 422
    for path in ("/v1/facts", "/v1/profile"):
        assert http.get(path, params={"person": "Zoe", **GROUP}).status_code == 404
        assert http.get(path, params={"person": "", **GROUP}).status_code == 422

    answer = http.post("/v1/people/user", json={"name": "Vera", **GROUP}).json()
    assert answer["results"][0]["id"] == "user"
    assert http.get("/v1/profile", params=GROUP).json()["user"]["home"]["value"] == "Lyon"
    merged = http.post("/v1/people/merge", json={"one": "Ana", "other": "Kit", **GROUP}).json()
    assert len(merged["results"]) == 2
    assert http.post(f"/v1/changes/{merged['change_no']}/undo", json=GROUP).status_code == 200
    split = http.post("/v1/people/split", json={"one": "Ana", "other": "Vera's sister", **GROUP}).json()
    assert {one["name"] for one in split["results"]} == {"Vera", "Kit", "Ana", "Vera's sister"}
    for what, body, status in (
        ("user", {"name": "Zoe"}, 404),
        ("user", {"name": "Vera"}, 422),
        ("user", {}, 422),
        ("merge", {"one": "Ana", "other": "Zoe"}, 404),
        ("merge", {"one": "Ana", "other": "ana"}, 422),
        ("split", {"one": "Ana", "other": "Kit"}, 422),
        ("split", {"one": "Ana"}, 422),
    ):
        assert http.post(f"/v1/people/{what}", json={**body, **GROUP}).status_code == status, (what, body)

    alone = server.memory.of("vera", "tutor")
    told = ("My brother Milo lives in Ghent.", "My neighbour Milo lives in Porto.")
    alone.add_messages([{"role": "user", "name": "Vera", "content": text} for text in told])
    alone.settle()
    mine = {"user_id": "vera", "agent_id": "tutor"}
    refused = http.get("/v1/facts", params={"person": "Milo", **mine})
    assert refused.status_code == 422
    assert "Vera's brother Milo" in refused.text
    assert "Vera's neighbour Milo" in refused.text
    (neighbour,) = http.get("/v1/facts", params={"person": "neighbour Milo", **mine}).json()["results"]
    assert neighbour["metadata"]["value"] == "Porto"
    assert {one["undecided"] for one in http.get("/v1/people", params=mine).json()["results"]} == {False}
