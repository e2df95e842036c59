"""Cases: queries whose recall was wrong, kept, asked again, and gone with what they are of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from embermem import OwnerMemory
from embermem.core.changes import CaseAdded, CaseDropped
from embermem.core.errors import InputError, NotFound
from embermem.transfer.cases import recall_set
from embermem.transfer.datasets import parse
from scripted import Clock, Opener, Place
from soundness import assert_sound, rows

AT = datetime(2026, 5, 2, 9, tzinfo=UTC)


@pytest.fixture
def alice(opened: Opener) -> OwnerMemory:
    mine = opened().of("alice")
    mine.add("A heron ate two goldfish.", "Poor fish.", thread="pond", at=AT)
    mine.add("I planted three fig trees.", "Figs like walls.", thread="garden", at=AT)
    mine.add("My sister Ana is a nurse.", "Where?", thread="people", at=AT)
    mine.settle()
    return mine


def said(mine: OwnerMemory, word: str) -> str:
    """The id of the utterance that holds a word."""
    return next(one.id for one in mine.utterances() if word in one.text)


def noted(mine: OwnerMemory, **more: Any) -> str:
    given: dict[str, Any] = {"expected": [said(mine, "heron")], "unwanted": [said(mine, "sister")], **more}
    return mine.add_case("Who visited the pond?", **given).id


def test_a_case_keeps_how_the_query_was_asked_and_expects_nothing_twice(alice: OwnerMemory, clock: Clock) -> None:
    asked = {"at": AT, "budget": 300, "preset": "paper", "thread": "pond", "as_of": AT, "valid_at": AT}
    case = alice.add_case(" Who was there? ", expected=[said(alice, "heron")], note=" a bird ", **asked)  # type: ignore[arg-type]
    assert case.arguments == {"query": "Who was there?", **asked}
    assert (case.note, case.recorded_at, case.change_no) == ("a bird", clock.now, alice.changes()[-1].no)
    assert [one.utterance_id for one in case.expected] == [said(alice, "heron")]
    assert case.unwanted == ()
    assert alice.cases() == (case,)
    assert alice.case(case.id) == case
    heron = said(alice, "heron")
    assert len(alice.add_case("Who?", expected=[heron, heron]).expected) == 1


def test_a_case_that_was_asked_with_nothing_more_is_asked_so_again_and_with_a_key_is_added_once(
    alice: OwnerMemory, clock: Clock
) -> None:
    case = alice.case(noted(alice))
    assert case.arguments == {"query": "Who visited the pond?", "at": clock.now}
    once = noted(alice, key="k", at=AT)
    assert noted(alice, key="k", at=AT) == once
    assert len(alice.cases()) == 2


def test_a_case_passes_where_the_context_rests_on_what_is_expected_and_on_nothing_unwanted(alice: OwnerMemory) -> None:
    heron, figs = said(alice, "heron"), said(alice, "planted")
    context = alice.recall("What did the heron eat?")
    assert heron in context.rests_on
    assert alice.add_case("x", expected=[heron]).passes(context)
    missing = alice.add_case("x", unwanted=[heron])
    assert (missing.passes(context), missing.intruding(context)) == (False, (heron,))
    nothing = alice.recall("What did the heron eat?", budget=1)
    both = alice.add_case("x", expected=[heron, figs])
    assert (both.passes(nothing), both.missing(nothing)) == (False, (heron, figs))


def test_a_case_that_says_nothing_or_contradicts_itself_is_refused_with_its_reason_and_none_are_exported(
    alice: OwnerMemory,
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"expected": []}, "at least one utterance"), ({"expected": "u1"}, "such as a list"),
        ({"note": "x" * 2001}, "note"), ({"budget": 0}, "budget"), ({"at": "soon"}, "at"),
    ]  # fmt: skip
    for given, told in cases:
        with pytest.raises(InputError, match=told):
            alice.add_case("Who?", **{"expected": [said(alice, "heron")], **given})
        assert alice.cases() == ()
    heron = said(alice, "heron")
    with pytest.raises(InputError, match="both expected and unwanted"):
        alice.add_case("Who?", expected=[heron], unwanted=[heron])
    with pytest.raises(InputError, match="query is empty"):
        alice.add_case("  ", expected=[heron])
    with pytest.raises(NotFound):
        alice.add_case("Who?", expected=["u0000000000000000000000000"])
    with pytest.raises(InputError, match="no cases"):
        recall_set(alice)


def test_nobody_marks_what_another_said(alice: OwnerMemory, opened: Opener) -> None:
    bob = opened().of("bob")
    bob.add("I keep bees.", "Good.")
    with pytest.raises(NotFound):
        bob.add_case("Who?", expected=[said(alice, "heron")])
    case = noted(alice)
    for call in (bob.case, bob.drop_case):
        with pytest.raises(NotFound):
            call(case)


def test_a_case_is_dropped_undone_and_goes_with_its_owner(alice: OwnerMemory, place: Place) -> None:
    case = noted(alice)
    assert alice.drop_case(case).retired_at is not None
    assert alice.cases() == ()
    assert [type(d) for change in alice.history(case) for d in change.decisions] == [CaseAdded, CaseDropped]
    with pytest.raises(InputError, match="dropped before"):
        alice.drop_case(case)
    case = noted(alice)
    no = alice.undo(alice.case(case).change_no)
    assert alice.cases() == ()
    alice.undo(no)
    assert [one.id for one in alice.cases()] == [case]
    alice.drop_case(case)
    alice.undo(alice.changes()[-1].no)
    assert [one.id for one in alice.cases()] == [case]
    noted(alice)
    assert rows(place(), "SELECT * FROM recall_case")
    alice.forget_owner()
    assert rows(place(), "SELECT * FROM recall_case") == []


def test_a_case_is_still_there_when_memory_is_begun_anew(opened: Opener, alice: OwnerMemory) -> None:
    memory = opened()
    before = alice.case(noted(alice, note="a bird"))
    dropped = noted(alice)
    alice.drop_case(dropped)
    memory.rebuild(alice.owner)
    assert alice.cases() == (before,)
    alice.understand_anew()
    again = alice.cases()
    assert [(one.id, one.arguments, one.expected, one.unwanted, one.note) for one in again] == [
        (before.id, before.arguments, before.expected, before.unwanted, before.note)
    ]


def test_a_forgotten_utterance_leaves_its_case(alice: OwnerMemory, opened: Opener, place: Place) -> None:
    case = alice.add_case("Who was it?", expected=[said(alice, "heron"), said(alice, "planted")], note="two of them")
    page = alice.utterance(said(alice, "planted")).page_id
    alice.forget(page=page)
    (left,) = alice.cases()
    assert [one.utterance_id for one in left.expected] == [said(alice, "heron")]
    assert left.id == case.id
    assert_sound(place())
    assert all(one.level == "ok" for one in opened().check(deep=True))


def test_a_case_goes_with_its_last_utterance_and_with_its_words(
    alice: OwnerMemory, opened: Opener, place: Place
) -> None:
    figs, heron = said(alice, "planted"), said(alice, "heron")
    stays = alice.add_case("Who ate the goldfish?", expected=[heron])
    for query, note in (("Who was it?", ""), ("Which fig trees?", "heron"), ("Who?", "the fig trees are missing")):
        alice.add_case(query, expected=[figs] if query == "Who was it?" else [figs, heron], note=note)
        alice.drop_case(alice.add_case(query, unwanted=[figs], note=note).id)
    receipt = alice.forget(page=alice.utterance(figs).page_id)
    assert alice.cases() == (stays,)
    assert rows(place(), "SELECT * FROM recall_case WHERE note LIKE '%fig%' OR query LIKE '%fig%'") == []
    assert rows(place(), "SELECT * FROM change WHERE decisions LIKE '%fig trees%'") == []
    assert alice.verify(receipt).ok
    assert_sound(place())
    assert all(one.level == "ok" for one in opened().check(deep=True))


def test_cases_are_exported_as_a_recall_set_of_what_was_said(alice: OwnerMemory) -> None:
    alice.add_document("# Keys\n\nThe red key opens the shed.", source="keys.md")
    alice.add_document("# Other\n\nNothing of it is marked.", source="other.md")
    alice.settle()
    key = next(hit.utterance for hit in alice.search("red key", 3) if hit.passage is not None)
    first = alice.case(noted(alice, at=AT, note="a bird"))
    second = alice.add_case("Which key?", expected=[key.id])
    (conversation,) = parse(recall_set(alice), "cases", "here").conversations
    questions = {one.id: one for one in conversation.questions}
    assert {*questions} == {first.id, second.id}
    assert questions[first.id].evidence == {said(alice, "heron")}
    assert (questions[first.id].at, questions[first.id].text) == (AT, "Who visited the pond?")
    assert questions[second.id].evidence == {key.id}
    turns = [turn for _, turn in conversation.turns()]
    assert {turn.id for turn in turns} == {one.id for one in alice.utterances() if "Nothing of it" not in one.text}
    assert {thread.id for thread in conversation.threads} >= {"pond", "garden", "people"}


def test_sensitive_words_of_a_case_are_taken_out(opened: Opener) -> None:
    mine = opened(redact="secrets").of("carol")
    mine.add("I keep bees.", "Good.")
    case = mine.add_case(
        "Is my IBAN DE89 3704 0044 0532 0130 00?",
        expected=[mine.utterances()[0].id],
        note="DE89 3704 0044 0532 0130 00",
    )
    assert "3704" not in f"{case.query} {case.note}"
