"""Who an owner's memory knows: who is the user, which names are one person's, and what callers rule of both."""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import OwnerMemory
from embermem.core import messages
from embermem.core.errors import InputError, NotFound
from embermem.core.types import About, Fact, FactId, Person, Persona, PersonRelation, Relation, Role
from embermem.memoryos.people import People
from json_lines import exported, imported
from proofs import bounded
from scripted import NOW, Clock, Opener, Place
from soundness import assert_sound

OWNER = messages.owner("alice", "default")


def say(mine: OwnerMemory, *lines: tuple[str, str], thread: str = "main") -> None:
    """Each line is a name and what was said; a name with a * is in the role assistant."""
    mine.add_messages(
        [
            {"role": "assistant" if who.endswith("*") else "user", "name": who.rstrip("*"), "content": text}
            for who, text in lines
        ],
        thread=thread,
    )
    mine.settle()


def told(mine: OwnerMemory, person: str | None = None) -> set[str]:
    return {fact.text for fact in mine.facts(person=person)}


def lines(mine: OwnerMemory, person: str | None = None, **then: Any) -> dict[str, str]:
    return {line.name: line.value for line in mine.profile(person, **then)}


def person(mine: OwnerMemory, name: str) -> Person:
    return next(one for one in mine.people() if name in (one.name, *one.names))


# ------------------------------------------------------------------------------------------------ who is the user


def test_the_only_speaker_in_the_role_user_is_the_user(opened: Opener) -> None:
    mine = opened().of("default")
    say(mine, ("Caroline", "I live in Lyon."), ("Mel*", "I live in Oslo."))
    user, agent = mine.people()
    assert (user.id, user.name, user.roles) == ("user", "Caroline", (Role.USER,))
    assert (agent.id, agent.name, agent.roles) == ("agent", "Mel", (Role.ASSISTANT,))
    assert lines(mine) == {"home": "Lyon"}
    assert lines(mine, "Mel") == lines(mine, "agent") == {"home": "Oslo"}
    assert told(mine) == {"Caroline lives in Lyon", "Mel lives in Oslo"}
    assert {fact.person for fact in mine.facts()} == {"Caroline", "Mel"}


def test_of_several_the_one_who_goes_by_the_owner_s_name_is_the_user(opened: Opener) -> None:
    mine = opened().of("caroline")
    say(mine, ("Bob", "I live in Oslo."))
    assert lines(mine) == {"home": "Oslo"}  # nobody else spoke as yet
    say(mine, ("Caroline Reed", "I live in Lyon."))
    assert lines(mine) == {"home": "Lyon"}
    assert lines(mine, "Bob") == {"home": "Oslo"}
    assert person(mine, "Bob").id == "bob"


def test_of_several_who_do_not_go_by_it_nobody_is_until_the_caller_says_so(opened: Opener, place: Place) -> None:
    mine = opened().of("team")
    say(mine, ("Ann", "I live in Lyon. I really love jazz."), ("Bob", "I live in Oslo."))
    assert {one.id for one in mine.people() if one.facts} == {"ann", "bob"}
    assert (mine.profile(), mine.traits()) == ((), ())
    mine.set_user("Ann")
    assert person(mine, "Ann").id == "user"
    assert lines(mine) == {"home": "Lyon"}
    say(mine, ("Bob", "I moved to Rome."), ("Ann", "I moved to Nantes."))
    assert lines(mine) == {"home": "Nantes"}
    with pytest.raises(InputError, match="one person already"):
        mine.set_user("Ann")
    with pytest.raises(NotFound, match="people"):
        mine.set_user("Zoe")
    assert_sound(place())


def test_who_was_taken_for_the_user_is_not_when_another_comes(opened: Opener, place: Place) -> None:
    mine = opened().of("team")
    say(mine, ("Ann", "I live in Lyon. I really love jazz."))
    assert lines(mine) == {"home": "Lyon"}
    assert mine.traits()
    say(mine, ("Bob", "I live in Oslo."))
    assert (mine.profile(), mine.traits()) == ((), ())
    assert lines(mine, "Ann") == {"home": "Lyon"}
    mine.set_user("Bob")
    assert lines(mine) == {"home": "Oslo"}
    assert_sound(place())


