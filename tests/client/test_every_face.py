"""One suite over every face of a memory: what holds of `Memory.of(…)` holds of the async one and of both clients."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embermem import OwnerMemory
from embermem.aio import AsyncOwnerMemory
from embermem.core.changes import Cause, FactAdded
from embermem.core.errors import InputError, KeyReused, NotFound
from embermem.core.types import About, Analysis, Fact, Role, Scope, Tier, Utterance
from scripted import Clock

Of = Callable[..., OwnerMemory]
"""Gives an owner's memory, as one of the faces."""
DAY = 86_400.0
every_face = pytest.mark.parametrize("of", ["Memory", "AsyncMemory", "Client", "AsyncClient"], indirect=True)
"""For a test that runs through all of them in `make test` too."""


def test_a_method_of_the_async_face_hands_on_to_the_one_of_its_name() -> None:
    for name, method in vars(AsyncOwnerMemory).items():
        if not name.startswith("_") and hasattr(method, "__wrapped__"):
            assert inspect.unwrap(method) is inspect.unwrap(getattr(OwnerMemory, name)), name


@pytest.fixture
def alice(of: Of) -> OwnerMemory:
    """One owner."""
    return of("alice")


def told(alice: OwnerMemory) -> None:
    """A few facts, understood."""
    alice.add("I live in Lyon.", "Since when?", at="2026-05-01T10:00:00+02:00", thread="s1")
    alice.add("I keep a heron called Bartholomew.", "A fine name.", at="2026-05-01T11:00:00+02:00", thread="s1")
    for number in range(4):
        alice.add(f"The tulip number {number} stands in the garden.", "Lovely.", thread="s2")
    alice.settle()


# ----------------------------------------------------------------------------------------------------------- in


def test_analyse_settles_and_promotes_whatever_is_in_mid_term_memory(of: Of) -> None:
    alice, steps = of("alice"), []
    for food in ("figs", "plums", "pears", "nuts", "beans"):  # two of them leave the three pages of short-term memory
        alice.add(f"I like {food}.", "Good.")
    assert alice.analyse(lambda done, total: steps.append((done, total))) == Analysis(placed=2, analysed=2, promoted=1)
    assert [(one.unanalysed, len(one.page_ids)) for one in alice.segments()] == [(0, 2)]
    assert alice.analyse() == Analysis(placed=0, analysed=0, promoted=0)
    with pytest.raises(InputError, match="progress"):
        alice.analyse("soon")  # type: ignore[arg-type]


def test_what_is_added_comes_back_as_it_was_said_in_its_pages_and_threads(of: Of) -> None:
    anna = of("anna", "tutor")
    page_id = anna.add("I went to the wetland park.", "How was it?", at="2026-05-02T10:00:00+02:00", thread="s1")
    page = anna.page(page_id)
    assert (page.id, page.no, page.thread, page.tier) == (page_id, 1, "s1", Tier.SHORT)
    assert (page.query, page.response) == ("I went to the wetland park.", "How was it?")
    assert [(u.seq, u.role, u.speaker) for u in page.utterances] == [
        (1, Role.USER, "anna"),
        (2, Role.ASSISTANT, "tutor"),
    ]
    assert page.said_at.isoformat() == "2026-05-02T10:00:00+02:00"
    assert anna.pages() == (page,)
    assert anna.utterance(page.utterances[0].id) == page.utterances[0]

    bob = of("bob")
    added = bob.add_messages(
        [
            {"role": "user", "content": "Hello", "name": "Ana", "at": "2026-05-01T10:00:00+00:00"},
            {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "user", "content": "Again", "at": datetime(2026, 5, 1, 12, tzinfo=UTC)},
        ],
        thread="s1",
        at="2026-05-01T11:00:00+00:00",
    )
    pages = bob.pages()
    assert added.page_ids == tuple(page.id for page in pages)
    said = [utterance for page in pages for utterance in page.utterances]
    assert added.utterance_ids == tuple(utterance.id for utterance in said)
    assert [(u.speaker, u.text, u.said_at.hour) for u in said] == [
        ("Ana", "Hello", 10),
        ("assistant", "Hi", 11),
        ("bob", "Again", 12),
    ]

    carl = of("carl")
    first, second = carl.add("I live in Lyon."), carl.add("I like tea.")
    assert carl.add(None, "I see.") == second != first
    carl.add_messages([{"role": "user", "content": "And you?"}])
    carl.add_messages([{"role": "user", "content": "Are you there?"}])
    carl.add_messages([{"role": "user", "content": "Hello!"}], fresh=True)
    paged = [[one.text for one in page.utterances] for page in carl.pages()]
    assert paged == [["I live in Lyon."], ["I like tea.", "I see."], ["And you?", "Are you there?"], ["Hello!"]]

    dora = of("dora")
    for number in range(5):
        dora.add(f"{number}", "I see.", thread="ab"[number % 2])
    assert [page.no for page in dora.pages(thread="a")] == [1, 3, 5]
    assert [page.no for page in dora.pages(thread="a", limit=2)] == [3, 5]
    assert [page.no for page in dora.pages("short", thread="b")] == [4]
    assert dora.pages(thread="c") == ()


