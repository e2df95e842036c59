"""Scopes: what they exclude has no influence, and what was derived is told only if all it rests on is in scope."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from embermem import Context, Memory, OwnerMemory, Scope
from embermem.core.types import Hit, Source, Tier
from proofs import bounded
from scripted import NOW, SMALL, Clock, Opener

QUERIES = ("Where did Ann see the heron by the lake last week?", "Which tea?", "What do you know about Ann?", "otter")
SHARED = ["heron", "lake", "tea", "museum", "Ann", "figs", "green", "yesterday", "on 3 May", "why?"]
HIDDEN = [*SHARED, "otter", "volcano", "Bo"]
IN_TIME, TOO_EARLY, TOO_LATE = NOW, NOW - timedelta(days=30), NOW + timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message of a test."""

    text: str
    thread: str = "a"
    speaker: str = "Ann"
    role: str = "user"
    at: datetime = IN_TIME
    metadata: tuple[tuple[str, Any], ...] = (("ticket", "T-1"),)


SCOPES: Mapping[str, tuple[Scope, Sequence[dict[str, Any]]]] = {
    "threads": (Scope(threads=["a", "never"]), [{"thread": "b"}, {"thread": "c", "role": "assistant"}]),
    "not threads": (Scope(not_threads=["b", "c"]), [{"thread": "b"}, {"thread": "c", "role": "assistant"}]),
    "metadata": (
        Scope(metadata={"ticket": {"$in": ["T-1", "T-9"]}}),
        [{"metadata": ()}, {"metadata": (("ticket", "T-2"),)}, {"metadata": (("tags", ("T-1",)),)}],
    ),
    "not metadata": (Scope(metadata={"$not": {"secret": True}}), [{"metadata": (("secret", True),)}]),
    "speakers": (Scope(speakers=["Ann", "Cy"]), [{"speaker": "Bo"}, {"speaker": "Dan", "thread": "b"}]),
    "times": (
        Scope(since="2026-05-01", until="2026-05-03"),
        [{"at": TOO_EARLY}, {"at": TOO_LATE, "thread": "b"}],
    ),
    "several": (
        Scope(threads=["a"], metadata={"ticket": "T-1"}),
        [{"thread": "b"}, {"metadata": ()}],
    ),
}


@pytest.fixture(scope="module")
def owners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], OwnerMemory]]:
    """Gives a new owner of the same name for each memory of a test."""
    agents = itertools.count()
    with Memory(tmp_path_factory.mktemp("scopes") / "memory.db", clock=Clock(), **SMALL) as memory:
        yield lambda: memory.of("cy", agent=f"agent {next(agents)}")


def lines(words: Sequence[str], **of: Any) -> some.SearchStrategy[Said]:
    texts = some.lists(some.sampled_from(words), min_size=1, max_size=6).map(" ".join)
    minutes = some.integers(0, 300)
    at = of.pop("at", IN_TIME)
    return some.builds(
        lambda text, minute, **own: Said(text=text, at=at + timedelta(minutes=minute), **own),
        texts,
        minutes,
        **{name: some.just(one) for name, one in of.items()},
    )


@some.composite
def memories(draw: some.DrawFn) -> tuple[Scope, list[Said], list[Said], list[Said]]:
    """A scope, what is in it, and two memories that differ in all else."""
    scope, others = SCOPES[draw(some.sampled_from(sorted(SCOPES)))]
    inside = draw(some.lists(lines(SHARED), max_size=6))
    outside = some.lists(some.one_of([lines(HIDDEN, **of) for of in others]), max_size=6)

    def mixed(with_these: list[Said]) -> list[Said]:
        places = draw(some.permutations([True] * len(inside) + [False] * len(with_these)))
        ours, theirs = iter(inside), iter(with_these)
        return [next(ours if mine else theirs) for mine in places]

    return scope, inside, mixed(draw(outside)), mixed(draw(outside))


def filled(owner: OwnerMemory, said: Sequence[Said]) -> OwnerMemory:
    for one in said:
        message = {"role": one.role, "content": one.text, "name": one.speaker, "metadata": dict(one.metadata)}
        owner.add_messages([message], thread=one.thread, at=one.at, fresh=True)
    return owner


def without_seqs(text: str) -> str:
    return re.sub(r"#\d+", "#", text)


