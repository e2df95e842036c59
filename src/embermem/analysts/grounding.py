"""Whether what a model says of pages stands in them: its words, its names, its numbers and its times.

Checks of words, not of meaning, and the same for every model. docs/concepts/model-analyst.md says what they leave.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from embermem import languages
from embermem.analysts.guards import no_summary, orders
from embermem.analysts.summary import FIRST_PERSON
from embermem.core.text import fold
from embermem.core.types import Utterance
from embermem.languages.dates.engine import DateSpan, date_spans
from embermem.languages.people import no_name
from embermem.languages.words import asks, placed_runs, sentences, terms, unspaced

SHARE = 0.6
"""The share of a sentence's words that must have been said: of LoCoMo's summaries three in four sentences reach it in
their own session, one in ten in the session beside it."""
_READ = 20_000
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_INSIDE = re.compile(r"[\w,;'’]\s?$")
_TOLD_BY = frozenset(term for one in languages.all() for word in one.guards.reporting.split() for term in terms(word))
"""Words with which somebody tells what others said: they need not have been said."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What was said, and by whom: the words, numbers and days that a text about it may hold. `whom` are those that name
    the speakers."""

    words: frozenset[str]
    whom: frozenset[str]
    numbers: frozenset[str]
    days: tuple[DateSpan, ...]
    text: str
    at: datetime | None
    named: bool = False
    """Whether several speakers have names."""

    @classmethod
    def of(cls, utterances: Iterable[Utterance], more: Sequence[str] = ()) -> Ground:
        """What utterances say, and texts that were checked before."""
        said = list(utterances)
        texts = [*(u.text[:_READ] for u in said), *(text[:_READ] for text in more)]
        whom = frozenset(term for u in said for term in terms(u.speaker)) | frozenset(_sides())
        at = said[-1].said_at if said else None
        days = [span for u in said for span in (*date_spans(u.text[:_READ], u.said_at), _day(u.said_at))]
        if at is not None:
            days += [span for text in more for span in date_spans(text[:_READ], at)]
        return cls(
            words=frozenset(term for text in texts for term in terms(text)),
            whom=whom,
            numbers=frozenset(number for text in texts for number in _NUMBER.findall(text)),
            days=tuple(days),
            text=fold("\n".join((*texts, *(u.speaker for u in said)))),
            at=at,
            named=len({u.speaker for u in said if not no_name(u.speaker)}) > 1,
        )

    def bears(self, text: str, share: float = SHARE, beside: Collection[str] = ()) -> bool:
        """Whether most words of a statement were said, and each of its names, numbers and times. Words that only report
        need not have been; `beside` are more of these."""
        own = {*terms(text)} - self.whom - _TOLD_BY - {*beside}
        own = {term for term in own if not term.isdigit()}
        if not own or len(own & self.words) < share * len(own):
            return False
        return self.times_and_names_of(text)

    def times_and_names_of(self, text: str) -> bool:
        """Whether each name, number and time that a text tells was said, or follows from what was."""
        spans = () if self.at is None else date_spans(text, self.at)
        if not all(any(told.first <= day.first and day.last <= told.last for day in self.days) for told in spans):
            return False
        rest = "".join(
            " " if any(span.start <= i < span.end for span in spans) else character for i, character in enumerate(text)
        )
        return all(number in self.numbers for number in _NUMBER.findall(rest)) and self._names(rest)

    def with_whom(self, text: str) -> str:
        """What of a text stands where several speakers have names: nothing if it names none, and no sentence in the
        first person that names none."""
        if not self.named:
            return text
        if self.whom.isdisjoint(terms(text)):
            return ""
        said = [text[start:end] for start, end in sentences(text)]
        return " ".join(one for one in said if not FIRST_PERSON.search(one) or not self.whom.isdisjoint(terms(one)))

    def says(self, words: str) -> bool:
        """Whether all words of a phrase were said, in whatever order."""
        own = {*terms(words)}
        return own <= (self.words | self.whom) if own else fold(words) in self.text

    def _names(self, text: str) -> bool:
        known = self.words | self.whom
        for run, start in placed_runs(text):
            if not run[0].isupper() or unspaced(run) or not _INSIDE.search(text, max(0, start - 2), start):
                continue
            if not {*terms(run)} <= known:
                return False
        return True


def told_sentences(text: str, ground: Ground, share: float = SHARE) -> tuple[str, int]:
    """The sentences of a model's text that the ground bears, each once, on one line, and how many it does not. Of
    several the last one has an end, else it may have been cut."""
    said = [text[start:end].strip() for start, end in sentences(text)]
    whole = said[:-1] if len(said) > 1 and said[-1][-1].isalnum() else said
    kept = [one for one in dict.fromkeys(whole) if not (no_summary(one) or orders(one)) and ground.bears(one, share)]
    return " ".join(kept), len(said) - len(kept)


def statements(text: str) -> list[str]:
    """The sentences of a text in which something is said, not asked."""
    return [one for start, end in sentences(text) if not asks((one := text[start:end]).rstrip())]


def _sides() -> Iterable[str]:
    for language in languages.all():
        for word in (language.assistant, language.people.user, language.people.agent, *language.talk.nobody):
            yield from terms(word)


def _day(moment: datetime) -> DateSpan:
    return DateSpan(moment.date(), moment.date(), 0, 0)