def test_metadata_come_back_as_they_were_given_and_with_what_rests_on_them(of: Of) -> None:
    alice = of("alice")
    labels = {"ticket": "T-7", "n": 2**40, "x": 1.5, "late": False, "tags": ["a", "b"], "none": []}
    kept = {name: tuple(one) if isinstance(one, list) else one for name, one in labels.items()}
    page_id = alice.add("I live in Lyon.", "Good.", metadata=labels)
    said = {"role": "user", "content": "I like figs.", "metadata": {"n": 1}}
    alice.add_messages([said, {"role": "assistant", "content": "Yes"}], thread="b", metadata={"n": 2, "m": 3})
    page = alice.page(page_id)
    assert page.metadata == page.utterances[0].metadata == alice.utterance(page.utterances[1].id).metadata == kept
    assert [one.metadata for one in alice.pages()[1].utterances] == [{"n": 1, "m": 3}, {"n": 2, "m": 3}]
    alice.settle()
    assert {fact.value: fact.metadata for fact in alice.facts()} == {"Lyon": kept, "figs": {"n": 1, "m": 3}}
    assert alice.search("Lyon", k=1)[0].utterance.metadata == kept
    assert alice.recall("Where do I live?").packed[0].utterance.metadata == kept
    (fact,) = alice.learn([{"text": "sings", "metadata": {"crm": ["x"]}}])
    assert alice.fact(fact.id).metadata == {"crm": ("x",)}


def test_a_scope_limits_what_is_found_listed_and_forgotten(of: Of) -> None:
    alice = of("alice")
    for food, desk in (("figs", "a"), ("plums", "b")):
        alice.add(f"I like {food}.", "Good.", metadata={"desk": desk, "n": len(food)}, thread=desk)
    alice.add("I play the cello.", "Good.", thread="c", at="2026-03-01T10:00:00+00:00")
    alice.settle()
    scope = Scope(metadata={"$and": [{"desk": "a"}, {"n": {"$gte": 4}}]}, threads=["a", "b"], not_threads=["b"])
    assert {hit.utterance.thread for hit in alice.search("What do I like?", scope=scope)} == {"a"}
    assert "plums" not in alice.recall("What do I like?", scope=scope).text
    assert "plums" not in alice.overview(scope=scope).text
    assert [page.thread for page in alice.pages(scope=scope)] == ["a"]
    assert [fact.metadata["desk"] for fact in alice.facts(scope=scope)] == ["a"]
    assert [*alice.segments(scope=scope), *alice.past_facts(scope=scope), *alice.instructions(scope=scope)] == []
    early = Scope(until=date(2026, 3, 1), speakers={"alice", "assistant"}, tiers=[Tier.SHORT], kinds=["message"])
    assert [page.thread for page in alice.pages(scope=early)] == ["c"]
    assert len(alice.forget(scope=scope, dry_run=True).pages) == 1
    assert len(alice.forget(scope=scope).pages) == 1
    assert [page.thread for page in alice.pages()] == ["b", "c"]


TEXTS = [
    "我昨天去了湿地公园，看见一只紫色的鹭。",
    "🦩👩‍👩‍👧‍👦🇫🇷\u202eשלום\u202c",
    "\x01\x02\x1b[31mred\x7f\u200b\ufeff",
    "a\r\nb\rc\u2028d\u2029e\tf\x0b\x0cg",
    "<script>alert('{0}')</script> & \"%s\" '; --",
    " \n\t. ",
]


def test_what_says_nothing_and_a_wrong_scope_metadata_or_name_are_refused_and_the_error_says_where(of: Of) -> None:
    anna = of("anna")
    for query, response in (("", None), (" \n", ""), (None, None)):
        with pytest.raises(InputError, match="query and response are empty: there is nothing to add"):
            anna.add(query, response)
    with pytest.raises(InputError, match=r"messages\[1\] is empty: give it a content, or leave it out"):
        anna.add_messages([{"role": "user", "content": "I row."}, {"role": "assistant", "content": ""}])
    assert anna.pages() == ()
    anna.add("I row.", "")
    anna.add(" ", "Where?")
    (page,) = anna.pages()
    assert [one.text for one in page.utterances] == ["I row.", "Where?"]

    bob = of("bob")
    bob.add("Hello")
    with pytest.raises(InputError, match="scope is dict"):
        bob.search("Hello", scope={"threads": ["a"]})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"scope\.since .* is after scope\.until"):
        bob.pages(scope=Scope(since="2026-03-02", until="2026-03-01"))
    bob.add("And?", "Yes.")
    with pytest.raises(InputError, match="only a part of 1 page"):
        bob.forget(scope=Scope(speakers=["assistant"]))

    carl = of("carl")
    with pytest.raises(InputError, match=r"metadata\.a"):
        carl.add("Hello", metadata={"a": {"b": 1}})
    with pytest.raises(InputError, match=r"metadata\.tags\[1\]"):
        carl.add_messages([{"role": "user", "content": "Hello", "metadata": {"tags": ["x", 1]}}])
    with pytest.raises(InputError, match=r"metadata\.a"):
        carl.learn([{"text": "sings", "metadata": {"a": None}}])
    assert carl.pages() == ()

    for user in ("", "  ", None, 7, "\ud800"):
        with pytest.raises(InputError):
            of(user)


def test_any_text_and_a_time_in_every_form_come_back_and_a_user_may_have_any_name(of: Of) -> None:
    anna = of("anna")
    for text in TEXTS:
        page = anna.page(anna.add(text, text))
        assert (page.query, page.response) == (text, text)
        anna.search(text)
        assert anna.recall(text, budget=100).tokens <= 100

    bob = of("bob")
    for at in (datetime(2026, 5, 1, 10, tzinfo=UTC), datetime(2026, 5, 1, 10), date(2026, 5, 1), "2026-05-01"):
        bob.add("Hello", at=at, thread=repr(at))
    said = [page.said_at for page in bob.pages()]
    assert [at.day for at in said] == [1, 1, 1, 1]
    assert [at.hour for at in said] == [10, 10, 0, 0]
    assert all(at.utcoffset() is not None for at in said)

    for user in NAMES:
        of(user).add("Hello", "Hi")
        assert [page.query for page in of(user).pages()] == ["Hello"]
    assert of("other").pages() == ()


# ---------------------------------------------------------------------------------------------------------- out