def hits(found: Sequence[Hit]) -> list[Any]:
    """Hits without what is of the whole memory: ids, seqs, and the tier of their page."""
    return [
        (
            hit.utterance.text,
            hit.utterance.thread,
            hit.score,
            hit.rank,
            {name: (one.raw, one.normalised, one.weight, one.rank_without) for name, one in hit.channels.items()},
        )
        for hit in found
    ]


def shown(context: Context) -> dict[str, Any]:
    return {
        "text": without_seqs(context.text),
        "hits": hits(context.hits),
        "packed": hits(context.packed),
        "tokens": context.tokens,
        "confidence": context.confidence,
        "facts": [fact.text for fact in context.facts],
        "persona": context.persona,
        "left out": [(without_seqs(one.what), one.score, without_seqs(one.reason)) for one in context.left_out],
        "notes": context.notes,
        "partial": context.partial,
        "rests on": len(context.rests_on),
    }


@settings(phases=(Phase.explicit, Phase.generate), max_examples=bounded(4, proofs=30))
@given(memories())
def test_what_a_scope_excludes_has_no_influence(
    owners: Callable[[], OwnerMemory], drawn: tuple[Scope, list[Said], list[Said], list[Said]]
) -> None:
    scope, inside, one, other = drawn
    only, first, second = filled(owners(), inside), filled(owners(), one), filled(owners(), other)
    for query in QUERIES:
        expected = shown(only.recall(query))
        assert shown(first.recall(query, scope=scope)) == expected
        assert shown(second.recall(query, scope=scope)) == expected
        found = hits(only.search(query, k=3))
        assert hits(first.search(query, k=3, scope=scope)) == found == hits(second.search(query, k=3, scope=scope))
    assert shown(first.overview(scope=scope)) == shown(only.overview())


@settings(phases=(Phase.explicit, Phase.generate), max_examples=bounded(4, proofs=30))
@given(memories())
def test_nor_has_it_in_preset_paper(
    owners: Callable[[], OwnerMemory], drawn: tuple[Scope, list[Said], list[Said], list[Said]]
) -> None:
    scope, inside, one, other = drawn
    only, first, second = filled(owners(), inside), filled(owners(), one), filled(owners(), other)
    for query in QUERIES:
        expected = shown(only.recall(query, preset="paper"))
        assert shown(first.recall(query, preset="paper", scope=scope)) == expected
        assert shown(second.recall(query, preset="paper", scope=scope)) == expected


# ---------------------------------------------------------------------------------------------- what was understood

INSIDE = (
    "I live in Lyon.",
    "I have a dog named Rex.",
    "My sister Ana works as a nurse.",
    "I like figs and green tea.",
    "I am allergic to peanuts.",
    "Please always answer in short sentences.",
    "I saw a heron by the lake.",
)
OUTSIDE = (
    "I live in Nantes now.",
    "I have a cat named Momo.",
    "My brother Otto works as a glazier.",
    "I like walnuts and espresso.",
    "My sister Ana moved to Bergen last week.",
    "I want to run the marathon in Turku.",
    "Please always answer in rhymes.",
    "My name is Zebedee.",
    "I saw an otter by the volcano.",
)
UNIQUE = "nantes momo otto glazier walnuts espresso bergen marathon turku rhymes zebedee otter volcano".split()
ASKED = (
    "Where do I live?",
    "Do I have any pets?",
    "What do you know about me?",
    "What does my sister do?",
    "What do I like to eat tonight?",
    "Where did I live in April?",
    "Which cat?",
)
LABELLED = Scope(metadata={"kept": True})


def talk(memory: Memory, clock: Clock) -> None:
    talked(memory.of("alice"))


@pytest.fixture
def zebedee(lived_in: Callable[..., Any], opened: Opener) -> OwnerMemory:
    """Who has talked."""
    lived_in(talk)
    return opened().of("alice")


def talked(owner: OwnerMemory) -> OwnerMemory:
    """Both kinds of talk in turns in the same threads, understood."""
    said = itertools.zip_longest(OUTSIDE, INSIDE, OUTSIDE[::-1])
    for day, texts in enumerate(said):
        for text in filter(None, texts):
            message = {"role": "user", "content": text, "metadata": {"kept": text in INSIDE}}
            reply = {"role": "assistant", "content": "I see.", "metadata": {"kept": text in INSIDE}}
            at = NOW - timedelta(days=20 - day)
            owner.add_messages([message, reply], thread=f"t{day % 2}", at=at)
    owner.settle()
    return owner


