from __future__ import annotations

import math
from dataclasses import replace

import pytest
from talking import DIM, Line, fact, profile, segment, snapshot, unit

from embermem.core import messages
from embermem.core.config import load
from embermem.core.errors import EmbedderMismatch
from embermem.core.types import OwnerId, Persona, Scope, ThreadId, Tier
from embermem.index.snapshot import Snapshot
from embermem.index.tokens import counter
from embermem.memoryos.people import People
from embermem.memoryos.recall.retrieval import Query, Ranking, rank, recall

DEFAULT = load()
SMALL_TALK = [Line(f"nothing of note on walk {i}", thread=f"t{i}", vector=(0, 1, i / 40)) for i in range(20)]


def texts(ranking: Ranking) -> list[str]:
    return [hit.utterance.text for hit in ranking.hits]


def test_a_hit_by_words_or_by_meaning_alone_comes_first_in_chinese_too() -> None:
    memory = snapshot([*SMALL_TALK, Line("the heron stood in the reeds", thread="x", vector=(0, 1, 0.1))])
    ranking = rank(memory, Query(text="Where was the heron?", vector=unit(1)), DEFAULT)
    assert texts(ranking)[0] == "the heron stood in the reeds"

    memory = snapshot([*SMALL_TALK, Line("a grey bird waded about", thread="x", vector=(1, 0.1))])
    ranking = rank(memory, Query(text="Where was the heron?", vector=unit(1)), DEFAULT)
    assert texts(ranking)[0] == "a grey bird waded about"

    lines = [
        Line("今天天气很好", thread="a"),
        Line("我昨天去了湿地公园看鸟", thread="b"),
        Line("晚上吃面条", thread="c"),
    ]
    ranking = rank(snapshot(lines), Query(text="湿地公园里看到了什么"), DEFAULT)
    assert texts(ranking)[0] == "我昨天去了湿地公园看鸟"

    lines = [Line("tea with Ana", thread="a", day=0), Line("tea with Ana again", thread="b", day=40)]
    ranking = rank(snapshot([*lines, *SMALL_TALK]), Query(text="What was on 11 June 2026?"), DEFAULT)
    assert texts(ranking)[0] == "tea with Ana again"

    lines = [Line("the heron at the lake", thread=f"t{i}") for i in range(2 * DEFAULT.hits)]
    ranking = rank(snapshot(lines), Query(text="the heron"), DEFAULT)
    assert [hit.utterance.seq for hit in ranking.hits] == [*range(1, DEFAULT.hits + 1)]


def test_an_utterance_is_lifted_by_its_neighbours_in_the_thread_and_by_who_is_named() -> None:
    lines = [*SMALL_TALK, Line("Did you see the heron?", thread="x"), Line("Only at dawn", thread="x")]
    ranking = rank(snapshot(lines), Query(text="the heron"), DEFAULT)
    assert set(texts(ranking)[:2]) == {"Did you see the heron?", "Only at dawn"}

    lines = [
        *(Line(f"walk {i}", thread="y") for i in range(5)),
        Line("the heron at the lake", thread="x"),
        *(Line(f"walk {i}", thread="y") for i in range(5, 9)),
    ]
    ranking = rank(snapshot(lines), Query(text="the heron"), DEFAULT)
    scores = {hit.utterance.text: hit.score - hit.channels["told"].raw for hit in ranking.hits}
    # Neighbours are those of the thread: two of these stood beside the heron.
    assert [scores[f"walk {i}"] for i in range(9)] == pytest.approx([scores["walk 4"]] * 9)

    lines = [
        *SMALL_TALK,
        Line("I love the heron", thread="x", speaker="Bob"),
        Line("I love the heron", thread="y", speaker="Ana"),
    ]
    ranking = rank(snapshot(lines), Query(text="What does Ana love?"), DEFAULT)
    assert ranking.hits[0].utterance.speaker == "Ana"


def test_scope_keeps_out_later_utterances_and_whole_threads_and_what_rests_on_them() -> None:
    lines = [Line("the heron", thread="a"), Line("the heron", thread="b"), Line("the heron", thread="c")]
    scope = Scope(before_seq=3, not_threads=frozenset({ThreadId("a"), ThreadId("never seen")}))
    ranking = rank(snapshot(lines), Query(text="heron", scope=scope), DEFAULT)
    assert [hit.utterance.seq for hit in ranking.hits] == [2]

    lines = [*SMALL_TALK, Line("the heron", thread="x", vector=(1,)), Line("it flew", thread="x", vector=(1, 1))]
    later = [Line("the heron came back", thread="x", vector=(1,)), *SMALL_TALK]
    short, long = snapshot(lines), snapshot([*lines, *later])
    query = Query(text="Where was the heron?", vector=unit(1, 1), scope=Scope(before_seq=len(lines) + 1))
    before = [(hit.utterance.seq, hit.score) for hit in rank(short, query, DEFAULT).hits]
    after = [(hit.utterance.seq, hit.score) for hit in rank(long, query, DEFAULT).hits]
    assert [seq for seq, _ in after] == [seq for seq, _ in before]
    assert [score for _, score in after] == pytest.approx([score for _, score in before])

    persona = Persona(
        profile=(profile("name", "Alice"), replace(profile("city", "Lyon"), sources=fact("x", "", 2).sources)),
        facts=(fact("f", "keeps a heron", 1), fact("g", "sold the heron", 2)),
    )
    memory = snapshot([Line("I keep a heron"), Line("I sold the heron, I live in Lyon")], persona=persona)
    context = recall(memory, Query(text="heron", scope=Scope(before_seq=2)), DEFAULT, counter("words"))
    assert "sold" not in context.text
    assert "Lyon" not in context.text
    assert [f.text for f in context.persona.facts] == ["keeps a heron"]


