"""Reasoning is taken out of answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from embermem.core.reasoning import without_thinking
from embermem.llms.thinking import ThinkingFilter


def test_reasoning_before_the_answer_goes() -> None:
    cases = [
        ("<think>hm</think>Yes.", "Yes."), ("\n<think>\nhm\n</think>\n\nYes.", "Yes."),
        ("<think></think><think>again</think>Yes.", "Yes."), ("<think>hm, and never an end", ""),
        ("hm, so\n</think>\n\nYes.", "Yes."), ("Yes.", "Yes."),
    ]  # fmt: skip
    assert {text: got for text, answer in cases if (got := without_thinking(text)) != answer} == {}


def test_marks_that_are_the_answers_own_words_stay() -> None:
    cases = [
        '{"text": "he wrote <think>a</think> there"}', '{"text": "a closing mark </think>\\n"}',
        "In that template `</think>` ends the thought.", "Write <think>x</think>\nlike this.", "```\na\n</think>\n```",
    ]  # fmt: skip
    assert {text: got for text in cases if (got := without_thinking(text)) != text} == {}


MARKED = st.lists(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "hm", " ", "\n", "是", "<"]), max_size=12)


@given(parts=MARKED)
def test_a_stream_gives_the_same_however_it_is_cut(parts: list[str]) -> None:
    def given_on(pieces: list[str]) -> str:
        thinking = ThinkingFilter()
        return "".join([thinking.feed(piece) for piece in pieces] + [thinking.rest()])

    text = "".join(parts)
    assert given_on(parts) == given_on(list(text)) == given_on([text])
