"""The playground over HTTP: a context line by line, two beside each other, and what was wrong kept as a case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from read_page import OWNER, Read, get
from serving import Server, key_for

from embermem import Memory, OwnerMemory
from embermem.transfer.datasets import parse
from scripted import Clock, Opener

QUERY = "What did the heron eat?"


def told(memory: Memory, clock: Clock) -> None:
    """Alice says three things on three days."""
    alice = memory.of("alice")
    alice.set_profile(name="Alice")
    for day, text in enumerate(("A heron ate two goldfish in the pond.", "I live in Lyon.", "I planted figs."), 1):
        alice.add(text, "I see.", thread=f"t{day}", at=f"2026-05-0{day}T10:00:00+00:00")
    alice.settle()


@pytest.fixture
def memory(lived_in: Callable[..., object], opened: Opener) -> Memory:
    """A memory of these."""
    lived_in(told)
    return opened()


def keep(browser: httpx2.Client, **fields: Any) -> httpx2.Response:
    return browser.post("/playground/cases", params=OWNER, data={"q": QUERY, **fields})


def seq(alice: OwnerMemory, word: str) -> int:
    return next(one.seq for one in alice.utterances() if word in one.text)


def marks(page: Read, tag: str) -> set[str]:
    return {attrs["data-mark"] or "" for name, attrs in page.elements if name == tag and "data-mark" in attrs}


# ---------------------------------------------------------------------------------------------- one context


def test_each_line_of_what_was_said_leads_to_its_hit_and_back_and_each_part_says_what_it_costs(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    page, context = Read(get(browser, "/playground", q=QUERY).text), alice.recall(QUERY)
    lines, hits = marks(page, "a"), marks(page, "li")
    assert {f"hit-{hit.utterance.seq}" for hit in context.packed} <= lines & hits
    assert {f"fact-{fact.id}" for fact in context.facts} <= hits
    ids = [attrs["id"] for _, attrs in page.elements if attrs.get("id")]
    assert len(ids) == len(set(ids))
    targets = {href[1:] for tag, attrs in page.elements if tag == "a" and (href := attrs.get("href") or "")[:1] == "#"}
    assert targets <= set(ids)
    assert page.hooks("took")
    assert "who it is: profile and traits" in page.text
    assert "what was said" in page.text
    assert "hold what was asked" in page.text
    for name, bad in (("budget", "lots"), ("k", "x"), ("preset", "other"), ("at", "soon")):
        answer = get(browser, "/playground", **{"q": QUERY, name: bad})
        assert answer.status_code == 422, name
        assert bad in Read(answer.text).text


# --------------------------------------------------------------------------------------------- two contexts


def test_two_budgets_are_compared_line_by_line_and_the_right_side_begins_as_the_left_one(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    before = [one.visits for one in alice.segments()]
    page = Read(get(browser, "/playground", q=QUERY, budget=40, q2=QUERY, budget2=400).text)
    small, large = alice.recall(QUERY, budget=40), alice.recall(QUERY, budget=400)
    only = {*large.text.split("\n")} - {*small.text.split("\n")}
    assert only
    assert page.hooks("difference")
    assert f"Only right: {len(only)}" in page.text
    assert page.hooks("verdict")
    assert page.hooks("verdict2")
    assert f"of {400} tokens" in page.text
    assert [one.visits for one in alice.segments()] == before
    page = Read(get(browser, "/playground", q=QUERY, budget=77, compare=1).text)
    fields = {attrs.get("name"): attrs.get("value") for tag, attrs in page.elements if tag == "input"}
    assert (fields["q2"], fields["budget2"]) == (QUERY, "77")
    assert "Nothing: both contexts are the same" in page.text


# --------------------------------------------------------------------------------------------------- cases


def test_what_is_marked_is_kept_as_a_case_and_opened_with_its_verdict(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    heron, figs = seq(alice, "heron"), seq(alice, "figs")
    at = "2026-06-01T10:00:00+00:00"
    answer = keep(browser, missing=[figs], unwanted=[heron], note="the figs", budget="300", preset="default", at=at)
    (case,) = alice.cases()
    assert [one.seq for one in case.expected] == [figs]
    assert [one.seq for one in case.unwanted] == [heron]
    assert (case.query, case.note, case.budget, case.preset) == (QUERY, "the figs", 300, "default")
    assert case.asked_at.isoformat() == at
    page = Read(answer.text)
    assert page.hooks("done")
    assert page.hooks("undo-done")
    assert f"Case {case.id} does not pass" in page.text
    fields = {attrs.get("name"): attrs.get("value") for tag, attrs in page.elements if tag == "input"}
    assert (fields["q"], fields["budget"], fields["at"], fields["case"]) == (QUERY, "300", at, case.id)
    fact = next(one for one in alice.facts() if one.value == "Lyon")  # is marked by what it rests on
    keep(browser, unwanted_fact=[fact.id])
    assert {one.seq for case in alice.cases() for one in case.unwanted} == {heron, seq(alice, "Lyon")}


def test_what_is_missing_is_found_by_its_words_and_nothing_marked_is_refused(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    figs = seq(alice, "figs")
    page = Read(get(browser, "/playground", q=QUERY, budget=1, find="figs", missing=1, note="so far").text)
    boxes = {
        attrs["value"]: "checked" in attrs
        for tag, attrs in page.elements
        if tag == "input" and attrs.get("name") == "missing"
    }
    assert boxes[str(figs)] is False
    assert boxes["1"] is True
    for fields in ({}, {"missing": ["999"]}):
        answer = keep(browser, **fields)
        assert answer.status_code == 422
    assert "utterance" in Read(answer.text).text
    assert alice.cases() == ()


def test_a_case_that_passes_says_so_is_a_file_for_the_bench_and_is_dropped_with_undo(
    alice: OwnerMemory, browser: httpx2.Client
) -> None:
    assert get(browser, "/playground/cases/export").status_code == 422
    answer = keep(browser, missing=[seq(alice, "heron")])
    (case,) = alice.cases()
    assert f"Case {case.id} passes" in Read(answer.text).text
    assert "1 of 1 pass now" in Read(get(browser, "/playground/cases", ask=1).text).text
    answer = get(browser, "/playground/cases/export")
    assert "cases.json" in answer.headers["content-disposition"]
    (conversation,) = parse(answer.json(), "cases", "here").conversations
    assert [one.text for one in conversation.questions] == [QUERY]
    answer = browser.post(f"/playground/cases/{case.id}/drop", params=OWNER)
    assert alice.cases() == ()
    assert Read(answer.text).hooks("undo-done")
    assert Read(answer.text).hooks("empty")
    assert browser.post(f"/playground/cases/{case.id}/drop", params=OWNER).status_code == 422
    assert get(browser, "/playground", case="q99-00").status_code == 404


def test_who_may_only_read_keeps_and_drops_nothing(alice: OwnerMemory, server: Server, browser: httpx2.Client) -> None:
    case = alice.add_case(QUERY, expected=[alice.utterances()[0].id])
    _, secret = key_for(server.memory, "alice", read_only=True)
    browser.headers["Authorization"] = f"Bearer {secret}"
    assert keep(browser, missing=[1]).status_code == 403
    assert browser.post(f"/playground/cases/{case.id}/drop", params=OWNER).status_code == 403
    assert not Read(get(browser, "/playground", q=QUERY).text).hooks("wrong")
    assert alice.cases() == (case,)
