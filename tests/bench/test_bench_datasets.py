"""LoCoMo and the recall-set format as conversations and questions; errors name the place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from small import locomo, recall_set

from embermem.core.errors import InputError
from embermem.core.types import Role
from embermem_bench.datasets import Conversation, load, parse


def one(document: object) -> Conversation:
    (conversation,) = parse(document, "name", "here").conversations
    return conversation


def test_the_first_to_speak_is_on_the_users_side_and_the_headline_of_locomo_leaves_category_5_out() -> None:
    conversation = one(locomo())
    sides = {turn.speaker: turn.role for _, turn in conversation.turns()}
    assert sides == {"Kit": Role.USER, "Vera": Role.ASSISTANT}
    assert conversation.speakers == ("Kit", "Vera")
    assert parse(locomo(), "name", "here").headline == frozenset("1234")
    assert parse(recall_set(), "name", "here").headline is None


def test_evidence_is_repaired_and_a_question_without_any_is_counted_and_kept_to_be_answered() -> None:
    conversation = one(locomo())
    found = [["D1:1"], ["D1:2", "D2:1"], ["D2:2"], ["D10:1"]]
    assert [sorted(q.evidence) for q in conversation.with_evidence] == found
    assert conversation.skipped == 2
    assert [q.id for q in conversation.questions] == [f"our-1:Q{n}" for n in range(1, 7)]
    assert [q.has_evidence for q in conversation.questions] == [True, True, True, False, False, True]


def test_a_recall_set_keeps_file_order_reads_naive_times_as_utc_and_may_bring_answers_and_traps() -> None:
    conversation = one(recall_set())
    assert [thread.id for thread in conversation.threads] == ["k1", "b1", "k2", "k3"]
    starts = [thread.turns[0].at for thread in conversation.threads]
    assert starts[0] == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert starts[1] == datetime(2026, 3, 2, 10, tzinfo=timezone(timedelta(hours=2)))
    assert conversation.questions[0].after_turn == "k2:2"
    assert conversation.questions[0].evidence_threads == frozenset({"k1"})

    document = recall_set()
    first, second = document["conversations"][0]["questions"]
    first |= {"answer": 3}
    second |= {"answerable": False, "trap": "Too much salt."}
    asked = one(document).questions
    assert [(q.answer, q.trap, q.answerable) for q in asked] == [("3", None, True), (None, "Too much salt.", False)]
    assert [(q.answer, q.trap, q.answerable) for q in one(recall_set()).questions] == [(None, None, True)] * 2

    threaded = recall_set()
    threaded["conversations"][0]["questions"][1]["thread"] = "k3"
    assert [question.thread for question in one(threaded).questions] == [None, "k3"]


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


WRONG: Sequence[tuple[Callable[[Any], None], str]] = (
    (_set("conversations", 0, "threads", 1, "turns", 0, "at", value="soon"), "thread 2, turn 1: the time is 'soon'"),
    (_set("conversations", 0, "threads", 0, "turns", 1, "role", value="ghost"), "turn 2: role is 'ghost'"),
    (_set("conversations", 0, "threads", 0, "turns", value=None), "(mara), thread 1, turns: expected a list"),
    (_set("conversations", 0, "threads", 0, "id", value="k2"), "the thread id 'k2' stands there twice"),
    (_set("conversations", 0, "questions", 0, "after_turn", value="zz"), "q1: after_turn 'zz' is no turn"),
    (_set("conversations", 0, "questions", 0, "thread", value="zz"), "q1: thread 'zz' is no thread"),
    (_set("conversations", 0, "questions", 1, "quote", value="yeast"), "q2: no turn of its evidence says 'yeast'"),
    (_set("conversations", 0, "questions", 1, "text", value=None), "question 2: 'text' is missing"),
    (_set("conversations", value=[]), "no conversation"),
    (_set("conversations", 0, "questions", 0, "answer", value=["a"]), "question 1: 'answer' is missing or not a"),
    (_set("conversations", 0, "questions", 0, "answerable", value="no"), "'answerable' is 'no'; expected true or"),
    (_set("conversations", 0, "questions", 0, "evidence", value="k1:0"), "evidence: expected a list, found a str"),
    (_set("conversations", 0, "questions", 0, "id", value="q2"), "the question id 'q2' stands there twice"),
    (_set("conversations", 0, "questions", 0, "category", value={}), "'category' is missing or not a text"),
    (_set("conversations", 0, "threads", 0, "turns", 0, "text", value="a\x00b"), "'text' has a NUL character at 1"),
    (_set("conversations", 0, "threads", 0, "turns", 0, "text", value="\ud800"), "half of a surrogate pair at 0"),
    (_set("conversations", 0, "threads", 0, "turns", 0, "at", value="0001-01-01T00:00+14:00"), "is outside of"),
    (_set("conversations", 0, "threads", 0, "turns", 0, "text", value=10**5000), "'text' is missing or not a text"),
    (_set("conversations", 0, "id", value=None), "conversation 1: 'id' is missing or not a text"),
    (
        lambda document: document["conversations"][0]["questions"][0].update(answerable=False, answer="yes"),
        "(mara), question 1: it has an answer, and says that it is not answerable",
    ),
)


def test_what_is_wrong_in_a_file_is_named() -> None:
    for change, said in WRONG:
        wrong = recall_set()
        change(wrong)
        with pytest.raises(InputError) as caught:
            parse(wrong, "name", "here")
        assert said in str(caught.value)
    document = locomo()
    document[0]["conversation"]["session_2_date_time"] = "yesterday"
    with pytest.raises(InputError, match=r"sample 1 \(our-1\), session_2: the date is 'yesterday'"):
        parse(document, "name", "here")


OTHER = [
    "",
    "{",
    "[]",
    "[1]",
    '{"a": 1}',
    "3",
    "\x00",
    "9" * 5000,
    "[" * 100_000,
    '{"conversations": [], "conversations": []}',
]


def test_files_that_are_no_data_set_or_cannot_be_read_are_refused_with_their_path(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in OTHER:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"x\.json"):
            load(path)
    path.write_text('{"conversations": [{"id": "a", "threads": [], "threads": []}]}', encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json: the key 'threads' stands twice in one object"):
        load(path)
    path.write_bytes(b'{"name": "\xff"}')
    with pytest.raises(InputError, match=r"x\.json is not UTF-8: .* at byte 10"):
        load(path)
    for name in ("none.json", "a\x00b", "n" * 5000):
        with pytest.raises(InputError, match="cannot read"):
            load(tmp_path / name)
