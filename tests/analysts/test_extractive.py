from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from embermem.analysts import ExtractiveAnalyst, ExtractiveSettings, condense, keywords
from embermem.core.traits import dimensions
from embermem.core.types import ChainId, ChainTail, PageView, Persona, Segment, SegmentId, ThreadId
from embermem.protocols import Analyst, ProfileRequest
from proofs import bounded

from .pages import NOW, OWNER, page

ANALYST = ExtractiveAnalyst()


def segment(summary: str = "") -> Segment:
    return Segment(
        id=SegmentId("s"), summary=summary, keywords=(), page_ids=(), visits=0, unanalysed=0, last_access=NOW,
        archived=False, change_no=1, recorded_at=NOW, said_from=NOW, said_to=NOW,
    )  # fmt: skip


def goes_on(first: PageView, second: PageView) -> bool:
    return ANALYST.annotate(OWNER, {}, [first, second])[1].continues


def test_it_is_an_analyst() -> None:
    analyst: Analyst = ANALYST
    assert analyst.name == "extractive-v1"


# ------------------------------------------------------------------------------------------------ continuity


def test_the_first_page_of_a_thread_continues_nothing() -> None:
    assert not ANALYST.annotate(OWNER, {}, [page("I planted tomatoes.")])[0].continues


def test_a_page_on_the_same_words_continues() -> None:
    first = page("I planted tomatoes in the garden.", "Tomatoes need sun.")
    assert goes_on(first, page("How much water do tomatoes in a garden need?", no=2, minutes=1))


def test_a_page_on_other_words_does_not_continue() -> None:
    first = page("I planted tomatoes in the garden.", "Tomatoes need sun.")
    assert not goes_on(first, page("The stock market fell sharply after the election results.", no=2, minutes=1))


def test_a_short_answer_continues() -> None:
    assert goes_on(page("I planted tomatoes.", "In pots?"), page("Yes!", no=2, minutes=1))


def test_a_word_that_turns_away_breaks_the_chain() -> None:
    cases = ["By the way, my garden tomatoes", "Anyway, the garden", "对了，tomatoes"]
    for cue in cases:
        first = page("I planted tomatoes in the garden near the shed today.", "Tomatoes need sun.")
        assert not goes_on(
            first, page(f"{cue} and my cousin's wedding in Spain next summer, flights, hotels", no=2, minutes=1)
        )


def test_a_long_silence_breaks_the_chain() -> None:
    first = page("I planted tomatoes in the garden.", "Tomatoes need sun.")
    assert not goes_on(first, page("I planted tomatoes in the garden.", no=2, minutes=24 * 60))


def test_vectors_tell_topics_apart_where_words_do_not() -> None:
    first = page("I planted tomatoes outside.", "Lovely.", vector=(1.0, 0.0))
    same = page("Seedlings want plenty of daylight near windows.", no=2, minutes=1, vector=(0.9, 0.435))
    other = page("Seedlings want plenty of daylight near windows.", no=2, minutes=1, vector=(0.0, 1.0))
    assert goes_on(first, same)
    assert not goes_on(first, other)


def test_threads_do_not_mix() -> None:
    first = page("I planted tomatoes in the garden.", thread="a")
    assert not goes_on(first, page("I planted tomatoes in the garden.", no=2, thread="b", minutes=1))


def test_the_tail_of_a_thread_is_what_its_first_page_may_continue() -> None:
    before = page("I planted tomatoes in the garden.", "Tomatoes need sun.")
    tail = ChainTail(view=before, chain_id=ChainId("c"), summary="I planted tomatoes in the garden.")
    (note,) = ANALYST.annotate(OWNER, {ThreadId("t"): tail}, [page("The garden tomatoes are ripe.", no=2, minutes=5)])
    assert note.continues
    assert "planted" in note.chain_summary
    assert "ripe" in note.chain_summary