def test_what_the_caller_set_of_the_user_stays_whoever_that_is(opened: Opener) -> None:
    mine = opened().of("team")
    say(mine, ("Ann", "I live in Lyon."))
    mine.set_profile(language="French")
    say(mine, ("Bob", "I live in Oslo."))
    assert lines(mine) == {"language": "French"}


def test_a_speaker_without_a_name_is_the_user_and_is_called_so_until_a_name_is_told(opened: Opener) -> None:
    mine = opened().of("default")
    say(mine, ("user", "I live in Lyon."))
    assert told(mine) == {"The user lives in Lyon"}
    say(mine, ("user", "My name is Caroline."))
    assert "Caroline lives in Lyon" in told(mine)
    assert told(mine, "Caroline") == told(mine, "user") == told(mine)


def test_a_speaker_who_is_called_like_a_relative_is_a_speaker(opened: Opener) -> None:
    mine = opened().of("alice", "tutor")
    say(mine, ("Alice", "I live in Lyon."), ("tutor*", "I live in Oslo."))
    user, agent = mine.people()
    assert (user.name, agent.id, agent.name, agent.names) == ("Alice", "agent", "tutor", ("tutor",))
    assert told(mine, "tutor") == {"tutor lives in Oslo"}


def test_messages_without_a_name_are_of_the_only_speaker_who_has_one(opened: Opener, place: Place) -> None:
    mine = opened().of("team")
    say(mine, ("user", "I live in Lyon."))
    say(mine, ("Ann", "I like tea."), ("user", "I'm allergic to nuts."))
    (user,) = [one for one in mine.people() if Role.USER in one.roles]
    assert (user.id, user.name, user.undecided) == ("user", "Ann", False)
    assert told(mine, "Ann") == {"Ann lives in Lyon", "Ann likes tea", "Ann is allergic to nuts"}
    assert lines(mine) == lines(mine, "Ann") == {"home": "Lyon"}
    assert_sound(place())


@pytest.mark.engines
def test_in_a_group_messages_without_a_name_are_nobody_s_until_the_caller_says_so(
    opened: Opener, clock: Clock, place: Place
) -> None:
    mine = opened().of("team")
    say(mine, ("user", "I live in Lyon."), ("Ann", "I like tea."))
    alone = clock.now
    clock.go(60)
    say(mine, ("Bob", "I live in Oslo."))
    assert {(one.id, one.name, one.undecided) for one in mine.people() if Role.USER in one.roles} == {
        ("ann", "Ann", False),
        ("bob", "Bob", False),
        ("user?", "user", True),
    }
    assert told(mine, "user?") == {"The user lives in Lyon"}
    assert mine.profile() == ()
    assert told(mine, "Ann") == {"Ann likes tea"}
    assert not any(one.undecided for one in mine.people(as_of=alone))
    decided = mine.set_user("Ann")
    assert not any(one.undecided for one in mine.people())
    assert told(mine, "Ann") == {"Ann likes tea", "Ann lives in Lyon"}
    assert lines(mine) == {"home": "Lyon"}
    mine.undo(decided)
    assert [one.name for one in mine.people() if one.undecided] == ["user"]
    mine.split_people("user", "Ann")
    mine.split_people("user", "Bob")
    assert lines(mine) == {"home": "Lyon"}
    assert not any(one.undecided for one in mine.people())
    assert_sound(place())


# -------------------------------------------------------------------------------------------------- a group of four

HOMES = {"Ann": "Lyon", "Bob": "Oslo", "Cleo": "Rome", "Dan": "Porto"}
FOOD = {"Ann": "peanuts", "Bob": "shellfish", "Cleo": "gluten", "Dan": "sesame"}