@every_face
def test_what_was_said_is_recalled_and_found(alice: OwnerMemory) -> None:
    told(alice)
    context = alice.recall("What is my heron called?", budget=200, thread="s3", at="2026-05-03")
    assert "Bartholomew" in context.text
    assert 0 < context.tokens <= 200
    assert 0 <= context.confidence <= 1
    assert (context.query, context.preset, context.partial) == ("What is my heron called?", "default", False)
    assert context.counter
    assert any("Bartholomew" in hit.utterance.text for hit in context.packed)
    assert str(context.explain(context.hits[0]))
    hits = alice.search("heron", k=2)
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].score >= hits[1].score
    assert hits[0].utterance == alice.utterance(hits[0].utterance.id)
    assert hits[0].utterance.text == "I keep a heron called Bartholomew."


def test_an_overview_tells_who_somebody_is_and_what_it_rests_on(alice: OwnerMemory) -> None:
    alice.add("My name is Vera and I live in Nantes.", "Hello Vera.", at="2026-05-02T10:00:00+00:00")
    alice.add("I adopted a heron yesterday.", "Really?", at="2026-06-02T10:00:00+00:00")
    alice.settle()
    context = alice.overview(200)
    assert "lives in Nantes" in context.text
    assert "adopted a heron" in context.text
    assert 0 < context.tokens <= 200
    assert all(alice.utterance(source.utterance_id) for fact in context.facts for source in fact.sources)
    assert "heron" not in alice.overview(200, person="Vera", until="2026-05-31").text
    with pytest.raises(NotFound):
        alice.overview(person="Zoe")
    with pytest.raises(InputError):
        alice.overview(since="2026-06-02", until="2026-05-02")


def test_pages_are_listed_by_tier_and_the_newest_first_to_be_cut(alice: OwnerMemory) -> None:
    told(alice)
    assert [page.no for page in alice.pages()] == [1, 2, 3, 4, 5, 6]
    assert [page.no for page in alice.pages(limit=2)] == [5, 6]
    assert alice.pages(limit=0) == ()
    assert [page.no for page in alice.pages("short")] == [4, 5, 6]
    assert [page.no for page in alice.pages(Tier.MID)] == [1, 2, 3]


def test_a_long_list_comes_whole(alice: OwnerMemory) -> None:
    messages = [{"role": role, "content": f"{n}"} for n in range(450) for role in ("user", "assistant")]
    alice.add_messages(messages)
    assert [page.no for page in alice.pages()] == list(range(1, 451))
    assert [page.no for page in alice.pages(limit=201)] == list(range(250, 451))


def test_what_was_understood_is_told_with_its_segments_counts_and_changes_one_of_which_is_undone(
    alice: OwnerMemory,
) -> None:
    told(alice)
    segments = alice.segments()
    assert segments
    assert {page_id for segment in segments for page_id in segment.page_ids} == {p.id for p in alice.pages("mid")}
    one = segments[0]
    assert alice.segment(one.id).keywords == one.keywords
    assert alice.heat(one) > 0
    assert alice.segments(archived=True) == ()

    stats = alice.stats()
    assert (stats.utterances, stats.pages, stats.short, stats.mid) == (12, 6, 3, 3)

    changes = alice.changes()
    assert [change.no for change in changes] == list(range(1, len(changes) + 1))
    assert alice.changes(since=2) == changes[2:]
    assert alice.changes(1, limit=2) == changes[1:3]
    assert alice.change(2) == changes[1]
    with pytest.raises(NotFound):
        alice.change(len(changes) + 1)
    (fact,) = (fact for fact in alice.facts() if fact.attribute == "lives_in")
    (first, *_) = alice.history(fact.id)
    assert any(isinstance(one, FactAdded) and one.value == "Lyon" for one in first.decisions)

    alice.set_profile(name="Alice")
    no = alice.changes()[-1].no
    undone = alice.undo(no)
    assert "name" not in [line.name for line in alice.profile()]
    assert alice.changes()[-1].cause is Cause.UNDO
    alice.undo(undone)
    assert "name" in [line.name for line in alice.profile()]


# ------------------------------------------------------------------------------------------------------- persona


@every_face
def test_facts_are_learnt_corrected_pinned_and_retired(alice: OwnerMemory) -> None:
    told(alice)
    (lives,) = (fact for fact in alice.facts("user") if fact.attribute == "lives_in")
    (page,) = (page for page in alice.pages() if page.query == "I live in Lyon.")
    assert (lives.about, lives.value, lives.current) == (About.USER, "Lyon", True)
    assert [source.utterance_id for source in lives.sources] == [page.utterances[0].id]
    moved = alice.correct(lives.id, "lives in Nantes", value="Nantes")
    assert (moved.value, moved.text, moved.current) == ("Nantes", "alice lives in Nantes", True)
    assert alice.fact(moved.id) == moved
    assert [fact.superseded_by for fact in alice.past_facts()] == [moved.id]
    assert alice.pin(moved.id).pinned
    assert not alice.pin(moved.id, False).pinned
    assert not alice.retire(moved.id).current
    assert not [fact for fact in alice.facts() if fact.attribute == "lives_in"]
    with pytest.raises(InputError):
        alice.retire(moved.id)


def test_several_facts_are_pinned_and_retired_in_one_change_and_a_past_one_is_learnt_as_such(of: Of) -> None:
    anna = of("anna")
    one, other, third = anna.learn([{"text": f"likes {thing}"} for thing in ("figs", "plums", "pears")])
    both = [one.id, other.id]
    pinned = anna.pin_facts(both)
    assert [fact.pinned for fact in anna.facts()] == [True, True, False]
    assert anna.pin_facts(both) == 0
    anna.undo(pinned)
    assert not any(fact.pinned for fact in anna.facts())
    retired = anna.retire_facts(both)
    assert [fact.id for fact in anna.facts()] == [third.id]
    anna.undo(retired)
    assert len(anna.facts()) == 3
    for refused in (anna.pin_facts, anna.retire_facts):
        with pytest.raises(InputError):
            refused([])
        with pytest.raises(NotFound):
            refused([one.id, "f98-000"])
    anna.retire(one.id)
    with pytest.raises(InputError):
        anna.retire_facts(both)
    assert anna.fact(other.id).current, "all of them, or none"

    bob = of("bob")
    times = {"valid_from": "2019-01-01T00:00:00+00:00", "valid_to": "2020-01-01T00:00:00+00:00"}
    (fact,) = bob.learn([{"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon", **times}])
    assert (fact.valid_from, fact.valid_to) == tuple(datetime.fromisoformat(one) for one in times.values())
    assert [one.id for one in bob.past_facts()] == [fact.id]
    assert bob.facts() == ()
    with pytest.raises(InputError, match="valid_to"):
        bob.learn([{"text": "sails", "valid_to": "2999-01-01T00:00:00+00:00"}])