def everything(context: Context) -> str:
    explained = [str(context.explain(hit)) for hit in context.hits]
    seen = (context.text, context.hits, context.packed, context.facts, context.persona, context.left_out)
    return " ".join(map(str, (*seen, context.notes, explained))).lower()


def sources(context: Context) -> list[Source]:
    persona = context.persona
    resting = [fact.sources for fact in (*context.facts, *persona.facts, *persona.agent_facts)]
    resting += [trait.sources for trait in persona.traits] + [line.sources for line in persona.profile]
    return [source for some_of in resting for source in some_of]


def test_what_was_understood_is_told_only_if_all_it_rests_on_is_in_scope_whatever_kinds_are_told(
    zebedee: OwnerMemory,
) -> None:
    for preset in ("default", "paper"):
        kept = {said.id for said in zebedee.utterances() if said.metadata["kept"]}
        assert any(word in everything(zebedee.recall(ASKED[2], preset=preset)) for word in UNIQUE)
        contexts = [zebedee.recall(query, preset=preset, scope=LABELLED, budget=800) for query in ASKED]
        contexts.append(zebedee.overview(scope=LABELLED))
        for context in contexts:
            assert not [word for word in UNIQUE if word in everything(context)]
            assert {source.utterance_id for source in sources(context)} <= kept
            assert set(context.rests_on) <= kept
        assert any("peanuts" in fact.text for context in contexts for fact in context.facts)
        assert any("short sentences" in context.text for context in contexts)

    facts = zebedee.recall("Do I have any pets?", scope=Scope(kinds=["fact"]))
    assert facts.facts
    assert facts.hits == facts.packed == ()
    assert zebedee.search("Rex", scope=Scope(kinds=["fact"])) == ()
    messages = zebedee.recall("Do I have any pets?", scope=Scope(kinds=["message"]))
    assert messages.packed
    assert messages.facts == messages.persona.facts == ()
    assert zebedee.recall("Do I have any pets?", scope=Scope(kinds=["document"])).text == ""
    segments = zebedee.overview(scope=Scope(kinds=["segment"]))
    assert segments.facts == segments.persona.facts == ()
    paper = zebedee.recall("Do I have any pets?", preset="paper", scope=Scope(kinds=["message"]))
    assert "topics of these pages" not in paper.text
    assert "topics of these pages" in zebedee.recall("Do I have any pets?", preset="paper").text


def test_a_fact_that_another_source_confirms_is_not_told_without_it(opened: Opener) -> None:
    alice = opened(facts_when="read").of("alice")
    alice.add("I live in Lyon.", "I see.", thread="a")
    alice.add("I live in Lyon.", "I see.", thread="b")
    alice.settle()
    (fact,) = [one for one in alice.facts() if one.attribute == "lives_in"]
    assert len(fact.sources) == 2
    assert alice.recall("Where do I live?", scope=Scope(threads=["a"])).facts == ()
    assert [one.id for one in alice.recall("Where do I live?", scope=Scope(threads=["a", "b"])).facts] == [fact.id]


def test_what_a_caller_brought_is_told_where_the_scope_names_nothing_that_it_has_none_of(alice: OwnerMemory) -> None:
    alice.add("Hello.", "Hello.", thread="a", metadata={"kept": True})
    alice.set_profile(name="Zoë")
    alice.learn([{"text": "The user works as a baker.", "attribute": "works_as", "value": "baker"}])
    told = {
        name: (bool(found.persona.profile), bool(found.persona.facts))
        for name, scope in {
            "kinds": Scope(kinds=["fact"]),
            "before": Scope(before_seq=2),
            "people": Scope(people=["Zoë"]),
            "not threads": Scope(not_threads=["b"]),
            "others": Scope(people=["Nobody"]),
            "threads": Scope(threads=["a"]),
            "metadata": Scope(metadata={"kept": True}),
            "times": Scope(since="2020-01-01"),
            "speakers": Scope(speakers=["alice"]),
            "tiers": Scope(tiers=["short"]),
            "messages": Scope(kinds=["message"]),
        }.items()
        for found in [alice.recall("What do you know about me?", scope=scope)]
    }
    assert {name for name, both in told.items() if all(both)} == {"kinds", "before", "people", "not threads"}
    assert not any(any(both) for name, both in told.items() if not all(both))


