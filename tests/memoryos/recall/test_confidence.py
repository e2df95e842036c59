"""How likely a query can be answered: what was said, what never was, and what somebody else said."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from talking import DIM, Line, snapshot, unit

from embermem.core.config import load
from embermem.core.types import OwnerId, Scope, Utterance
from embermem.index.late import packed
from embermem.index.query_context import Query, View
from embermem.index.snapshot import Snapshot
from embermem.memoryos.recall.confidence import Signs, answerable, signs
from embermem.memoryos.recall.retrieval import rank
from embermem.protocols import Delta, TokenVectors

DEFAULT = load()
SMALL_TALK = [Line(f"nothing of note on walk {i}", thread=f"t{i}", vector=(0, 1, i / 40)) for i in range(20)]
TWO = [
    Line("Nice weather for a stroll today", speaker="Bob", thread="w1"),
    Line("The bus came late again", speaker="Alice", thread="w2"),
    Line("I mended the greenhouse roof with my brother", speaker="Bob", thread="g"),
    Line("I paint herons in watercolour on Sundays", speaker="Alice", thread="h"),
    Line("Soup for lunch and early to bed", speaker="Bob", thread="w3"),
    Line("A long day at work", speaker="Alice", thread="w4"),
]


def sure(lines: Sequence[Line], text: str, **more: object) -> float:
    return rank(snapshot(lines), Query(text=text, **more), DEFAULT).answerable  # type: ignore[arg-type]


def found(lines: Sequence[Line], text: str) -> Signs:
    memory = snapshot(lines)
    query = Query(text=text)
    return signs(View(memory, query, DEFAULT), rank(memory, query, DEFAULT).rows)


def test_it_is_high_where_the_words_stand_and_near_0_where_nothing_is_like_it() -> None:
    lines = [*SMALL_TALK, Line("the heron stood in the reeds", thread="x", vector=(1, 0))]
    assert sure(lines, "heron in the reeds", vector=unit(1, 0.2)) > 0.8
    assert sure(lines, "quantum tariffs", vector=unit(0, 0, 0, 1)) < 0.05

    assert sure(TWO, "Who mended the greenhouse roof?") > 0.7
    assert sure(TWO, "What is the price of copper in Chile?") < 0.05

    lines = [*TWO, Line("The kayak has a leak", thread="k"), Line("Sand and varnish it", thread="k")]
    assert found(lines, "varnish the kayak leak").words == 1.0

    assert answerable(View(snapshot(TWO), Query(text="roof"), DEFAULT), ()) == 0.0
    assert sure(TWO, "?!") < 0.05
    assert 0.0 <= sure(TWO[:1], "Bob?") <= 1.0

    before = sure(TWO[:3], "Who mended the greenhouse roof?")
    later = [*TWO[:3], Line("The greenhouse roof was mended, the greenhouse roof!", thread="g")]
    assert sure(later, "Who mended the greenhouse roof?", scope=Scope(before_seq=4)) == before


def test_only_the_words_of_who_is_named_answer_for_them() -> None:
    assert sure(TWO, "What did Bob mend on the greenhouse roof?") > 0.7
    assert sure(TWO, "What did Alice mend on the greenhouse roof?") < 0.3

    plain = found([*TWO, Line("The kayak is red", speaker="Bob", thread="k")], "Which colour is the kayak of Alice?")
    told = found([*TWO, Line("Your kayak is red", speaker="Bob", thread="k")], "Which colour is the kayak of Alice?")
    asked = found([*TWO, Line("Is the kayak red?", speaker="Bob", thread="k")], "Which colour is the kayak of Alice?")
    assert plain.whose < 0.0
    assert told.whose == asked.whose == pytest.approx(0.0, abs=0.02)

    wrong = [
        text
        for text in ("Who paints herons?", "What do Alice and Bob paint?", "Does Zoe paint herons?")
        if (found(TWO, text).whose) != (0.0)
    ]
    assert wrong == []

    assert found(TWO, "What about copper, Alice?").words == 0.0
    assert found(TWO, "Alice?").words == 1.0

    lines = [
        Line("我昨天去了湿地公园看鸟", speaker="王小明", thread="a"),
        Line("我今天在家做饭", speaker="李华", thread="b"),
        Line("公交车又晚点了", speaker="王小明", thread="c"),
        Line("晚上早点睡觉", speaker="李华", thread="d"),
    ]
    assert sure(lines, "王小明在湿地公园看到了什么") > sure(lines, "李华在湿地公园看到了什么")


# ------------------------------------------------------------------------------------------------ token vectors

TOKENS = {"mended": (1, 0, 0, 0), "fixed": (0.9, 0.4, 0, 0), "kayak": (0, 0, 1, 0), "canoe": (0, 0, 0.95, 0.3)}


def tokens(text: str) -> TokenVectors:
    """Those words of a text that have a vector."""
    words = [word for word in text.lower().strip("?.").split() if word in TOKENS]
    vectors = np.array([unit(*TOKENS[word]) for word in words], dtype=np.float32).reshape(-1, DIM)
    return TokenVectors(words=tuple(words), vectors=vectors)


def with_tokens(lines: Sequence[Line], embedded: int | None = None) -> Snapshot:
    """The first `embedded` of the lines (None: all) with their vectors and tokens."""
    said: tuple[Utterance, ...] = tuple(snapshot(lines).utterances)
    some = said[:embedded]
    return Snapshot.empty(OwnerId("owner"), DIM, DIM).extended(
        Delta(
            seq=len(said),
            revision=1,
            utterances=said,
            vector_seqs=np.array([u.seq for u in some]),
            vectors=np.array([unit(0, 1) for _ in some]),
            tokens=tuple(packed(tokens(u.text)) for u in some),
            pages=(),
            segments=(),
            persona=None,
        )
    )


def token_signs(memory: Snapshot, text: str) -> Signs:
    query = Query(text=text, vector=unit(1), tokens=tokens(text))
    return signs(View(memory, query, DEFAULT), rank(memory, query, DEFAULT).rows)


CANOE = [*TWO, Line("I fixed the canoe", speaker="Bob", thread="k")]


def test_another_word_of_the_same_meaning_counts_and_chinese_and_what_has_no_vector_are_judged_by_words() -> None:
    memory = with_tokens(CANOE)
    near = token_signs(memory, "Who mended the kayak?")
    assert near.words < 0.5
    assert near.late > 0.8
    assert (
        token_signs(memory, "What did Bob fixed canoe?").whose > 0.0 > token_signs(memory, "Alice fixed canoe?").whose
    )

    memory = with_tokens([*CANOE, Line("皮划艇修好了", thread="z")])
    wordless = token_signs(memory, "谁修好了皮划艇")
    assert wordless.words > 0.5
    assert wordless.late == pytest.approx(
        DEFAULT.confidence_unlike + (DEFAULT.confidence_like - DEFAULT.confidence_unlike) * wordless.words
    )

    lines = [*CANOE, Line("We mended the kayak", speaker="Alice", thread="m")]
    assert token_signs(with_tokens(lines, embedded=7), "Who mended the kayak?").late > 0.9


def test_a_large_memory_makes_it_no_slower() -> None:
    lines = [
        Line(f"I saw bird {i % 97} at pond {i % 89} today", speaker="AliceBob"[5 * (i % 2) :][:5], thread=f"t{i // 20}")
        for i in range(4000)
    ]
    view = View(snapshot(lines), Query(text="Which bird did Alice see at the pond today?"), DEFAULT)
    rows = rank(view.snapshot, view.query, DEFAULT).rows
    assert answerable(view, rows) >= 0.0
    took = []
    for _ in range(20):
        began = time.perf_counter()
        answerable(view, rows)
        took.append(time.perf_counter() - began)
    assert min(took) < 0.005
