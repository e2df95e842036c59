"""Both formats as conversations and questions; errors name the place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from small import locomo, recall_set

from embermem.bench.datasets import Conversation, load, parse
from embermem.errors import InputError
from embermem.types import Role


def one(document: object) -> Conversation:
    (conversation,) = parse(document, "name", "here").conversations
    return conversation


def test_locomo_sessions_stand_in_the_order_of_their_numbers() -> None:
    assert [thread.id for thread in one(locomo()).threads] == ["session_1", "session_2", "session_10"]


def test_locomo_times_are_utc() -> None:
    threads = one(locomo()).threads
    assert threads[0].turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert threads[1].turns[0].at == datetime(2023, 6, 1, 0, 5, tzinfo=UTC)


def test_the_first_to_speak_is_on_the_users_side() -> None:
    sides = {turn.speaker: turn.role for _, turn in one(locomo()).turns()}
    assert sides == {"Kit": Role.USER, "Vera": Role.ASSISTANT}


def test_captions_enter_the_text() -> None:
    texts = {turn.id: turn.text for _, turn in one(locomo()).turns()}
    assert texts["D2:1"] == "Look at this. [photo: a brass trombone on a red sofa]"


def test_evidence_is_repaired_and_what_cannot_be_is_skipped_and_counted() -> None:
    conversation = one(locomo())
    assert [sorted(q.evidence) for q in conversation.questions] == [["D1:1"], ["D1:2", "D2:1"], ["D2:2"], ["D10:1"]]
    assert conversation.skipped == 2


def test_the_headline_of_locomo_leaves_category_5_out() -> None:
    assert parse(locomo(), "name", "here").headline == frozenset("1234")
    assert parse(recall_set(), "name", "here").headline is None


def test_a_recall_set_keeps_file_order_and_reads_naive_times_as_utc() -> None:
    conversation = one(recall_set())
    assert [thread.id for thread in conversation.threads] == ["k1", "b1", "k2", "k3"]
    starts = [thread.turns[0].at for thread in conversation.threads]
    assert starts[0] == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert starts[1] == datetime(2026, 3, 2, 10, tzinfo=timezone(timedelta(hours=2)))
    assert conversation.questions[0].after_turn == "k2:2"
    assert conversation.questions[0].evidence_threads == frozenset({"k1"})


def test_a_file_is_named_by_itself_or_by_what_is_in_it(tmp_path: Path) -> None:
    for name, document in (("ours", locomo()), ("other", recall_set())):
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    assert load(tmp_path / "ours.json").name == "ours"
    assert load(tmp_path / "other.json").name == "small"


def _set(*path: str | int, value: object) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            _set("conversations", 0, "threads", 1, "turns", 0, "at", value="soon"),
            "thread 2, turn 1: the time is 'soon'",
        ),
        (_set("conversations", 0, "threads", 0, "turns", 1, "role", value="ghost"), "turn 2: role is 'ghost'"),
        (_set("conversations", 0, "threads", 0, "turns", value=None), "(mara), thread 1, turns: expected a list"),
        (_set("conversations", 0, "threads", 0, "id", value="k2"), "the thread id 'k2' stands there twice"),
        (_set("conversations", 0, "questions", 0, "after_turn", value="zz"), "q1: after_turn 'zz' is no turn"),
        (_set("conversations", 0, "questions", 1, "text", value=None), "question 2: 'text' is missing"),
        (_set("conversations", value=[]), "no conversation"),
    ],
)
def test_what_is_wrong_in_a_recall_set_is_named(change: Callable[[Any], None], said: str) -> None:
    document = copy.deepcopy(recall_set())
    change(document)
    with pytest.raises(InputError) as caught:
        parse(document, "name", "here")
    assert said in str(caught.value)


def test_what_is_wrong_in_a_locomo_file_is_named() -> None:
    document = locomo()
    document[0]["conversation"]["session_2_date_time"] = "yesterday"
    with pytest.raises(InputError, match=r"sample 1 \(our-1\), session_2: the date is 'yesterday'"):
        parse(document, "name", "here")


@pytest.mark.parametrize("text", ["", "{", "[]", "[1]", '{"a": 1}', "3"])
def test_other_files_are_refused_with_their_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json"):
        load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load(tmp_path / "none.json")