def test_people_are_what_they_said_and_what_facts_about_them_rest_on(opened: Opener) -> None:
    group = opened(facts_when="read").of("cy")
    for name, text in (
        ("Ann", "I live in Lyon and the heron is back."),
        ("Bo", "I live in Nantes. My sister Eve works as a nurse."),
        ("Ann", "Bo has a cat named Momo."),
        ("Bo", "The volcano was loud."),
    ):
        group.add_messages([{"role": "user", "name": name, "content": text}], fresh=True)

    def of(*names: str) -> set[str]:
        return {hit.utterance.text for hit in group.search("the", k=9, scope=Scope(people=names))}

    assert {text.split()[0] for text in of("Ann")} == {"I", "Bo"}  # also before anything is understood
    group.settle()
    assert len(of("Ann")) == 2
    assert {"I live in Nantes. My sister Eve works as a nurse.", "The volcano was loud."} <= of("bo")
    assert of("Nobody", "Never") == set()
    assert of("Bo's sister") == {"I live in Nantes. My sister Eve works as a nurse."}
    assert group.recall("Where do they live?", scope=Scope(people=["Nobody"])).text == ""


def test_tiers_are_those_of_the_whole_memory(alice: OwnerMemory) -> None:
    for number in range(8):
        alice.add(f"The heron stood in the lake {number}.", "Nice.", thread=f"t{number}")
        if number == 3:
            alice.settle()
    for tier in (Tier.SHORT, Tier.PENDING, Tier.MID):
        expected = {said.seq for page in alice.pages(tier) for said in page.utterances}
        found = alice.search("heron", k=40, scope=Scope(tiers=[tier]))
        assert {hit.utterance.seq for hit in found} == expected != set()
        assert {hit.tier for hit in found} == {tier}


def test_times_without_a_zone_are_of_the_owners(memory: Memory) -> None:
    tokyo = memory.of("alice", timezone="Asia/Tokyo")
    tokyo.add("The heron came.", at="2026-05-01T16:00:00+00:00")  # the 2nd in Tokyo
    assert tokyo.search("heron", scope=Scope(since="2026-05-02", until="2026-05-02"))
    assert not tokyo.search("heron", scope=Scope(until="2026-05-01"))
    assert tokyo.recall("heron", scope=Scope(since="2026-05-02")).hits


def test_scopes_hold_in_the_past_too(zebedee: OwnerMemory, clock: Clock) -> None:
    then = clock.now
    query, scope = "Where do I live?", LABELLED
    before = shown(zebedee.recall(query, scope=scope, at=then))
    clock.go(60)
    zebedee.add("I live in Turku now.", "I see.", thread="t0", metadata={"kept": True})
    zebedee.settle()
    again = shown(zebedee.recall(query, scope=scope, at=then, as_of=then))
    assert (again["text"], again["facts"]) == (before["text"], before["facts"])
    told = zebedee.recall(query, scope=scope, valid_at=then)
    assert not [word for word in UNIQUE if word in everything(told)]


def test_what_a_scope_leaves_is_made_once_and_its_bytes_are_counted(
    lived_in: Callable[..., Any], opened: Opener
) -> None:
    lived_in(talk)
    memory = opened()
    zebedee = memory.of("alice")
    zebedee.recall("heron")
    held = memory.resident_bytes
    zebedee.recall("heron", scope=LABELLED)
    with_one = memory.resident_bytes
    assert with_one > held
    zebedee.recall("tea", scope=Scope(metadata={"kept": True}))
    assert memory.resident_bytes == with_one
    assert {hit.utterance.text for hit in zebedee.search("the", k=99, scope=Scope(metadata={"kept": 1}))} == set()


def test_a_topic_in_scope_is_told_of_though_what_was_said_before_it_is_left_out(opened: Opener) -> None:
    alice = opened(preset="paper").of("alice")
    for n in range(24):
        said = "I bought a cello.", "The garden has tomatoes and black plants.", "We walked by the lake and saw herons."
        alice.add(f"{said[n % 3]} It was day {n}.", "How lovely.", thread=f"t{n % 3}")
    alice.settle()
    assert "tomatoes" in alice.overview(scope=Scope(not_threads=["t0"])).text