def group(mine: OwnerMemory) -> None:
    """Four who each say where they live and what they cannot eat, and one who moves."""
    say(mine, *((who, f"I live in {home}.") for who, home in HOMES.items()))
    say(mine, *((who, f"I'm allergic to {food}.") for who, food in FOOD.items()), thread="food")
    say(mine, ("Cleo", "I moved to Ghent."), ("Ann", "How nice!"), thread="later")


def test_in_a_group_of_four_each_has_their_own_home_and_food(opened: Opener, clock: Clock, place: Place) -> None:
    mine = opened(user_facts=2).of("team")
    group(mine)
    for who, home in {**HOMES, "Cleo": "Ghent"}.items():
        assert lines(mine, who) == {"home": home}
        assert told(mine, who) == {f"{who} lives in {home}", f"{who} is allergic to {FOOD[who]}"}
        assert {fact.person for fact in mine.facts(person=who)} == {who}
        context = mine.recall(f"Where does {who} live?", budget=2000)
        assert f"{who} lives in {home}" in {fact.text for fact in context.persona.facts}
    assert [fact.text for fact in mine.past_facts(person="Cleo")] == ["Cleo lives in Rome"]
    assert mine.past_facts(person="Ann") == ()
    assert mine.profile() == ()
    assert_sound(place())


def test_recall_names_whom_its_facts_are_about(opened: Opener) -> None:
    mine = opened().of("team")
    group(mine)
    context = mine.recall("Who is allergic to shellfish?", budget=60)
    assert all(fact.person in HOMES and fact.person in fact.text for fact in context.facts)


def test_two_hundred_speakers_are_two_hundred_persons(opened: Opener) -> None:
    mine = opened().of("team")
    said = [{"role": "user", "name": f"Guest {n}", "content": "I live in Lyon."} for n in range(200)]
    mine.add_messages(said)
    mine.settle()
    begun = time.monotonic()
    known = mine.people()
    assert time.monotonic() - begun < 5
    assert len([one for one in known if one.roles]) == 200
    assert {one.facts for one in known if one.roles} == {1}
    assert told(mine, "Guest 7") == {"Guest 7 lives in Lyon"}


def test_a_speaker_is_known_by_the_beginning_of_a_long_name(opened: Opener, place: Place) -> None:
    mine = opened().of("team")
    say(mine, ("Ann " + "x" * 150, "I live in Lyon."))
    (user,) = [one for one in mine.people() if one.id == "user"]
    assert user.name == "Ann " + "x" * 56
    assert lines(mine) == {"home": "Lyon"}
    assert_sound(place())


# ---------------------------------------------------------------------------------------- which names are one person's


def test_a_sister_with_a_name_is_the_sister_and_the_name(opened: Opener) -> None:
    mine = opened(user_facts=20).of("alice")
    say(mine, ("Alice", "My sister Ana is a nurse."))
    say(mine, ("Alice", "My sister lives in Porto."))
    ana = person(mine, "Ana")
    assert ana.id == "ana"
    assert ana.names[0] == "Ana"
    both = {"Ana works as a nurse", "Ana lives in Porto"}
    for name in ("Ana", "sister", "Alice's sister", "sister Ana"):
        assert {fact.attribute for fact in mine.facts(person=name)} == {"works_as", "lives_in"}, name
    assert {fact.person for fact in mine.facts(person="Ana")} == {"Ana"}
    assert lines(mine, "Ana") == {"home": "Porto", "occupation": "nurse"}
    assert "Alice has a sister named Ana" in told(mine, "Alice")
    assert lines(mine) == {}
    assert "Ana works as a nurse" in both & told(mine)


def test_a_sister_without_a_name_is_the_speaker_s_own(opened: Opener) -> None:
    mine = opened().of("team")
    say(mine, ("Ann", "My sister lives in Porto."), ("Bob", "My sister lives in Ghent."))
    assert told(mine, "Ann's sister") == {"Ann's sister lives in Porto"}
    assert told(mine, "Bob's sister") == {"Bob's sister lives in Ghent"}


