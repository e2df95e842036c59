"""Japanese. Han characters are shared with Chinese: a text with enough kana among them is Japanese."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.facts.finding import Finding
from embermem.languages.ja import patterns, words
from embermem.languages.ja.asks import ASKS
from embermem.languages.ja.dates import DATES
from embermem.languages.ja.statements import ENDED, TEMPLATES, THINGS
from embermem.languages.language import Language, interests_of, kin_of
from embermem.languages.parts import PeopleWords

_HIRAGANA: Final = regex("[ぁ-ん]")
"""What a text must have for the rules of instructions to read it."""


class Japanese(Language):
    """Japanese."""

    code = "ja"
    name = "Japanese"
    signs = words.SIGNS
    shares = "zh"
    full_width = "\u2fe0-\u3004\u3008-\u303f"
    spaced = False
    density = 2.0
    stop_words = words.FUNCTION
    sentence_end = r"(?<=[。！？])[」』”）]*\s*"
    longest_piece = 120
    dates = DATES
    questions = patterns.QUESTIONS
    talk = patterns.TALK
    screening = patterns.SCREENING
    guards = patterns.GUARDS
    themes = patterns.THEMES
    temperaments = patterns.TEMPERAMENTS
    secrets = patterns.SECRETS
    values = patterns.VALUES
    asks = ASKS
    people = PeopleWords(
        kin=kin_of("ja"),
        possessive="の",
        user="ユーザー",
        agent="アシスタント",
        joint="の",
        parted="離婚|別居|死別|別れ",
        theirs="彼女?の",
        own="(?:私|僕|俺|うち)の",
    )
    interests = cached_property(interests_of)
    templates, ended, things = TEMPLATES, ENDED, THINGS
    favorite, instructed, no_longer_so = "一番好きな{thing}が{value}", "次のことを望んでいる：{}", "もう違う：{}"
    joint = "と"
    day_form, short_day_form, month_form = "{year}年{month}月{day}日", "{month}月{day}日", "{year}年{month}月"
    in_a_time, since_a_time, said_then, ended_on = "（{}）", "（{}から）", "（{}の発言）", "（{}まで）"
    speaks, said_words = "{}：{}", "「{}」と言った"
    has_field, has_flag, yes, no = "{label}が{value}", "{label}：{value}", "はい", "いいえ"
    full_stop = "。"
    weekdays = ("月", "火", "水", "木", "金", "土", "日")
    assistant = "アシスタント"
    talked_about = "話題："
    speaks_of = "話題にする"

    terms_of = staticmethod(words.terms_of)
    keywords_of = staticmethod(words.keywords_of)
    parts_of = staticmethod(words.parts_of)
    phrases = staticmethod(words.phrases)

    def name_for(self, text: str, spelled: Sequence[str]) -> str | None:
        return words.name_for(text, len(spelled))

    def instructions(self, text: str, said_at: datetime) -> Iterable[Finding]:
        if _HIRAGANA.search(text) is None:
            return ()
        from embermem.languages.ja.orders import instructions

        return instructions(text, said_at)

    def instruction(self, phrase: str) -> tuple[str, str]:
        from embermem.languages.ja.orders import instruction

        return instruction(phrase)

    def of_subject(self, subject: str, statement: str) -> str:
        return f"{subject}は{statement}"


LANGUAGE: Final = Japanese()
