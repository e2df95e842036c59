"""The past over HTTP: earlier moments, why, conflicts, facts brought, ends, receipts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx2
from serving import Server, client, key_for, running

from embermem import Memory, OwnerMemory
from scripted import Clock

ALICE = {"user_id": "alice", "agent_id": "tutor"}
BOB = {"user_id": "bob", "agent_id": "tutor"}
DAY = 86_400.0
HOME = {"attribute": "lives_in", "valid_from": "2026-05-01"}
LYON = {"text": "lives in Lyon", "value": "Lyon", **HOME}
NANTES = {"text": "lives in Nantes", "value": "Nantes", **HOME}


def get(http: httpx2.Client, path: str, **query: Any) -> Any:
    """What a route answers of Alice."""
    answer = http.get(path, params={**ALICE, **query})
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(http: httpx2.Client, path: str, status: int = 200, **fields: Any) -> Any:
    answer = http.post(path, json={**fields, **ALICE})
    assert answer.status_code == status, answer.text
    return answer.json()


def moved(server: Server, clock: Clock) -> str:
    """Alice told where she lives, and ten days later that she moved; the day between."""
    alice = server.memory.of("alice", "tutor")
    alice.add("I live in Lyon.", "Nice.", thread="a")
    alice.settle()
    clock.go(10 * DAY)
    alice.add("I moved to Nantes.", "Oh.", thread="b")
    alice.settle()
    clock.go(DAY)
    return (clock.now - timedelta(days=6)).date().isoformat()


# ------------------------------------------------------------------------------------------------ an earlier moment


def test_a_context_of_another_time_counts_no_visit(server: Server, http: httpx2.Client, clock: Clock) -> None:
    alice = server.memory.of("alice", "tutor")
    for number in range(8):
        alice.add(f"I planted tulip number {number} in the garden.", "Lovely.")
    alice.settle()
    clock.go(DAY)
    post(http, "/v1/context", query="Which tulips did I plant?", as_of=clock.now.isoformat())
    assert sum(one["visits"] for one in get(http, "/v1/segments")["results"]) == 0
    post(http, "/v1/context", query="Which tulips did I plant?")
    assert sum(one["visits"] for one in get(http, "/v1/segments")["results"]) > 0


def test_changes_facts_and_lists_are_those_of_a_time_and_a_cursor_is_of_its_moment(
    server: Server, http: httpx2.Client, clock: Clock
) -> None:
    then = moved(server, clock)
    changes = get(http, "/v1/changes")["results"]
    newer = get(http, "/v1/changes", recorded_after=then)["results"]
    assert 0 < len(newer) < len(changes)
    assert newer == changes[-len(newer) :]
    assert get(http, "/v1/changes", recorded_after=clock.now.isoformat())["results"] == []
    found = get(http, "/v1/diff", earlier=then)
    assert [one["memory"] for one in found["facts_added"]] == ["alice lives in Nantes"]
    assert [one["memory"] for one in found["facts_ended"]] == ["alice lives in Lyon"]
    assert found["changes"] == [one["change_no"] for one in newer]
    assert len(found["pages_added"]) == 1
    assert "Nantes" in found["text"]
    for wrong in ({}, {"earlier": "soon"}, {"earlier": clock.now.isoformat(), "later": then}):
        assert http.get("/v1/diff", params={**ALICE, **wrong}).status_code == 422

    assert get(http, "/v1/facts", state="past", as_of=then)["results"] == []
    (past,) = get(http, "/v1/facts", state="past")["results"]
    assert get(http, f"/v1/memories/{past['id']}", as_of=then)["metadata"]["retired_at"] is None
    assert get(http, f"/v1/memories/{past['id']}")["metadata"]["retired_at"] is not None
    assert http.get("/v1/facts", params={**ALICE, "state": "past", "valid_at": then}).status_code == 422

    for number in range(5):
        server.memory.of("alice", "tutor").add(f"Later, number {number}.", "Good.")
    clock.go(DAY)
    now = clock.now.isoformat()
    part = get(http, "/v1/pages", as_of=now, limit=3)
    rest = get(http, "/v1/pages", as_of=now, limit=50, cursor=part["next_cursor"])
    assert len({one["id"] for one in (*part["results"], *rest["results"])}) == 7
    answer = http.get("/v1/pages", params={**ALICE, "as_of": then, "cursor": part["next_cursor"]})
    assert answer.status_code == 422


# ----------------------------------------------------------------------------------------------------------- why


# ----------------------------------------------------------------------------------------------------- conflicts


def test_conflicts_and_ends_are_set_and_refused_where_they_say_nothing(http: httpx2.Client, clock: Clock) -> None:
    learnt = post(http, "/v1/facts", 201, facts=[LYON, NANTES])["results"]
    assert [one["memory"] for one in learnt] == ["The user lives in Lyon", "The user lives in Nantes"]
    (conflict,) = get(http, "/v1/conflicts")["results"]
    both = {"fact_id": conflict["older"]["id"], "other_id": conflict["newer"]["id"]}
    assert [both["fact_id"], both["other_id"]] == [one["id"] for one in learnt]
    assert post(http, "/v1/conflicts/settle", **both) == {"change_no": 2, "results": []}
    post(http, "/v1/conflicts/settle", 422, **both)
    post(http, "/v1/conflicts/settle", 404, fact_id="f98-000", other_id="f99-000")
    post(http, "/v1/facts", 422, facts=[{"text": "sails"}, {"text": " "}])
    assert len(get(http, "/v1/facts")["results"]) == 2

    end = (clock.now + timedelta(days=2)).isoformat()
    messages = [{"role": "user", "content": "I have a visitor."}]
    (page_id,) = post(http, "/v1/memories", 201, messages=messages, expires_at=end)["page_ids"]
    assert get(http, f"/v1/pages/{page_id}")["metadata"]["expires_at"] is not None
    assert post(http, f"/v1/pages/{page_id}/expire", at=None)["metadata"]["expires_at"] is None
    (fact,) = post(http, "/v1/facts", 201, facts=[{"text": "has a visitor", "expires_at": end}])["results"]
    assert fact["metadata"]["expires_at"] is not None
    assert post(http, f"/v1/facts/{fact['id']}/expire", at=None)["metadata"]["expires_at"] is None
    post(http, f"/v1/facts/{fact['id']}/expire", 422)  # nothing is said: it is not taken back by mistake
    post(http, f"/v1/facts/{fact['id']}/expire", 422, at="2020-01-01")
    post(http, "/v1/facts/f99-000/expire", 404, at=end)
    post(http, f"/v1/pages/{page_id}/expire", at=end)
    clock.go(3 * DAY)
    assert get(http, "/v1/pages")["results"] == []


# --------------------------------------------------------------------------------------------------------- the end


def test_what_is_sensitive_is_taken_out_and_the_answer_says_so(tmp_path: Any, clock: Clock) -> None:
    with (
        Memory(tmp_path / "memory.db", embedder="hashed", background=False, redact="secrets", clock=clock) as memory,
        running(memory) as url,
        client(url) as http,
    ):
        said = "My card is 4111 1111 1111 1111, do not lose it."
        (took,) = post(http, "/v1/memories", 201, messages=said)["redactions"]
        assert "4111" not in str(took)
        assert "4111" not in str(get(http, "/v1/pages"))


# ------------------------------------------------------------------------------------------------------- forgetting


def said(server: Server) -> OwnerMemory:
    alice = server.memory.of("alice", "tutor")
    for number in range(4):
        alice.add(f"The tulip number {number} is red.", "Lovely.", at=f"2026-04-0{number + 1}T10:00:00+00:00")
    alice.add("I keep a heron.", "Since when?")
    alice.settle()
    return alice


def test_what_is_named_is_forgotten_when_confirmed_two_things_at_once_nothing_and_a_receipt_is_checked(
    server: Server, http: httpx2.Client
) -> None:
    alice = said(server)
    for more in ({"before": "2026"}, {"matching": "2026"}, {"before": "2026", "matching": "2026"}):
        answer = http.delete("/v1/memories", params={**ALICE, "run_id": "2026", "confirm": True, **more})
        assert answer.status_code == 422, more
        assert len(alice.pages()) == 5, more

    def forget(path: str = "/v1/memories", **query: Any) -> Any:
        return http.delete(path, params={**ALICE, **query})

    assert len(forget(before="2026-04-03", dry_run=True).json()["pages"]) == 2
    assert len(forget(matching="heron", dry_run=True).json()["pages"]) == 1
    segment = alice.segments()[0]
    whole = forget(f"/v1/memories/{segment.id}", dry_run=True).json()
    assert set(whole["pages"]) == set(segment.page_ids)
    assert forget(before="2026-04-03").status_code == 422
    for also in ({"limit": 3}, {"matching": "heron", "limit": 3}):  # elsewhere a limit is a most: none is taken here
        assert forget(**also, confirm=True).status_code == 422
    assert len(alice.pages()) > 2
    assert len(alice.pages()) == 5
    assert len(forget(before="2026-04-03", confirm=True).json()["pages"]) == 2
    assert len(alice.pages()) == 3

    receipt = http.delete("/v1/memories", params={**ALICE, "matching": "heron", "confirm": True}).json()
    found = post(http, "/v1/verify", receipt=receipt)
    assert (found["ok"] or not found["scrubbed"], found["found"]) == (True, [])
    kept = {**receipt, "pages": [alice.pages()[0].id]}
    assert post(http, "/v1/verify", receipt=kept)["found"] == [alice.pages()[0].id]
    post(http, "/v1/verify", 422, receipt={**receipt, "dry_run": True})
    post(http, "/v1/verify", 422, receipt={})
    for wrong in ({"change_no": True}, {"change_no": "4"}, {"scrubbed": "yes"}):
        assert next(iter(wrong)) in post(http, "/v1/verify", 422, receipt={**receipt, **wrong})["detail"]


# ---------------------------------------------------------------------------------------------------------- undoing


def test_what_an_undo_would_do_is_told_before_and_what_is_no_time_is_refused(
    server: Server, http: httpx2.Client
) -> None:
    alice = server.memory.of("alice", "tutor")
    (lyon,) = alice.learn([LYON])
    plan = get(http, f"/v1/changes/{lyon.change_no}/undo")
    assert plan["decisions"] > 0
    assert plan["refused"] == []
    alice.learn([{**NANTES, "valid_from": "2026-05-02"}])
    left = get(http, f"/v1/changes/{lyon.change_no}/undo")["refused"]
    assert [one["item"] for one in left] == [lyon.id]
    assert left[0]["reason"]
    assert http.get("/v1/changes/99/undo", params=ALICE).status_code == 404
    assert alice.fact(lyon.id).superseded_by is not None

    for path in ("/v1/facts", "/v1/pages", "/v1/segments", "/v1/traits", "/v1/profile"):
        for wrong in ("soon", "", "2026-13-01", "x" * 300):
            assert http.get(path, params={**ALICE, "as_of": wrong}).status_code == 422, path


# ------------------------------------------------------------------------------------------------- who may do what

READS = ["/v1/why/user.home", "/v1/diff?earlier=2026-05-01", "/v1/conflicts", "/v1/retention"]
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("/v1/facts", {"facts": [LYON]}),
    ("/v1/conflicts/settle", {"fact_id": "f1-000", "other_id": "f1-001"}),
    ("/v1/facts/f1-000/expire", {"at": None}),
    ("/v1/pages/p1/expire", {"at": None}),
    ("/v1/fade", {}),
]


def test_a_key_reaches_its_owner_alone_and_one_that_reads_writes_nothing(memory: Memory) -> None:
    memory.of("alice", "tutor").learn([LYON, NANTES])
    _, reads = key_for(memory, "alice/tutor", read_only=True)
    with running(memory, require_keys=True) as url, client(url, reads) as http:
        for path in READS:
            assert http.get(path, params=httpx2.QueryParams(path.partition("?")[2]).merge(ALICE)).status_code in (
                200,
                404,
            )
            assert http.get(path, params=httpx2.QueryParams(path.partition("?")[2]).merge(BOB)).status_code == 403
        for path, fields in WRITES:
            assert http.post(path, json={**fields, **ALICE}).status_code == 403, path
            assert http.post(path, json={**fields, **BOB}).status_code == 403, path
    assert len(memory.of("alice", "tutor").changes()) == 1
