"""The playground over HTTP: a context line by line, two beside each other, and a file of what was wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from read_page import OWNER, Read, get
from serving import Server, key_for

from embermem import Memory, OwnerMemory, languages
from embermem.http.inspector.drawing.context_lines import lines_of
from embermem.prompts.rendering import fact_line
from embermem.store import schema
from embermem.transfer.datasets import parse
from embermem.transfer.recall_sets import Marked, recall_set
from scripted import Clock, Opener, Place
from soundness import rows

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


def mark(browser: httpx2.Client, **fields: Any) -> httpx2.Response:
    return browser.post("/playground/recall-set", params=OWNER, data={"q": QUERY, **fields})


def seq(alice: OwnerMemory, word: str) -> int:
    return next(one.seq for one in alice.utterances() if word in one.text)


def marks(page: Read, tag: str) -> set[str]:
    return {attrs["data-mark"] or "" for name, attrs in page.elements if name == tag and "data-mark" in attrs}


# ---------------------------------------------------------------------------------------------- one context


def test_a_fact_told_in_the_language_of_the_query_leads_to_it(alice: OwnerMemory) -> None:
    (told,) = alice.learn([{"text": "Alice owns a boat", "valid_from": "2026-05-04"}])
    query = "Was besitzt Alice? Ein Boot?"
    context = replace(alice.recall(query), text=f"known:\n{fact_line(told, languages.of(query))}", facts=(told,))
    assert fact_line(told) not in context.text
    assert [line.fact_id for line in lines_of(context)] == [None, told.id]


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


# ------------------------------------------------------------------------------------------ what was wrong


def test_what_is_marked_is_a_file_for_the_bench_and_nothing_is_kept_of_it(
    alice: OwnerMemory, browser: httpx2.Client, place: Place
) -> None:
    heron, figs, at = seq(alice, "heron"), seq(alice, "figs"), "2026-06-01T10:00:00+00:00"
    fact = next(one for one in alice.facts() if one.value == "Lyon")  # is marked by what it rests on
    before = rows_of(place)
    answer = mark(browser, missing=[figs], unwanted=[heron], unwanted_fact=[fact.id], note="the figs", at=at)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-disposition"] == 'attachment; filename="recall-set.json"'
    assert answer.json() == recall_set(
        alice,
        Marked(
            query=QUERY,
            asked_at=datetime.fromisoformat(at),
            missing=(figs,),
            unwanted=(heron, seq(alice, "Lyon")),
            note="the figs",
        ),
    )
    (conversation,) = parse(answer.json(), "set", "here").conversations
    assert [one.text for one in conversation.questions] == [QUERY]
    assert rows_of(place) == before


def test_a_query_is_asked_at_its_day_in_the_owners_zone_or_now(
    alice: OwnerMemory, server: Server, browser: httpx2.Client, clock: Clock
) -> None:
    def asked(at: str) -> datetime:
        (conversation,) = mark(browser, missing=[1], at=at).json()["conversations"]
        return datetime.fromisoformat(conversation["questions"][0]["at"])

    server.memory.of("alice", timezone="Asia/Tokyo")
    assert asked("2026-05-02") == datetime(2026, 5, 1, 15, tzinfo=UTC)
    assert asked(" ") == clock.now


def test_what_is_missing_is_found_by_its_words_and_what_asks_nothing_is_refused(
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
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "nothing is marked"),
        ({"missing": ["999"]}, "no utterance #999 any more"),
        ({"missing": [figs], "unwanted": [figs]}, "as missing and as unwanted"),
        ({"missing": [figs], "q": " "}, "query is empty"),
        ({"missing": [figs], "at": "soon"}, "'soon' is not a time"),
    ]
    for fields, told in refused:
        answer = mark(browser, **fields)
        assert (answer.status_code, told in Read(answer.text).text) == (422, True), told


def test_who_may_only_read_and_pages_of_others_get_no_file(server: Server, browser: httpx2.Client) -> None:
    foreign = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    fields = {"q": QUERY, "missing": [1]}
    assert browser.post("/playground/recall-set", params=OWNER, data=fields, headers=foreign).status_code == 403
    _, secret = key_for(server.memory, "alice", read_only=True)
    browser.headers["Authorization"] = f"Bearer {secret}"
    assert mark(browser, missing=[1]).status_code == 403
    assert not Read(get(browser, "/playground", q=QUERY).text).hooks("wrong")


def rows_of(place: Place) -> dict[str, list[dict[str, Any]]]:
    """Every row of the store."""
    return {table.name: rows(place(), f"SELECT * FROM {table.name}") for table in schema.metadata.sorted_tables}
