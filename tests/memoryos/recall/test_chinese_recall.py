"""Chinese: recall on a small set of our own, and its words and names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from talking import Line, snapshot

from embermem.core.config import Settings
from embermem.index.query_context import Query, View
from embermem.languages.words import terms
from embermem_bench.datasets import load
from embermem_bench.recall import run
from proofs import bounded

SET = Path(__file__).parent / "data" / "recall_zh.json"


def named(query: str, *names: str) -> set[str]:
    """Whom of these the query names."""
    memory = snapshot([Line("好", speaker=name) for name in names])
    return {
        name
        for name, said in zip(names, View(memory, Query(text=query), Settings()).said_by_named, strict=True)
        if said
    }


def test_the_evidence_of_most_questions_is_found_with_the_hashed_embedder(tmp_path: Path) -> None:
    assistant = replace(load(SET), conversations=load(SET).conversations[1 : bounded(3, proofs=None)])
    figures = run(assistant, tmp_path, embedder="hashed").as_json()
    assert figures["rec@10"] > 0.75


def test_a_chinese_word_is_found_by_its_characters_and_a_name_whole_or_by_two_of_them() -> None:
    assert terms("我们怎么养橘猫的") == ["么养", "养橘", "橘猫", "猫的", "养", "橘", "猫"]
    assert terms("我们的") == []

    assert terms("ねこ") == ["ねこ"]
    assert terms("고양이") == ["고양", "양이"]

    assert named("王小明喜欢什么？", "王小明", "王小红") == {"王小明"}
    assert named("小红喜欢什么？", "王小明", "王小红") == {"王小红"}
    assert named("苏州好玩吗", "苏婉", "陈立") == set()
    assert named("苏婉和陈立是怎么认识的", "苏婉", "陈立", "Alice") == {"苏婉", "陈立"}