def test_with_two_sisters_nobody_knows_which_is_meant(opened: Opener) -> None:
    mine = opened(user_facts=20).of("alice")
    say(mine, ("Alice", "My sister Ana is a nurse. My sister Eva is a baker."))
    say(mine, ("Alice", "My sister lives in Porto."))
    assert {fact.attribute for fact in mine.facts(person="Ana")} == {"works_as"}
    assert told(mine, "Alice's sister") == {"Alice's sister lives in Porto"}


def test_names_are_looked_up_and_nothing_is_changed_by_it(opened: Opener) -> None:
    mine = opened().of("alice")
    say(mine, ("Alice", "My sister lives in Porto."))
    before = mine.people()
    for name in ("Zoe", "sister Zoe", "Zoe's sister", "brother"):
        with pytest.raises(NotFound):
            mine.facts(person=name)
    assert mine.people() == before


# ----------------------------------------------------------------------------------------------------- merge and split


def test_merged_names_are_one_person_until_it_is_undone(opened: Opener, clock: Clock, place: Place) -> None:
    mine = opened().of("team")
    group(mine)
    before, at = mine.people(), clock.now
    clock.go(60)
    mine.merge_people("Ann", "Dan")
    both = told(mine, "Ann")
    assert both == told(mine, "Dan")
    assert {"Ann lives in Lyon"} < both
    assert len(mine.people()) == len(before) - 1
    assert mine.people(as_of=at) == before
    with pytest.raises(InputError, match="one person already"):
        mine.merge_people("Dan", "Ann")
    mine.undo(mine.changes()[-1].no)
    assert mine.people() == before
    assert_sound(place())


def homes(mine: OwnerMemory, person: str | None = None, *, past: bool = False, **then: Any) -> list[str]:
    facts = mine.past_facts(person=person, **then) if past else mine.facts(person=person, **then)
    return [fact.value for fact in facts if fact.attribute == "lives_in"]


@pytest.mark.engines
def test_of_two_homes_of_a_merged_person_the_newer_holds_until_it_is_undone(
    opened: Opener, clock: Clock, place: Place
) -> None:
    memory = opened()
    mine = memory.of("team")
    say(mine, ("Ann", "I live in Lyon."), ("Bob", "I live in Rome."))
    clock.go(86400)
    say(mine, ("Dan", "I live in Oslo. I like tea."))
    at = clock.now
    clock.go(60)
    merged = mine.merge_people("Ann", "Dan")
    assert (homes(mine, "Ann"), homes(mine, "Ann", past=True)) == (["Oslo"], ["Lyon"])
    assert lines(mine, "Ann")["home"] == "Oslo"
    assert homes(mine, "Ann", valid_at=at - timedelta(hours=6)) == ["Lyon"]
    assert (homes(mine, "Ann", as_of=at), homes(mine, as_of=at, past=True)) == (["Lyon"], [])
    assert homes(mine, "Bob") == ["Rome"]
    assert mine.conflicts() == ()
    mine.undo(merged)
    assert (homes(mine, "Ann"), homes(mine, "Dan"), homes(mine, past=True)) == (["Lyon"], ["Oslo"], [])
    mine.merge_people("Dan", "Ann")
    mine.split_people("Ann", "Dan")
    assert (homes(mine, "Ann"), homes(mine, "Dan"), homes(mine, past=True)) == (["Lyon"], ["Oslo"], [])
    assert [one.same for one in memory.rebuild()] == [True]
    assert_sound(place())


def test_two_homes_told_at_one_time_are_a_conflict(opened: Opener, place: Place) -> None:
    mine = opened().of("team")
    say(mine, ("Ann", "I live in Lyon."), ("Bob", "I live in Rome."), ("Dan", "I live in Oslo."))
    merged = mine.merge_people("Ann", "Dan")
    (conflict,) = mine.conflicts()
    assert {conflict.older.value, conflict.newer.value} == {"Lyon", "Oslo"}
    mine.undo(merged)
    assert mine.conflicts() == ()
    assert_sound(place())


