"""How proposals become facts, traits and profile lines, and what they supersede."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from embermem.core import messages
from embermem.core.changes import (
    Decision,
    FactAdded,
    FactArchived,
    FactExpires,
    FactRetired,
    FactStrengthened,
    ProfileSet,
    TraitSet,
)
from embermem.core.config import load
from embermem.core.equations import evidence_confidence, evidence_level
from embermem.core.types import (
    About,
    Fact,
    FactId,
    FactProposal,
    Persona,
    PersonaChange,
    PersonRelation,
    ProfileField,
    ProfileProposal,
    Relation,
    Source,
    TraitProposal,
    UtteranceId,
)
from embermem.memoryos.ingest.long_term import Knowledge
from embermem.memoryos.ingest.profile_lines import derived_traits
from scripted import NOW

OWNER = messages.owner("ann", "default")

SETTINGS = load(user_facts=3, agent_facts=2)


def source(seq: int) -> Source:
    return Source(seq=seq, utterance_id=UtteranceId(f"u{seq}"))


def home(city: str, seq: int, **more: object) -> FactProposal:
    made = FactProposal(
        about=About.USER,
        subject="user",
        attribute="lives_in",
        value=city,
        text=f"lives in {city}",
        sources=(source(seq),),
        single=True,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def likes(thing: str, seq: int, about: About = About.USER, *, retracts: bool = False) -> FactProposal:
    return home(thing, seq, attribute="likes", text=f"likes {thing}", single=False, about=about, retracts=retracts)


class Learner:
    """Knowledge that learns one page at a time; utterance n was said n days after NOW, unless told otherwise."""

    def __init__(self, persona: Persona | None = None, said: dict[int, datetime] | None = None) -> None:
        self.knowledge = Knowledge(OWNER, persona or Persona())
        self.said = {seq: NOW + timedelta(days=seq) for seq in range(1, 400)} | (said or {})
        self.no = 0

    def learn(
        self,
        *facts: FactProposal,
        **more: tuple[TraitProposal, ...] | tuple[ProfileProposal, ...] | tuple[FactProposal, ...],
    ) -> list[Decision]:
        self.no += 1
        change = PersonaChange(facts=facts, **more)  # type: ignore[arg-type]
        return self.knowledge.learn(change, said=self.said, known=(), no=self.no, at=NOW, settings=SETTINGS)

    def current(self, attribute: str = "lives_in") -> list[str]:
        return [fact.value for fact in self.knowledge.current() if fact.attribute == attribute]


def kinds(decisions: Iterable[Decision]) -> list[str]:
    return [type(decision).__name__ for decision in decisions]


# ------------------------------------------------------------------------------------------------------- facts


def test_a_new_value_supersedes_the_old_from_the_day_it_was_said_and_an_older_one_enters_as_history() -> None:
    learner = Learner()
    learner.learn(home("Lyon", 1))
    added, retired = learner.learn(home("Nantes", 2))
    assert isinstance(added, FactAdded)
    assert isinstance(retired, FactRetired)
    assert (retired.superseded_by, retired.valid_to) == (added.fact_id, learner.said[2])
    assert learner.current() == ["Nantes"]

    learner = Learner()
    learner.learn(likes("tea", 1))
    learner.learn(likes("figs", 2))
    assert learner.current("likes") == ["tea", "figs"]

    learner = Learner(said={1: NOW, 2: NOW - timedelta(days=400)})
    (first,) = learner.learn(home("Nantes", 1))
    added, retired = learner.learn(home("Lyon", 2))
    assert isinstance(first, FactAdded)
    assert isinstance(added, FactAdded)
    assert isinstance(retired, FactRetired)
    assert (retired.fact_id, retired.superseded_by, retired.valid_to) == (added.fact_id, first.fact_id, NOW)
    assert added.valid_from == NOW - timedelta(days=400)
    assert learner.current() == ["Nantes"]

    learner = Learner()
    learner.learn(home("Nantes", 1, valid_from=NOW - timedelta(days=10)))
    learner.learn(home("Lyon", 2, valid_from=NOW - timedelta(days=900)))
    assert learner.current() == ["Nantes"]

    same_time = {1: NOW, 2: NOW}
    for order in ([1, 0], [0, 1]):
        learner = Learner(said=same_time)
        proposals = (home("Lyon", 1), home("Nantes", 2))
        learner.learn(*(proposals[i] for i in order))
        assert learner.current() == ["Nantes"]

    learner = Learner()
    learner.learn(home("Lyon", 1))
    assert kinds(learner.learn(home("Nantes", 2, subject="sister Ana"))) == ["FactAdded"]
    assert kinds(learner.learn(home("Oslo", 3, about=About.AGENT))) == ["FactAdded"]
    assert learner.current() == ["Lyon", "Nantes", "Oslo"]

    learner = Learner()
    for seq, city in enumerate(("Lyon", "Nantes", "Lyon"), 1):
        learner.learn(home(city, seq))
    assert learner.current() == ["Lyon"]
    assert learner.knowledge.current()[0].valid_from == learner.said[3]


def test_what_is_said_again_strengthens_and_a_page_read_again_teaches_nothing_twice() -> None:
    learner = Learner()
    learner.learn(home("Lyon", 1))
    (again,) = learner.learn(home("  LYON. ", 5))
    assert isinstance(again, FactStrengthened)
    assert again.sources == (source(5),)
    assert [s.seq for s in learner.knowledge.current()[0].sources] == [1, 5]

    learner = Learner()
    learner.learn(likes("hiking in the hills", 1))
    (again,) = learner.learn(likes("to hike in hills", 2))
    assert isinstance(again, FactStrengthened)
    assert learner.current("likes") == ["hiking in the hills"]
    assert kinds(learner.learn(likes("hiking in the Alps", 3))) == ["FactAdded"]

    learner = Learner()
    pages = [(home("Lyon", 1), likes("tea", 1)), (home("Nantes", 2),), (likes("figs", 3),)]
    for facts in pages:
        learner.learn(*facts)
    before = learner.knowledge.current()
    for facts in pages:
        assert learner.learn(*facts) == []
    assert learner.knowledge.current() == before

    learner = Learner()
    learner.learn(likes("tea", 1))
    told = replace(likes("coffee", 2), replaces=learner_fact_id(1))
    learner.learn(told)
    before = learner.knowledge.current()
    assert learner.learn(told) == []
    assert learner.learn(replace(told, replaces=None)) == []
    assert learner.knowledge.current() == before

    learner = Learner()
    learner.learn(home("Lyon", 1))
    assert kinds(learner.learn(home("lyon", 2, replaces=learner_fact_id(1)))) == ["FactStrengthened"]


def test_an_end_finds_the_fact_by_its_words_or_as_the_only_one_and_of_two_that_may_be_meant_ends_none() -> None:
    def knows(value: str, seq: int, attribute: str = "has_relative", *, retracts: bool = False) -> FactProposal:
        return replace(likes(value, seq, retracts=retracts), attribute=attribute)

    cases = {
        "by a name": ([("has_relative", "boyfriend Tom"), ("has_relative", "sister Ana")], ("has_relative", "Tom"), 0),
        "by a relation": ([("has_relative", "boyfriend Tom"), ("has_relative", "son Leo")], ("has_relative", "son"), 1),
        "the only one": ([("has_pet", "a cat")], ("has_pet", ""), 0),
        "one of two": ([("has_pet", "a cat"), ("has_pet", "a dog")], ("has_pet", ""), None),
        "of two with the word": ([("has_pet", "a grey cat"), ("has_pet", "a red cat")], ("has_pet", "cat"), None),
        "a job by a common noun": ([("works_at", "Marlow Savings")], ("works_at", "bank"), 0),
        "a job by another name": ([("works_at", "Marlow Savings")], ("works_at", "Tesco"), None),
        "told otherwise": ([("does", "goes to a pottery class"), ("likes", "tea")], ("likes", "pottery"), 0),
        "another matter": ([("has_relative", "wife Ana")], ("likes", "Ana"), None),
        "a job by other words": (
            [("works_at", "Marlow Savings")],
            ("works_at", "mechanical engineering company"),
            None,
        ),
        "most of its words": ([("plans", "visit the old town")], ("plans", "already visited the old town hall"), 0),
        "one word of several": ([("plans", "start a dance studio")], ("plans", "start painting"), None),
        "another number": ([("plans", "reach 100% test coverage")], ("plans", "reach 85% test coverage"), None),
        "one of two doings": ([("does", "plays chess"), ("likes", "to play the harp")], ("does", "play"), None),
        "an animal told as a person": ([("has_pet", "cat Luna")], ("has_relative", "Luna"), 0),
        "with its verb": ([("knows", "lodger Wilf")], ("has_relative", "wilfs"), 0),
        "a plan told as a booking": ([("owns", "a booking at the Taj")], ("plans", "Taj"), 0),
    }
    ended = {}
    for case, (held, (attribute, value), _) in cases.items():
        learner = Learner()
        learner.learn(*(knows(what, 1, of) for of, what in held))
        learner.learn(knows(value, 2, attribute, retracts=True))
        current = {fact.value for fact in learner.knowledge.current()}
        gone = [place for place, (_, what) in enumerate(held) if what not in current]
        ended[case] = gone[0] if gone else None
    assert ended == {case: right for case, (_, _, right) in cases.items()}


def test_with_a_divorce_a_partner_ends_and_with_a_death_what_was_so_of_who_died() -> None:
    def told(attribute: str, value: str, seq: int, **more: object) -> FactProposal:
        return home(value, seq, attribute=attribute, single=attribute in {"marital_status", "lives_in"}, **more)

    learner = Learner()
    learner.learn(told("has_relative", "wife Anna", 1), told("has_relative", "son Leo", 1))
    learner.learn(told("has_relative", "grandmother Rosa", 2), home("Porto", 2, subject="Rosa"))
    learner.learn(told("marital_status", "divorced", 3))
    assert learner.current("has_relative") == ["son Leo", "grandmother Rosa"]
    assert learner.current("lives_in") == ["Porto"]
    learner.learn(told("has_relative", "Rosa", 4, retracts=True))
    assert learner.current("lives_in") == []
    learner.learn(told("has_relative", "boyfriend Tom", 5), home("Lyon", 5, subject="Tom"))
    learner.learn(told("has_relative", "Tom", 6, retracts=True))
    assert learner.current("lives_in") == ["Lyon"]  # who is left lives on

    learner = Learner()  # neither a name that is given up nor one that is corrected is a death
    learner.learn(told("name", "Ana", 1), home("Lyon", 1), told("has_relative", "sister Carla", 1))
    learner.learn(home("Rome", 1, subject="Carla"))
    learner.learn(told("name", "Ana", 2, retracts=True))
    learner.learn(told("has_relative", "sister", 3, retracts=True), told("has_relative", "sister Clara", 3))
    assert learner.current("lives_in") == ["Lyon", "Rome"]


def test_an_unsure_value_takes_no_place_and_one_with_fewer_words_is_the_same() -> None:
    learner = Learner()
    learner.learn(home("Siemens", 1, attribute="works_at"))
    assert learner.learn(home("listing companies", 2, attribute="works_at", sure=False)) == []
    learner.learn(home("Rice University", 1, attribute="studies_at"))
    assert kinds(learner.learn(home("university", 2, attribute="studies_at"))) == ["FactStrengthened"]
    assert learner.current("works_at") + learner.current("studies_at") == ["Siemens", "Rice University"]

    learner = Learner()  # what is told of a colleague without a name may be another's
    learner.learn(
        home("Gent", 1, subject="user's colleague", single=False), home("Oslo", 2, subject="user's colleague")
    )
    assert learner.current("lives_in") == ["Gent", "Oslo"]


def test_a_retraction_ends_what_was_said_before_it_and_nothing_else() -> None:
    learner = Learner()
    learner.learn(likes("green tea", 1), likes("tea", 1))
    assert kinds(learner.learn(likes("the green tea", 2, retracts=True))) == ["FactRetired"]
    assert learner.current("likes") == ["tea"]

    learner = Learner()
    learner.learn(home("Lyon", 2))
    assert learner.learn(home("Lyon", 1, retracts=True)) == []
    (retired,) = learner.learn(home("Lyon", 3, retracts=True))
    assert isinstance(retired, FactRetired)
    assert (retired.superseded_by, retired.valid_to) == (None, learner.said[3])
    assert learner.current() == []

    learner = Learner(said=dict.fromkeys(range(1, 9), NOW))
    learner.learn(home("Lyon", 1))
    learner.learn(home("Lyon", 2, retracts=True))
    learner.learn(home("Lyon", 3))
    assert learner.learn(home("Lyon", 2, retracts=True)) == []
    assert learner.current() == ["Lyon"]

    learner = Learner()
    learner.learn(home("Lyon", 1))
    assert learner.learn(home("Nantes", 2, retracts=True)) == []

    learner = Learner()
    learner.learn(likes("tea", 1))
    (retired,) = learner.learn(replace(likes("tea", 2), replaces=learner_fact_id(1), retracts=True))
    assert isinstance(retired, FactRetired)
    assert (retired.superseded_by, retired.valid_to) == (None, learner.said[2])
    assert learner.learn(replace(likes("tea", 2), replaces=learner_fact_id(1), retracts=True)) == []


def test_a_fact_that_names_what_it_replaces_supersedes_it_if_that_is_held() -> None:
    learner = Learner()
    learner.learn(likes("tea", 1), likes("figs", 2))
    added, retired = learner.learn(replace(likes("coffee", 3), replaces=learner_fact_id(1)))
    assert isinstance(added, FactAdded)
    assert isinstance(retired, FactRetired)
    assert added.valid_from == learner.said[3]
    assert (retired.fact_id, retired.superseded_by) == (learner_fact_id(1), added.fact_id)
    assert retired.valid_to == learner.said[3]
    assert learner.current("likes") == ["figs", "coffee"]

    learner = Learner()
    learner.learn(home("Lyon", 1))
    learner.learn(home("Nantes", 2))
    for wrong in ("f1-000", "f9-000"):  # superseded by now; never there
        assert learner.learn(home("Oslo", 3, replaces=FactId(wrong))) == []
        assert learner.learn(home("Oslo", 3, replaces=FactId(wrong), retracts=True)) == []
    assert learner.learn(home("Oslo", 3, replaces=FactId("f2-000"), about=About.AGENT)) == []
    assert learner.current() == ["Nantes"]

    learner = Learner()
    learner.learn(home("Lyon", 1))
    decisions = learner.learn(home("Nantes", 2, replaces=learner_fact_id(1)))
    assert kinds(decisions) == ["FactAdded", "FactRetired"]

    learner = Learner()
    learner.learn(likes("tea", 1), likes("figs", 2))
    again, retired = learner.learn(replace(likes("figs", 3), replaces=learner_fact_id(1)))
    assert isinstance(again, FactStrengthened)
    assert isinstance(retired, FactRetired)
    assert retired.superseded_by == again.fact_id
    assert learner.current("likes") == ["figs"]

    learner = Learner(said={1: NOW, 2: NOW - timedelta(days=400)})
    learner.learn(likes("tea", 1))
    added, retired = learner.learn(replace(likes("milk", 2), replaces=learner_fact_id(1)))
    assert isinstance(added, FactAdded)
    assert isinstance(retired, FactRetired)
    assert (retired.fact_id, retired.superseded_by, retired.valid_to) == (added.fact_id, learner_fact_id(1), NOW)
    assert learner.current("likes") == ["tea"]


def test_a_finding_that_is_dropped_is_taken_back_unless_more_bears_the_fact_out() -> None:
    """Claims dropped after what was learnt: what of homes and likings is held then, and the decisions."""
    oslo, lyon, left = home("Oslo", 1), home("Lyon", 2), home("Lyon", 3, retracts=True)
    cases: list[tuple[str, list[FactProposal], list[FactProposal], list[str], list[str]]] = [
        ("alone", [lyon], [lyon], [], ["FactRetired"]),
        (
            "what it superseded holds again",
            [oslo, lyon],
            [lyon],
            ["Oslo"],
            ["FactRetired", "FactRestored", "ProfileSet"],
        ),
        ("said elsewhere too", [lyon, home("Lyon", 4)], [lyon], ["Lyon"], []),
        ("said elsewhere only", [home("Lyon", 4)], [lyon], ["Lyon"], []),
        ("another value", [lyon], [home("Nice", 2)], ["Lyon"], []),
        ("of somebody else", [lyon], [home("Lyon", 2, subject="Ana")], ["Lyon"], []),
        ("never learnt", [oslo], [home("Rome", 5)], ["Oslo"], []),
        ("an end", [lyon, left], [left], ["Lyon"], ["FactRestored", "ProfileSet"]),
        ("an end by other words", [lyon, left], [replace(left, sources=(source(5),))], [], []),
        (
            "both of two",
            [oslo, lyon],
            [oslo, lyon],
            [],
            ["FactRetired", "FactRestored", "ProfileSet", "FactRetired", "ProfileSet"],
        ),
    ]
    for name, told, dropped, held, decided in cases:
        learner = Learner()
        for one in told:
            learner.learn(one)
        assert kinds(learner.learn(dropped=tuple(dropped))) == decided, name
        assert learner.current() == held, name
        if name in {"alone", "what it superseded holds again"}:
            assert learner.learn(*dropped) == [], name  # the page that was read again
    learner = Learner()
    learner.learn(lyon)
    (fact,) = learner.knowledge.current()
    pinned = Learner(Persona(facts=(replace(fact, pinned=True),)))
    assert (pinned.learn(dropped=(lyon,)), pinned.current()) == ([], ["Lyon"])
    assert (learner.learn(lyon, dropped=(lyon,)), learner.current()) == ([], ["Lyon"])  # dropped, and told


def test_a_pet_with_its_name_is_the_same_as_without_and_a_name_outlives_other_facts() -> None:
    learner = Learner()
    learner.learn(home("Lyon", 1), profile=(named("Sam", 1), replace(named("Lyon", 1), name="home")))
    decisions = learner.learn(home("Nantes", 2))
    assert [(d.name, d.value) for d in decisions if isinstance(d, ProfileSet)] == [("home", None)]

    learner = Learner()
    learner.learn(pet("a dog", 1))
    added, retired = learner.learn(pet("a dog named Rex", 2))
    assert isinstance(added, FactAdded)
    assert isinstance(retired, FactRetired)
    assert (retired.superseded_by, retired.valid_to) == (added.fact_id, learner.said[2])
    assert learner.current("has_pet") == ["a dog named Rex"]

    learner = Learner()
    learner.learn(pet("a dog named Rex", 1))
    assert kinds(learner.learn(pet("a dog", 2))) == ["FactStrengthened"]
    learner.learn(pet("a dog named Bo", 3))
    assert learner.current("has_pet") == ["a dog named Rex", "a dog named Bo"]

    sister = likes("sister Ana", 1)
    learner = Learner(speaks("Bob"))
    learner.learn(replace(sister, subject="Bob", attribute="has_relative"), home("Lyon", 2, subject="Ana"))
    learner.learn(home("Nantes", 3, subject="Bob's sister"))
    assert learner.current() == ["Nantes"]
    learner.learn(home("Rome", 4, subject="Eva's sister"))
    assert learner.current() == ["Nantes", "Rome"]


def pet(value: str, seq: int) -> FactProposal:
    return replace(likes(value, seq), attribute="has_pet")


def test_the_oldest_above_the_cap_of_a_knowledge_base_goes_to_the_archive_unless_it_is_pinned() -> None:
    learner = Learner()
    for seq, thing in enumerate(("tea", "figs", "jazz"), 1):
        learner.learn(likes(thing, seq))
    added, archived = learner.learn(likes("rain", 4))
    assert isinstance(added, FactAdded)
    assert archived == FactArchived(fact_id=learner_fact_id(1))
    assert learner.current("likes") == ["figs", "jazz", "rain"]

    learner = Learner()
    for seq, thing in enumerate(("tea", "figs", "jazz"), 1):
        learner.learn(likes(thing, seq))
    learner.learn(likes("tea", 4))
    learner.learn(likes("rain", 5))
    assert learner.current("likes") == ["jazz", "tea", "rain"]

    learner = Learner()
    for seq, thing in enumerate(("a", "b", "c"), 1):
        learner.learn(likes(thing, seq, About.AGENT))
        learner.learn(likes(thing, seq))
    held = learner.knowledge.current()
    assert [f.value for f in held if f.about is About.AGENT] == ["b", "c"]
    assert [f.value for f in held if f.about is About.USER] == ["a", "b", "c"]

    pinned = Fact(
        id=FactId("f0-000"),
        about=About.USER,
        subject="user",
        attribute="likes",
        value="salt",
        text="likes salt",
        sources=(source(1),),
        valid_from=NOW,
        valid_to=None,
        recorded_at=NOW,
        pinned=True,
    )
    learner = Learner(Persona(facts=(pinned,)))
    for seq, thing in enumerate(("a", "b", "c", "d"), 2):
        learner.learn(likes(thing, seq))
    assert learner.current("likes") == ["salt", "b", "c", "d"]


def learner_fact_id(no: int) -> FactId:
    return FactId(f"f{no}-000")


def test_evidence_for_a_trait_is_merged_once_by_its_confidence_within_bounds() -> None:
    learner = Learner()
    assert learner.learn(home("Lyon", 1, sources=())) == []
    assert learner.learn(home("Lyon", 1, sources=(source(4000),))) == []
    (added,) = learner.learn(home("Lyon", 1, sources=(source(4000), source(3))))
    assert isinstance(added, FactAdded)
    assert added.sources == (source(3),)
    assert learner.learn(profile=(ProfileProposal(name="name", value="Eve", sources=()),)) == []

    learner = Learner()
    learner.learn(traits=(trait(1.0, 0.5, 1),))
    (merged,) = learner.learn(traits=(trait(-1.0, 0.25, 2),))
    assert isinstance(merged, TraitSet)
    assert merged.level == pytest.approx(evidence_level(1.0, 0.5, -1.0, 0.25))
    assert merged.confidence == pytest.approx(evidence_confidence(0.5, 0.25))
    assert {s.seq for s in merged.sources} == {1, 2}

    learner = Learner()
    learner.learn(traits=(trait(1.0, 0.5, 1),))
    assert learner.learn(traits=(trait(1.0, 0.5, 1),)) == []

    learner = Learner()
    unknown = replace(trait(1.0, 0.5, 1), dimension="luck")
    assert learner.learn(traits=(unknown,)) == []
    (kept,) = learner.learn(traits=(trait(9.0, 7.0, 1),))
    assert isinstance(kept, TraitSet)
    assert (kept.level, kept.confidence) == (1.0, 1.0)


# ------------------------------------------------------------------------------------------------------- traits


def trait(level: float, confidence: float, *seqs: int, dimension: str = "extraversion") -> TraitProposal:
    from embermem.core.traits import dimensions

    known = {d.name for d in dimensions()}
    name = (
        dimension if dimension in known else next(d.name for d in dimensions() if d.name not in ("age_group", "gender"))
    )
    return TraitProposal(dimension=name, level=level, confidence=confidence, sources=tuple(source(s) for s in seqs))


# ------------------------------------------------------------------------------------------------------- profile


def named(value: str, seq: int) -> ProfileProposal:
    return ProfileProposal(name="name", value=value, sources=(source(seq),))


def profile_field(name: str, value: str, set_by: str = "caller") -> ProfileField:
    return ProfileField(whose=About.USER, name=name, value=value, sources=(), recorded_at=NOW, set_by=set_by)


def test_an_analyst_fills_the_profile_of_the_user_s_own_words_and_the_caller_s_is_not_overwritten() -> None:
    learner = Learner()
    (first,) = learner.learn(profile=(named("Sam", 2),))
    assert isinstance(first, ProfileSet)
    assert (first.value, first.set_by) == ("Sam", "analyst")
    assert learner.learn(profile=(named("sam.", 3),)) == []
    assert learner.learn(profile=(named("Old", 1),)) == []
    assert kinds(learner.learn(profile=(named("Samantha", 4),))) == ["ProfileSet"]

    learner = Learner(Persona(profile=(profile_field("name", "Alice"),)))
    assert learner.learn(profile=(named("Sam", 2),)) == []

    line = ProfileProposal(name="home", value="Rome", sources=(source(1),), subject="Bob")
    trait = TraitProposal(dimension="music", level=0.5, confidence=0.5, sources=(source(1),), subject="Bob")
    for speakers, kept in ((("Ann", "Bob"), []), (("Bob",), ["TraitSet", "ProfileSet"]), (("Bob", "Cleo"), [])):
        learner = Learner(speaks(*speakers))
        assert kinds(learner.learn(profile=(line,), traits=(trait,))) == kept


def test_age_group_and_gender_are_derived_from_the_profile_where_it_is_clear() -> None:
    for born, level in ((2010, 1.0), (2006, 1.0), (1986, 0.0), (1966, -1.0), (1930, -1.0), (2999, 1.0)):
        (age,) = derived_traits([profile_field("birth_year", str(born))], NOW)
        assert (age.dimension, age.confidence) == ("age_group", 1.0)
        assert age.level == pytest.approx(level)

    for said, level in (("Female", 1.0), ("女", 1.0), ("man", -1.0), ("男", -1.0)):
        (gender,) = derived_traits([profile_field("gender", said)], NOW)
        assert (gender.dimension, gender.level) == ("gender", level)

    unclear = [profile_field("birth_year", "²"), profile_field("gender", "none of yours")]
    assert derived_traits(unclear, NOW) == ()


# -------------------------------------------------------------------------------------------------------- persons


def speaks(*names: str) -> Persona:
    """A memory in which these have spoken in the role user."""
    return Persona(relations=tuple(PersonRelation(relation=Relation.SPEAKS, one=name, other="user") for name in names))


def test_each_subject_has_a_cap_and_tastes_leave_first_but_in_the_paper_the_oldest() -> None:
    for preset, gone in ((None, []), ("paper", ["tea 0", "tea 1", "tea 2"])):
        learner = Learner(speaks("Ann", "Bob"))
        facts = [likes(f"tea {n}", n + 1) for n in range(6)]
        told = [replace(fact, subject=("Ann", "Bob")[n % 2]) for n, fact in enumerate(facts)]
        chosen = load(preset, user_facts=3)
        made = learner.knowledge.learn(
            PersonaChange(facts=tuple(told)), said=learner.said, known=(), no=1, at=NOW, settings=chosen
        )
        values = {d.fact_id: d.value for d in made if isinstance(d, FactAdded)}
        assert [values[d.fact_id] for d in made if isinstance(d, FactArchived)] == gone

    learner = Learner()
    nuts = likes("nuts", 2)
    learner.learn(home("Lyon", 1), replace(nuts, attribute="allergic_to"), likes("tea", 3))
    learner.learn(likes("figs", 4), likes("jazz", 5))
    assert {fact.attribute for fact in learner.knowledge.current()} == {"lives_in", "allergic_to", "likes"}
    assert learner.current("likes") == ["jazz"]

    learner = Learner()
    four = (home("Lyon", 1), likes("tea", 2), likes("figs", 3), likes("jazz", 4))
    learner.knowledge.learn(
        PersonaChange(facts=four), said=learner.said, known=(), no=1, at=NOW, settings=load("paper", user_facts=3)
    )
    assert learner.current() == []


def test_a_value_in_the_archive_ends_where_a_new_one_holds_or_it_is_taken_back() -> None:
    away = Fact(
        id=FactId("f0-000"), about=About.USER, subject="Ann", attribute="lives_in", value="Lyon",
        text="Ann lives in Lyon", sources=(source(1),), valid_from=NOW, valid_to=None, recorded_at=NOW, archived=True,
    )  # fmt: skip
    for subject, ended in (("Bob", []), ("ann", ["f0-000"]), ("Ann", ["f0-000"])):
        learner = Learner(speaks("Ann", "Bob"))
        made = learner.knowledge.learn(
            PersonaChange(facts=(home("Nantes", 2, subject=subject),)),
            said=learner.said,
            known=(away,),
            no=1,
            at=NOW,
            settings=SETTINGS,
        )
        retired = [d for d in made if isinstance(d, FactRetired)]
        assert [d.fact_id for d in retired] == ended
        assert all(d.valid_to == learner.said[2] for d in retired)

    away = Fact(
        id=FactId("f0-000"), about=About.USER, subject="user", attribute="likes", value="tea", text="likes tea",
        sources=(source(1),), valid_from=NOW, valid_to=None, recorded_at=NOW, archived=True,
    )  # fmt: skip
    learner = Learner()
    (taken,) = learner.knowledge.learn(
        PersonaChange(facts=(likes("tea", 2, retracts=True),)),
        said=learner.said,
        known=(away,),
        no=1,
        at=NOW,
        settings=SETTINGS,
    )
    assert isinstance(taken, FactRetired)
    assert taken.fact_id == away.id

    learner = Learner()
    soon, later = NOW + timedelta(days=30), NOW + timedelta(days=60)
    trip = likes("visit Rome", 1)
    (added,) = learner.learn(replace(trip, attribute="plans", expires_at=soon))
    assert isinstance(added, FactAdded)
    assert added.expires_at == soon
    again = replace(trip, attribute="plans", sources=(source(2),))
    assert kinds(learner.learn(replace(again, expires_at=soon))) == ["FactStrengthened"]
    _, moved = learner.learn(replace(again, sources=(source(3),), expires_at=later))
    assert isinstance(moved, FactExpires)
    assert (moved.fact_id, moved.at) == (added.fact_id, later)
