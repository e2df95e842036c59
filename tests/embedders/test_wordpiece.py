"""Our WordPiece against Hugging Face's `tokenizers`, and what a long text costs."""

from __future__ import annotations

import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import EmbedderError
from embermem.embedders.weights import VOCABULARY, find_weights
from embermem.embedders.wordpiece import WINDOW, WordPiece

ALL = sys.maxsize

HARD = [
    "", " ", "Hello, World!", "don't you're we'll", "naïve café résumé Ångström ﬁne", "İstanbul IĞDIR ΣΊΣΥΦΟΣ straße ẞ",
    "我昨天在上海吃了小笼包。 日本語のテスト カタカナ 한국어 시험", "ภาษาไทย हिन्दी العربية עברית",
    "🎉🎂 👩‍👩‍👧‍👦 🇫🇷 ☕️ ok🙂then", "a\u0301 e\u0301\u0323 \u0301alone",
    "nul\x00 bell\x07 tab\tnewline\ncr\rvt\x0bff\x0c nel\x85 zwj\u200d bom\ufeff soft\u00adhyphen \ufffd",
    "nbsp\u00a0thin\u2009ideographic\u3000line\u2028para\u2029", "$5+6=<11>^`|~ €7 £8 °C ™ … “quotes” ‘single’ — dash",
    "[SEP] [MASK] [CLS] [PAD] [UNK] [unused0] ##ing ##",
    "supercalifragilisticexpialidocious antidisestablishmentarianism", "x" * 100, "x" * 101, "é" * 101,
    "https://example.org/a_b?c=d&e=f#g user@example.org 3.14159 1,000,000", "\u1100\u1161\u11a8 각 ﷺ ㎏ ½ Ⅷ ①",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁 豈 丽", "\u0378\u0379 \ue000 \U000f0000 \U0010ffff",
]  # fmt: skip


@pytest.fixture(scope="module")
def weights() -> Path:
    folder = find_weights()
    if folder is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 are not installed")
    return folder


@pytest.fixture(scope="module")
def ours(weights: Path) -> WordPiece:
    return WordPiece.from_file(weights / VOCABULARY)


@pytest.fixture(scope="module")
def theirs(weights: Path) -> Any:
    tokenizer = pytest.importorskip("tokenizers").Tokenizer.from_file(str(weights / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def test_hard_texts_are_cut_as_tokenizers_cuts_them(ours: WordPiece, theirs: Any) -> None:
    assert {
        text: got
        for text in HARD
        if (got := ours.pieces(text, ALL)) != theirs.encode(text, add_special_tokens=False).ids
    } == {}


def _old(char: str) -> bool:
    """Of Unicode 3.2 and of the same category since: what the tables of both know."""
    return unicodedata.ucd_3_2_0.category(char) == unicodedata.category(char) != "Cn"


@given(st.text(st.characters(codec="utf-8").filter(_old) | st.sampled_from(" aB-é我Σ'\u0301")))
def test_any_text_is_cut_as_tokenizers_cuts_it(ours: WordPiece, theirs: Any, text: str) -> None:
    assert ours.pieces(text, ALL) == theirs.encode(text, add_special_tokens=False).ids


@pytest.mark.proof
def test_every_character_is_cut_as_tokenizers_cuts_it(ours: WordPiece, theirs: Any) -> None:
    known = [c for c in map(chr, range(0x30000)) if _old(c) and not "\ud800" <= c <= "\udfff"]
    assert len(known) > 90_000
    for start in range(0, len(known), 5000):
        text = " ".join(f"a{c}B" for c in known[start : start + 5000])
        assert ours.pieces(text, ALL) == theirs.encode(text, add_special_tokens=False).ids


def test_a_limit_gives_the_beginning_of_the_whole(ours: WordPiece) -> None:
    for length in [WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW]:
        for limit in [1, 7, 254]:
            text = ("unbelievable things happened to Zoë in 上海, " * 200)[:length]
            assert ours.pieces(text, limit) == ours.pieces(text, ALL)[:limit]


def test_words_across_windows_are_cut_whole(ours: WordPiece, theirs: Any) -> None:
    for shift in range(0, 12):
        text = "x" * shift + " " + "extraordinarily " * 300 + "y" * 5000 + " end " + "é" * (WINDOW - shift) + "!"
        assert ours.pieces(text, ALL) == theirs.encode(text, add_special_tokens=False).ids


def test_a_long_text_is_read_no_further_than_its_limit_needs(ours: WordPiece) -> None:
    text = "some words " * 2_000_000
    began = time.process_time()
    assert len(ours.pieces(text, 254)) == 254
    assert time.process_time() - began < 0.3


def test_the_pieces_of_the_words_are_the_pieces_of_the_text(ours: WordPiece) -> None:
    for text in HARD:
        for whole in (text, text * (2 * WINDOW // (len(text) or 1))):
            assert [id_ for _, ids in ours.words(whole, ALL) for id_ in ids] == ours.pieces(whole, ALL)


def test_words_end_with_the_one_that_reaches_the_limit(ours: WordPiece) -> None:
    for limit in [1, 7, 254]:
        words = ours.words("unbelievable embeddings happened to Zoë in 上海, " * 200, limit)
        assert len(words[-1][1]) + limit > sum(len(ids) for _, ids in words) >= limit


def test_words_are_in_lower_case_without_accents_and_marks_and_han_characters_are_words(ours: WordPiece) -> None:
    words = [word for word, _ in ours.words("Zoë's Café, 上海 🎉!", ALL)]
    assert words == ["zoe", "'", "s", "cafe", ",", "上", "海", "🎉", "!"]


def test_special_words_in_a_text_are_plain_text(ours: WordPiece) -> None:
    assert not {100, 101, 102, 103, 0} & set(ours.pieces("[SEP] [MASK] [CLS] [PAD]", ALL))


def test_a_vocabulary_without_specials_is_refused() -> None:
    with pytest.raises(EmbedderError, match=r"\[UNK\]"):
        WordPiece({"a": 0})