def test_thresholds_are_settings() -> None:
    strict = ExtractiveAnalyst(ExtractiveSettings(continue_at=1.0))
    first, second = page("I planted tomatoes outside."), page("I planted tomatoes outside again.", no=2, minutes=1)
    assert not strict.annotate(OWNER, {}, [first, second])[1].continues


# -------------------------------------------------------------------------------------------------- keywords


def test_singular_and_plural_meet() -> None:
    assert set(keywords("two dogs and three cities")) == set(keywords("a dog in a city"))


def test_names_come_first_and_fillers_not_at_all() -> None:
    found = keywords("Well, I really think we should visit the garden with Beatriz someday, okay?")
    assert found[0] == "beatriz"
    assert not {"really", "think", "okay", "well", "should"} & set(found)


def test_chinese_keywords_are_words_of_two_or_more_characters() -> None:
    found = keywords("我上个月搬到了北京，最近在学摄影。")
    assert {"北京", "摄影"} <= set(found)
    assert all(len(w) >= 2 for w in found)


def test_keywords_are_few_and_without_repeats() -> None:
    found = keywords("apple banana cherry damson elder fig grape hazel iris juniper apple", 5)
    assert len(found) == len(set(found)) == 5
    assert found[0] == "apple"


# --------------------------------------------------------------------------------------------------- summary


def test_a_summary_is_made_of_sentences_of_the_page_and_names_them() -> None:
    view = page("Hi there! I adopted a grey cat from the shelter in Leeds. Ok.", "Great!")
    (note,) = ANALYST.annotate(OWNER, {}, [view])
    texts = {u.id: u.text for u in view.page.utterances}
    assert "I adopted a grey cat from the shelter in Leeds." in note.chain_summary
    for source in note.summary_sources:
        assert texts[source.utterance_id][source.start : source.end] in note.chain_summary


def test_a_summary_names_speakers_who_have_names() -> None:
    (note,) = ANALYST.annotate(OWNER, {}, [page("I adopted a grey cat.", "My horse is ill.", speakers=("Alice", "Bo"))])
    assert "Alice: I adopted a grey cat." in note.chain_summary


def test_a_summary_stays_within_its_limit() -> None:
    long = " ".join(f"I visited the old lighthouse number {i} near the harbour of Bergen." for i in range(60))
    views = [page(long, long, no=i, minutes=i) for i in range(1, 6)]
    for note in ANALYST.annotate(OWNER, {}, views):
        assert 0 < len(note.chain_summary) <= 320


def test_a_summary_keeps_to_one_language() -> None:
    (note,) = ANALYST.annotate(OWNER, {}, [page("I adopted a grey cat from the shelter in Leeds.", "好")])
    assert "好" not in note.chain_summary


def test_condensing_keeps_within_the_limit_and_repeats_nothing() -> None:
    texts = ["I adopted a grey cat from Leeds.", "I adopted a grey cat from Leeds.", "The garden has tomatoes now."]
    short = condense(texts, 80)
    assert short.count("grey cat") == 1
    assert len(short) <= 80
    assert condense([], 80) == ""


# ---------------------------------------------------------------------------------- traits, profile, request


def test_there_are_ninety_dimensions_in_three_categories() -> None:
    known = dimensions()
    assert [d.number for d in known] == list(range(1, 91))
    assert {d.category for d in known} == {"needs_personality", "alignment", "interest"}
    assert dimensions() is known


def test_plain_taste_is_evidence_for_a_trait() -> None:
    cases = [
        ("I love hiking.", "outdoors", True), ("I really enjoy playing the piano.", "music", True),
        ("My hobby is photography.", "photography", True), ("I have a cat named Luna.", "pets", True),
        ("I hate reading.", "reading", False), ("I'm an introvert.", "extraversion", False),
    ]  # fmt: skip
    for text, dimension, positive in cases:
        (note,) = ANALYST.annotate(OWNER, {}, [page(text)])
        found = {t.dimension: t for t in note.traits}
        assert (found[dimension].level > 0) is positive
        assert -1.0 <= found[dimension].level <= 1.0
        assert found[dimension].sources


