"""Why something is remembered: from a line of the persona to the words said, and what it replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.analysts import ExtractiveAnalyst
from embermem.analysts.guards import span_of
from embermem.core.changes import Cause, FactRetired
from embermem.core.errors import NotFound
from embermem.core.types import Chain, Fact, Owner, OwnerId, Quote, Role, Segment, Utterance, UtteranceId, Why
from embermem.languages.words import sentences
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from proofs import bounded
from scripted import NOW, Clock, Opener, page

PAGE = page()
OWNER = Owner(id=OwnerId("o"), user="alice", agent="default")
TALK = (
    "My sister Ana is a nurse in Lyon.",
    "I planted tomatoes in my garden today.",
    "The train to the mountains was late, Ana waited for it.",
    "My dog Rex eats figs.",
    "I live in Lyon.",
    "My sister Ana loves hiking.",
)
MOVES = ("I moved to Porto.", "I moved to Turin.")
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


def told(mine: OwnerMemory, clock: Clock, *texts: str) -> OwnerMemory:
    """These said on days that follow each other, and understood."""
    first = len(mine.pages())
    for n, text in enumerate((*texts, *FILLER), first):
        mine.add(text, "I see.", thread=f"t{n}", at=f"2026-05-{n + 1:02}T10:00:00+02:00")
        clock.go(3600)
    mine.settle()
    return mine


def talk_and_moves(memory: Memory, clock: Clock) -> None:
    told(memory.of("alice"), clock, *TALK, *MOVES)


@pytest.fixture
def alice(lived_in: Callable[..., Any], opened: Opener) -> OwnerMemory:
    lived_in(talk_and_moves, **APART)
    return opened(**APART).of("alice")


def by_text(mine: OwnerMemory, text: str) -> Fact:
    (fact,) = [fact for fact in mine.facts() if text in fact.text]
    return fact


def words(why: Why) -> list[str]:
    return [quote.text for quote in why.quotes]


def test_everything_that_is_known_leads_to_the_words_said_and_to_what_it_replaced(alice: OwnerMemory) -> None:
    why = alice.why("user.home")
    assert (why.kind, why.text, why.held) == ("profile", "Turin", True)
    assert words(why) == ["I moved to Turin"]
    (home,) = why.behind
    assert (home.item_id, home.text) == (by_text(alice, "Turin").id, "alice lives in Turin")
    assert words(home) == ["I moved to Turin"]
    assert [(one.text, words(one)) for one in home.replaced] == [
        ("alice lives in Porto", ["I moved to Porto"]),
        ("alice lives in Lyon", ["I live in Lyon"]),
    ]
    assert [(one.text, one.held) for one in why.replaced] == [("Porto", False), ("Lyon", False)]
    quote = why.quotes[0]
    assert (quote.utterance.speaker, quote.utterance.said_at) == ("alice", quote.utterance.said_at)
    assert alice.utterance(quote.utterance.id).text == "I moved to Turin."

    when = "2026-05-08 10:00+02:00 alice"
    assert str(alice.why("user.home")).splitlines()[:5] == [
        "profile user.home: Turin (from 2026-05-08)",
        f'  said #15 {when}: "I moved to Turin"',
        "  change 2, annotation by extractive-v1, 2026-05-02",
        "  rests on",
        f"    fact {by_text(alice, 'Turin').id}: alice lives in Turin (from 2026-05-08)",
    ]

    for name in ("f999-000", "s999-00", "c999-0", "user.gender", "user.", ".", "agent.home", "optimism", ""):
        with pytest.raises(NotFound):
            alice.why(name)

    why = alice.why("pets")
    assert (why.kind, why.text.split()[0]) == ("trait", "likes")
    assert [one.item_id for one in why.behind] == [by_text(alice, "Rex").id]
    assert words(why) == ["My dog Rex"]

    items: list[Segment | Chain] = [*alice.segments(), *alice.chains()]
    for item in items:
        why = alice.why(item.id)
        assert why.text == item.summary
        assert words(why)
        assert all(quote.utterance.page_id in item.page_ids for quote in why.quotes)
        if isinstance(item, Chain):  # a segment may tell a fact in place of the sentence that says it
            assert all(text in item.summary for text in words(why))
        assert why.changes

    born = {"attribute": "born_in", "valid_from": "1994-05-03"}
    one, other = alice.learn([{"text": f"was born in {city}", "value": city, **born} for city in ("Rome", "Oslo")])
    assert [it.item_id for it in alice.why(one.id).conflicts] == [other.id]
    assert [it.item_id for it in alice.why(other.id).conflicts] == [one.id]
    assert "in conflict with" in str(alice.why(one.id))

    alice.set_profile(birth_year=1994)
    why = alice.why("age_group")
    assert [one.item_id for one in why.behind] == ["user.birth_year"]
    assert why.behind[0].text == "1994 (set by the caller)"
    assert why.behind[0].quotes == ()
    assert why.behind[0].changes[-1].cause == "profile"

    first = min(alice.past_facts(), key=lambda fact: fact.sources[0].seq)
    why = alice.why(first.id)
    assert (why.kind, why.text, why.held) == ("fact", "alice lives in Lyon", False)
    assert (why.valid_from, why.valid_to) == (first.valid_from, first.valid_to)
    assert [one.text for one in why.replaced_by] == ["alice lives in Porto", "alice lives in Turin"]
    assert why.replaced == ()
    assert why.changes[0].no == first.change_no
    assert (why.changes[0].cause, why.changes[0].analyst) == ("annotation", "extractive-v1")
    corrected = alice.correct(by_text(alice, "Turin").id, "lives in Milan", value="Milan")
    why = alice.why(corrected.id)
    assert why.replaced[0].text == "alice lives in Turin"
    assert why.changes[-1].cause == Cause.CORRECTION.value


def test_a_chain_names_the_sentences_of_earlier_pages_that_it_kept(opened: Opener, clock: Clock) -> None:
    mine = opened(**APART).of("alice")
    for text in ("I planted tomatoes in my garden in Lyon.", "The tomatoes in my garden grow well.", "And the garden?"):
        mine.add(text, "I see.", thread="garden", at=clock())
        mine.settle()
        clock.go(60)
    (chain,) = mine.chains()
    said = words(mine.why(chain.id))
    assert "I planted tomatoes in my garden in Lyon." in said
    assert all(text in chain.summary for text in said)
    assert len(sentences(chain.summary)) == len(said)


def test_what_a_model_understood_is_told_with_the_words_it_rests_on(opened: Opener, clock: Clock) -> None:
    with ModelServer(answer) as server:
        model = {"model": "scripted", "model_key": "none", "model_url": server.url, "facts_when": "promoted"}
        mine = told(opened(**APART, **model).of("alice"), clock, "I live in Lyon.", "I really like figs.")
    whys = {fact.value: mine.why(fact.id) for fact in mine.facts()}
    assert {(value, *words(why)) for value, why in whys.items()} == {("Lyon", "Lyon"), ("figs", "figs")}
    assert whys["figs"].changes[0].analyst.startswith("model:")
    assert words(mine.why("user.home")) == ["Lyon"]
    assert [one.text for one in mine.why("user.home").behind] == ["alice lives in Lyon"]


@settings(max_examples=bounded(10, proofs=400))
@given(st.sampled_from(TALK + MOVES), st.text(max_size=20), st.text(max_size=20))
def test_what_is_extracted_names_its_characters(text: str, before: str, after: str) -> None:
    said = page(f"{before}. {text} {after}")
    (note,) = ExtractiveAnalyst().annotate(OWNER, {}, [said])
    length = len(said.page.utterances[0].text)
    named = [*(one.sources for one in note.facts), *(one.sources for one in note.traits)]
    for source in (source for sources in (*named, *(one.sources for one in note.profile)) for source in sources):
        assert 0 <= (source.start or 0) < (source.end or 0) <= length
    assert all(source.start is not None for source in note.summary_sources)


def test_a_quote_is_found_word_for_word_but_for_case_and_spaces() -> None:
    for quotes, text, found in (
        (["Lyon"], "I live in lyon now", "lyon"),
        (["New  York"], "in New\nYork City", "New\nYork"),
        (["Lyons"], "I live in Lyon", None),
        (["art"], "a party of art lovers", "art"),
        (["上海"], "我住在上海市", "上海"),
        (["a"], "a b", None),
        (["", "figs."], "I like figs", "figs"),
        (["f.gs"], "I like figs", None),
    ):
        span = span_of(quotes, text)
        assert (None if span is None else text[slice(*span)]) == found


def test_a_long_past_is_told_within_bounds_and_a_circle_once(opened: Opener, clock: Clock) -> None:
    towns = "Lyon Porto Turin Milan Paris Rome Berlin Basel Oslo Bonn Madrid Ghent London Nice".split()
    mine = told(opened(**APART).of("alice"), clock, *(f"I moved to {town}." for town in towns))
    why = mine.why(by_text(mine, towns[-1]).id)
    assert [one.text for one in why.replaced] == [f"alice lives in {town}" for town in towns[-2:-10:-1]]
    first, last = (min(mine.past_facts(), key=lambda f: f.sources[0].seq), by_text(mine, towns[-1]))
    circle = [FactRetired(fact_id=last.id, superseded_by=first.id, valid_to=None)]
    newest = mine.changes()[-1].no
    mine._store.change_log.apply(mine.owner, Cause.CORRECTION, "", circle, now=clock(), revision=newest, lease=None)
    for fact_id in (first.id, last.id):
        why = mine.why(fact_id)
        told_of = [fact_id, *(one.item_id for one in why.replaced)]
        assert len(set(told_of)) == len(told_of) == 9
        assert len({one.item_id for one in why.replaced_by}) == len(why.replaced_by) <= 8


def test_many_sources_are_quoted_in_part_and_the_rest_counted(opened: Opener, clock: Clock) -> None:
    birds = "heron osprey swift dipper crane stork robin wren eagle magpie falcon plover gannet curlew".split()
    places = "harbour mill quarry river barn cliff meadow orchard bridge chapel marsh valley lighthouse forest".split()
    seen = [f"We watched the {bird} near the {place}." for bird, place in zip(birds, places, strict=True)]
    seen += [
        f"My brother painted a {bird} by the {place}." for bird, place in zip(birds, reversed(places), strict=True)
    ]
    mine = told(opened(**{**APART, "theta": -1.0}).of("alice"), clock, *seen)
    (segment,) = mine.segments()
    why = mine.why(segment.id)
    assert len(why.quotes) == 8
    assert why.left_out >= len(set(segment.sources)) - 8
    assert f"and {why.left_out} more" in str(why)


@given(st.text())
def test_no_text_can_break_a_line_or_control_a_terminal(text: str) -> None:
    said = Utterance(
        id=UtteranceId("u1"), seq=1, page_id=PAGE.page.id, thread=PAGE.page.thread, role=Role.USER,
        origin=Role.USER.origin, speaker=text,
        text=text, said_at=NOW, recorded_at=NOW,
    )  # fmt: skip
    why = Why(item_id="f1-000", kind="fact", text=text, quotes=(Quote(utterance=said),))
    assert len(str(Why(item_id="f2-000", kind="fact", text="x", behind=(why,))).splitlines()) == 4
    assert all(one.isprintable() for line in str(why).split("\n") for one in line)
