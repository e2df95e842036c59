"""Words. No spaces separate them, so a text is compared by pairs of characters and by Han characters, as in Chinese;
keywords are cut out where the script changes.

Measured on bench/sets/languages/ja.json (recall@10 of its own questions): pairs .613; the same without pairs that are
only grammar (ます, から) .607; words in katakana besides .613; endings and particles taken off the hiragana .581.
"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.language import words_of
from embermem.languages.zh.words import terms_of as terms_of_han

SIGNS: Final = "\u3041-\u3096\u3099-\u30ff\u31f0-\u31ff\uff66-\uff9f"
"""Kana. Han characters are shared with Chinese."""
_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_KATAKANA: Final = "\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA: Final = "\u3041-\u3096\u3099-\u309f"
_SCRIPTS = regex(f"(?P<han>[{_HAN}]+)|(?P<katakana>[{_KATAKANA}]+)|(?P<hiragana>[{_HIRAGANA}ー]+)|[^{_HAN}]")
_WORD = regex(f"[{_KATAKANA}]+|[{_HAN}]+[{_HIRAGANA}]*|[{_HIRAGANA}]+|.", re.DOTALL)
_LONGEST: Final = 6
"""Han characters of a keyword: a longer run is several words."""
_LONGEST_RUN = 2_000
"""Characters of an unbroken run that are cut into keywords."""

FUNCTION: Final = frozenset(
    """
    です ます でした ました ません でしょう だった である だろう ください なさい ている ていた てる てた でいる ない なかった なくて
    から けど けれど けれども ので のに まで より だけ しか ほど くらい ぐらい など とか って ため こと もの ところ とき ころ ごろ
    これ それ あれ どれ この その あの どの ここ そこ あそこ どこ こちら そちら どちら こう そう ああ どう こんな そんな どんな
    わたし ぼく おれ あなた きみ じぶん なに なん だれ いつ なぜ どうして いくつ いくら どのくらい どれくらい
    する した して しています していた される された させる できる できた なる なった なって ある あった あって いる いた いて
    ちょっと すごく とても やっぱり やはり もう まだ また すぐ ずっと たぶん きっと ほんと ほんとう ちゃん さん くん
    そして それで だから でも しかし じゃあ では には とは への での とも かな かも よね だよ だね んだ のだ んです のです ですか ますか
    もらう もらった くれる くれた あげる あげた しまう しまった ちゃった みたい らしい ように ような という といった について
    は が を に へ と で も の や か ね よ な だ た て る う く り い し さ れ
    """.split()
)
"""Particles, endings, pronouns and auxiliary verbs: hiragana that carries grammar, not topic."""


def terms_of(run: str) -> tuple[str, ...]:
    """Pairs, and Han characters by themselves; of Han characters the same as in Chinese, so that a query of nothing else
    finds both languages."""
    return () if run in FUNCTION else terms_of_han(run)


def keywords_of(run: str) -> tuple[str, ...]:
    """The words of a run that may be keywords: in katakana, or compounds of Han characters; no fillers."""
    return _keywords(run[:_LONGEST_RUN])


@lru_cache(maxsize=8_192)
def _keywords(run: str) -> tuple[str, ...]:
    return tuple(word for match in _SCRIPTS.finditer(run) for word in _words(match) if _is_keyword(word))


def _words(match: re.Match[str]) -> list[str]:
    if match["katakana"]:
        return [match["katakana"].strip("・")]
    if match["han"]:
        word = re.sub("(?<=.{2})[時頃中後前的]$", "", match["han"])
        if len(word) <= _LONGEST:
            return [word]
        return [word[at : at + 2] for at in range(0, len(word) - 1, 2)]
    return []


def _is_keyword(word: str) -> bool:
    return (
        len(word) >= 2
        and word not in words_of("ja", "fillers")
        and re.search(r"^[一二三四五六七八九十百千万何数]+.?.?$", word) is None
    )


def parts_of(run: str) -> Iterator[str]:
    """The words that a run is made of, in order: they begin where the script changes."""
    return (match.group() for match in _WORD.finditer(run))


def phrases(sentence: str) -> Iterator[str]:
    """Words of a sentence that could stand in a heading, and two of them joined by の."""
    before, end = "", 0
    for match in _SCRIPTS.finditer(sentence[:_LONGEST_RUN]):
        for word in _words(match):
            if _is_keyword(word):
                yield word
                if before and sentence[end : match.start()] in ("の", ""):
                    yield sentence[match.start() - (match.start() - end) - len(before) : match.start()] + word
                before, end = word, match.end()


def name_for(text: str, words: int) -> str | None:
    """Japanese, if a fifth of what is written in its signs is kana, and there are less than two words in letters on
    three of them."""
    han, kana = len(re.findall(f"[{_HAN}]", text)), len(re.findall(f"[{SIGNS}]", text))
    return "Japanese" if 4 * kana > han and 3 * words < 2 * (han + kana) else None
