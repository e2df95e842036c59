"""The recall sets in bench/sets can be read, and their questions can be answered from what they name."""

from __future__ import annotations

from pathlib import Path

from embermem_bench.datasets import Conversation, load

SETS = Path(__file__).parents[2] / "bench" / "sets"
FILES = sorted(file for file in SETS.rglob("*.json") if file.name != "notes.json")


def test_every_question_is_asked_once_and_names_evidence_that_was_said_before_it() -> None:
    assert FILES

    for file in FILES:
        for talk in load(file).conversations:
            said = {turn.id: turn.at for thread in talk.threads for turn in thread.turns}
            asked = [question.text for question in talk.questions]
            assert len(set(asked)) == len(asked)
            for question in talk.questions:
                assert question.evidence, question.id
                told = [said[turn] for turn in question.evidence]
                assert question.at is None or max(told) <= question.at, question.id


def test_a_follow_up_is_asked_at_the_end_of_its_thread_and_answered_by_others() -> None:
    for talk in load(SETS / "follow_ups.json").conversations:
        turns = {thread.id: thread.turns for thread in talk.threads}
        for question in talk.questions:
            assert question.thread is not None, question.id
            own = turns[question.thread]
            assert 2 <= len(own) <= 4, question.id
            assert question.at is not None
            assert question.at > own[-1].at, question.id
            assert not question.evidence & {turn.id for turn in own}, question.id


def test_what_is_asked_of_a_long_answer_stands_in_its_middle() -> None:
    for talk in load(SETS / "long.json").conversations:
        said = {turn.id: turn.text for _, turn in talk.turns()}
        for question in talk.questions:
            (text,) = (said[turn] for turn in question.evidence)
            assert question.quote is not None, question.id
            assert text.count(question.quote) == 1, question.id
            begin = text.index(question.quote)
            assert begin / len(text) >= 0.2, question.id
            assert (begin + len(question.quote)) / len(text) <= 0.8, question.id


def test_a_life_is_long_enough_and_says_nothing_twice() -> None:
    for file in sorted((SETS / "languages").glob("*.json")):
        (talk,) = load(file).conversations
        texts = [turn.text for thread in talk.threads for turn in thread.turns]
        assert len(texts) >= 300
        assert len(set(texts)) == len(texts)
        assert _asked(talk, "own") >= 60
        assert _asked(talk, "crossed-") >= 20


def _asked(talk: Conversation, category: str) -> int:
    return sum(question.category.startswith(category) for question in talk.questions)
