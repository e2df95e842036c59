"""The pages of facts, over real HTTP: found by every condition, and changed one by one and several at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import httpx2
import pytest
from read_page import Read, get, holding, post

from embermem import Memory, OwnerMemory
from embermem.core.types import Fact
from embermem.http.inspector.owner import facts as page_of_facts
from scripted import Clock, Opener

HOME = {"attribute": "lives_in", "valid_from": "2026-04-20"}
HOSTILE = "likes <script>alert(1)</script> \u202eevil\u202c & <b>figs</b>"


def learnt(memory: Memory, clock: Clock) -> None:
    """Facts are set by hand, one of them hostile, and one is said."""
    mine = memory.of("alice")
    mine.learn(
        [
            {"text": "plays the cello", "attribute": "plays", "valid_from": "2020-05-01"},
            {"text": "lives in Bern", "subject": "Ana", "attribute": "lives_in", "valid_from": "2024-05-01"},
            {"text": HOSTILE, "attribute": "likes", "valid_from": "2025-05-01"},
        ]
    )
    mine.add("I have a rabbit named Biscuit.", "What does Biscuit eat?")
    mine.settle()


@pytest.fixture
def memory(lived_in: Callable[..., object], opened: Opener) -> Memory:
    """A memory of these facts."""
    lived_in(learnt)
    return opened()


def shown(browser: httpx2.Client, **query: Any) -> list[str]:
    """The ids of the facts in the list."""
    page = Read(get(browser, "/facts", **query).text)
    return [str(one["id"]).removeprefix("fact-") for one in page.hooks("fact")]


def the(alice: OwnerMemory, word: str) -> Fact:
    return next(one for one in alice.facts() if word in one.text)


def send(browser: httpx2.Client, path: str, ids: Sequence[str], **fields: str) -> httpx2.Response:
    """What is done with several facts."""
    return browser.post(path, params={"user": "alice"}, data={"fact": list(ids), **fields})


def test_facts_are_found_by_what_the_address_says(alice: OwnerMemory, browser: httpx2.Client) -> None:
    alice.pin(the(alice, "cello").id)
    alice.expire(fact_id=the(alice, "Bern").id, at="2999-01-01")
    for query, words in (
        ({}, ["rabbit", "script", "Bern", "cello"]),
        ({"q": "CELLO"}, ["cello"]),
        ({"person": "Ana"}, ["Bern"]),
        ({"attribute": "likes"}, ["script"]),
        ({"origin": "conversation"}, ["rabbit"]),
        ({"origin": "caller", "q": "bern"}, ["Bern"]),
        ({"origin": "document"}, []),
        ({"held_since": "2019-01-01", "held_until": "2024-12-31"}, ["Bern", "cello"]),
        ({"recorded_until": "2001-01-01"}, []),
        ({"recorded_since": "2001-01-01", "attribute": "plays"}, ["cello"]),
        ({"state": "pinned"}, ["cello"]),
        ({"state": "expiring"}, ["Bern"]),
        ({"state": "past"}, []),
        ({"state": "archived"}, []),
        ({"state": "conflict"}, []),
        ({"state": "any", "q": "a"}, ["rabbit", "script", "Bern", "cello"]),
    ):
        page = Read(get(browser, "/facts", **query).text)
        found = [str(one["id"]).removeprefix("fact-") for one in page.hooks("fact")]
        assert found == [the(alice, word).id for word in words], query
        assert len(page.hooks("chips")) == (1 if query else 0)
        assert f"{len(words)} fact" in page.text
        removed = [one for _, one in page.elements if str(one.get("aria-label", "")).startswith("Remove the condition")]
        assert len(removed) == len(query)
    for query in ({"person": "Zoe"}, {"held_since": "soon"}, {"state": "gone"}, {"origin": "rumour"}, {"before": "x"}):
        answer = get(browser, "/facts", **query)  # a condition that cannot be met is told on the page
        assert answer.status_code == 200, query
        assert Read(answer.text).hooks("problem"), query
    page = Read(get(browser, "/facts", q="cello", attribute="likes").text)
    assert page.hooks("empty")
    (chip,) = [one for _, one in page.elements if "attribute likes" in str(one.get("aria-label"))]
    left = Read(browser.get(str(chip["href"])).text)
    assert [one["id"] for one in left.hooks("fact")] == [f"fact-{the(alice, 'cello').id}"]


def test_the_list_goes_on_below_its_last_fact_and_one_says_what_happened_to_it(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    ended = {"attribute": "owns", "valid_from": "2023-01-01", "valid_to": "2024-01-01"}
    alice.learn([{"text": f"owns book number {number}", **ended} for number in range(60)])
    first = Read(get(browser, "/facts", state="past").text)
    assert len(first.hooks("fact")) == page_of_facts.ROWS
    (older,) = first.hooks("older")
    rest = Read(browser.get(str(older["href"])).text)
    assert len(rest.hooks("fact")) == 10
    assert not {one["id"] for one in rest.hooks("fact")} & {one["id"] for one in first.hooks("fact")}
    assert not rest.hooks("older")
    fact = the(alice, "cello")
    alice.pin(fact.id)
    alice.retire(fact.id)
    page = Read(get(browser, f"/facts/{fact.id}").text)
    for told in ("learnt", "pinned", "no longer held"):
        assert told in page.text
    assert fact.id not in page.text


def test_what_others_wrote_is_escaped_on_every_page_of_facts(alice: OwnerMemory, browser: httpx2.Client) -> None:
    fact, other = the(alice, "script"), the(alice, "cello")
    chosen: list[tuple[str, str | int | float | bool | None]] = [
        ("fact", fact.id),
        ("fact", other.id),
        ("user", "alice"),
    ]
    pages = [get(browser, path).text for path in ("/facts", f"/facts/{fact.id}", "/facts?q=%3Cb%3Ex&person=%3Ci%3E")]
    pages += [browser.get(path, params=chosen).text for path in ("/facts/merge", "/facts/forget")]
    for text in pages:
        assert "<script>alert" not in text
        assert "<b>figs" not in text
        assert "<i>" not in re.sub(r'<span id="live".*?</span>', "", text.replace("<i></i>", ""))
        assert "\u202e" not in re.sub("<textarea.*?</textarea>", "", text), "what may be edited stands there as it is"


# -------------------------------------------------------------------------------------------------------- actions


def undone(browser: httpx2.Client, answer: httpx2.Response) -> httpx2.Response:
    """Presses the button beside what was done."""
    assert answer.status_code == 200, answer.text
    page = Read(answer.text)
    (action,) = [str(a["action"]) for t, a in page.elements if t == "form" and "/undo?" in str(a.get("action"))]
    then = next(str(a["value"]) for _, a in page.elements if a.get("name") == "then")
    back = browser.post(action, data={"then": then})
    assert back.status_code == 200
    return back


def test_a_fact_is_added_pinned_ended_later_corrected_and_retired_each_with_undo(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    answer = post(browser, "/facts", text="has a boat", person="Ana", attribute="owns", valid_from="2026-01-02")
    fact = the(alice, "boat")
    assert (fact.subject, fact.attribute) == ("Ana", "owns")
    assert Read(answer.text).hooks("done")
    assert undone(browser, answer).status_code == 200
    assert not alice.fact(fact.id).current
    assert post(browser, "/facts", text=" ").status_code == 422
    fact = the(alice, "cello")
    undone(browser, post(browser, f"/facts/{fact.id}/pin", pinned="1"))
    assert not alice.fact(fact.id).pinned
    ends = post(browser, f"/facts/{fact.id}/expire", at="2999-01-01")
    assert alice.fact(fact.id).expires_at is not None
    undone(browser, ends)
    assert alice.fact(fact.id).expires_at is None
    assert post(browser, f"/facts/{fact.id}/expire", at="2001-01-01").status_code == 422
    undone(browser, post(browser, f"/facts/{fact.id}/retire"))
    assert alice.fact(fact.id).current
    assert post(browser, f"/facts/{fact.id}/correct", text="  ").status_code == 422
    right = post(browser, f"/facts/{fact.id}/correct", text="plays the viola")
    assert right.url.path == f"/facts/{the(alice, 'viola').id}"
    undone(browser, right)
    assert alice.fact(fact.id).current


def test_several_facts_are_changed_in_one_change_each_and_nobody_is_sent_elsewhere(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    ids = [the(alice, "cello").id, the(alice, "rabbit").id]
    then = "/facts?user=alice&agent=default&attribute=likes"
    pinned = send(browser, "/facts/many", ids, do="pin", then=then)
    assert "attribute=likes" in str(pinned.url)
    assert all(alice.fact(one).pinned for one in ids)
    undone(browser, pinned)
    assert not any(alice.fact(one).pinned for one in ids)
    send(browser, "/facts/many", ids, do="pin")
    send(browser, "/facts/many", ids, do="unpin")
    assert not any(alice.fact(one).pinned for one in ids)
    retired = send(browser, "/facts/many", ids, do="retire")
    assert not any(alice.fact(one).current for one in ids)
    undone(browser, retired)
    assert all(alice.fact(one).current for one in ids)
    assert send(browser, "/facts/many", [], do="retire").status_code == 422
    assert send(browser, "/facts/many", ids, do="burn").status_code == 422
    for then in ("//evil.example/x", "https://evil.example", "/facts?path=x&self=y&done=1", "/facts?q=\x00"):
        answer = send(browser, "/facts/many", [the(alice, "cello").id], do="pin", then=then)
        assert answer.status_code == 200, then
        assert answer.url.host == browser.base_url.host, then


def test_facts_are_merged_with_undo_and_forgotten_after_a_preview(alice: OwnerMemory, browser: httpx2.Client) -> None:
    alice.learn([{"text": "is a cellist", "attribute": "does"}])
    ids = [the(alice, "cello").id, the(alice, "cellist").id]
    asked = browser.get("/facts/merge", params=[("fact", ids[0]), ("fact", ids[1]), ("user", "alice")])
    assert "is a cellist" in Read(asked.text).text
    merged = send(browser, "/facts/merge", ids, keep=ids[1])
    assert [one.text for one in alice.facts() if "cell" in one.text] == ["alice is a cellist"]
    undone(browser, merged)
    assert all(alice.fact(one).current for one in ids)
    assert send(browser, "/facts/merge", ids[:1], keep=ids[0]).status_code == 422
    assert browser.get("/facts/merge", params={"fact": ids[0], "user": "alice"}).status_code == 422
    ids = [the(alice, "cello").id, the(alice, "rabbit").id]
    preview = Read(browser.get("/facts/forget", params=[*(("fact", one) for one in ids), ("user", "alice")]).text)
    assert preview.hooks("preview")
    assert "no undo" in preview.text
    assert len(alice.facts()) == 5
    assert Read(send(browser, "/facts/forget", ids).text).hooks("receipt")
    assert len(alice.facts()) == 3
    assert alice.find_facts("cello", state=None).facts == ()


def test_a_conflict_is_settled_above_the_list_and_that_is_undone(alice: OwnerMemory, browser: httpx2.Client) -> None:
    both = alice.learn([{"text": f"lives in {city}", "value": city, **HOME} for city in ("Bern", "Basel")])
    for ended, left in (("", 2), (both[0].id, 1), (both[1].id, 1)):
        assert len(Read(get(browser, "/facts").text).hooks("conflict")) == 1
        assert shown(browser, state="conflict") == [both[1].id, both[0].id]
        answer = post(browser, f"/facts/{both[0].id}/settle", other=both[1].id, wrong=ended, then="/facts")
        assert not Read(answer.text).hooks("conflict")
        assert len([one for one in both if alice.fact(one.id).current]) == left
        undone(browser, answer)
        assert len(alice.conflicts()) == 1


def test_a_key_that_may_only_read_is_offered_nothing_and_another_owners_facts_cannot_be_chosen(
    alice: OwnerMemory, memory: Memory, http: httpx2.Client
) -> None:
    alice.learn([{"text": f"lives in {city}", "value": city, **HOME} for city in ("Bern", "Basel")])
    fact = the(alice, "cello")
    with holding(memory, "alice", read_only=True) as browser:
        page = Read(get(browser, "/facts").text)
        assert page.hooks("fact")
        assert page.hooks("conflict")
        assert not page.hooks("add-fact")
        assert not [a for t, a in page.elements if a.get("type") == "checkbox" or a.get("name") == "do"]
        for path in ("/facts/many", "/facts/merge", "/facts/forget"):
            assert send(browser, path, [fact.id, the(alice, "rabbit").id], do="retire", keep=fact.id).status_code == 403
        assert post(browser, "/facts", text="has a boat").status_code == 403
        assert browser.get("/facts/forget", params={"fact": fact.id, "user": "alice"}).status_code == 403
    assert alice.fact(fact.id) == fact

    for path in ("/facts/many", "/facts/merge", "/facts/forget"):
        data = {"fact": [fact.id, the(alice, "rabbit").id], "do": "retire", "keep": fact.id}
        assert http.post(path, params={"user": "bob"}, data=data).status_code == 404
    assert alice.fact(fact.id) == fact
