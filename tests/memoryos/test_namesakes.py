"""Two people of one name: told apart by what they are to who speaks of them, and by nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from embermem import OwnerMemory
from embermem.core import messages
from embermem.core.config import load
from embermem.core.errors import InputError, NotFound
from embermem.core.types import (
    About,
    FactId,
    FactProposal,
    Persona,
    PersonaChange,
    PersonRelation,
    Relation,
    Source,
    ThreadId,
    UtteranceId,
)
from embermem.languages.people import excluded
from embermem.memoryos.ingest.long_term import Knowledge
from embermem.memoryos.people import People
from json_lines import exported, imported
from scripted import NOW, SMALL, Clock, Opener, Place
from soundness import assert_sound

ALICE = messages.owner("alice", "default")
BROTHER, COLLEAGUE = "Alice's brother Jonas", "Alice's colleague Jonas"


def say(mine: OwnerMemory, *texts: str, thread: str = "main", name: str = "Alice") -> int:
    """What a speaker says; the number of the newest change."""
    mine.add_messages([{"role": "user", "name": name, "content": text} for text in texts], thread=thread, fresh=True)
    mine.settle()
    return mine.changes()[-1].no


def told(mine: OwnerMemory, person: str | None = None) -> set[str]:
    return {fact.text for fact in mine.facts(person=person)}


def both(mine: OwnerMemory) -> None:
    """A brother and a colleague of one name, each in a talk of its own."""
    say(mine, "My brother Jonas lives in Ghent.", thread="family")
    say(mine, "My colleague Jonas lives in Porto.", thread="work")


def names(mine: OwnerMemory) -> set[str]:
    return {one.name for one in mine.people() if one.name != "agent"}


def test_a_brother_and_a_colleague_of_one_name_are_two_who_move_and_are_asked_for_apart(
    opened: Opener, place: Place
) -> None:
    mine = opened().of("alice")
    both(mine)
    assert names(mine) == {"Alice", BROTHER, COLLEAGUE}
    assert told(mine, "brother Jonas") == told(mine, BROTHER) == told(mine, "brother") == {f"{BROTHER} lives in Ghent"}
    assert told(mine, "colleague Jonas") == told(mine, COLLEAGUE) == {f"{COLLEAGUE} lives in Porto"}
    assert {line.value for line in mine.profile("brother Jonas")} == {"Ghent"}
    assert {line.value for line in mine.profile("colleague Jonas")} == {"Porto"}
    assert mine.past_facts() == ()
    for one in mine.people():
        if one.name in (BROTHER, COLLEAGUE):
            assert "Jonas" not in one.names
            assert told(mine, one.id) == told(mine, one.name)
    assert_sound(place())

    mine = opened().of("alice", "2")
    both(mine)
    say(mine, "My brother Jonas moved to Lyon.", thread="later")
    assert told(mine, "brother Jonas") == {f"{BROTHER} lives in Lyon"}
    assert told(mine, "colleague Jonas") == {f"{COLLEAGUE} lives in Porto"}
    assert [fact.text for fact in mine.past_facts(person="brother Jonas")] == [f"{BROTHER} lives in Ghent"]
    assert mine.past_facts(person="colleague Jonas") == ()

    mine = opened().of("alice", "3")
    both(mine)
    for read in (mine.facts, mine.past_facts):
        with pytest.raises(InputError, match=rf"(?s){BROTHER}.*{COLLEAGUE}.*merge_people"):
            read(person="Jonas")
    with pytest.raises(InputError, match=COLLEAGUE):
        mine.profile("jonas")
    with pytest.raises(InputError, match=BROTHER):
        mine.learn([{"text": "Jonas likes tea", "subject": "Jonas"}])
    (learnt,) = mine.learn([{"text": "likes tea", "subject": "brother Jonas", "attribute": "likes", "value": "tea"}])
    assert learnt.person == BROTHER
    with pytest.raises(NotFound):
        mine.facts(person="brother Tim")

    mine = opened().of("alice", "4")
    both(mine)
    asked = mine.recall("Where does my colleague Jonas live?", budget=500)
    assert f"{COLLEAGUE} lives in Porto" in {fact.text for fact in asked.facts}
    assert "Porto" in next(fact.text for fact in asked.facts if "lives" in fact.text)


def test_they_are_two_from_when_the_second_is_told_of_and_a_friend_may_be_either(
    opened: Opener, clock: Clock, place: Place
) -> None:
    mine = opened().of("alice")
    say(mine, "My brother Jonas lives in Ghent.", thread="family")
    then = clock.now
    clock.go(60)
    say(mine, "My colleague Jonas lives in Porto.", thread="work")
    assert {fact.text for fact in mine.facts(person="Jonas", as_of=then)} == {"Jonas lives in Ghent"}
    assert [one.name for one in mine.people(as_of=then) if one.id not in ("user", "agent")] == ["Jonas"]
    assert told(mine, "brother Jonas") == {f"{BROTHER} lives in Ghent"}

    mine = opened().of("alice", "2")
    say(mine, "My brother Jonas lives in Ghent. My colleague Jonas lives in Porto.")
    assert told(mine, "brother Jonas") == {f"{BROTHER} lives in Ghent"}
    assert told(mine, "colleague Jonas") == {f"{COLLEAGUE} lives in Porto"}

    mine = opened().of("alice", "3")
    say(mine, "My colleague Jonas lives in Porto.", "My friend Jonas works as a nurse.")
    assert names(mine) == {"Alice", "Jonas"}
    assert told(mine, "Jonas") == {"Jonas lives in Porto", "Jonas works as a nurse"}
    say(mine, "My brother Jonas lives in Ghent.")
    assert told(mine, "friend Jonas") == told(mine, "colleague Jonas")
    assert "Ghent" not in " ".join(told(mine, "friend Jonas"))

    mine = opened().of("team", "4")
    say(mine, "My brother Jonas lives in Ghent.", name="Ann")
    say(mine, "My friend Jonas works as a baker.", name="Bob")
    assert told(mine, "Jonas") == {"Jonas lives in Ghent", "Jonas works as a baker"}

    mine = opened().of("team", "5")
    say(mine, "My friend Jonas works as a baker.", name="Bob", thread="club")
    both(mine)
    assert told(mine, "Bob's friend Jonas") == {"Bob's friend Jonas works as a baker"}
    assert told(mine, BROTHER) == {f"{BROTHER} lives in Ghent"}
    assert told(mine, COLLEAGUE) == {f"{COLLEAGUE} lives in Porto"}
    mine.merge_people("Bob's friend Jonas", COLLEAGUE)
    assert {fact.value for fact in mine.facts(person=COLLEAGUE)} == {"Porto", "baker"}
    assert_sound(place())


# ------------------------------------------------------------------------------------------------------ the name alone


class Talk:
    """What an analyst tells of talks in threads; the utterance n was said n days after NOW."""

    def __init__(self) -> None:
        self.threads: dict[int, ThreadId] = {}
        self.relations = (PersonRelation(relation=Relation.SPEAKS, one="Alice", other="user"),)
        self.knowledge = Knowledge(
            ALICE, Persona(relations=self.relations), thread_of=lambda seq: self.threads.get(seq)
        )

    def say(self, thread: str, *told: tuple[str, str, str], replaces: FactId | None = None) -> None:
        """One utterance, of which an analyst tells facts: subject, attribute and value."""
        seq = len(self.threads) + 1
        self.threads[seq] = ThreadId(thread)
        source = Source(seq=seq, utterance_id=UtteranceId(f"u{seq}"))
        facts = tuple(
            FactProposal(
                about=About.USER,
                subject=subject,
                attribute=attribute,
                value=value,
                text=f"{subject} {attribute} {value}",
                sources=(source,),
                single=attribute == "lives_in",
                replaces=replaces,
            )
            for subject, attribute, value in told
        )
        said, settings = {seq: NOW + timedelta(days=seq)}, load(None, **SMALL)
        change = PersonaChange(facts=facts)
        self.knowledge.learn(change, said=said, known=(), no=seq, at=NOW, settings=settings)

    def both(self) -> None:
        self.say("family", ("Alice", "has_relative", "brother Jonas"), ("Jonas", "lives_in", "Ghent"))
        self.say("work", ("Alice", "knows", "colleague Jonas"), ("Jonas", "lives_in", "Porto"))

    def known(self) -> dict[str, set[str]]:
        """The values that are held, by person."""
        people = People(ALICE, Persona(relations=self.relations, facts=self.knowledge.current()))
        found: dict[str, set[str]] = {}
        for fact in self.knowledge.current():
            if fact.attribute not in ("has_relative", "knows"):
                found.setdefault(people.shown(fact).person, set()).add(fact.value)
        return found


def test_the_name_alone_is_whom_the_thread_spoke_of_last_and_nobody_s_in_a_new_thread() -> None:
    talk = Talk()
    talk.both()
    talk.say("family", ("Jonas", "lives_in", "Lyon"))
    talk.say("work", ("Jonas", "lives_in", "Rome"))
    assert talk.known() == {BROTHER: {"Lyon"}, COLLEAGUE: {"Rome"}}
    talk.say("family", ("Alice", "knows", "colleague Jonas"))
    talk.say("family", ("Jonas", "lives_in", "Turin"))
    assert talk.known() == {BROTHER: {"Lyon"}, COLLEAGUE: {"Turin"}}

    talk = Talk()
    talk.both()
    talk.say("new", ("Jonas", "lives_in", "Rome"), ("Jonas", "likes", "tea"))
    assert talk.known() == {BROTHER: {"Ghent"}, COLLEAGUE: {"Porto"}, "Jonas": {"Rome", "tea"}}
    people = People(ALICE, Persona(relations=talk.relations, facts=talk.knowledge.current()))
    assert [(one.id, one.name, one.facts) for one in people.all() if one.undecided] == [("jonas?", "Jonas", 2)]
    assert people.find("jonas?") == "jonas?"
    assert people.namesakes("Jonas") == (BROTHER, COLLEAGUE)
    assert people.named_in("Where does my brother Jonas live?") == {people.find("brother Jonas")}
    assert people.named_in("Where does Jonas live?") == {people.find(name) for name in (BROTHER, COLLEAGUE, "Jonas")}

    talk = Talk()
    talk.say("family", ("Alice", "has_relative", "brother Jonas"), ("Jonas", "lives_in", "Ghent"))
    talk.say("new", ("Jonas", "likes", "tea"))
    assert talk.known() == {"Jonas": {"Ghent", "tea"}}
    talk.say("work", ("Alice", "knows", "colleague Jonas"), ("Jonas", "lives_in", "Porto"))
    assert talk.known() == {BROTHER: {"Ghent", "tea"}, COLLEAGUE: {"Porto"}}

    talk = Talk()
    talk.both()
    ghent = next(fact for fact in talk.knowledge.current() if fact.value == "Ghent")
    talk.say("new", ("Jonas", "lives_in", "Lyon"), replaces=ghent.id)
    assert talk.known() == {BROTHER: {"Lyon"}, COLLEAGUE: {"Porto"}}


def test_in_chinese_a_brother_and_a_colleague_are_two() -> None:
    talk = Talk()
    talk.say("家", ("Alice", "has_relative", "哥哥小明"), ("小明", "lives_in", "上海"))
    talk.say("工作", ("Alice", "knows", "同事小明"), ("小明", "lives_in", "北京"))
    talk.say("家", ("Alice", "has_relative", "弟弟小明"), ("小明", "lives_in", "广州"))
    assert talk.known() == {"Alice的哥哥小明": {"上海"}, "Alice的同事小明": {"北京"}, "Alice的弟弟小明": {"广州"}}


# ------------------------------------------------------------------------------------------------- rulings, forgetting


@pytest.mark.engines
def test_callers_merge_split_and_rule_until_it_is_undone(opened: Opener, clock: Clock, place: Place) -> None:
    memory = opened()
    mine = memory.of("alice")
    say(mine, "My brother Jonas lives in Ghent.", thread="family")
    clock.go(60)
    say(mine, "My colleague Jonas lives in Porto.", thread="work")
    before = told(mine)
    merged = mine.merge_people("brother Jonas", "colleague Jonas")
    assert told(mine, "Jonas") == {"Jonas lives in Porto"}
    assert [fact.value for fact in mine.past_facts(person="Jonas")] == ["Ghent"]
    assert names(mine) == {"Alice", "Jonas"}
    mine.undo(merged)
    assert told(mine) == before
    assert names(mine) == {"Alice", BROTHER, COLLEAGUE}
    assert [one.same for one in memory.rebuild()] == [True]
    assert_sound(place())

    mine = opened().of("alice", "2")
    both(mine)
    ruled = mine.merge_people("Jonas", "brother Jonas")
    assert {fact.value for fact in mine.facts(person="Jonas")} == {"Ghent"}
    assert {fact.value for fact in mine.facts(person="colleague Jonas")} == {"Porto"}
    mine.undo(ruled)
    with pytest.raises(InputError, match=BROTHER):
        mine.facts(person="Jonas")

    mine = opened().of("alice", "3")
    say(mine, "My colleague Jonas lives in Porto.", thread="work")
    say(mine, "My friend Jonas works as a nurse.", thread="club")
    split = mine.split_people("colleague Jonas", "friend Jonas")
    assert names(mine) == {"Alice", COLLEAGUE, "Alice's friend Jonas"}
    say(mine, "My friend Jonas lives in Oslo.", thread="club")
    assert {fact.value for fact in mine.facts(person="colleague Jonas")} >= {"Porto"}
    assert "Oslo" in {fact.value for fact in mine.facts(person="friend Jonas")}
    mine.undo(split)
    assert names(mine) == {"Alice", "Jonas"}
    assert_sound(place())


def test_a_speaker_keeps_the_name_and_when_all_of_one_is_forgotten_it_is_the_other_s(
    opened: Opener, place: Place
) -> None:
    memory = opened()
    mine = memory.of("alice")
    say(mine, "My brother Jonas lives in Ghent.", thread="family")
    page = mine.add_messages(
        [{"role": "user", "name": "Alice", "content": "My colleague Jonas lives in Porto."}], thread="work", fresh=True
    ).page_ids[0]
    mine.settle()
    mine.forget(page=page)
    assert told(mine, "Jonas") == {"Jonas lives in Ghent"}
    assert names(mine) == {"Alice", "Jonas"}
    assert_sound(place())
    assert not [one for one in memory.check(deep=True) if one.level == "error"]

    mine = opened().of("team", "2")
    say(mine, "I live in Oslo.", name="Jonas")
    both(mine)
    assert {fact.value for fact in mine.facts(person="colleague Jonas")} == {"Porto"}
    assert "Jonas" in names(mine)
    assert told(mine, "Jonas")


@pytest.mark.engines
def test_two_of_one_name_travel_and_are_derived_anew(opened: Opener, place: Place) -> None:
    memory = opened()
    mine = memory.of("alice")
    both(mine)
    known, facts = names(mine), told(mine)
    other = opened("other.db")
    imported(other, exported(memory))
    assert (names(other.of("alice")), told(other.of("alice"))) == (known, facts)
    mine.understand_anew()
    assert (names(mine), told(mine)) == (known, facts)
    assert_sound(place())


# ------------------------------------------------------------------------------------------------------ what excludes


def test_which_relations_exclude_each_other() -> None:
    wrong = [
        (one, other, excludes)
        for one, other, excludes in (
            ("brother", "colleague", True),
            ("brother", "friend", True),
            ("brother", "half-brother", False),
            ("brother", "twin", False),
            ("brother", "brother-in-law", True),
            ("sister", "mother", True),
            ("sister", "brother", True),
            ("mother", "mom", False),
            ("friend", "colleague", False),
            ("friend", "husband", False),
            ("wife", "colleague", False),
            ("wife", "fiancee", False),
            ("husband", "uncle", True),
            ("boss", "father", True),
            ("godmother", "aunt", False),
            ("godmother", "uncle", True),
            ("哥哥", "同事", True),
            ("哥哥", "弟弟", True),
            ("哥哥", "双胞胎哥哥", False),
            ("哥哥", "brother", False),
            ("爷爷", "外公", True),
            ("爷爷", "grandfather", False),
            ("老婆", "同事", False),
            ("叔叔", "邻居", False),
            ("朋友", "同学", False),
        )
        if not (excluded(one, other) is excluded(other, one) is excludes)
    ]
    assert wrong == []
