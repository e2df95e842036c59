"""What the languages of Europe have in common, but for English, which has readers of its own: words with endings, dates
made from a calendar, and one reader of standing instructions that their tables drive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from embermem.core.attributes import FAVORITE_PREFIX, is_instruction
from embermem.languages.facts.finding import Finding
from embermem.languages.inflected_words import InflectedWords
from embermem.languages.language import Language

if TYPE_CHECKING:
    from embermem.languages.facts.order_reader import Orders

__all__ = ["European"]

_KINDS = frozenset({"has_relative", "has_pet", "knows"})
"""Attributes whose value is somebody's kin word, or an animal, with or without a name."""


class European(Language):
    """A language that is told by tables: `vocabulary`, `templates`, `orders`."""

    vocabulary: ClassVar[InflectedWords]
    templates: ClassVar[Mapping[str, str]]
    """How a fact reads, by its attribute, without its subject: `{}` is the value."""
    ended: ClassVar[Mapping[str, str]]
    """The same of a fact that is no longer so; of an attribute without a value, with `!` behind its name."""
    things: ClassVar[Mapping[str, str]] = {}
    """Words for the things of which somebody has a favorite."""
    favorite: ClassVar[str]
    """How a favorite reads: `{thing}` and `{value}`."""
    instructed: ClassVar[str]
    """How an instruction reads: `{}` is the instruction."""
    no_longer_so: ClassVar[str]
    """How any other fact reads that is no longer so: `{}` is the statement."""
    day_form, short_day_form, month_form = "{day} {month} {year}", "{day} {month}", "{month} {year}"

    def terms_of(self, run: str) -> tuple[str, ...]:
        return self.vocabulary.terms_of(run)

    def search_terms_of(self, run: str) -> tuple[str, ...]:
        return self.vocabulary.search_terms_of(run)

    def terms_to_match(self, run: str) -> tuple[str, ...]:
        return self.vocabulary.terms_to_match(run)

    def stem(self, word: str) -> str:
        return self.vocabulary.stem(word)

    def singular(self, word: str) -> str:
        return self.vocabulary.singular(word)

    def inflected(self, one: str, other: str, *, counted: bool) -> bool:
        """The singular and plural of one noun are the same, unless one of them is counted."""
        return not counted and self.vocabulary.singular(one) == self.vocabulary.singular(other)

    def keywords_of(self, run: str) -> tuple[str, ...]:
        return self.vocabulary.keywords_of(run)

    # --------------------------------------------------------------------------------------------------- instructions

    def instructions(self, text: str, said_at: datetime) -> Iterable[Finding]:
        from embermem.languages.facts.order_reader import instructions
        from embermem.languages.registry import spelled

        return instructions(self.orders(), text, said_at) if spelled(text) is self else ()

    def instruction(self, phrase: str) -> tuple[str, str]:
        from embermem.languages.facts.order_reader import instruction

        return instruction(self.orders(), phrase)

    def orders(self) -> Orders:
        """The rules of standing instructions. Loaded at the first need."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------------------- phrases

    def statement(self, attribute: str, value: str) -> str:
        if attribute.startswith(FAVORITE_PREFIX):
            thing = attribute.removeprefix(FAVORITE_PREFIX)
            return self.favorite.format(thing=self.things.get(thing, thing.replace("_", " ")), value=value)
        if is_instruction(attribute):
            return self.instructed.replace("{}", value, 1)
        if attribute in _KINDS:
            value = self.with_article(value)
        template = self.templates.get(attribute)
        return super().statement(attribute, value) if template is None else self.filled(template, value)

    def no_longer(self, attribute: str, value: str) -> str:
        template = self.ended.get(attribute if value else f"{attribute}!")
        if template is not None:
            return self.filled(template, value)
        return self.no_longer_so.replace("{}", self.statement(attribute, value).strip(), 1)

    def filled(self, template: str, value: str) -> str:
        """A template with its value."""
        return template.replace("{}", value, 1)

    def with_article(self, noun: str) -> str:
        """A relative, friend or pet with its article, and its name: "une sœur, Ana"."""
        return noun
