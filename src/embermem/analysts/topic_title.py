"""The title of a segment without a model: phrases of what its pages say, as headings have them. Pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from embermem import languages
from embermem.analysts.memoized import memoized
from embermem.core.changes import SummaryPart
from embermem.core.config import ExtractiveSettings
from embermem.core.text import fold
from embermem.languages import Language
from embermem.languages.words import runs, sentences

_RARE = 0.15
"""The weight of a word that is no keyword of its segment beside one that is, relative to the highest."""
_ALONE = 0.5
"""What a phrase of one word is worth in a title, if one page says it; half as much more for each other page."""
_LATER = 0.08
"""What each place in the phrases of its page takes from a phrase: a page's first ones are said most often."""
_NO_THING = 0.3
"""What an adjective or a verb is worth in a title beside a noun."""
_FUNCTION_WORDS = 0.08
"""The share of function words from which a text is in the language that it is read as."""
_LONG = 6
"""Letters of a word that may be a title in a language that nobody knows."""
_LONGER = 0.4
"""What a phrase of several words is worth at least beside the best of one word, to stand in its place."""
_OFTEN = 2.0
"""How often a single word must be told to be the second in a title."""
_ABOUT = 0.5
"""The share of a phrase's words that a page says which is about it."""
_SECOND = 0.3
"""The share of the pages that a title's first phrase is not about, of which the second is to be."""
_ASKED = 3.0
"""How often a phrase counts that the user says to an assistant: requests say what it is about."""
_ADDRESSED = re.compile(r"(?:,\s*|^|[:：]\s*)([^\W\d_]+)(?=,|\s*[.!?]*$)")
"""A word by itself at either end of a sentence: the name of the one who is spoken to."""
_JOINED = re.compile(r" (?:of|to|in|for|with|at) ")
SPEAKER = re.compile(r"[^:：]{1,40}[:：]\s*")
ASSISTANTS = tuple(language.said_by(language.assistant, "") for language in languages.all())


@dataclass(slots=True)
class _Phrase:
    text: str
    words: tuple[str, ...]
    said: float = 0.0
    score: float = 0.0
    place: int = 8
    pages: set[int] = field(default_factory=set)

    @property
    def head(self) -> str:
        """The keyword that says what kind of thing it is: the last of an English phrase before "of", "to", …"""
        return next(iter(in_order(_JOINED.split(self.text, maxsplit=1)[0])[::-1]), "")


def spoken_of(
    texts: Sequence[str], users: Collection[int], people: Collection[str], settings: ExtractiveSettings
) -> tuple[str, ...]:
    """The phrases of a page's sentences that could stand in a heading, those said most often first, the longer ones of
    equals. `users` are the places of what a user says to an assistant: of its answers those with a word of that are
    taken, if that has any phrase."""
    language = _language(texts)
    is_known = _is_known(texts, language)
    found = _phrases(texts, language, is_known, people, lambda place: _ASKED if place in users else 1.0)
    wanted = {word for place in users for word in in_order(texts[place])}
    if any(wanted.issuperset(one.words) for one in found):
        found = [one for one in found if not wanted.isdisjoint(one.words)]
    ranked = sorted(found, key=lambda p: -p.said * (0.6 if len(p.words) == 1 else 1.0))
    return tuple(one.text for one in ranked[: settings.page_phrases])


def title_of(parts: Sequence[SummaryPart], weights: Mapping[str, float], settings: ExtractiveSettings) -> str:
    texts = [part.text for part in parts]
    people, called, language = people_of(texts), _called(texts), _language(texts)
    rare = _RARE * max(weights.values(), default=0.0)
    pages = _pages(parts)
    told = _whole(_found(parts, language, _is_known(texts, language), people, called))
    for one in told:
        shares = [len(words.intersection(one.words)) / len(one.words) for words in pages]
        one.pages = {at for at, share in enumerate(shares) if share >= _ABOUT}
        one.score = _score(one, weights, rare, language) * math.sqrt(sum(shares) / max(1, len(pages)))
    ranked = [one for one in sorted(told, key=lambda p: (-p.score, -len(p.text), p.text)) if one.score > 0.0]
    if not ranked:
        first = _first_words(texts, weights, people, language)
        return _stated(texts, language, settings) or _headed(language, first)
    if all(len(one.words) == 1 for one in ranked) and (statement := _stated(texts, language, settings)):
        return statement
    return _headed(language, [one.text for one in _told_best(ranked, len(pages), settings)])