def test_the_user_s_profile_has_the_newer_value_of_who_is_the_user(opened: Opener, clock: Clock, place: Place) -> None:
    mine = opened().of("ann")
    say(mine, ("Ann", "I live in Lyon."))
    clock.go(86400)
    say(mine, ("Annie", "I live in Oslo."))
    assert lines(mine) == {"home": "Lyon"}
    merged = mine.merge_people("Ann", "Annie")
    assert lines(mine) == {"home": "Oslo"}
    mine.undo(merged)
    assert (lines(mine), lines(mine, "Annie")) == ({"home": "Lyon"}, {"home": "Oslo"})
    assert_sound(place())


def test_forgetting_the_newer_home_of_a_merged_person_brings_the_older_back(
    opened: Opener, clock: Clock, place: Place
) -> None:
    memory = opened()
    mine = memory.of("team")
    say(mine, ("Ann", "I live in Lyon."), ("Dan", "I like tea."))
    clock.go(86400)
    page = mine.add_messages(
        [{"role": "user", "name": "Dan", "content": "I live in Oslo."}], thread="b", fresh=True
    ).page_ids[0]
    mine.settle()
    mine.merge_people("Ann", "Dan")
    mine.forget(page=page)
    assert (homes(mine, "Ann"), homes(mine, past=True)) == (["Lyon"], [])
    assert_sound(place())
    assert not [one for one in memory.check(deep=True) if one.level == "error"]


def test_what_is_ruled_out_of_a_person_is_ruled_out_by_every_name(opened: Opener, place: Place) -> None:
    mine = opened(user_facts=20).of("alice")
    say(mine, ("Alice", "My sister Ana is a nurse. My sister Ana lives in Porto."))
    say(mine, ("Alice", "My sister lives in Porto."), thread="later")
    (home,) = [fact for fact in mine.facts(person="Ana") if fact.attribute == "lives_in"]
    mine.retire(home.id)
    mine.understand_anew()
    assert homes(mine) == []
    assert lines(mine, "Ana") == {"occupation": "nurse"}
    say(mine, ("Alice", "My sister lives in Porto."), thread="again")
    assert homes(mine, "Ana") == ["Porto"]
    assert_sound(place())


def test_the_cap_is_of_a_person_by_all_names(opened: Opener, place: Place) -> None:
    mine = opened(user_facts=2).of("team")
    say(mine, ("Ann", "I like tea. I like soup."), ("Dan", "I like jazz. I like maps."), ("Bob", "I like rain."))
    mine.merge_people("Ann", "Dan")
    assert len(mine.facts(person="Ann")) == 4
    say(mine, ("Ann", "I like chess."))
    assert len(mine.facts(person="Ann")) == 2
    assert len(mine.facts(person="Bob")) == 1
    assert_sound(place())


def test_split_names_are_two_whatever_the_talk_shows(opened: Opener) -> None:
    mine = opened(user_facts=20).of("alice")
    say(mine, ("Alice", "My sister Ana is a nurse. My sister lives in Porto."))
    mine.split_people("Ana", "Alice's sister")
    assert {fact.attribute for fact in mine.facts(person="Ana")} == {"works_as"}
    assert {fact.attribute for fact in mine.facts(person="Alice's sister")} == {"lives_in"}
    with pytest.raises(InputError, match="different persons already"):
        mine.split_people("Ana", "Alice's sister")
    mine.merge_people("Ana", "Alice's sister")
    assert {fact.attribute for fact in mine.facts(person="Ana")} == {"works_as", "lives_in"}


def test_what_is_ruled_stays_when_memory_is_derived_again(opened: Opener, place: Place) -> None:
    memory = opened()
    mine = memory.of("team")
    group(mine)
    mine.set_user("Cleo")
    mine.merge_people("Ann", "Dan")
    known, profile = mine.people(), lines(mine)
    assert [one.same for one in memory.rebuild()] == [True]
    assert mine.people() == known
    mine.understand_anew()
    assert [(one.id, one.names) for one in mine.people()] == [(one.id, one.names) for one in known]
    assert lines(mine) == profile == {"home": "Ghent"}
    assert_sound(place())
    assert not [one for one in memory.check(deep=True) if one.level == "error"]


