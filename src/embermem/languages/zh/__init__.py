"""Chinese; Korean as far as it has no folder of its own. Japanese is written with Chinese characters, too: `ja`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from embermem.core.fields import Field
from embermem.core.patterns import regex
from embermem.languages.facts.finding import Finding
from embermem.languages.language import Language, interests_of, kin_of
from embermem.languages.parts import PeopleWords
from embermem.languages.zh import patterns, words
from embermem.languages.zh.asks import ASKS
from embermem.languages.zh.dates import DATES
from embermem.languages.zh.statements import ENDED, TEMPLATES, THINGS

_SIGN: Final = regex(f"[{words.SIGNS}]")


class Chinese(Language):
    """Chinese in simplified characters."""

    code = "zh"
    name = "Chinese"
    signs = words.SIGNS
    full_width = "\u2fe0-\u3004\u3008-\u303f"
    spaced = False
    density = 3.0
    stop_words = words.FUNCTION
    sentence_end = r"(?<=[。！？；])[”’」』）]*\s*"
    longest_piece = 80
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
        kin=kin_of("zh"),
        possessive="的",
        user="用户",
        agent="助手",
        parted="离婚|分手|离异|丧偶",
        theirs="[他她]们?的?",
        own="(?:我们?|咱们?)的?(?:[一有]?[个位])?",
    )
    interests = cached_property(interests_of)
    templates, ended, things = TEMPLATES, ENDED, THINGS
    favorite, instructed, no_longer_so = "最喜欢的{thing}是{value}", "的要求：{}", "不再{}"
    joint = "与"
    day_form, short_day_form, month_form = "{year}年{month}月{day}日", "{month}月{day}日", "{year}年{month}月"
    in_a_time, since_a_time, said_then, ended_on = "（{}）", "（自{}）", "（{}说）", "（至{}）"
    speaks, said_words = "{}：{}", "说“{}”"
    has_field, has_flag, yes, no = "的{label}是{value}", "的{label}：{value}", "是", "否"
    full_stop = "。"
    weekdays = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")
    assistant = "助手"
    talked_about = "谈过"
    speaks_of = "谈到"

    terms_of = staticmethod(words.terms_of)
    search_terms_of = staticmethod(words.search_terms_of)
    keywords_of = staticmethod(words.keywords_of)
    parts_of = staticmethod(words.parts_of)

    phrases = staticmethod(words.phrases)

    def name_for(self, text: str, spelled: Sequence[str]) -> str | None:
        """Chinese or Korean, by their signs."""
        return words.name_for(text, len(spelled))

    def instructions(self, text: str, said_at: datetime) -> Iterable[Finding]:
        if _SIGN.search(text) is None:
            return ()
        from embermem.languages.zh.instructions import instructions

        return instructions(text, said_at)

    def instruction(self, phrase: str) -> tuple[str, str]:
        from embermem.languages.zh.instructions import instruction

        return instruction(phrase)

    def of_fields(self, text: str, said_at: datetime, fields: Sequence[Field]) -> Iterable[Finding]:
        from embermem.languages.zh.fields import of_fields

        return of_fields(text, said_at, fields)


LANGUAGE: Final = Chinese()
