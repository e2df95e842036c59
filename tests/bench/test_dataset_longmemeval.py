"""LongMemEval's format: each instance is a conversation with one question."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from embermem.core.errors import InputError
from embermem.core.types import Role
from embermem_bench import recall
from embermem_bench.datasets import Conversation, is_longmemeval, parse


def instance(**more: object) -> dict[str, Any]:
    """Three sessions, not in the order of their dates; the answer stands in the second of the file."""
    return {
        "question_id": "our_q1",
        "question_type": "single-session-user",
        "question": "Which instrument did I repair?",
        "answer": "the harmonium",
        "question_date": "2024/05/30 (Thu) 23:40",
        "haystack_session_ids": ["noise_1", "answer_1", "noise_2"],
        "haystack_dates": ["2024/05/20 (Mon) 02:21", "2024/05/10 (Fri) 17:15", "2024/05/25 (Sat) 09:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "How do I prune a pear tree?"},
                {"role": "assistant", "content": "In winter."},
            ],
            [
                {"role": "user", "content": "I repaired my harmonium today.", "has_answer": True},
                {"role": "assistant", "content": "Does it sound well?", "has_answer": False},
            ],
            [],
        ],
        "answer_session_ids": ["answer_1"],
        **more,
    }


def abstention() -> dict[str, Any]:
    return instance(question_id="our_q2_abs", question="Which clock did I repair?", answer="No clock was mentioned.")


def one(item: object) -> Conversation:
    (conversation,) = parse([item], "name", "here").conversations
    return conversation


def test_an_instance_is_a_conversation_with_sessions_in_the_order_of_their_dates_and_one_question() -> None:
    found = parse([instance(), abstention()], "ours", "here")
    assert found.name == "ours"
    assert [(c.id, len(c.questions), len(c.threads)) for c in found.conversations] == [
        ("our_q1", 1, 3),
        ("our_q2_abs", 1, 3),
    ]

    threads = one(instance()).threads
    assert [thread.id for thread in threads] == ["answer_1", "noise_1", "noise_2"]
    turn = threads[0].turns[0]
    assert (turn.id, turn.role, turn.speaker) == ("answer_1:1", Role.USER, "user")
    assert turn.at == datetime(2024, 5, 10, 17, 15, tzinfo=UTC)

    (question,) = one(instance()).questions
    assert (question.id, question.category, question.answer) == ("our_q1", "single-session-user", "the harmonium")
    assert question.at == datetime(2024, 5, 30, 23, 40, tzinfo=UTC)
    assert question.evidence == frozenset({"answer_1:1"})
    assert question.evidence_threads == frozenset({"answer_1"})
    assert question.answerable

    assert one(instance(answer=4)).questions[0].answer == "4"

    found = parse([instance(), abstention()], "ours", "here")
    (unsaid,) = found.conversations[1].questions
    assert (unsaid.answer, unsaid.answerable, unsaid.category) == (None, False, "single-session-user_abs")
    assert found.headline == frozenset({"single-session-user"})

    assert is_longmemeval([instance()])
    assert is_longmemeval(instance())
    assert not is_longmemeval([])
    assert parse(instance(), "name", "here").conversations == parse([instance()], "name", "here").conversations


def test_a_session_that_stands_twice_becomes_two_threads_and_both_are_evidence() -> None:
    turns = [{"role": "user", "content": "Again.", "has_answer": True}]
    conversation = one(
        instance(
            haystack_session_ids=["a", "a", "a#2", "a"],
            haystack_dates=["2024/05/10 (Fri) 17:15"] * 4,
            haystack_sessions=[turns] * 4,
            answer_session_ids=["a"],
        )
    )
    assert [thread.id for thread in conversation.threads] == ["a", "a#3", "a#2", "a#4"]
    assert conversation.questions[0].evidence_threads == frozenset({"a", "a#3", "a#4"})
    assert len(conversation.questions[0].evidence) == 4


def test_recall_is_measured_by_turns_and_by_sessions(tmp_path: Path) -> None:
    found = recall.run(parse([instance(), abstention()], "ours", "here"), tmp_path, embedder="hashed").as_json()
    assert (found["questions"], found["skipped"], found["utterances"]) == (1, 0, 8)
    assert found["rec@5"] == found["thread_any@5"] == 1.0
    assert set(found["by_category"]) == {"single-session-user", "single-session-user_abs"}


def _put(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda item: item.update({key: value})


def test_what_is_wrong_is_named() -> None:
    for change, wrong in [
        (_put("question_id", None), "here, instance 1: 'question_id' is missing or not a text"),
        (_put("question_type", 0.0 * float("inf")), "(our_q1): 'question_type' is missing or not a text"),
        (_put("question", ""), "(our_q1): 'question' is missing or not a text"),
        (_put("question_date", "30 May"), "question_date: the date is '30 May'; expected a form like"),
        (_put("haystack_dates", ["2024/02/31 (Sat) 10:00"] * 3), "session 1: the date is '2024/02/31 (Sat) 10:00'"),
        (_put("haystack_dates", []), "3 sessions, 3 session ids and 0 dates; expected as many each"),
        (_put("haystack_sessions", {}), "haystack_sessions: expected a list, found a dict"),
        (_put("haystack_session_ids", [1, [], 3]), "session 2: 'id' is missing or not a text"),
        (_put("answer_session_ids", "answer_1"), "answer_session_ids: expected a list, found a str"),
        (lambda item: item["haystack_sessions"][1][0].update(role="ghost"), "session 2, turn 1: role is 'ghost'"),
        (lambda item: item["haystack_sessions"][1][0].update(has_answer=1), "turn 1: 'has_answer' is 1; expected true"),
        (lambda item: item["haystack_sessions"][1][0].update(content="\x00"), "'content' has a NUL character at 0"),
    ]:
        item = copy.deepcopy(instance())
        change(item)
        with pytest.raises(InputError) as caught:
            one(item)
        assert wrong in str(caught.value)

    with pytest.raises(InputError, match="the conversation id 'our_q1' stands there twice"):
        parse([instance(), instance()], "name", "here")
