"""Queries that rest on the last turns of their thread; and slips of the pen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from embermem import Memory
from embermem.languages.questions import continues, points_back, refers_to_person
from embermem.owner_memory import OwnerMemory

SAID = (
    "Ana works at the bakery on Mill Street since March 2024.",
    "Tom moved to Lisbon for a job at the harbour.",
    "Ana's sister Rita is a nurse at the hospital.",
    "I bought a road bike for 900 euros in Lyon.",
    "The restaurant on the hill has the best paella.",
    "Rita moved into a flat near the park.",
)
ASKED = {
    "ana": ("Where does Ana work?", "At the bakery on Mill Street."),
    "bike": ("How much was the bike?", "900 euros."),
}


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerMemory]:
    memory = Memory(tmp_path_factory.mktemp("follow-ups") / "memory.db", embedder="hashed")
    owner = memory.of("user")
    for number, text in enumerate(SAID):
        owner.add(text, "Noted.", at=f"2026-01-{number + 1:02}T10:00:00+00:00", thread=f"s{number}")
    for thread, (query, response) in ASKED.items():
        owner.add(query, response, at="2026-02-01T10:00:00+00:00", thread=thread)
    owner.settle()
    yield owner
    memory.close()


def first(owner: OwnerMemory, query: str, thread: str | None = None) -> str:
    """The first hit that is not of the thread itself."""
    hits = owner.recall(query, thread=thread, at="2026-03-01T10:00:00+00:00").hits
    return next(hit.utterance.text for hit in hits if hit.utterance.thread != thread)


def test_a_follow_up_is_read_with_the_turns_before_it_in_its_thread_alone(owner: OwnerMemory) -> None:
    wrong = [
        (query, thread, found)
        for query, thread, found in (
            ("Since when?", "ana", SAID[0]),
            ("And her sister?", "ana", SAID[2]),
            ("Where did I buy it?", "bike", SAID[3]),
            ("In which town?", "bike", SAID[3]),
        )
        if (first(owner, query, thread)) != (found)
    ]
    assert wrong == []

    hits = owner.recall("Since when?", thread="ana").hits
    assert ASKED["ana"][0] not in [hit.utterance.text for hit in hits]

    read = owner.recall("Since when?", thread="ana").notes
    assert any(ASKED["ana"][0] in note for note in read)
    assert any("'restur" in note for note in owner.recall("the resturant").notes)

    owner.add("Hello again!", "Hello!", at="2026-02-02T10:00:00+00:00", thread="new")
    told = owner.recall("Since when?", thread="new").hits
    assert ASKED["ana"][0] in [hit.utterance.text for hit in told]


def test_a_query_that_says_everything_is_the_same_in_every_thread_and_a_slip_finds_what_was_meant(
    owner: OwnerMemory,
) -> None:
    for thread in ("ana", None, "unknown"):
        at = "2026-03-01T10:00:00+00:00"
        alone = owner.recall("Which restaurant has the best paella?", at=at)
        asked = owner.recall("Which restaurant has the best paella?", thread=thread, at=at)
        assert [(hit.utterance.id, hit.score) for hit in asked.hits] == [(h.utterance.id, h.score) for h in alone.hits]

    wrong = [
        query
        for query in ("Which resturant is the best?", "Which restuarant is the best?", "the best paela")
        if (first(owner, query)) != (SAID[4])
    ]
    assert wrong == []


def test_a_question_that_goes_on_with_another_is_known_in_its_language() -> None:
    wrong = [
        query
        for query in (
            "And her sister?",
            "Why?",
            "Et sa sœur ?",
            "Et depuis quand ?",
            "Pourquoi ?",
            "¿Y su hermana?",
            "¿Por qué?",
            "Und seine Schwester?",
            "Warum?",
            "那她的妹妹呢？",
            "为什么？",
            "じゃあ、妹は？",
        )
        if not (continues(query))
    ]
    assert wrong == []

    wrong = [
        query
        for query in (
            "When did my son learn to swim?",
            "Which restaurant has the best paella?",
            "Quel restaurant a la meilleure paella ?",
            "¿Qué restaurante tiene la mejor paella?",
            "Welches Restaurant hat die beste Paella?",
            "哪家餐厅的海鲜饭最好吃？",
        )
        if any(rests(query) for rests in (continues, points_back, refers_to_person))
    ]
    assert wrong == []
