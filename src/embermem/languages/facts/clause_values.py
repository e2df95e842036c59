"""Values of statements in a European language: names, places, numbers, and phrases that end where a clause goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from embermem.core.patterns import regex
from embermem.core.text import fold
from embermem.languages.facts.rules import Value

__all__ = ["CAP", "Phrases", "Read", "count", "fixed", "group", "known", "name", "place"]

Read = Callable[[str, int], "Value | None"]
"""What a clause says from a position on, and where that ends; None if that is no value of the kind."""

CAP: Final = r"[A-ZÀ-ÖØ-Þ][\w'’]*(?:-[A-ZÀ-ÖØ-Þ][\w'’]*)*"
"""A word that begins with a capital."""
_NAME: Final = regex(rf"{CAP}(?: (?:(?:de|del|della|van|von|da|le|la|du|ben|al) )?{CAP}){{0,2}}")
_SMALL_NAME: Final = regex(r"[^\W\d_]{2,15}(?=\s*(?:[.,!]|$))")
_PLACE: Final = regex(
    rf"(?:(?:Le|La|Les|Los|Las|El|L['’]) ?)?{CAP}"
    r"(?:(?:-| )(?:(?:de la|de los|de|du|des|del|la|le|les|sur|en|am|an der|im|bei|ob der|lès|d['’])(?:-| )?)?"
    rf"{CAP}){{0,3}}"
)
_MOST_YEARS: Final = 119
_AROUND: Final = " \t,;:–—-\"'“”«»()"


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """How a language's phrases end, and which are none. Patterns without regard to case."""

    end: re.Pattern[str]
    """Where a phrase ends: a conjunction, a relative clause, a reason."""
    refused: re.Pattern[str]
    """What a phrase holds that points at something outside of it, or at the hearer."""
    spare: re.Pattern[str]
    """What adds nothing at its end."""
    opens: re.Pattern[str]
    """What adds nothing at its beginning, such as an article."""
    mine: tuple[tuple[re.Pattern[str], str], ...]
    """Words of the speaker, and what stands for them where somebody tells of the speaker."""

    def read(self, most: int = 7, *, keep_article: bool = False, told: bool = True) -> Read:
        """A phrase of at most so many words."""

        def of(clause: str, pos: int) -> Value | None:
            end = self.end.search(clause, pos)
            at = len(clause) if end is None else end.start()
            phrase = clause[pos:at].strip(_AROUND).rstrip(".!…")
            if not keep_article:
                phrase = self.opens.sub("", phrase, count=1)
            while (cut := self.spare.sub("", phrase).strip(_AROUND)) != phrase:
                phrase = cut
            if not phrase or len(phrase.split()) > most or len(phrase) < 2 or self.refused.search(phrase):
                return None
            return (self.told(phrase) if told else phrase), at

        return of

    def told(self, phrase: str) -> str:
        """A phrase as somebody else tells it: "my bike" as "their bike"."""
        for pattern, said in self.mine:
            phrase = pattern.sub(said, phrase)
        return phrase


def name(not_names: Collection[str]) -> Read:
    """A name; without a capital only if nothing follows it."""

    def of(clause: str, pos: int) -> Value | None:
        match = _NAME.match(clause, pos) or _SMALL_NAME.match(clause, pos)
        if match is None or fold(match.group()) in not_names:
            return None
        said = match.group()
        return (said if said[0].isupper() else said.capitalize()), match.end()

    return of


def place(not_places: Collection[str], before: str = "") -> Read:
    """A place, by its capital; `before` may stand there without being part of it."""
    spare = re.compile(before)

    def of(clause: str, pos: int) -> Value | None:
        if before and (found := spare.match(clause, pos)) is not None:
            pos = found.end()
        match = _PLACE.match(clause, pos)
        if match is None or fold(match.group()) in not_places or fold(match.group().split()[0]) in not_places:
            return None
        return match.group(), match.end()

    return of


def known(words: Callable[[], Collection[str]], more: str = "", *, opens: str = "") -> Read:
    """A word of a list, with what `more` may follow it. `opens` may stand before it."""
    first, rest = re.compile(opens), re.compile(more)
    word = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")

    def of(clause: str, pos: int) -> Value | None:
        if opens and (found := first.match(clause, pos)) is not None:
            pos = found.end()
        match = word.match(clause, pos)
        if match is None:
            return None
        two = word.match(clause, match.end() + 1) if clause[match.end() : match.end() + 1] == " " else None
        if two is not None and fold(clause[pos : two.end()]) in words():
            match = two
        elif fold(match.group()) not in words():
            return None
        end = match.end()
        if more and (found := rest.match(clause, end)) is not None:
            end = found.end()
        return clause[pos:end].strip(), end

    return of


def count(numbers: Mapping[str, tuple[int, int]], after: str = "", least: int = 4) -> Read:
    """A number of years, in digits or words, before `after`."""
    words = "|".join(sorted(map(re.escape, numbers), key=len, reverse=True))
    pattern = re.compile(rf"(?P<n>\d{{1,3}}|{words}){after}", re.IGNORECASE)

    def of(clause: str, pos: int) -> Value | None:
        match = pattern.match(clause, pos)
        if match is None:
            return None
        said = match["n"]
        years = int(said) if said.isdecimal() else numbers[said.lower()][0]
        return (str(years), match.end()) if least <= years <= _MOST_YEARS else None

    return of


def group(pattern: str, *, told: Mapping[str, str] | None = None, flags: re.RegexFlag = re.IGNORECASE) -> Read:
    """What matches the pattern, or its group `v`; `told` has other words for some."""
    compiled = re.compile(pattern, flags)

    def of(clause: str, pos: int) -> Value | None:
        match = compiled.match(clause, pos)
        if match is None:
            return None
        said = match.groupdict().get("v") or match.group()
        return (told or {}).get(fold(said), said).strip(), match.end()

    return of


def fixed(value: str) -> Read:
    """That value, whatever follows."""
    return lambda clause, pos: (value, pos)