def test_persons_travel_with_an_export(opened: Opener, place: Place) -> None:
    memory = opened()
    mine = memory.of("team")
    group(mine)
    mine.set_user("Cleo")
    other = opened("other.db")
    imported(other, exported(memory))
    assert other.of("team").people() == mine.people()
    assert other.of("team").profile() == mine.profile()
    assert_sound(place("other.db"))


# ----------------------------------------------------------------------------------------------------------- forgetting


def test_a_speaker_whose_first_page_is_forgotten_is_known_by_the_others(opened: Opener, place: Place) -> None:
    memory = opened()
    mine = memory.of("team")
    first = mine.add_messages([{"role": "user", "name": "Caroline", "content": "I live in Lyon."}]).page_ids[0]
    mine.settle()
    say(mine, ("Caroline", "I like tea."), thread="later")
    mine.forget(page=first)
    assert person(mine, "Caroline").id == "user"
    assert mine.profile() == ()
    assert_sound(place())
    assert not [one for one in memory.check(deep=True) if one.level == "error"]


def test_a_speaker_whose_only_page_is_forgotten_is_nobody(opened: Opener, place: Place) -> None:
    memory = opened()
    mine = memory.of("team")
    say(mine, ("Ann", "I live in Lyon."))
    page = mine.add_messages(
        [{"role": "user", "name": "Bobadil", "content": "I live in Oslo."}], thread="b", fresh=True
    ).page_ids[0]
    mine.settle()
    mine.merge_people("user", "Bobadil")
    mine.forget(page=page)
    assert {one.name for one in mine.people() if one.roles} == {"Ann"}
    assert_sound(place())
    assert not [one for one in memory.check(deep=True) if one.level == "error"]


# ------------------------------------------------------------------------------------------------ texts without names


def fact(subject: str, attribute: str, value: str, text: str, **more: Any) -> Fact:
    return Fact(
        id=FactId(f"{subject}-{attribute}-{value}"),
        about=About.USER,
        subject=subject,
        attribute=attribute,
        value=value,
        text=text,
        sources=(),
        valid_from=NOW,
        valid_to=None,
        recorded_at=NOW,
        **more,
    )


def speaks(name: str, role: Role = Role.USER) -> PersonRelation:
    return PersonRelation(relation=Relation.SPEAKS, one=name, other=role.value)


def test_subjects_with_their_relation_are_persons_too() -> None:
    old = [
        fact("user", "lives_in", "Lyon", "lives in Lyon"),
        fact("sister Ana", "works_as", "nurse", "sister Ana works as a nurse"),
        fact("sister", "lives_in", "Porto", "sister lives in Porto"),
        fact("妹妹小红", "works_as", "护士", "妹妹小红职业是护士"),
    ]
    people = People(OWNER, Persona(relations=(speaks("Alice"),), facts=tuple(old)))
    assert [people.of(one) for one in old] == ["user", "ana", "ana", "小红"]
    assert [people.shown(one).text for one in old] == [
        "Alice lives in Lyon",
        "Ana works as a nurse",
        "Ana lives in Porto",
        "小红职业是护士",
    ]


@pytest.mark.parametrize(
    ("subject", "text", "read"),
    [
        ("user", "is allergic to nuts", "Al is allergic to nuts"),
        ("user", "住在北京", "Al住在北京"),
        ("user", "The user lives in Lyon", "Al lives in Lyon"),
        ("user", "Al lives in Lyon", "Al lives in Lyon"),
        ("user", "The door is locked", "Al: The door is locked"),
        ("user's sister", "The user's sister lives in Lyon", "Al's sister lives in Lyon"),
        ("Ann", "likes Annecy", "Ann likes Annecy"),
    ],
)
def test_a_text_that_names_nobody_is_read_with_the_name(subject: str, text: str, read: str) -> None:
    one = fact(subject, "says", "x", text)
    assert People(OWNER, Persona(relations=(speaks("Al"),), facts=(one,))).shown(one).text == read


