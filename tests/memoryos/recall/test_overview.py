"""An overview: who somebody is and what happened, by time; for itself, and where a question asks for no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from embermem import Memory, OwnerMemory
from embermem.errors import InputError, NotFound
from embermem.languages.questions import asks_for_overview

SAID = (
    ("2026-01-10", "Hi, I'm Nora. I live in Ghent and work as a nurse."),
    ("2026-01-20", "My sister Ana lives in Oslo."),
    ("2026-02-14", "I painted the kitchen yesterday."),
    ("2026-03-02", "I moved to Lille last weekend."),
    ("2026-03-20", "My sister Ana started a bakery last month."),
    ("2026-05-05", "I passed my driving test on 2 May."),
    ("2026-05-06", "I love kayaking."),
)


@pytest.fixture(scope="module")
def nora(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerMemory]:
    path = Path(tmp_path_factory.mktemp("overview") / "m.db")
    with Memory(path, embedder="hashed", background=False) as memory:
        nora = memory.of("nora")
        for at, text in SAID:
            nora.add(text, "I see.", at=f"{at}T10:00:00+00:00")
        nora.settle()
        yield nora


def test_it_tells_who_everybody_is_and_what_happened_by_time_within_its_budget(nora: OwnerMemory) -> None:
    text = nora.overview(400).text
    told = ("lives in Lille", "works as a nurse", "February 2026:", "kitchen", "May 2026:", "driving test")
    places = [text.index(said) for said in told]
    assert places == sorted(places)
    assert "Ana" in text
    assert "Oslo" in text

    context = nora.overview(400)
    stated = [line for line in context.text.splitlines() if not line.startswith("user:")]
    assert stated
    assert all("Nora" in line or "Ana" in line for line in stated)
    assert all("[#" in part for line in stated for part in line.split("; "))
    assert {source.utterance_id for fact in context.facts for source in fact.sources} == set(context.rests_on)

    for budget in (1, 20, 60, 120):
        context = nora.overview(budget)
        assert context.tokens <= budget
        assert all(f"[#{fact.sources[0].seq}]" in context.text for fact in context.facts)

    ana = nora.overview(400, person="Ana").text
    assert "bakery" in ana
    assert "kitchen" not in ana
    february = nora.overview(400, since="2026-02-01", until="2026-02-28").text
    assert all(word in february for word in ("kitchen", "bakery", "Lille"))
    assert "driving" not in february

    assert "kayaking" not in nora.overview(400, until="2026-02-28").text

    with pytest.raises(NotFound, match="Zoe"):
        nora.overview(person="Zoe")
    with pytest.raises(InputError, match="since"):
        nora.overview(since="2026-05-01", until="2026-04-01")
    with pytest.raises(InputError, match="budget"):
        nora.overview(0)


def test_where_there_is_room_it_tells_what_was_talked_about(alice: OwnerMemory) -> None:
    for day in range(1, 13):
        alice.add(
            f"The {day}th lesson of pottery: glazing bowls in the pottery class.",
            "How are the bowls?",
            at=f"2026-03-{day:02}",
        )
    alice.settle()
    titles = [segment.title for segment in alice.segments()]
    context = alice.overview(400)
    assert any(titles)
    assert all(title in context.text for title in titles if title)
    assert "(March 2026)" in context.text
    assert {source.utterance_id for segment in alice.segments() for source in segment.sources} <= set(context.rests_on)
    assert alice.overview(400, until="2026-02-01").text == ""


PLANTED = "Planting those tomatoes on the balcony with Ana every weekend was the best part of all"


def gardener(memory: Memory) -> OwnerMemory:
    nora = memory.of("nora")
    nora.add("Hi, I'm Nora. I live in Ghent.", "I see.", at="2026-01-10T10:00:00+00:00")
    for day in range(1, 11):
        nora.add(f"{PLANTED}, day {day}.", "How did they taste?", at=f"2026-05-{day:02}T10:00:00+00:00", thread="s2")
    nora.settle()
    return nora


def assert_sentences_are_told(nora: OwnerMemory) -> None:
    assert any(PLANTED in segment.summary for segment in nora.segments())
    context = nora.overview(400, person="Nora")
    assert f'said "{PLANTED}' in context.text
    (line,) = (line for line in context.text.splitlines() if PLANTED in line)
    assert line.startswith("May 2026: Nora")
    sources = {f"[#{page.utterances[0].seq}]" for page in nora.pages() if PLANTED in page.utterances[0].text}
    assert any(source in line for source in sources)
    assert {source.utterance_id for fact in context.facts for source in fact.sources} < set(context.rests_on)
    assert "I live in Ghent" not in context.text  # a fact tells it


def test_sentences_of_summaries_are_told_beside_facts_and_without_a_tier_nothing_of_it(tmp_path: Path) -> None:
    told = {}
    for without in ("nothing", "mid_term", "long_term"):
        with Memory(tmp_path / f"{without}.db", embedder="hashed", background=False, without=without) as memory:
            nora = gardener(memory)
            told[without] = nora.overview(400)
            assert bool(nora.overview(400, person="Nora").text) is (without != "long_term")
            if without == "nothing":
                assert_sentences_are_told(nora)
    assert all(word in told["nothing"].text for word in ("Ghent", PLANTED, "Talked about"))
    assert "Ghent" in told["mid_term"].text
    assert not any(word in told["mid_term"].text for word in (PLANTED, "Talked about"))
    assert told["long_term"].text.startswith("Talked about")
    assert (told["long_term"].facts, told["long_term"].persona.profile) == ((), ())


def test_facts_of_a_caller_s_own_are_told_too_and_of_an_empty_memory_nothing(alice: OwnerMemory) -> None:
    context = alice.overview()
    assert (context.text, context.facts, context.tokens, context.confidence) == ("", (), 0, 0.0)

    alice.add("I live in Ghent.", "I see.")
    alice.settle()
    alice.learn([{"text": "Keeps the spare key under the blue pot", "attribute": "spare_key", "value": "blue pot"}])
    assert "blue pot" in alice.overview().text


def test_a_question_that_asks_for_no_more_gets_one(nora: OwnerMemory) -> None:
    for query, told, not_told in (
        ("What do you know about me?", ("nurse", "Lille", "driving test"), ("bakery",)),
        ("What happened in February?", ("kitchen", "bakery"), ("driving test",)),
        ("Tell me about my sister Ana", ("Oslo", "bakery"), ("kitchen", "driving test")),
        ("What has Ana been up to?", ("bakery",), ("driving test",)),
    ):
        context = nora.recall(query, at="2026-05-10T10:00:00+00:00", budget=400)
        block = context.text.partition("\n#")[0].rpartition("\n\n")[0]
        assert all(word in block for word in told), block
        assert not any(word in block for word in not_told), block
        assert context.tokens <= 400


def test_questions_for_an_overview_are_known_and_others_are_none() -> None:
    wrong = [
        query
        for query in (
            "What happened?",
            "what's been going on lately?",
            "Give me an overview",
            "Summarise my life so far",
            "Who am I?",
            "Please catch me up.",
            "What are the most important events of the last few years?",
            "How have things changed?",
            "你知道我的哪些事？",
            "最近发生了什么？",
            "总结一下我的生活",
            "介绍一下我",
        )
        if not (asks_for_overview(query))
    ]
    assert wrong == []

    wrong = [
        query
        for query in (
            "",
            "Hello",
            "What did I do at the office party?",
            "Tell me a joke",
            "What happened to my bike?",
            "Who is the president of Peru?",
            "What do you know about black holes?",
            "When did I move?",
            "How do I change a tyre?",
            "我的自行车怎么样了？",
            "北京天气怎么样？",
            "Describe the painting in the hall",
            "Summarise this article: " + "long " * 100,
        )
        if asks_for_overview(query)
    ]
    assert wrong == []
