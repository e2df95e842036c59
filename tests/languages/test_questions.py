"""What kind of answer a query asks for, in English and Chinese."""

from __future__ import annotations

from collections.abc import Callable

from embermem.languages import questions as asked

KINDS: tuple[tuple[Callable[[str], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (
        asked.asks_for_several,
        ("Which books has she read?", "How many?", "哪些书？", "去过哪几个地方", "所有的爱好", "列出来"),
        ("Where does she live?", "谁养猫？", "他住在哪里"),
    ),
    (
        asked.asks_for_advice,
        ("What should I cook on Sunday?", "Any ideas for her birthday?", "晚饭吃什么好？"),
        (),
    ),
)  # fmt: skip
"""Of each kind of question, texts that are one and texts that are none."""


def test_a_question_is_known_by_what_it_asks_for() -> None:
    for is_one, yes, no in KINDS:
        assert [text for text in yes if not is_one(text)] == [], is_one
        assert [text for text in no if is_one(text)] == [], is_one


def test_who_mentions_somebody_asks_for_nobody() -> None:
    people = {"has_relative", "knows"}
    asking = ("我老板是谁", "我有几个兄弟姐妹", "我妹妹叫什么", "友達の名前教えて", "私の妻について", "Who is my boss?")
    mentioning = ("会不会遇到志同道合的朋友呢？那个活动在哪里", "同事的工作地是在哪儿", "夫と行くレストランは？")
    assert [text for text in asking if not asked.asked_attributes(text) & people] == []
    assert [text for text in mentioning if asked.asked_attributes(text) & people] == []