def test_a_score_is_the_sum_of_its_channels_whatever_the_age_the_archive_or_a_missing_vector() -> None:
    place = segment("walks", unit(0, 1), ["heron"])
    memory = snapshot([*SMALL_TALK, Line("Is it the heron?", vector=(1, 1))], segments=[place], placed={"p3": "walks"})
    for hit in rank(memory, Query(text="Alice and the heron", vector=unit(1, 1)), DEFAULT).hits:
        total = sum(share.weight * share.normalised for share in hit.channels.values())
        assert hit.score == pytest.approx(total)

    memory = snapshot([*SMALL_TALK, Line("the heron stood in the reeds", thread="x")])
    ranking = rank(memory, Query(text="Where was the heron?", vector=unit(0, 1)), DEFAULT)
    assert texts(ranking)[0] == "the heron stood in the reeds"
    assert ranking.partial
    assert "1 utterances have no vector yet" in ranking.notes[0]
    assert ranking.hits[0].channels["dense"].normalised == 0.0

    place = segment("walks", unit(0, 1), archived=True)
    memory = snapshot([Line("the heron"), *SMALL_TALK], segments=[place], placed={"p1": "walks"})
    hit = rank(memory, Query(text="heron", vector=unit(1)), DEFAULT).hits[0]
    assert (hit.utterance.text, hit.tier, hit.segment_id) == ("the heron", Tier.ARCHIVE, "walks")

    lines = [Line("the heron", thread=f"t{month}", day=30 * month) for month in range(12)]
    scores = [hit.score for hit in rank(snapshot(lines), Query(text="heron"), DEFAULT).hits]
    assert scores == pytest.approx([scores[0]] * 12)


def test_nothing_said_or_a_question_without_words_recalls_without_failing() -> None:
    context = recall(Snapshot.empty(OwnerId("o"), DIM), Query(text="heron", vector=unit(1)), DEFAULT, counter("approx"))
    assert (context.text, context.hits, context.confidence, context.tokens) == ("", (), 0.0, 0)

    ranking = rank(snapshot(SMALL_TALK), Query(text="?!"), DEFAULT)
    assert all(math.isfinite(hit.score) for hit in ranking.hits)

    memory = snapshot([*SMALL_TALK, Line("the heron stood in the reeds", thread="x")])
    query = Query(text="nothing of note on any walk, " * 9 + "but the heron, and words never said before")
    ranking = rank(memory, query, load(query_terms=1))
    assert texts(ranking)[0] == "the heron stood in the reeds"

    with pytest.raises(EmbedderMismatch):
        rank(snapshot(SMALL_TALK), Query(text="heron", vector=unit(1)[:2]), DEFAULT)


def test_facts_are_told_where_their_source_likely_answers_or_the_caller_says_it() -> None:
    facts = (fact("a", "likes tea", 1), fact("b", "saw a heron", 21), fact("c", "has a heron"), fact("d", "has a cat"))
    memory = snapshot([*SMALL_TALK, Line("A heron!", thread="x")], persona=Persona(facts=facts))
    ranked = rank(memory, Query(text="heron"), DEFAULT).facts(People(messages.owner("ann", "default"), memory.persona))
    assert [f.id for f, _ in ranked] == ["b", "c"]


def test_a_long_request_goes_on_with_what_was_said_lately_and_a_question_does_not() -> None:
    lines = [Line(f"The plan for the garden, part {n}", thread=f"t{n}", day=n) for n in range(6)]
    request = "Please go on with my plan for the garden and write the next part about paths, beds, fences and gates"
    for query, latest in ((request, True), ("Where is the plan for the garden?", False)):
        ranking = rank(snapshot(lines), Query(text=query), DEFAULT)
        assert (texts(ranking)[0] == lines[-1].text) is latest, query
        assert ("a long request: what was said lately counts more" in ranking.notes) is latest, query
        assert ("lately" in ranking.hits[0].channels) is latest, query
    assert rank(snapshot([]), Query(text=request), DEFAULT).hits == ()
