"""A part of a data set: the first, or those drawn by a seed; always the same, and a longer run holds the shorter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import InputError
from embermem_bench.datasets import Conversation, Dataset, Question, subset


def talk(name: str, count: int) -> Conversation:
    asked = tuple(Question(id=f"Q{n}", text=f"{n}?", category="") for n in range(count))
    return Conversation(id=name, threads=(), questions=asked)


def ids(dataset: Dataset) -> dict[str, list[str]]:
    return {c.id: [q.id for q in c.questions] for c in dataset.conversations}


WHOLE = Dataset(name="ours", conversations=tuple(talk(name, n) for n, name in enumerate("abcdef", 5)))
NUMBERS = st.none() | st.integers(1, 12)


def test_the_first_are_taken_or_those_that_a_seed_draws_on_every_machine() -> None:
    assert ids(subset(WHOLE, conversations=2, questions=3)) == {"a": ["Q0", "Q1", "Q2"], "b": ["Q0", "Q1", "Q2"]}

    assert subset(WHOLE) == subset(WHOLE, seed=3) == WHOLE

    assert ids(subset(WHOLE, conversations=2, questions=3, seed=0)) == {
        "d": ["Q0", "Q2", "Q6"],
        "f": ["Q0", "Q3", "Q4"],
    }

    assert len({str(ids(subset(WHOLE, questions=3, seed=seed))) for seed in range(20)}) == 20

    for number in [0, -1]:
        with pytest.raises(InputError, match="questions = "):
            subset(WHOLE, questions=number)
        with pytest.raises(InputError, match="conversations = "):
            subset(WHOLE, conversations=number)


@given(conversations=NUMBERS, questions=NUMBERS, seed=st.none() | st.integers())
def test_order_is_kept_and_a_larger_part_holds_the_smaller(
    conversations: int | None, questions: int | None, seed: int | None
) -> None:
    part = ids(subset(WHOLE, conversations=conversations, questions=questions, seed=seed))
    whole = ids(WHOLE)
    assert list(part) == [name for name in whole if name in part]
    assert len(part) == min(6, conversations or 6)
    for name, some in part.items():
        assert some == [one for one in whole[name] if one in some]
        assert len(some) == min(len(whole[name]), questions or 99)
    larger = ids(subset(WHOLE, conversations=conversations and conversations + 1, questions=questions, seed=seed))
    assert {name: larger[name] for name in part} == part


@given(seed=st.none() | st.integers(), questions=st.integers(1, 5))
def test_what_is_drawn_of_a_conversation_does_not_depend_on_the_others(seed: int | None, questions: int) -> None:
    alone = replace(WHOLE, conversations=WHOLE.conversations[2:3])
    drawn = ids(subset(WHOLE, questions=questions, seed=seed))
    assert ids(subset(alone, questions=questions, seed=seed)) == {"c": drawn["c"]}


@given(seed=st.integers(), questions=st.integers(1, 9))
def test_more_questions_hold_the_fewer(seed: int, questions: int) -> None:
    fewer, more = (ids(subset(WHOLE, questions=n, seed=seed)) for n in (questions, questions + 1))
    assert all(set(fewer[name]) <= set(more[name]) for name in fewer)
