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