def test_facts_that_say_the_same_become_one_until_that_is_undone(alice: OwnerMemory) -> None:
    told(alice)
    (said,) = (fact for fact in alice.facts() if fact.attribute == "lives_in")
    (other,) = alice.learn([{"attribute": "does", "valid_from": "2020-05-01", "text": "resides in Lyon"}])
    alice.pin(other.id)
    whole = alice.merge_facts(said.id, [other.id])
    assert (whole.text, whole.attribute, whole.value) == (said.text, said.attribute, said.value)
    assert whole.sources == said.sources
    assert whole.pinned
    assert whole.valid_from == other.valid_from
    assert {one.id for one in alice.past_facts() if one.superseded_by == whole.id} == {said.id, other.id}
    alice.undo(whole.change_no)
    assert {said.id, other.id} <= {fact.id for fact in alice.facts()}
    assert not alice.fact(whole.id).current
    for keep, others in ((said.id, [said.id]), (said.id, [whole.id]), (said.id, [])):
        with pytest.raises(InputError):
            alice.merge_facts(keep, others)
    with pytest.raises(NotFound):
        alice.merge_facts(said.id, ["f98-000"])
    (ana,) = alice.learn([{"text": "lives in Lyon", "subject": "Ana"}])
    with pytest.raises(InputError, match="about one person"):
        alice.merge_facts(said.id, [ana.id])


def test_instructions_are_found_added_listed_and_ended(alice: OwnerMemory) -> None:
    alice.add("Always answer in metric units.", "I will.")
    alice.settle()
    (metric,) = alice.instructions()
    assert (metric.attribute, metric.value, metric.sources[0].seq) == ("instruction_units", "use metric units", 1)
    added = alice.add_instruction("Never call me Bob.", expires_at=timedelta(days=2))
    assert (added.attribute, added.value, added.sources) == ("instruction", "never call them Bob", ())
    assert added.expires_at is not None
    assert alice.instructions() == (metric, added)
    assert alice.instructions(as_of="2020-01-01") == ()
    assert all(one.text in alice.recall("Who wrote Hamlet?").text for one in (metric, added))
    alice.retire(metric.id)
    assert alice.instructions() == (added,)
    for text in ("", " \n"):
        with pytest.raises(InputError):
            alice.add_instruction(text)
    with pytest.raises(InputError):
        alice.add_instruction("Be brief.", expires_at="2020-01-01")


def talked(group: OwnerMemory) -> None:
    """Two people, and the sister and brother of one of them."""
    said = [
        ("Vera", "I live in Lyon. My sister Ana works as a nurse."),
        ("Kit", "I live in Oslo and I am allergic to nuts."),
        ("Vera", "My brother lives in Rome."),
        *(("Kit", f"The tulip number {number} is red.") for number in range(8)),
    ]
    group.add_messages([{"role": "user", "name": name, "content": text} for name, text in said])
    group.settle()


def test_who_is_who_is_said_and_taken_back_and_everybody_has_facts_and_a_profile(of: Of) -> None:
    group = of("group")
    talked(group)
    assert not any(person.id == "user" for person in group.people())
    assert group.profile() == ()
    chosen = group.set_user("Vera")
    assert next((person.id, person.name) for person in group.people()) == ("user", "Vera")
    assert [(line.name, line.value) for line in group.profile()] == [("home", "Lyon")]
    merged = group.merge_people("Ana", "Vera's brother")
    assert {fact.value for fact in group.facts(person="Ana")} == {"nurse", "Rome"}
    group.undo(merged)
    assert {fact.value for fact in group.facts(person="Ana")} == {"nurse"}
    split = group.split_people("Ana", "Vera's sister")
    assert group.facts(person="Vera's sister") == ()
    group.undo(split)
    group.undo(chosen)
    assert group.profile() == ()
    for names in (("Zoe", "Ana"), ("Ana", "Zoe")):
        for rule in (group.merge_people, group.split_people):
            with pytest.raises(NotFound):
                rule(*names)
    for rule, names in ((group.merge_people, ("Ana", "Vera's sister")), (group.split_people, ("Ana", "Kit"))):
        with pytest.raises(InputError):
            rule(*names)
    with pytest.raises(NotFound):
        group.set_user("Zoe")

    people = {person.name: person for person in group.people()}
    assert people.keys() == {"Vera", "Kit", "Ana", "Vera's brother"}
    assert (people["Ana"].names, people["Ana"].roles) == (("Ana", "Vera's sister"), ())
    assert people["Kit"].roles == (Role.USER,)
    assert {name: person.facts for name, person in people.items()} == {
        name: len(group.facts(person=name)) for name in people
    }
    assert {fact.person for fact in group.facts()} == people.keys()
    assert [fact.value for fact in group.facts(person="Kit") if fact.attribute == "allergic_to"] == ["nuts"]
    assert group.facts(person="Vera's sister") == group.facts(person="ana")
    assert [(line.name, line.value) for line in group.profile("Vera's brother")] == [("home", "Rome")]
    (home,) = (fact for fact in group.facts(person="Kit") if fact.attribute == "lives_in")
    group.retire(home.id)
    assert [fact.id for fact in group.past_facts(person="Kit")] == [home.id]
    assert group.past_facts(person="Vera") == ()
    assert group.people(as_of="2020-01-01") == ()
    for read in (group.facts, group.past_facts, group.profile):
        with pytest.raises(NotFound):
            read(person="Zoe")
        with pytest.raises(InputError):
            read(person="")


