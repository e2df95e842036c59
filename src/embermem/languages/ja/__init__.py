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
from embermem.languages.ja.statements import no_longer, statement
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
    people = PeopleWords(kin=kin_of("ja"), possessive="の", user="ユーザー", agent="アシスタント", joint="の")
    interests = cached_property(interests_of)
    full_stop = "。"
    weekdays = ("月", "火", "水", "木", "金", "土", "日")
    assistant = "アシスタント"
    talked_about = "話題："
    speaks_of = "話題にする"

    terms_of = staticmethod(words.terms_of)
    keywords_of = staticmethod(words.keywords_of)
    parts_of = staticmethod(words.parts_of)
    phrases = staticmethod(words.phrases)

    def both(self, one: str, other: str) -> str:
        return f"{one}と{other}"

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

    def statement(self, attribute: str, value: str) -> str:
        return statement(attribute, value) or super().statement(attribute, value)

    def no_longer(self, attribute: str, value: str) -> str:
        return no_longer(attribute, value)

    def field(self, label: str, value: str) -> str:
        return f"{label}が{value}"

    def flag(self, label: str, *, holds: bool) -> str:
        return f"{label}：{'はい' if holds else 'いいえ'}"

    def dated(self, label: str, *, since: bool) -> str:
        return f"（{label}から）" if since else f"（{label}）"

    def said_on(self, day: str) -> str:
        return f"（{day}の発言）"

    def until(self, moment: datetime) -> str:
        return f"（{self.day(moment)}まで）"

    def day(self, moment: datetime) -> str:
        """2023年5月8日."""
        return f"{moment.year}年{self.short_day(moment)}"

    def short_day(self, moment: datetime) -> str:
        """5月8日."""
        return f"{moment.month}月{moment.day}日"

    def month(self, moment: datetime) -> str:
        """2023年5月."""
        return f"{moment.year}年{moment.month}月"

    def of_subject(self, subject: str, statement: str) -> str:
        return f"{subject}は{statement}"

    def quoted(self, text: str) -> str:
        return f"「{text}」と言った"

    def said_by(self, speaker: str, text: str) -> str:
        return f"{speaker}：{text}"

    def both_about(self, name: str) -> str:
        return f"どちらも{name}についての話"


LANGUAGE: Final = Japanese()