def _pages(parts: Sequence[SummaryPart]) -> list[frozenset[str]]:
    """The keywords of what the parts of each page say."""
    said: dict[object, set[str]] = {}
    for part in parts:
        page = part.phrases or tuple(source.seq for source in part.sources)[:1]
        texts = (part.text[len(_who(part.text)) :], *part.phrases)
        said.setdefault(page, set()).update(word for text in texts for word in in_order(text))
    return [frozenset(words) for words in said.values()]


def _found(
    parts: Sequence[SummaryPart],
    language: Language,
    is_known: bool,
    people: Collection[str],
    called: Collection[str],
) -> list[_Phrase]:
    """The phrases of parts and their pages; of an assistant's answers those alone that its pages are known by. Each is
    said as often as there are pages that say it."""
    found: dict[tuple[str, ...], _Phrase] = {}
    before: tuple[str, ...] = ()
    page = 0
    for part in parts:
        page, before = page + (part.phrases != before), part.phrases  # all sentences of a page have the same
        asked = part.phrases and part.text.startswith(ASSISTANTS)
        texts = [] if asked else [part.text[len(_who(part.text)) :]]
        own = (_Phrase(text, in_order(text), place=place) for place, text in enumerate(part.phrases))
        for one in (*own, *_phrases(texts, language, is_known, people, lambda place: 1.0)):
            if one.words and _is_of_things(one.text, one.words, people) and not set(called).issuperset(one.words):
                same = found.setdefault(one.words, one)
                same.pages.add(page)
                same.place = min(same.place, one.place)
    for one in found.values():
        one.said = float(len(one.pages))
    return list(found.values())


def _stated(texts: Sequence[str], language: Language, settings: ExtractiveSettings) -> str:
    """The first fact of a summary that is short enough for a heading; "" where there is none."""
    facts = (text for text in texts if text and SPEAKER.match(text) is None)
    return next((told for text in facts if (told := language.headline(text, settings.title_words))), "")


def _told_best(ranked: Sequence[_Phrase], pages: int, settings: ExtractiveSettings) -> Sequence[_Phrase]:
    """The one or two phrases that make a heading, of those ranked: phrases of several words before single ones, which
    say little; a second one only if it is about a good share of the pages that the first one leaves."""
    best = ranked[0]
    least = _LONGER * best.score
    longer = [
        one for one in ranked if len(one.words) > 1 and one.score >= least and 2 * len(one.pages) >= len(best.pages)
    ]
    first = (longer or ranked)[0]
    for other in ranked:
        if other.score < settings.second_phrase * first.score:
            break
        if other is first or (len(other.words) == 1 and longer):
            continue
        if len(other.words) == 1 and other.said < _OFTEN:
            continue
        if len(other.pages - first.pages) < max(1.0, _SECOND * (pages - len(first.pages))):
            continue
        if set(other.words) & set(first.words) or _size(first) + _size(other) > settings.title_words - 1:
            continue
        return [first, other]
    return [first]


def _size(phrase: _Phrase) -> int:
    return max(len(phrase.text.split()), len(phrase.words))


def _first_words(
    texts: Sequence[str], weights: Mapping[str, float], people: Collection[str], language: Language
) -> list[str]:
    """The two most telling words that could be things."""
    called = _called(texts)
    said = {word for text in texts for word in in_order(text)}
    if not _is_known(texts, language):
        said = {word for word in said if len(word) >= _LONG}
    ranked = sorted(said & weights.keys(), key=lambda word: (-weights[word], word))
    return [w for w in ranked if language.is_thing(w) and w not in called and not _is_called(w, people)][:2]


def _headed(language: Language, things: Sequence[str]) -> str:
    text = language.both(things[0], things[1]) if len(things) > 1 else "".join(things)
    return text[:1].upper() + text[1:]


def _phrases(
    texts: Sequence[str],
    language: Language,
    is_known: bool,
    people: Collection[str],
    worth: Callable[[int], float],
) -> list[_Phrase]:
    """The phrases of the texts in a language, but for names of people, each with what the texts that say it are
    worth; of one that nobody knows, single words."""
    found: dict[tuple[str, ...], _Phrase] = {}
    for place, text in enumerate(texts):
        if languages.of(text) is not language:
            continue
        here = set[tuple[str, ...]]()
        for phrase, words in _phrases_in(text, language, is_known):
            if _is_of_things(phrase, words, people):
                one = found.get(words) or found.setdefault(words, _Phrase(phrase, words))
                one.said += 0.0 if words in here else worth(place)
                here.add(words)
    return _whole(found.values())