# ----------------------------------------------------------------------------------------------------------- properties

NAMES = ("Ann", "Bob", "Cleo", "Dan", "user", "Bob's sister", "Eva", "姐姐")
names = st.sampled_from(NAMES)
rulings = st.lists(st.tuples(names, names, st.booleans()).filter(lambda one: one[0] != one[1]), max_size=6)
speakers = st.lists(st.sampled_from(NAMES[:5]), max_size=4)
relatives = st.lists(
    st.tuples(st.sampled_from(NAMES[:4]), st.sampled_from(("sister Eva", "sister Ida", "colleague Eva", "boss Eva"))),
    max_size=3,
)


def known(speaking: Iterable[str], ruled: Iterable[tuple[str, str, bool]], told: Iterable[tuple[str, str]]) -> People:
    facts = [fact(name, "likes", "tea", "likes tea") for name in NAMES]
    facts += [fact(whose, "has_relative", value, f"has {value}") for whose, value in told]
    relations = [speaks(name) for name in speaking]
    relations += [PersonRelation(relation=Relation.IS, one=a, other=b, holds=holds) for a, b, holds in ruled]
    return People(OWNER, Persona(relations=tuple(relations), facts=tuple(facts)))


@settings(max_examples=bounded(60, proofs=2000), deadline=None)
@given(speakers, rulings, relatives)
def test_every_subject_is_of_one_person_who_is_found_by_every_name(
    speaking: list[str], ruled: list[tuple[str, str, bool]], told: list[tuple[str, str]]
) -> None:
    people = known(speaking, ruled, told)
    everybody = people.all()
    assert len({one.id for one in everybody}) == len(everybody)
    assert sum(one.facts for one in everybody) == len(people._facts)
    for one in everybody:
        assert people.find(one.id) == one.id
        assert {people.id_of(name) for name in one.names} <= {one.id}
    assert {people.id_of(name) for name in NAMES} <= {one.id for one in everybody}
    again = known(speaking, ruled, told)
    assert [again.id_of(name) for name in NAMES] == [people.id_of(name) for name in NAMES]


@settings(max_examples=bounded(60, proofs=2000), deadline=None)
@given(speakers, rulings, st.permutations(NAMES[:4]))
def test_merging_is_symmetric_and_transitive_and_what_is_split_first_stays_apart(
    speaking: list[str], ruled: list[tuple[str, str, bool]], order: list[str]
) -> None:
    for a, b, _ in ruled:
        one, other = (known(speaking, [pair], ()) for pair in ((a, b, True), (b, a, True)))
        assert one.id_of(a) == one.id_of(b)
        assert [one.id_of(n) == one.id_of(m) for n in NAMES for m in NAMES] == [
            other.id_of(n) == other.id_of(m) for n in NAMES for m in NAMES
        ]
    first, second, third, last = order
    chained = known((), [(first, second, True), (third, second, True), (first, last, False)], ())
    assert len({chained.id_of(name) for name in (first, second, third)}) == 1
    assert chained.id_of(last) != chained.id_of(first)
    for a, b, holds in ruled:
        if not holds:
            assert known(speaking, ruled, ()).id_of(a) != known(speaking, ruled, ()).id_of(b)


def test_several_threads_may_ask_one_memory_s_people_at_once() -> None:
    people = People(OWNER, Persona())
    names = [f"Bob's {kin} {name}" for kin in ("sister", "brother", "aunt") for name in ("Ana", "Kit", "Zoe", "Ida")]

    def ask(number: int) -> list[str]:
        turned = names[number:] + names[:number]
        return sorted(people.id_of(name) for _ in range(20) for name in turned)

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(ask, range(8)))
    assert all(one == told[0] for one in told)