def test_disliking_one_kind_says_nothing_of_the_whole() -> None:
    (note,) = ANALYST.annotate(OWNER, {}, [page("I can't stand horror films.")])
    assert note.traits == ()


def test_profile_fields_come_from_what_the_user_said() -> None:
    text = "My name is Alice Moreau. I was born in 1994. I live in Lyon. I'm a woman. I'm a nurse."
    text += " My native language is French."
    (note,) = ANALYST.annotate(OWNER, {}, [page(text)])
    assert {p.name: p.value for p in note.profile} == {
        "name": "Alice Moreau", "birth_year": "1994", "home": "Lyon", "gender": "female",
        "occupation": "nurse", "language": "French",
    }  # fmt: skip


def test_the_profile_of_another_is_not_the_users() -> None:
    (note,) = ANALYST.annotate(OWNER, {}, [page("My brother is called Oskar.", "My name is Ember.")])
    assert note.profile == ()


def test_a_request_gives_each_fact_once_with_all_its_sources() -> None:
    pages = (page("I live in Oslo."), page("I live in Oslo and I love jazz.", no=2))
    change = ANALYST.profile(ProfileRequest(owner=OWNER, segment=segment(), pages=pages, persona=Persona(), nearest=()))
    assert [(f.attribute, f.value, len(f.sources)) for f in change.facts] == [
        ("lives_in", "Oslo", 2), ("likes", "jazz", 1), ("dislikes", "jazz", 1),
    ]  # fmt: skip
    assert [f.retracts for f in change.facts] == [False, False, True]
    assert change.segment_summary is None  # it is made of sentences of its pages already


def test_a_move_there_and_back_stays_three_facts() -> None:
    pages = tuple(page(f"I moved to {p}.", no=i) for i, p in enumerate(("Oslo", "Rome", "Oslo"), 1))
    change = ANALYST.profile(ProfileRequest(owner=OWNER, segment=segment(), pages=pages, persona=Persona(), nearest=()))
    assert [f.value for f in change.facts] == ["Oslo", "Rome", "Oslo"]


# ---------------------------------------------------------------------------------------------- any input


_ANY = st.text(max_size=300) | st.text(
    alphabet="I'm a \"my name is ?.,\n我叫住在，。：`>-*'\u202e\u0000😀é", max_size=200
)


@given(_ANY, _ANY)
@settings(max_examples=bounded(50, proofs=1500), deadline=None)
def test_no_text_raises_and_every_source_lies_inside_it(user: str, assistant: str) -> None:
    view = page(user, assistant)
    notes = ANALYST.annotate(OWNER, {}, [view, replace(view)])
    assert notes == ANALYST.annotate(OWNER, {}, [view, replace(view)])
    lengths = {u.id: len(u.text) for u in view.page.utterances}
    for note in notes:
        assert len(note.keywords) <= 8
        assert len(note.chain_summary) <= 320
        for source in (*note.summary_sources, *(s for f in note.facts for s in f.sources)):
            assert source.start is not None
            assert source.end is not None
            assert 0 <= source.start < source.end <= lengths[source.utterance_id]


def test_a_hundred_thousand_characters_take_no_seconds() -> None:
    cases = [
        "a", "I ", "I'm a ", "my ", '"', "'", "`", "```", " ", "\n", "我", "我在", "Bo: ", "I love a ", "A ", ",",
        ", a", "<", "and I ", "1. ", "last ", "Ab. ", "很",
    ]  # fmt: skip
    for unit in bounded(cases[::3], proofs=cases):
        text = (unit * 100_000)[:100_000]
        start = time.process_time()
        ANALYST.annotate(OWNER, {}, [page(text, text), page(text, text, no=2, minutes=1)])
        assert time.process_time() - start < 2.0
