"""What the languages of Europe have in common, but for English, which has readers of its own: words with endings, dates
made from a calendar, and one reader of standing instructions that their tables drive."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from embermem.languages.facts.finding import Finding
from embermem.languages.inflected_words import InflectedWords
from embermem.languages.language import Language

if TYPE_CHECKING:
    from embermem.languages.facts.order_reader import Orders

__all__ = ["European"]


class European(Language):
    """A language that is told by tables: `vocabulary` and `orders`."""

    vocabulary: ClassVar[InflectedWords]
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