def test_profiles_are_set_in_one_change_or_not_at_all_and_taken_away(of: Of) -> None:
    anna = of("anna")
    anna.set_profile(name="Alice", birth_year=1994)
    anna.set_agent_profile("a patient tutor of French", voice="calm")
    anna.set_profile(name=None)
    assert [(line.name, line.value, line.set_by, line.whose) for line in anna.profile()] == [
        ("birth_year", "1994", "caller", About.USER)
    ]
    assert {line.name: line.value for line in anna.agent_profile()} == {
        "description": "a patient tutor of French",
        "voice": "calm",
    }
    assert [trait.dimension for trait in anna.traits()] == ["age_group"]
    persona = anna.persona()
    assert persona.profile == anna.profile()
    assert persona.agent_profile == anna.agent_profile()

    bob = of("bob")
    bob.set_profiles(user={"name": "Alice"}, agent={"description": "a tutor"})
    (change,) = bob.changes()
    assert (change.cause, len(change.decisions)) == (Cause.PROFILE, 2)
    with pytest.raises(InputError):
        bob.set_profiles(user={"name": "Bob"}, agent={"no field": "x"})
    with pytest.raises(InputError):
        bob.set_profiles()
    assert [line.value for line in bob.profile()] == ["Alice"]
    assert bob.changes() == (change,)


# ------------------------------------------------------------------------------------------------------ the past


LYON = {"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon", "valid_from": "2026-05-01"}
NANTES = {"text": "lives in Nantes", "attribute": "lives_in", "value": "Nantes", "valid_from": "2026-05-01"}


def moved(alice: OwnerMemory, clock: Clock) -> datetime:
    """She told where she lives, and ten days later that she moved; the time of asking between the two."""
    alice.add("I live in Lyon.", "Nice.", thread="a")
    alice.settle()
    clock.go(5 * DAY)
    between = clock.now
    clock.go(5 * DAY)
    alice.add("I moved to Nantes.", "Oh.", thread="b")
    alice.settle()
    clock.go(DAY)
    return between


def test_every_read_looks_back_and_why_tells_the_words_and_what_they_replaced(of: Of, clock: Clock) -> None:
    for name in ("as_of", "valid_at"):
        alice = of(name)
        between = moved(alice, clock)
        for given in (between, between.isoformat(), between.date() + timedelta(days=1)):
            then: dict[str, Any] = {name: given}
            assert [fact.value for fact in alice.facts(**then)] == ["Lyon"], name
            assert [fact.value for fact in alice.persona(**then).facts] == ["Lyon"], name
            assert [line.value for line in alice.profile(**then)] == ["Lyon"], name
            assert [page.query for page in alice.pages(**then)] == ["I live in Lyon."], name
        then = {name: between}
        assert alice.agent_profile(**then) == (), name
        assert alice.traits(**then) == (), name
        assert "Nantes" not in alice.recall("Where do I live?", **then).text, name
        assert [hit.utterance.text for hit in alice.search("live", **then)][:1] == ["I live in Lyon."], name
        late, early = alice.pages()[1], alice.pages()[0]
        assert alice.page(early.id, **then).query == "I live in Lyon.", name
        with pytest.raises(NotFound):
            alice.page(late.id, **then)
        assert [fact.value for fact in alice.facts()] == ["Nantes"], name

    (fact,) = alice.facts()
    found = alice.why(fact.id)
    assert (found.kind, found.item_id, found.held) == ("fact", fact.id, True)
    assert [quote.utterance.text for quote in found.quotes] == ["I moved to Nantes."]
    assert [one.text for one in found.replaced] == [one.text for one in alice.past_facts()]
    assert "I moved to Nantes" in str(alice.why("user.home"))


def test_what_stood_then_is_told_without_counters(of: Of, clock: Clock) -> None:
    alice = of("alice")
    told(alice)
    then = clock.now
    clock.go(DAY)
    (fact,) = (one for one in alice.facts() if one.attribute == "lives_in")
    alice.retire(fact.id)
    assert alice.fact(fact.id, as_of=then).current
    assert not alice.fact(fact.id).current
    assert alice.past_facts(as_of=then) == ()
    assert [one.id for one in alice.past_facts()] == [fact.id]
    segments = alice.segments(as_of=then)
    assert [one.id for one in segments] == [one.id for one in alice.segments()]
    assert alice.segment(segments[0].id, as_of=then).page_ids == segments[0].page_ids
    assert [one.cause for one in alice.changes(then)] == [Cause.CORRECTION]
    assert alice.changes(clock.now + timedelta(days=1)) == ()


def test_facts_conflict_until_both_stand_or_one_is_said_to_be_wrong(of: Of, clock: Clock) -> None:
    anna = of("anna")
    ends = clock.now + timedelta(days=3)
    lyon, nantes, visitor = anna.learn([LYON, NANTES, {"text": "has a visitor", "expires_at": ends}])
    assert (lyon.value, nantes.value, visitor.expires_at) == ("Lyon", "Nantes", ends)
    assert [fact.value for fact in anna.facts()][:2] == ["Lyon", "Nantes"]
    (one,) = anna.conflicts()
    assert (one.older.id, one.newer.id) == (lyon.id, nantes.id)
    assert one.older.conflicts == (nantes.id,)
    then = clock.now
    clock.go(60)
    anna.settle_conflict(lyon.id, nantes.id)
    assert anna.conflicts() == ()
    assert [again.newer.id for again in anna.conflicts(then)] == [nantes.id]
    with pytest.raises(InputError):
        anna.settle_conflict(lyon.id, nantes.id)

    bob = of("bob")
    old, new = bob.learn([LYON, NANTES])
    with pytest.raises(InputError):
        bob.settle_conflict(old.id, new.id, wrong="f98-000")
    made = bob.settle_conflict(old.id, new.id, wrong=old.id)
    assert [fact.id for fact in bob.facts()] == [new.id]
    (past,) = bob.past_facts()
    assert (past.id, past.superseded_by, past.valid_to) == (old.id, new.id, old.valid_from)
    assert bob.conflicts() == ()
    bob.undo(made)
    assert len(bob.conflicts()) == 1


