"""Fields of an application's own in a whole memory: learnt, read, set, never kept, and what becomes of them when their
definitions change."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest

from embermem import Field, Memory, OwnerMemory
from embermem.core.attributes import Attributes
from embermem.core.changes import Cause
from embermem.core.errors import ConfigError, InputError
from embermem.memoryos.correct.field_changes import conform
from embermem.memoryos.rebuild import begin_anew
from lives import store_of
from proofs import bounded
from scripted import Clock, Opener

LEVELS = ["A1", "A2", "B1", "B2", "C1", "C2"]
LEVEL = Field("level", type="choice", choices=LEVELS)
TUTOR = (
    LEVEL, Field("exam_date", type="date", aliases=["exam"]), Field("native_language"), Field("weak_topics", many=True),
)  # fmt: skip
SAID = (
    ("2026-01-02T10:00:00+00:00", "My level is A2."),
    ("2026-02-02T10:00:00+00:00", "My level is B1. My exam is on 12 March 2027. My native language is Spanish."),
    ("2026-03-02T10:00:00+00:00", "My weak topics are fractions and articles."),
)


def told(alice: OwnerMemory, said: Sequence[tuple[str, str]] = SAID) -> OwnerMemory:
    for at, text in said:
        alice.add(text, "I see.", at=at)
    alice.settle()
    return alice


def lines(alice: OwnerMemory) -> dict[str, str]:
    return {line.name: line.value for line in alice.profile()}


def values(alice: OwnerMemory, name: str, *, valid_at: str | None = None, as_of: str | None = None) -> list[str]:
    return [fact.value for fact in alice.facts(valid_at=valid_at, as_of=as_of) if fact.attribute == name]


def sound(memory: Memory) -> bool:
    """Whether the store is, and gives the same when it is derived again."""
    wrong = [one for one in memory.check(deep=True) if one.level != "ok"]
    return not wrong and all(one.same for one in memory.rebuild())


def test_what_a_learner_says_fills_the_tutor_s_fields(opened: Opener) -> None:
    alice = told(opened(fields=TUTOR).of("alice"))
    assert lines(alice) == {"level": "B1", "exam_date": "2027-03-12", "native_language": "Spanish"}
    assert values(alice, "weak_topics") == ["fractions", "articles"]
    assert values(alice, "level") == ["B1"]
    assert values(alice, "level", valid_at="2026-01-15T00:00:00+00:00") == ["A2"]
    assert {"alice has the level B1", "alice has the weak topic articles"} <= {fact.text for fact in alice.facts()}
    first = alice.recall("Which book shall I take?").text.splitlines()[0]
    assert "exam date 2027-03-12" in first
    assert "native language Spanish" in first


def test_two_memories_of_one_process_have_each_their_own_fields(opened: Opener) -> None:
    one, other = opened("one.db", fields=[LEVEL]), opened("other.db", fields=[Field("coach")])
    text = [("2026-01-02T10:00:00+00:00", "My level is A2. My coach is Maria.")]
    first, second = told(one.of("alice"), text), told(other.of("alice"), text)
    assert (lines(first), lines(second)) == ({"level": "A2"}, {"coach": "Maria"})
    assert (one.fields, other.fields) == ((LEVEL,), (Field("coach"),))
    assert lines(told(opened("plain.db").of("alice"), text)) == {}


def test_what_an_application_sets_is_checked(opened: Opener) -> None:
    alice = opened(fields=TUTOR).of("alice")
    for given, said in (
        ({"level": "D1"}, r"level = 'D1' is not allowed; one of: A1, A2"),
        ({"exam_date": "soon"}, "a date such as 2026-03-12"),
        ({"weak_topics": "verbs"}, "holds many values, which are facts; add each with `learn`"),
    ):
        with pytest.raises(InputError, match=said):
            alice.set_profile(**given)
        assert alice.profile() == ()


def test_a_profile_takes_values_of_a_field_s_own_type(opened: Opener) -> None:
    own = [Field("premium", type="boolean"), Field("weight", type="number"), Field("exam_date", type="date")]
    alice = opened(fields=own).of("alice")
    alice.set_profile(premium=True, weight=61.5, exam_date=date(2027, 4, 1))
    assert lines(alice) == {"premium": "yes", "weight": "61.5", "exam_date": "2027-04-01"}
    alice.set_profiles(user={"exam_date": datetime(2027, 5, 2, tzinfo=UTC), "weight": 62}, key="k")
    alice.set_profiles(user={"exam_date": datetime(2027, 5, 2, tzinfo=UTC), "weight": 62}, key="k")
    assert lines(alice) == {"premium": "yes", "weight": "62", "exam_date": "2027-05-02"}
    wrong: list[tuple[str, Any, str]] = [
        ("weight", True, "weight = True is not allowed; a number"),
        ("premium", 1.5, "premium = 1.5 is not allowed; yes or no"), ("exam_date", 3, "a date such as"),
        ("home", True, "home is bool; give a text or a whole number"), ("home", 1.5, "home is float; give a text"),
    ]  # fmt: skip
    for name, value, said in wrong:
        with pytest.raises(InputError, match=said):
            alice.set_profile(**{name: value})
    with pytest.raises(InputError, match="premium is bool"):
        alice.set_agent_profile(premium=True)  # the fields are the user's


def test_what_an_application_brings_and_corrects_has_its_written_form(opened: Opener) -> None:
    alice = opened(fields=TUTOR).of("alice")
    alice.set_profile(level="b2")
    assert lines(alice) == {"level": "B2"}
    (fact,) = alice.learn([{"text": "Ends lessons at C1.", "attribute": "level", "value": "c1"}])
    assert fact.value == "C1"
    assert alice.correct(fact.id, "Ends lessons at C2.", value="c2").value == "C2"
    with pytest.raises(InputError, match=r"facts\[0\]\.value = 'Z' is not allowed; one of"):
        alice.learn([{"text": "Z", "attribute": "level", "value": "Z"}])
    with pytest.raises(InputError, match="value = 'Z' is not allowed"):
        alice.correct(alice.facts()[0].id, "Z")
    alice.add("My level is A1.", "Oh.")
    alice.settle()
    assert lines(alice) == {"level": "B2"}


# ------------------------------------------------------------------------------------------------- what is never kept


def test_what_is_never_kept_is_neither_learnt_nor_set(opened: Opener) -> None:
    memory = opened(never=["religion", "health", '"Project Falcon"', r"/EMP-\d+/", "card number"])
    alice = told(
        memory.of("alice"),
        [("2026-01-02T10:00:00+00:00",
          "I'm a Buddhist. I'm allergic to nuts. I live in Lyon. My card is 4111 1111 1111 1111. "
          "I work on project falcon as EMP-42.")],
    )  # fmt: skip
    assert {fact.attribute for fact in alice.facts()}.isdisjoint({"religion", "allergic_to"})
    assert values(alice, "lives_in") == ["Lyon"]
    (said, _) = alice.pages()[0].utterances
    assert "[redacted: private] as [redacted: private]" in said.text
    assert "[redacted: card number]" in said.text
    with pytest.raises(InputError, match="never kept here"):
        alice.set_profile(religion="none")
    with pytest.raises(InputError, match="never kept here"):
        alice.learn([{"text": "nuts", "attribute": "allergic_to"}])


def test_a_sentence_that_only_a_model_understands_is_refused_where_there_is_none(opened: Opener) -> None:
    with pytest.raises(ConfigError, match=r"'anything about politics' is a sentence.*set `model`"):
        opened(never=["religion", "anything about politics"])


def test_a_wish_that_has_no_effect_without_a_model_is_said(opened: Opener, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "embermem"):
        opened(remember=["what helped in a lesson"])
    assert "remember: without a language model this has no effect" in caplog.text


# ---------------------------------------------------------------------------------------------- definitions that change


def test_a_process_that_sets_no_fields_works_with_those_that_the_store_remembers(opened: Opener) -> None:
    told(opened(fields=TUTOR).of("alice")).add("My level is C1.", "Great.")
    memory = opened()
    assert memory.fields == TUTOR
    alice = memory.of("alice")
    alice.settle()
    assert lines(alice)["level"] == "C1"


def test_a_renamed_field_takes_its_values_with_their_history_and_sources(opened: Opener, clock: Clock) -> None:
    before = told(opened(fields=TUTOR).of("alice"))
    old = {fact.value: fact for fact in (*before.facts(), *before.past_facts()) if fact.attribute == "level"}
    before.pin(old["B1"].id)
    moment = clock.now.isoformat()
    clock.go(3600)
    memory = opened(fields=[Field("cefr", type="choice", choices=LEVELS, was="level"), *TUTOR[1:]])
    alice = memory.of("alice")
    assert lines(alice) == {"cefr": "B1", "exam_date": "2027-03-12", "native_language": "Spanish"}
    assert (values(alice, "cefr"), values(alice, "level")) == (["B1"], [])
    (fact,) = (one for one in alice.facts() if one.attribute == "cefr")
    assert (fact.text, fact.sources, fact.valid_from, fact.pinned) == (
        "alice has the cefr B1", old["B1"].sources, old["B1"].valid_from, True,
    )  # fmt: skip
    january = "2026-01-15T00:00:00+00:00"
    assert (values(alice, "cefr", valid_at=january), values(alice, "level", valid_at=january)) == (["A2"], [])
    assert (values(alice, "cefr", as_of=moment), values(alice, "level", as_of=moment)) == ([], ["B1"])
    assert (alice.changes()[-1].cause, alice.changes()[-1].analyst) == (Cause.CORRECTION, "fields")
    assert sound(memory)


def test_what_was_said_before_is_learnt_under_the_new_name_alone(opened: Opener) -> None:
    told(opened(fields=TUTOR).of("alice"))
    memory = opened(fields=[Field("cefr", type="choice", choices=LEVELS, aliases=["level"], was="level")])
    alice = memory.of("alice")
    alice.add("My level is B1. My level is still B1.", "Yes.")
    alice.settle()
    assert values(alice, "cefr") == ["B1"]
    alice.add("My level is B2 now.", "Great.")
    alice.settle()
    assert (values(alice, "cefr"), lines(alice)["cefr"]) == (["B2"], "B2")


def test_what_a_caller_ruled_out_under_the_former_name_stays_ruled_out(opened: Opener, clock: Clock) -> None:
    first = opened(fields=TUTOR)
    alice = told(first.of("alice"))
    (fact,) = (one for one in alice.facts() if one.attribute == "level")
    alice.retire(fact.id)
    again = [Field("cefr", type="choice", choices=LEVELS, aliases=["level"], was="level")]
    memory = opened(fields=again)
    alice = memory.of("alice")
    begin_anew(store_of(memory).protocols, alice.owner, clock)
    alice.settle()
    assert values(alice, "cefr") == ["A2"]


def test_a_changed_type_converts_what_it_can_and_ends_the_rest(opened: Opener) -> None:
    loose = [Field("exam"), Field("score", examples=["12"]), Field("club", examples=["12"])]
    text = "My exam is Delf. My score is 12. My club is Chess 2000."
    told(opened(fields=loose).of("alice"), [("2026-02-02T10:00:00+00:00", text)])
    memory = opened(fields=[Field("exam", type="date"), Field("score", type="number"), Field("club", many=True)])
    alice = memory.of("alice")
    assert lines(alice) == {"score": "12"}
    assert (values(alice, "exam"), values(alice, "score"), values(alice, "club")) == ([], ["12"], ["Chess 2000"])
    (ended,) = (fact for fact in alice.past_facts() if fact.attribute == "exam")
    assert (ended.value, ended.superseded_by) == ("Delf", None)
    change = alice.changes()[-1]
    assert (change.analyst, change.recorded_at) == ("fields", ended.retired_at)
    assert sound(memory)


def test_of_many_values_the_newest_holds_where_a_field_holds_one_now(opened: Opener) -> None:
    said = [("2026-01-02T10:00:00+00:00", "My weak topics are fractions."), ("2026-02-02T10:00:00+00:00",
            "My weak topics are articles.")]  # fmt: skip
    told(opened(fields=TUTOR).of("alice"), said)
    memory = opened(fields=[Field("weak_topics")])
    alice = memory.of("alice")
    assert (values(alice, "weak_topics"), lines(alice)) == (["articles"], {"weak_topics": "articles"})
    assert sound(memory)


def test_a_field_that_is_gone_leaves_plain_facts_and_no_line_but_a_caller_s(opened: Opener) -> None:
    alice = told(opened(fields=TUTOR).of("alice"))
    alice.set_profile(exam_date="2027-04-01")
    memory = opened(fields=[])
    alice = memory.of("alice")
    assert lines(alice) == {"exam_date": "2027-04-01", "language": "Spanish"} or lines(alice) == {
        "exam_date": "2027-04-01"
    }
    assert values(alice, "level") == ["B1"]
    assert sound(memory)
    assert lines(opened(fields=TUTOR).of("alice"))["level"] == "B1"


def test_a_field_that_adds_to_a_built_in_attribute_takes_its_line(opened: Opener) -> None:
    said = [("2026-01-02T10:00:00+00:00", "My native language is Spanish.")]
    assert lines(told(opened().of("alice"), said)) == {"language": "Spanish"}
    memory = opened(fields=[Field("native_language")])
    assert lines(memory.of("alice")) == {"native_language": "Spanish"}
    assert sound(memory)


def test_a_change_of_fields_is_undone_and_forgotten_as_any_other(opened: Opener) -> None:
    told(opened(fields=TUTOR).of("alice"))
    memory = opened(fields=[Field("cefr", type="choice", choices=LEVELS, was="level")])
    alice = memory.of("alice")
    undo = alice.undo(alice.changes()[-1].no)
    assert (lines(alice)["level"], values(alice, "level"), values(alice, "cefr")) == ("B1", ["B1"], [])
    alice.undo(undo)
    assert (lines(alice).get("level"), values(alice, "level"), values(alice, "cefr")) == (None, [], ["B1"])
    (fact,) = (one for one in alice.facts() if one.attribute == "cefr")
    page = next(one.id for one in alice.pages() if any(u.seq == fact.sources[0].seq for u in one.utterances))
    receipt = alice.forget(page=page)
    assert "B1" not in values(alice, "cefr")
    assert alice.verify(receipt).ok
    assert sound(memory)


def test_a_fact_is_forgotten_under_both_names_of_its_field(opened: Opener) -> None:
    first = opened(fields=TUTOR)
    for named in ("cefr", "level"):
        told(first.of(named), SAID[:2])
    memory = opened(fields=[Field("cefr", type="choice", choices=LEVELS, aliases=["level"], was="level")])
    for named in ("cefr", "level"):
        mine = memory.of(named)
        known = [one for one in (*mine.facts(), *mine.past_facts()) if one.value == "B1"]
        assert {one.attribute for one in known} == {"cefr", "level"}
        receipt = mine.forget(fact=next(one.id for one in known if one.attribute == named))
        assert {*receipt.facts} == {one.id for one in known}
        assert not [one for one in (*mine.facts(), *mine.past_facts()) if one.value == "B1"]
        assert mine.verify(receipt).ok
        assert "cefr" not in lines(mine)
    assert sound(memory)


def test_a_schema_that_is_the_same_changes_nothing(opened: Opener) -> None:
    alice = told(opened(fields=TUTOR).of("alice"))
    before = len(alice.changes())
    assert len(opened(fields=TUTOR).of("alice").changes()) == before
    described = [Field("level", type="choice", choices=LEVELS, description="of the learner"), *TUTOR[1:]]
    assert len(opened(fields=described).of("alice").changes()) == before


def test_memory_that_is_in_line_with_its_fields_stays_as_it_is(opened: Opener, clock: Clock) -> None:
    after: list[list[Field]] = [
        [Field("cefr", type="choice", choices=LEVELS, was="level"), Field("weak_topics")],
        [Field("level"), Field("exam_date"), Field("weak_topics", many=True, was="topics")],
        [Field("level", type="number"), Field("native_language", type="choice", choices=["French"])], [],
    ]  # fmt: skip
    for number, own in enumerate(bounded(after[1:3], proofs=after)):
        told(opened(f"{number}.db", fields=TUTOR).of("alice"))
        memory = opened(f"{number}.db", fields=own)
        alice = memory.of("alice")
        revision, before = len(alice.changes()), memory.settings.attributes
        assert conform(store_of(memory).protocols, alice.owner, Attributes(TUTOR), before, clock) == 0
        assert len(alice.changes()) == revision
        assert sound(memory)


def test_a_memory_opened_to_be_read_changes_nothing(opened: Opener) -> None:
    alice = told(opened(fields=TUTOR).of("alice"))
    before = len(alice.changes())
    assert len(opened(fields=[], read_only=True).of("alice").changes()) == before
    assert opened().fields == TUTOR


def test_a_process_with_other_fields_is_told_that_they_have_changed(
    opened: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    old = opened(fields=TUTOR)
    told(old.of("alice"))
    opened(fields=[Field("cefr", type="choice", choices=LEVELS, aliases=["level"], was="level")])
    alice = old.of("alice")
    with caplog.at_level(logging.WARNING, "embermem"):
        alice.add("My level is C1.", "Great.")
        old.work()
        alice.settle()
        alice.settle()
    assert caplog.text.count("another process has changed the fields") == 1
    assert values(alice, "level") == ["C1"]
    memory = opened(fields=[Field("grade", type="choice", choices=LEVELS, was="level")])
    assert values(memory.of("alice"), "grade") == ["C1"]
