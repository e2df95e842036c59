"""Links between memories: what makes one, what does not, and what a newer memory makes of an older segment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause, KeywordCount, Linked, SegmentEvolved, SummaryPart, Unlinked
from embermem.core.config import LinkNumbers
from embermem.core.errors import InputError, NotFound
from embermem.core.types import (
    About,
    EvolutionProposal,
    Fact,
    FactId,
    FactProposal,
    ItemId,
    LinkProposal,
    SegmentId,
    Source,
    UtteranceId,
)
from embermem.memoryos.ingest import linking, mid_term
from embermem.memoryos.rebuild import replay
from embermem.protocols import SegmentState
from embermem.testing.answers import linking_answer
from embermem.testing.model_server import ModelServer
from lives import store_of
from scripted import NOW, SMALL, Clock, Opener, Place, page, vector
from soundness import assert_sound

TALK = (
    "My sister Ana is a nurse in Lyon.",
    "I planted tomatoes in my garden today.",
    "The train to the mountains was late, Ana waited for it.",
    "My dog Rex eats figs.",
    "I live in Lyon.",
    "My sister Ana loves hiking.",
)
FILLER = ("It rains.", "So it goes.", "Nothing is new.")
"""What short-term memory holds in the end: it is neither placed nor promoted."""
APART: dict[str, Any] = {
    "placed_by": "page",
    "theta": 2.0,
    "tau": 0.0,
    "min_new": 1,
    "mid_term_segments": 40,
    "user_facts": 40,
}
"""Each page opens a segment of its own, and each segment is promoted at once."""
NUMBERS = LinkNumbers()


def told(mine: OwnerMemory, clock: Clock, *texts: str) -> OwnerMemory:
    """These said on days that follow each other, and understood."""
    first = len(mine.pages())
    for n, text in enumerate((*texts, *FILLER), first):
        mine.add(text, "I see.", thread=f"t{n}", at=f"2026-05-{n + 1:02}T10:00:00+02:00")
        clock.go(3600)
    mine.settle()
    return mine


def talk(memory: Memory, clock: Clock) -> None:
    told(memory.of("alice"), clock, *TALK)


@pytest.fixture
def alice(lived_in: Callable[..., Any], opened: Opener, place: Place) -> Iterator[OwnerMemory]:
    lived_in(talk, **APART)
    yield opened(**APART).of("alice")
    assert_sound(place())


@pytest.fixture
def modelled(opened: Opener, clock: Clock, place: Place) -> Iterator[OwnerMemory]:
    """As `alice`, read by a model that links what shares a word."""
    with ModelServer(linking_answer) as server:
        model = {"model": "scripted", "model_key": "none", "model_url": server.url}
        yield told(opened(**APART, **model).of("alice"), clock, *TALK)
    assert_sound(place())


def by_text(mine: OwnerMemory, text: str) -> Fact:
    (fact,) = [fact for fact in mine.facts() if text in fact.text]
    return fact


def telling_of(mine: OwnerMemory, word: str) -> list[SegmentId]:
    return [segment.id for segment in mine.segments() if word in segment.summary]


# ---------------------------------------------------------------------------------------------- without a model


def test_without_a_model_a_fact_is_linked_to_what_tells_of_its_subject_by_name_and_of_its_owner_alone(
    alice: OwnerMemory, opened: Opener
) -> None:
    nurse, hikes = by_text(alice, "nurse"), by_text(alice, "hiking")
    links = alice.links()
    pairs = {frozenset((link.from_id, link.to_id)) for link in links}
    assert frozenset((hikes.id, nurse.id)) in pairs
    assert {frozenset((hikes.id, one)) for one in telling_of(alice, "train")} <= pairs
    assert {link.reason for link in links} == {"both are about Ana"}
    assert len(pairs) == len(links)
    for link in links:
        assert link.analyst == "extractive-v1"
        assert {source.seq for source in link.sources} & {source.seq for source in (*nurse.sources, *hikes.sources)}
        assert alice.change(link.change_no).cause is Cause.PROMOTION

    pages = {u.seq: one.id for one in alice.pages() for u in one.utterances}
    segments = {page_id: segment.id for segment in alice.segments() for page_id in segment.page_ids}
    for fact in alice.facts():
        home = {segments.get(pages[source.seq]) for source in fact.sources}
        assert not home & {end for link in alice.links(fact.id) for end in (link.from_id, link.to_id)}

    bob = opened().of("bob")
    link = alice.links()[0]
    assert bob.links() == ()
    for call in (bob.unlink, bob.why, bob.links):
        with pytest.raises(NotFound):
            call(link.id)


def test_facts_about_the_user_share_no_subject_and_a_reason_is_told_in_the_language_of_the_name(
    opened: Opener, clock: Clock
) -> None:
    mine = told(opened(**APART).of("bob"), clock, "I live in Lyon.", "I like figs.", "My name is Bob.", "I like jazz.")
    assert len(mine.facts()) == 4
    assert mine.links() == ()

    talk = ("我姐姐是护士。", "昨天和姐姐去公园散步。", "我姐姐喜欢爬山。")
    mine = told(opened(**APART).of("li", "2"), clock, *talk)
    assert {link.reason for link in mine.links()} == {"都与姐姐有关"}


# ------------------------------------------------------------------------------------------------- with a model


def test_a_model_links_segments_and_what_was_said_makes_the_older_one_evolve_until_it_is_undone(
    modelled: OwnerMemory,
) -> None:
    links = modelled.links()
    assert links
    for link in links:
        assert link.analyst.startswith("model:")
        assert link.sources
        assert link.reason.startswith("both tell of ")
    evolved = [segment for segment in modelled.segments() if segment.tags]
    assert evolved
    for segment in evolved:
        assert segment.context.startswith("Later: ")
        assert len(set(segment.keywords)) == len(segment.keywords)
        decisions = [d for c in modelled.history(segment.id) for d in c.decisions if isinstance(d, SegmentEvolved)]
        assert decisions[-1].context == segment.context
        assert decisions[-1].sources
        assert set(decisions[-1].keywords) <= set(segment.keywords)

    states = {one.id: one for one in store_of(modelled).segment_states(modelled.owner.id)}
    segment = next(one for one in modelled.segments() if states[one.id].evolved)
    (word, *_) = states[segment.id].evolved
    assert word in segment.keywords
    assert word not in {count.word for count in states[segment.id].keywords}
    known = replace(states[segment.id], vector_sum=vector(1.0, 0.0))
    alone = mid_term.place(vector(0.0, 1.0), [word], [known], 0.0, 10)
    assert alone.segment_id is None
    assert mid_term.grown(known, page("x", vector=vector(1.0, 0.0)), [], [SummaryPart(chain_id=None, text="x")],
                          modelled._parts.settings).evolved == known.evolved  # fmt: skip

    before = (modelled.links(), [(s.keywords, s.tags, s.context) for s in modelled.segments()])
    newest = modelled.links()[-1]
    undone = modelled.undo(newest.change_no)
    assert newest not in modelled.links()
    assert [(s.keywords, s.tags, s.context) for s in modelled.segments()] != before[1]
    modelled.undo(undone)
    assert [one.id for one in modelled.links()] == [one.id for one in before[0]]
    assert [(s.keywords, s.tags, s.context) for s in modelled.segments()] == before[1]


def test_a_model_is_shown_few_segments_that_share_a_word_in_the_same_question(opened: Opener, clock: Clock) -> None:
    with ModelServer(linking_answer) as server:
        model = {"model": "scripted", "model_key": "none", "model_url": server.url}
        told(opened(**APART, **model).of("alice"), clock, *TALK, *(f"Ana saw heron number {n}." for n in range(8)))
        shown = [str(request["messages"]) for request in server.requests if "summary so far" in str(request)]
    lines = [text.count("\\ns1 ") + text.count("\\ns2 ") + text.count("\\ns3 ") for text in shown]
    assert max(lines) == NUMBERS.neighbours
    assert all("\\ns4 " not in text for text in shown)


@pytest.mark.proof  # what every life of test_life.py ends with
def test_rebuilding_gives_the_same_links_and_evolutions(modelled: OwnerMemory) -> None:
    before = (modelled.links(), modelled.segments())
    store = store_of(modelled)
    assert replay(store, modelled.owner, SMALL["short_term_pages"], store.replay).same
    assert (modelled.links(), modelled.segments()) == before


# ------------------------------------------------------------------------------------------------- what is decided


def fact(name: str, value: str, *, subject: str = "user", seq: int = 1) -> Fact:
    return Fact(
        id=FactId(name), about=About.USER, subject=subject, attribute="likes", value=value, text=f"likes {value}",
        sources=(Source(seq=seq, utterance_id=UtteranceId(f"u{seq}")),), valid_from=NOW, valid_to=None, recorded_at=NOW,
    )  # fmt: skip


def segment(name: str, *words: str, **more: Any) -> SegmentState:
    made = SegmentState(
        id=SegmentId(name),
        parts=(SummaryPart(chain_id=None, text=f"Of {', '.join(words)}."),),
        keywords=tuple(KeywordCount(word=word, pages=1) for word in words),
        said_from=NOW,
        said_to=NOW,
        pages=1,
        visits=0,
        unanalysed=0,
        last_access=NOW,
        vector_sum=vector(1.0, 0.0),
    )
    return replace(made, **more)


def around(*facts: Fact, said: str = "The heron flew over the lake.") -> linking.Around:
    return linking.Around(
        held=facts,
        fresh=facts,
        segment=segment("s0", "heron", "lake"),
        pages=[page(said, vector=vector(1.0, 0.0))],
        segments=[segment("s1", "heron", "pond"), segment("s2", "opera")],
        apart=frozenset({"user", "agent", "alice"}),
    )


def proposal(one: str, other: str, reason: str = "one thing") -> LinkProposal:
    sources = (Source(seq=1, utterance_id=UtteranceId("u1")),)
    return LinkProposal(from_id=FactId(one), from_fact=None, to_id=FactId(other), reason=reason, sources=sources)


def ends(links: list[Linked]) -> list[tuple[ItemId, ItemId]]:
    return [(link.from_id, link.to_id) for link in links]


def test_a_link_needs_a_subject_that_both_share_whatever_a_model_says() -> None:
    shown = around(fact("f1", "herons"), fact("f2", "opera"), fact("f3", "7"))
    asked = [proposal(one, other) for one in ("s0", "f1", "f2", "f3") for other in ("s1", "s2")]
    assert ends(linking.linked(asked, shown, (), 9, NUMBERS)) == [("s0", "s1"), ("f1", "s1"), ("f2", "s2")]

    shown = around(fact("f1", "herons"))
    for one, other in (("s1", "f9"), ("f9", "s1"), ("s1", "s1"), ("", "s1"), ("s0", "s0")):
        assert linking.linked([proposal(one, other)], shown, (), 9, NUMBERS) == []

    shown = around(fact("f1", "herons"))
    twice = [proposal("s1", "f1"), proposal("f1", "s1")]
    assert ends(linking.linked(twice, shown, (), 9, NUMBERS)) == [("s1", "f1")]
    assert linking.linked(twice, shown, linking.pairs([(FactId("f1"), SegmentId("s1"))]), 9, NUMBERS) == []

    apart = linking.speakers([page()], "default")
    assert linking.named("user", apart) is None
    assert linking.named("agent", apart) is None
    assert linking.named("Alice", apart) is None
    assert linking.named("alice's sister Ana", apart) == "Ana"
    assert linking.named("Ben's mother", apart) == "Ben's mother"
    assert linking.named("mother", apart) == "mother"
    assert linking.named("姐姐", apart) == "姐姐"


def test_a_fact_proposed_beside_is_found_by_what_it_says_or_rests_on() -> None:
    told_as = FactProposal(
        about=About.USER, subject="User", attribute="likes", value="Herons.", text="likes herons",
        sources=(Source(seq=1, utterance_id=UtteranceId("u1")),), single=False,
    )  # fmt: skip
    other = fact("f2", "herons and cranes")
    assert linking.learnt_as(told_as, [other, fact("f1", "herons", seq=5)]) == "f1"
    assert linking.learnt_as(told_as, [other]) == "f2"
    assert linking.learnt_as(replace(told_as, attribute="owns"), [other]) is None
    new = LinkProposal(from_id=None, from_fact=told_as, to_id=SegmentId("s1"), reason="herons", sources=told_as.sources)
    assert ends(linking.linked([new], around(fact("f1", "herons")), (), 9, NUMBERS)) == [("f1", "s1")]


NAMES = st.sampled_from(["s0", "s1", "s2", "f0", "f1", "f2", "f9", ""])


@given(st.lists(st.tuples(NAMES, NAMES), max_size=30), st.sets(st.tuples(NAMES, NAMES), max_size=5))
def test_links_are_few_between_two_that_stand_and_of_their_change(
    asked: list[tuple[str, str]], known: set[tuple[str, str]]
) -> None:
    shown = around(*(fact(f"f{n}", "a heron", subject="Ana" if n else "user") for n in range(3)))
    taken = {frozenset(pair) for pair in known}
    made = linking.linked([proposal(*pair) for pair in asked], shown, taken, 9, NUMBERS)
    standing = {"s0", "s1", "s2", "f0", "f1", "f2"}
    pairs = [frozenset(pair) for pair in ends(made)]
    assert all(len(pair) == 2 and pair <= standing and pair not in taken for pair in pairs)
    assert len(set(pairs)) == len(pairs) <= NUMBERS.links
    assert [link.link_id for link in made] == [f"l9-{n:02}" for n in range(len(made))]


def evolution(name: str, *words: str, context: str = "") -> EvolutionProposal:
    sources = (Source(seq=1, utterance_id=UtteranceId("u1")),)
    return EvolutionProposal(
        segment_id=SegmentId(name), keywords=words, tags=(), context=context, reason="r", sources=sources
    )


def test_a_segment_evolves_once_by_what_shares_a_subject_with_it_and_says_anything_new() -> None:
    made = linking.evolved(
        [
            evolution("s0", "bird"),
            evolution("s2", "bird"),
            evolution("s9", "bird"),
            evolution("s1", "heron"),
            evolution("s1", "heron", "bird"),
            evolution("s1", "crane"),
        ],
        around(),
    )
    assert [(one.segment_id, one.keywords) for one in made] == [("s1", ("bird",))]
    known = replace(around(), segments=[segment("s1", "heron", evolved=("bird",), context="So.")])
    assert linking.evolved([evolution("s1", "bird", context="So.")], known) == []
    (again,) = linking.evolved([evolution("s1", context="Now.")], known)
    assert (again.keywords, again.context) == (("bird",), "Now.")
    assert linking.after(known.segments[0], again).context == "Now."


def test_segments_shown_are_the_nearest_that_share_a_word() -> None:
    near = [
        segment("s1", "lake", vector_sum=vector(0.6, 0.8)),
        segment("s2", "heron", vector_sum=vector(1.0, 0.0)),
        segment("s3", "opera", vector_sum=vector(1.0, 0.0)),
        segment("s4", "heron", vector_sum=None),
        segment("s0", "heron"),
    ]
    pages = [page("The heron flew over the lake.", vector=vector(1.0, 0.0))]
    shown = linking.neighbours(SegmentId("s0"), pages, near, 3)
    assert [one.id for one in shown] == ["s2", "s1"]
    assert linking.neighbours(SegmentId("s0"), pages, near, 1) == shown[:1]
    assert linking.neighbours(SegmentId("s0"), [page("The heron.")], near, 3) == ()


# ------------------------------------------------------------------------------------------------------ by callers


def test_a_caller_links_two_memories_and_takes_it_back_and_what_cannot_be_is_refused(
    alice: OwnerMemory, clock: Clock
) -> None:
    dog, (garden,) = by_text(alice, "Rex"), telling_of(alice, "tomatoes")
    with pytest.raises(InputError, match="itself"):
        alice.link(dog.id, dog.id, "x")
    with pytest.raises(NotFound):
        alice.link(dog.id, "s999-00", "x")
    with pytest.raises(NotFound):
        alice.link("f999-000", garden, "x")
    with pytest.raises(InputError, match="empty"):
        alice.link(dog.id, garden, " \n ")
    link = alice.link(dog.id, garden, "he digs there")
    with pytest.raises(InputError, match="linked already"):
        alice.link(garden, dog.id, "again")
    alice.unlink(link.id)
    with pytest.raises(InputError, match="was removed before"):
        alice.unlink(link.id)
    with pytest.raises(NotFound):
        alice.unlink("l999-00")
    with pytest.raises(NotFound):
        alice.links("nothing")
    assert len(alice.changes(cause=Cause.LINKING)) == 2

    dog, (garden,) = by_text(alice, "Rex"), telling_of(alice, "tomatoes")
    before = clock()
    clock.go(60)
    link = alice.link(dog.id, garden, "  Rex digs\nthere ")
    assert (link.from_id, link.to_id, link.reason, link.retired_at) == (dog.id, garden, "Rex digs there", None)
    assert alice.links(dog.id) == alice.links(garden) == (link,)
    assert alice.change(link.change_no).cause is Cause.LINKING
    clock.go(60)
    linked = clock()
    clock.go(60)
    gone = alice.unlink(link.id)
    assert gone.retired_at == clock()
    assert alice.links(dog.id) == ()
    assert [type(d) for change in alice.history(link.id) for d in change.decisions] == [Linked, Unlinked]
    assert alice.links(dog.id, as_of=before) == ()
    assert [one.id for one in alice.links(dog.id, as_of=linked)] == [link.id]
    assert alice.links(dog.id, as_of=clock()) == ()
    assert alice.link(garden, dog.id, "he does").id != link.id


def test_a_link_is_shown_while_both_of_its_ends_stand_and_not_made_again(alice: OwnerMemory, clock: Clock) -> None:
    nurse, hikes = by_text(alice, "nurse"), by_text(alice, "hiking")
    (link,) = [one for one in alice.links(nurse.id) if hikes.id in (one.from_id, one.to_id)]
    alice.unlink(link.id)
    told(alice, clock, "My sister Ana is a nurse in Lyon.", "My sister Ana loves hiking.", "Ana likes herons.")
    assert not [one for one in alice.links(nurse.id) if hikes.id in (one.from_id, one.to_id)]

    hikes = by_text(alice, "hiking")
    linked = alice.links(hikes.id)
    known = clock()
    assert linked
    clock.go(60)
    alice.retire(hikes.id)
    assert alice.links(hikes.id) == ()
    assert not set(linked) & set(alice.links())
    assert alice.links(hikes.id, as_of=known) == linked
    with pytest.raises(InputError, match="no longer current"):
        alice.link(hikes.id, telling_of(alice, "tomatoes")[0], "x")


def test_forgetting_a_page_takes_the_links_of_what_goes_with_it(alice: OwnerMemory) -> None:
    hikes = by_text(alice, "hiking")
    (page_id,) = {alice.utterance(source.utterance_id).page_id for source in hikes.sources}
    went = {hikes.id, *telling_of(alice, "hiking")}
    left = [one.id for one in alice.links() if not went & {one.from_id, one.to_id}]
    gone = [one.id for one in alice.links() if went & {one.from_id, one.to_id}]
    assert left
    assert gone
    alice.forget(page=page_id)
    assert [one.id for one in alice.links()] == left
    for link_id in gone:
        with pytest.raises(NotFound):
            alice.why(link_id)