def test_pages_and_facts_end_by_themselves_and_a_span_is_counted_from_now(of: Of, clock: Clock) -> None:
    anna = of("anna")
    end = clock.now + timedelta(days=2)
    kept = anna.add("I keep a heron.", "Since when?")
    gone = anna.add("The code of the door is 8812.", "Noted.", expires_at=end)
    added = anna.add_messages(
        [{"role": "user", "content": "I have a visitor."}], thread="t", expires_at=end.isoformat()
    )
    (fact,) = anna.learn([{"text": "has a visitor"}])
    anna.expire(fact_id=fact.id, at=end)
    anna.expire(page_id=kept, at=end)
    assert {page.expires_at for page in anna.pages()} == {end}
    assert anna.fact(fact.id).expires_at == end
    anna.expire(page_id=kept, at=None)
    assert anna.page(kept).expires_at is None
    clock.go(3 * DAY)
    assert [page.id for page in anna.pages()] == [kept]
    assert anna.facts() == ()
    for page_id in (gone, *added.page_ids):
        with pytest.raises(NotFound):
            anna.page(page_id)

    clock.now = datetime.now(UTC)  # where a server is asked, the span is counted by the caller's clock
    bob = of("bob")
    page_id = bob.add("Hello", expires_at=timedelta(days=2))
    ends = bob.page(page_id).expires_at
    assert ends is not None
    assert abs(ends - clock.now - timedelta(days=2)) < timedelta(minutes=5)


def test_what_is_unused_fades_and_a_dry_run_says_what_would(of: Of, clock: Clock) -> None:
    alice = of("alice")
    told(alice)
    assert {one.kind for one in alice.retention()} == {"fact", "segment"}
    assert all(one.R == 1.0 for one in alice.retention())
    later = alice.retention(clock.now + timedelta(days=400))
    assert all(one.R < 0.1 for one in later)
    clock.go(400 * DAY)
    dry = alice.fade(dry_run=True)
    assert (dry.dry_run, dry.change_no, bool(dry.facts)) == (True, None, True)
    faded = alice.fade()
    assert (faded.facts, faded.segments) == (dry.facts, dry.segments)
    assert alice.facts() == ()
    alice.undo(alice.changes()[-1].no)
    assert {fact.id for fact in alice.facts()} == set(faded.facts)


# ------------------------------------------------------------------------------------------------------ forgotten


def test_what_is_named_is_forgotten_of_one_owner_a_dry_run_forgets_nothing_and_receipts_are_verified(of: Of) -> None:
    alice, bob = of("alice"), of("bob")
    told(alice)
    bob.add("I keep a stork.")
    heron = next(page for page in alice.pages() if "heron" in page.query)
    (segment, *_) = alice.segments()
    assert set(alice.forget(segment=segment.id, dry_run=True).pages) == set(segment.page_ids)
    assert alice.forget(matching="heron", dry_run=True).pages == (heron.id,)
    assert len(alice.forget(before="2026-05-02", dry_run=True).pages) == 2
    dry = alice.forget(page=heron.id, dry_run=True)
    assert (dry.dry_run, dry.pages) == (True, (heron.id,))
    assert alice.page(heron.id) == heron
    assert len(alice.pages()) == 6
    with pytest.raises(InputError):
        alice.verify(dry)
    gone = alice.forget(page=heron.id)
    assert (gone.dry_run, gone.pages, gone.utterances) == (False, (heron.id,), tuple(u.id for u in heron.utterances))
    assert gone.sha256 == dry.sha256
    assert gone.marks
    with pytest.raises(NotFound):
        alice.page(heron.id)
    assert alice.verify(gone) == alice.verify(gone.to_json())
    assert alice.verify(gone).found == ()
    assert not alice.verify(replace(gone, pages=(alice.pages()[0].id,))).ok
    (lives,) = (fact for fact in alice.facts() if fact.attribute == "lives_in")
    assert alice.forget(fact=lives.id).facts == (lives.id,)
    assert len(alice.forget(thread="s2").pages) == 4
    assert [page.query for page in alice.pages()] == ["I live in Lyon."]
    assert len(alice.forget(before="2026-05-01T10:30:00+02:00").pages) == 1
    alice.add("I keep a heron.")
    assert len(alice.forget_owner(dry_run=True).pages) == 1
    assert len(alice.forget_owner().pages) == 1
    assert alice.pages() == ()
    assert [page.query for page in bob.pages()] == ["I keep a stork."]


# -------------------------------------------------------------------------------------------------------- refused


def test_one_owner_never_sees_another(of: Of) -> None:
    alice, tutored, bob = of("alice"), of("alice", "tutor"), of("bob")
    page_id = alice.add("I keep a heron.", "Since when?")
    for other in (tutored, bob):
        assert other.pages() == ()
        assert other.search("heron") == ()
        with pytest.raises(NotFound):
            other.page(page_id)
        with pytest.raises(NotFound):
            other.forget(page=page_id)
    assert len(alice.pages()) == 1


