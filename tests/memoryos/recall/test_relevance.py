"""Relevance and confidence as probabilities, and `min_score`, which goes by relevance."""

from __future__ import annotations

import copy
import pickle

import pytest
from talking import Line, snapshot, unit

from embermem import OwnerMemory
from embermem.core.config import Preset, Settings, load
from embermem.core.errors import InputError
from embermem.core.types import Context, Hit
from embermem.index.query_context import Query
from embermem.index.tokens import counter
from embermem.memoryos.recall.retrieval import NOT_FITTED, rank, recall
from scripted import Opener

BOTH: tuple[Preset, ...] = ("default", "paper")
WORDS = counter("words")
TALK = [
    *(Line(f"nothing of note on walk {i}", thread=f"t{i}", vector=(0, 1, i / 40)) for i in range(20)),
    Line("the heron stood in the reeds", thread="x", vector=(1, 0)),
]


def asked(text: str, settings: Settings | None = None, **more: object) -> Context:
    query = Query(text=text, **more)  # type: ignore[arg-type]
    return recall(snapshot(TALK), query, settings or load(), WORDS)


def relevances(hits: tuple[Hit, ...]) -> list[float]:
    return [hit.relevance for hit in hits if hit.relevance is not None]


def test_every_hit_has_one_that_falls_with_the_score_travels_and_is_explained() -> None:
    for preset in BOTH:
        context = asked("heron in the reeds", load(preset), vector=unit(1, 0.2))
        found = relevances(context.hits)
        assert len(found) == len(context.hits) > 5
        assert all(0.0 <= one <= 1.0 for one in found)
        assert found == sorted(found, reverse=True)
        assert {hit.utterance.id: hit.relevance for hit in context.hits}.items() >= {
            (hit.utterance.id, hit.relevance) for hit in context.packed
        }

    query = Query(text="heron in the reeds", vector=unit(1, 0.2))
    first = rank(snapshot(TALK), query, load(), first=3).first_hits(3)
    assert relevances(first) == relevances(recall(snapshot(TALK), query, load(), WORDS).hits[:3])

    hit = asked("heron in the reeds", vector=unit(1, 0.2)).hits[0]
    assert pickle.loads(pickle.dumps(hit)).relevance == copy.deepcopy(hit).relevance == hit.relevance

    context = asked("heron in the reeds", vector=unit(1, 0.2))
    hit = context.hits[0]
    told = str(context.explain(hit))
    assert f"relevance {hit.relevance:.4f}, score {hit.score:.4f}" in told
    assert "  dense" in told
    assert "  date" not in told
    assert {"dense"} < set(hit.spoke) < set(hit.channels)


def test_it_and_the_confidence_tell_what_answers_from_what_does_not() -> None:
    right = asked("heron in the reeds", vector=unit(1, 0.2)).hits[0]
    wrong = asked("quantum tariffs", vector=unit(0.1, 0, 0, 1)).hits[0]
    assert (right.relevance or 0.0) > 0.5 > 0.05 > (wrong.relevance or 0.0)

    assert asked("heron in the reeds", vector=unit(1, 0.2)).confidence > 0.5
    assert asked("quantum tariffs", vector=unit(0, 0, 0, 1)).confidence < 0.2

    roomy = asked("heron in the reeds", vector=unit(1, 0.2)).confidence
    assert asked("heron in the reeds", vector=unit(1, 0.2), budget=1).confidence < roomy


# ---------------------------------------------------------------------------------------------------- embedders


def test_another_embedder_gives_one_too_and_a_note_says_that_it_was_fitted_for_another(opened: Opener) -> None:
    context = asked("heron in the reeds")
    found = relevances(context.hits)
    assert found == sorted(found, reverse=True)
    assert found[0] > 1.5 * found[1]
    assert NOT_FITTED in context.notes

    alice = opened().of("alice")
    assert alice.recall("heron").hits == ()
    assert alice.recall("heron").confidence == 0.0
    alice.add("I saw a heron in the reeds.", "How lovely.")
    context = alice.recall("Where was the heron?")
    assert all(0.0 <= one <= 1.0 for one in relevances(context.hits))
    assert NOT_FITTED in context.notes


# ---------------------------------------------------------------------------------------------------- min_score


@pytest.fixture
def alice(opened: Opener) -> OwnerMemory:
    """A page about a heron among others, and a fact."""
    alice = opened().of("alice")
    for n, text in enumerate(("I bought a new kettle.", "I saw a heron in the reeds.", "The bus was late again.")):
        alice.add(text, "I see.", thread=f"t{n}")
    alice.learn([{"text": "Alice likes herons"}])
    alice.settle()
    return alice


def test_what_is_less_relevant_is_in_no_hit_and_not_in_the_text_and_is_named_but_facts_are_told(
    alice: OwnerMemory,
) -> None:
    for preset in BOTH:
        query = "Where did I see the heron?"
        everything = alice.recall(query, preset=preset)
        best = everything.hits[0].relevance or 0.0
        few = alice.recall(query, preset=preset, min_score=best)
        assert [hit.utterance.id for hit in few.hits] == [
            hit.utterance.id for hit in everything.hits if (hit.relevance or 0.0) >= best
        ]
        assert {hit.utterance.id for hit in few.packed} <= {hit.utterance.id for hit in few.hits}
        assert "I bought a new kettle" in everything.text
        assert "I bought a new kettle" not in few.text
        (kettle,) = [one for one in few.left_out if "kettle" in one.what]
        assert kettle.reason == f"relevance {_of(everything, 'kettle').relevance:.2f}, below min_score {best:g}"

    context = alice.recall("Where did I see the heron?", min_score=1.0)
    assert context.hits == context.packed == ()
    assert [fact.text for fact in context.facts] == ["Alice likes herons"]
    assert "Alice likes herons" in context.text

    found = alice.search("heron")
    best = found[0].relevance or 0.0
    assert alice.search("heron", min_score=best) == tuple(hit for hit in found if (hit.relevance or 0.0) >= best)
    assert alice.search("heron", min_score=0) == found

    for wrong in (-0.1, 1.5, float("nan"), True, "high", None):
        for method in (alice.recall, alice.search):
            with pytest.raises(InputError, match="min_score"):
                method("heron", min_score=wrong)  # type: ignore[arg-type]


def _of(context: Context, word: str) -> Hit:
    return next(hit for hit in context.hits if word in hit.utterance.text)