@memoized
def _phrases_in(text: str, language: Language, is_known: bool) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The phrases of a text that have keywords, each with these; for a language that nobody knows the longer words: the
    short ones are mostly function words."""
    parts = (text[start:end] for start, end in sentences(text))
    if is_known:
        phrases = (phrase for part in parts for phrase in language.phrases(part))
    else:
        phrases = (word for part in parts for word in Language.phrases(language, part) if len(word) >= _LONG)
    return tuple((phrase, words) for phrase in phrases if (words := in_order(phrase)))


def _whole(phrases: Iterable[_Phrase]) -> list[_Phrase]:
    """The phrases without those that are never told but as the end of a longer one."""
    longest: dict[tuple[str, ...], float] = {}
    every = list(phrases)
    for one in every:
        for begin in range(1, len(one.words)):
            end = one.words[begin:]
            longest[end] = max(one.said, longest.get(end, 0.0))
    return [one for one in every if one.said > longest.get(one.words, 0.0)]


def _is_of_things(phrase: str, words: Sequence[str], people: Collection[str]) -> bool:
    """Whether a phrase names something else than those who speak: "Ana's garden", but neither "Ana" nor "job Ana"."""
    named = [word for word in words if _is_called(word, people)]
    return not named or (len(named) < len(words) and ("'s" in phrase or "’s" in phrase))


def _is_known(texts: Sequence[str], language: Language) -> bool:
    """Whether the texts are in the language that they are read as: some of their words are its function words."""
    if not language.spaced:
        return True
    counted = [_function_words(text, language) for text in texts]
    return sum(known for known, _ in counted) >= _FUNCTION_WORDS * sum(every for _, every in counted)


@memoized
def _function_words(text: str, language: Language) -> tuple[int, int]:
    """How many of the words of a text are function words of the language, and how many words it has."""
    words = [fold(run) for run in runs(text)]
    return sum(word in language.stop_words for word in words), len(words)


def people_of(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in in_order(_who(text)))


def _called(texts: Sequence[str]) -> frozenset[str]:
    """The words by which the texts address somebody, as keywords."""
    return frozenset(word for text in texts for name in _ADDRESSED.findall(text) for word in in_order(name))


def _who(text: str) -> str:
    """The speaker before a sentence, with the colon; of a fact its subject's first word."""
    match = SPEAKER.match(text) or re.match(r"\S+\s", text)
    return match.group() if match is not None else ""


def _is_called(word: str, people: Collection[str]) -> bool:
    """Whether a word is a person's name, or a short form of it."""
    return word in people or (len(word) > 2 and any(name.startswith(word) for name in people))


def _score(phrase: _Phrase, weights: Mapping[str, float], rare: float, language: Language) -> float:
    """The mean weight of a phrase's words, the head counted twice, less where its page says it late; of a word by
    itself a part of it."""
    told = {word: weights.get(word, 0.0) * (1.0 if language.is_thing(word) else _NO_THING) for word in phrase.words}
    names = _short_names(phrase.text)
    total = sum(told.values()) + rare * names
    if len(told) + names == 1 and _size(phrase) == 1:
        mean = total * min(1.0, _ALONE * (1.0 + 0.5 * (phrase.said - 1.0)))
    else:
        mean = (total + told.get(phrase.head, 0.0)) / (len(told) + names + 1)
    return mean / (1.0 + _LATER * phrase.place)


@memoized
def _short_names(text: str) -> int:
    """How many names a phrase has of which no keyword is made."""
    return sum(run[0].isupper() and not in_order(run) for run in runs(text))


@memoized
def in_order(text: str) -> tuple[str, ...]:
    """The keywords of a text in the order in which they stand, each once."""
    otherwise = languages.spelled(text)
    found: dict[str, None] = {}
    for run in runs(text):
        language = otherwise if run.isascii() else languages.by_signs(run)
        found |= dict.fromkeys(language.keywords_of(run))
    return tuple(found)


def _language(texts: Iterable[str]) -> Language:
    said: Counter[Language] = Counter()
    for text in texts:
        language = languages.of(text)
        said[language] += round(len(text) * language.density)
    return max(said, key=lambda one: said[one]) if said else languages.default()