REFUSED: list[Callable[[Any], object]] = [
    lambda alice: alice.add(None),
    lambda alice: alice.add("a\x00"),
    lambda alice: alice.add("\ud800"),
    lambda alice: alice.add("Hello", at="soon"),
    lambda alice: alice.add("Hello", thread=""),
    lambda alice: alice.add("Hello", key=""),
    lambda alice: alice.add("Hello", key="x" * 300),
    lambda alice: alice.add_messages([]),
    lambda alice: alice.add_messages("Hello"),
    lambda alice: alice.add_messages([{"role": "nobody", "content": "Hello"}]),
    lambda alice: alice.recall("Hello", budget=0),
    lambda alice: alice.recall("Hello", budget="5"),
    lambda alice: alice.recall(None),
    lambda alice: alice.search("Hello", k=0),
    lambda alice: alice.search("Hello", k=True),
    lambda alice: alice.pages("middle"),
    lambda alice: alice.facts("nobody"),
    lambda alice: alice.set_profile(),
    lambda alice: alice.set_profile(birth_year="long ago"),
    lambda alice: alice.set_profile(**{"no name": "x"}),
    lambda alice: alice.set_agent_profile("one", "two"),
    lambda alice: alice.changes(-1),
    lambda alice: alice.forget(),
    lambda alice: alice.forget(page="p1", fact="f1"),
    lambda alice: alice.forget(thread="2026", before="2026", matching="2026"),
    lambda alice: alice.forget(before="soon"),
    lambda alice: alice.forget(matching=""),
    lambda alice: alice.changes("soon"),
    lambda alice: alice.changes(True),
    lambda alice: alice.facts(as_of="soon"),
    lambda alice: alice.facts(valid_at=""),
    lambda alice: alice.pages(as_of=7),
    lambda alice: alice.profile(valid_at="２０２６"),
    lambda alice: alice.recall("Hello", as_of="soon"),
    lambda alice: alice.search("Hello", valid_at="soon"),
    lambda alice: alice.add("Hello", expires_at="2020-01-01"),
    lambda alice: alice.add("Hello", expires_at=timedelta.max),
    lambda alice: alice.learn([]),
    lambda alice: alice.learn("lives in Lyon"),
    lambda alice: alice.learn([{}]),
    lambda alice: alice.learn(["lives in Lyon"]),
    lambda alice: alice.learn([{"text": "sails", "since": "2020"}]),
    lambda alice: alice.learn([{"text": "sails", "expires_at": "2020-01-01"}]),
    lambda alice: alice.expire(at=None),
    lambda alice: alice.expire(fact_id="f1", page_id="p1", at=None),
    lambda alice: alice.verify("{}"),
    lambda alice: alice.retention("soon"),
]


def refused(use: Callable[[Any], object], alice: OwnerMemory) -> bool:
    """Whether it is an input error."""
    try:
        use(alice)
    except InputError:
        return True
    return False


def test_what_cannot_be_asked_is_an_input_error(alice: OwnerMemory) -> None:
    for place, use in enumerate(REFUSED):
        assert refused(use, alice), f"REFUSED[{place}]"
    assert alice.pages() == ()


NO_IDS = ["p0", "'; --", "", ".", "..", "../bob", "p0/history", "p0?user_id=bob", "汉字", "x" * 300]


def test_what_is_not_there_is_not_found(alice: OwnerMemory) -> None:
    alice.add("Hello")
    uses: list[Callable[[str], object]] = [
        alice.page,
        alice.utterance,
        alice.segment,
        alice.fact,
        alice.history,
        alice.retire,
        alice.pin,
        lambda item: alice.correct(item, "lives in Lyon"),
        lambda item: alice.forget(page=item),
        lambda item: alice.forget(fact=item),
        lambda item: alice.forget(segment=item),
        lambda item: alice.expire(page_id=item, at=None),
        lambda item: alice.expire(fact_id=item, at=None),
        lambda item: alice.settle_conflict(item, item),
        alice.why,
    ]
    for use, name in itertools.product(uses, NO_IDS):
        with pytest.raises(NotFound):
            use(name)
    with pytest.raises(NotFound):
        alice.undo(99)
    assert len(alice.pages()) == 1


NAMES = ["a/b", "../../etc", "O'Neill", "汉字", "🦩", " spaced ", "a\nb", "x" * 512, "%s", "a&b=c#d"]


@every_face
def test_a_document_is_stored_listed_quoted_replaced_and_forgotten(of: Of, tmp_path: Path) -> None:
    alice = of("alice")
    text = "# Lease\n\nThe flat is in Lyon.\n\n## Rent\n\nThe rent is due on the third.\n"
    added = alice.add_document(text, source="lease.md", at="2026-05-01T10:00:00+02:00", metadata={"kind": "contract"})
    assert (added.title, added.added, added.kept, added.removed) == ("Lease", 2, 0, 0)
    (document,) = alice.documents()
    assert document == alice.document(added.id)
    assert (document.source, document.passages, document.metadata) == ("lease.md", 2, {"kind": "contract"})
    passages = alice.passages(added.id)
    assert [one.passage and one.passage.place for one in passages] == ["", "Rent"]
    assert passages[1] == alice.utterance(passages[1].id)
    assert "[Lease, Rent] The rent is due on the third." in alice.recall("When is the rent due?").text
    assert alice.search("rent third", k=1)[0].passage == passages[1].passage
    (tmp_path / "lease.md").write_text(text.replace("third", "fifth"))
    again = alice.add_document(tmp_path / "lease.md", source="lease.md", at="2026-05-02", metadata={"kind": "contract"})
    assert (again.id, again.added, again.kept, again.removed) == (added.id, 1, 1, 1)
    assert len(alice.forget_document(added.id, dry_run=True).pages) == 2
    assert alice.verify(alice.forget_document(added.id)).ok
    assert alice.documents() == ()
    with pytest.raises(NotFound):
        alice.passages(added.id)
    with pytest.raises(InputError):
        alice.add_document(b"%PDF-1.4", source="a.pdf")


def test_what_was_handed_in_is_given_back_and_a_key_stores_it_once(of: Of) -> None:
    anna = of("anna")
    item = {"type": "function_call", "call_id": "c1", "arguments": '{"a": 1}', "n": 2**63, "x": [1.5, None, "ä\x00"]}
    said: list[dict[str, Any]] = [{"role": "user", "content": "Hello"}, {"role": "tool", "original": item}]
    added = anna.add_messages(said, thread="s1")
    (other,) = anna.add_many([{"messages": [{"role": "user", "content": "Hello", "original": [0]}], "thread": "s2"}])
    assert other.added is not None
    document = anna.add_document("# Lease\n\nDue.", source="a:/b", original={"v": 1}, expires_at=timedelta(days=1))
    ids = [added.utterance_ids[1], other.added.utterance_ids[0], document.id]
    assert repr(anna.original(ids[0])) == repr(item)
    assert list(anna.originals().items()) == list(zip(ids, (item, [0], {"v": 1}), strict=True))
    assert anna.originals(thread="s1") == {ids[0]: item}
    assert anna.originals([ids[2], "u0"]) == {ids[2]: {"v": 1}}
    assert list(anna.originals(last=1)) == ids[2:]
    anna.add_document("# Lease\n\nDue.", source="a:/b", original={"v": 2})
    assert anna.original(document.id) == {"v": 2}
    assert [one.id for one in anna.documents(source="a:/b")] == [document.id]
    assert [one.id for one in anna.documents(under="a:/")] == [document.id]
    assert anna.documents(under="A") == anna.documents(source="a") == ()
    with pytest.raises(NotFound):
        anna.original(added.utterance_ids[0])
    for wrong in (float("nan"), {1: 2}, 2**64):
        with pytest.raises(InputError, match=r"original"):
            anna.add_messages([{"role": "user", "content": "x", "original": {"a": wrong}}])
        with pytest.raises(InputError, match=r"original"):
            anna.add_document("x", original=wrong)

    bob = of("bob")
    first = bob.add("I keep a heron.", "Since when?", key="k1")
    assert bob.add("I keep a heron.", "Since when?", key="k1") == first
    with pytest.raises(KeyReused):
        bob.add("I keep a stork.", "Since when?", key="k1")
    assert bob.add_messages([{"role": "user", "content": "Hello"}], key="k2") == bob.add_messages(
        [{"role": "user", "content": "Hello"}], key="k2"
    )
    assert len(bob.pages()) == 2


def test_an_item_of_every_kind_is_listed_in_parts_and_read_by_its_id(of: Of) -> None:
    alice = of("alice")
    told(alice)
    alice.learn([{"text": "likes figs"}, {"text": "likes plums"}])
    for number in range(2):
        alice.add_document(f"# Lease {number}\n\nThe rent is due.", source=f"{number}.md", metadata={"n": number})
    for kind in ("page", "utterance", "fact", "segment", "document"):
        whole = alice.items(kind, order="oldest")
        assert whole, kind
        assert alice.items(kind) == tuple(reversed(whole))
        assert alice.items(kind, order="oldest", limit=1) == whole[:1]
        assert alice.items(kind, order="oldest", after=whole[0].id) == whole[1:]
        assert [alice.get(one.id) for one in whole] == [*whole]
    assert [one.id for one in alice.items("page", after=3)] == [page.id for page in reversed(alice.pages()[:2])]
    scope = Scope(threads=["s1"])
    assert [one.id for one in alice.items("page", scope=scope)] == [page.id for page in alice.pages(scope=scope)][::-1]
    assert [one.id for one in alice.items("fact", scope=scope, order="oldest")] == [
        fact.id for fact in alice.facts(scope=scope)
    ]
    spoken = alice.items("utterance", scope=scope)
    assert {one.thread for one in spoken if isinstance(one, Utterance)} == {"s1"}
    assert len(alice.items("page", scope=scope, order="oldest", limit=1)) == 1
    document = alice.items("document")[0].id
    assert not alice.delete(document, dry_run=True).scrubbed
    assert alice.verify(alice.delete(document, key="k")).ok
    alice.delete(document, key="k")
    for use in (alice.get, alice.delete):
        with pytest.raises(NotFound):
            use(document)
    with pytest.raises(InputError, match="scope"):
        alice.items("document", scope=scope)
    with pytest.raises(InputError):
        alice.items("pages")
    with pytest.raises(NotFound):
        alice.get("p1")


def test_a_fact_is_given_other_metadata_and_past_facts_are_counted(of: Of) -> None:
    alice = of("alice")
    figs, _ = alice.learn([{"text": "likes figs", "metadata": {"n": 1, "m": 2}}, {"text": "likes plums"}])
    assert alice.stats().past_facts == 0
    alice.pin(figs.id)
    made = alice.update(figs.id, metadata={"n": 3}, key="k")
    assert isinstance(made, Fact)
    assert (made.metadata, made.text, made.value, made.pinned) == ({"n": 3}, figs.text, figs.value, True)
    assert alice.update(figs.id, metadata={"n": 3}, key="k") == made
    assert [(one.id, one.superseded_by) for one in alice.past_facts()] == [(figs.id, made.id)]
    assert alice.stats().past_facts == 1
    pears = alice.update(made.id, "likes pears", metadata={})
    assert (pears.metadata, alice.fact(made.id).metadata) == ({}, {"n": 3})
    for wrong in ({"a": {"b": 1}}, {}):
        with pytest.raises(InputError, match="metadata"):
            alice.update(pears.id, metadata=wrong)
    document = alice.add_document("# Lease\n\nThe rent is due.", source="lease.md").id
    with pytest.raises(InputError, match="add_document"):
        alice.update(document, metadata={"n": 1})
    with pytest.raises(InputError, match="its metadata neither"):
        alice.update(alice.add("I live in Lyon."), metadata={"n": 1})
