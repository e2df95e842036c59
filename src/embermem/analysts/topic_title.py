"""The title of a segment without a model: phrases of what its pages say, as headings have them. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from embermem import languages
from embermem.analysts.keywords import placed_keywords
from embermem.analysts.memoized import memoized
from embermem.core.changes import SummaryPart
from embermem.core.config import ExtractiveSettings
from embermem.core.patterns import regex
from embermem.core.text import fold
from embermem.languages import Language
from embermem.languages.words import runs, sentences

_LATER = 0.12
"""What each place in the phrases of its page takes from a phrase: a page's first ones are said most often."""
_NOT_FIRST = 0.65
"""What one is worth in a title that is not of the segment's first page, which begins with its matter."""
_NO_THING = 0.3
"""What an adjective or a verb is worth in a title beside a noun."""
_FUNCTION_WORDS = 0.08
"""The share of function words from which a text is in the language that it is read as."""
_OFTEN = 2
"""How many pages a single word must be said by to be the second in a title."""
_ABOUT = 0.5
"""The share of a phrase's words that a page says which is about it."""
_SECOND = 0.3
"""The share of the pages that a title's first phrase is not about, of which the second is to be."""
_ASKED = 3.0
"""How often a phrase counts that the user says to an assistant: requests say what it is about."""
_UNTELLING = 1e-6
"""The weight of a word that does not tell its segment from others: such words make a title only where no other does."""
_ALONE = 0.5
"""What one word is worth in a title beside more."""
_CLAUSE = 0.9
"""What a clause is worth in a title beside a phrase."""
_CLAUSE_CHARS = 40
"""Letters of a clause that is a title."""
_ADDRESSED = re.compile(r"(?:,\s*|^|[:：]\s*)([^\W\d_]+)(?=,|\s*[.!?]*$)")
"""A word by itself at either end of a sentence: the name of the one who is spoken to."""
_QUOTES = re.compile(r"[\"“”„«»「」『』]")
_EDGES = " ,;:.!…–—-()。，；：！、\"'“”"
_LEADS = regex(rf"(?:{languages.alternatives(lambda one: one.talk.leads)})+(?=\S)", re.IGNORECASE)
_OPENS = 4
"""Characters below which a word behind a cut may open a phrase."""
_CLAUSE_END = re.compile(r"[,;:.!?…)\]\"”]+(?=\s|$)|\s[-–—(]+\s?|[，；：。！？…、（）「」]+|।")
SPEAKER = re.compile(r"[^:：]{1,40}[:：]\s*")
ASSISTANTS = tuple(language.said_by(language.assistant, "") for language in languages.all())


@dataclass(slots=True)
class _Phrase:
    text: str
    words: tuple[str, ...]
    said: float = 0.0
    score: float = 0.0
    place: int = 0
    is_phrase: bool = False
    pages: set[int] = field(default_factory=set)


def spoken_of(
    texts: Sequence[str],
    users: Collection[int],
    people: Collection[str],
    told: Sequence[str],
    settings: ExtractiveSettings,
) -> tuple[str, ...]:
    """What of a page could stand in a heading: a clause of each of its most telling sentences, which are `told`, and
    phrases of all, those said most often first, the longer ones of equals. `users` are the places of what a user says
    to an assistant: of its answers those with a word of that are taken, if that has any phrase."""
    language = _language(texts)
    is_known = _is_known(texts, language)
    found = _phrases(texts, language, is_known, people, lambda place: _ASKED if place in users else 1.0)
    wanted = {word for place in users for word in in_order(texts[place])}
    if any(wanted.issuperset(one.words) for one in found):
        found = [one for one in found if not wanted.isdisjoint(one.words)]
    ranked = sorted(found, key=lambda p: -p.said * (0.6 if len(p.words) == 1 else 1.0))
    both = dict.fromkeys(
        (*filter(None, (clause(one, settings.title_words) for one in told)), *(one.text for one in ranked))
    )
    return tuple(both)[: settings.page_phrases]


def title_of(parts: Sequence[SummaryPart], weights: Mapping[str, float], settings: ExtractiveSettings) -> str:
    """The phrase or clause whose words weigh most and are said by most pages, and a second phrase for pages that it is
    not about."""
    texts = [part.text for part in parts]
    people, called, language = people_of(texts), _called(texts), _language(texts)
    is_known, pages = _is_known(texts, language), _pages(parts)
    said = Counter(word for words in pages for word in words)
    worth = {
        word: weights.get(word, _UNTELLING) * count * (1.0 if language.is_thing(word) else _NO_THING)
        for word, count in said.items()
        if word not in called and not _is_called(word, people)
    }
    found = _found(parts, language, is_known, settings)
    for one in found:
        shares = [len(words.intersection(one.words)) / len(one.words) for words in pages]
        one.pages = {at for at, share in enumerate(shares) if share >= _ABOUT}
        one.is_phrase = one.text in dict(_phrases_in(one.text, language, is_known))
        mean = sum(worth.get(word, 0.0) for word in one.words) / (1 + len(one.words))
        cut = one.is_phrase and not language.spaced and len(one.pages) < _OFTEN  # two words that may be parts of others
        kind = _ALONE if len(one.words) == 1 or cut else 1.0 if one.is_phrase else _CLAUSE
        if min(one.pages, default=0) > 0:
            kind *= _NOT_FIRST
        one.score = mean * kind / (1.0 + _LATER * one.place)
    ranked = [one for one in sorted(found, key=lambda p: (-p.score, -len(p.text), p.text)) if one.score > 0.0]
    return _headed(language, [one.text for one in _best(ranked, len(pages), settings)])


@memoized
def clause(text: str, words: int) -> str:
    """A sentence as a title of at most so many words, if it is short enough, else its clause with most keywords, cut at
    a word."""
    text = _QUOTES.sub("", _begun(text))
    limit = _CLAUSE_CHARS if languages.of(text).spaced else _CLAUSE_CHARS // 2
    parts = [text.strip(_EDGES)] if len(text) <= limit else [one.strip(_EDGES) for one in _CLAUSE_END.split(text)]
    best = max(parts, key=lambda one: len(in_order(one[:limit])))
    if len(best) <= limit and len(best.split()) <= words:
        return best
    cut = f"{best} "[: limit + 1].rpartition(" ")[0].split()[:words] or [best[:limit]]
    stops = languages.of(text).stop_words
    while len(cut) > 1 and (fold(cut[-1]) in stops or (len(cut[-1]) < _OPENS and _leads_on(cut[-2:], stops))):
        cut.pop()
    return " ".join(cut).strip(_EDGES)


def _leads_on(last: Sequence[str], stops: Collection[str]) -> bool:
    """Whether of the last two words the first leads on to the second, a short one, and that to what was cut off: "and
    no"."""
    return fold(last[0]) in stops and last[1].islower()


def _begun(text: str) -> str:
    return _LEADS.sub("", text, count=1) if _LEADS.match(text) else text


def _pages(parts: Sequence[SummaryPart]) -> list[frozenset[str]]:
    """The keywords of what the parts of each page say."""
    said: dict[object, set[str]] = {}
    for part in parts:
        page = part.phrases or tuple(source.seq for source in part.sources)[:1]
        texts = (part.text[len(_who(part.text)) :], *part.phrases)
        said.setdefault(page, set()).update(word for text in texts for word in in_order(text))
    return [frozenset(words) for words in said.values()]


def _found(
    parts: Sequence[SummaryPart], language: Language, is_known: bool, settings: ExtractiveSettings
) -> list[_Phrase]:
    """The phrases and clauses of parts and their pages; of an assistant's answers those alone that its pages are known
    by. Of those with the same words the shortest is taken; of one word the longest, which says what of it."""
    found: dict[tuple[str, ...], _Phrase] = {}
    for part in parts:
        own = [_Phrase(text, in_order(text), place=place) for place, text in enumerate(part.phrases)]
        if not (part.phrases and part.text.startswith(ASSISTANTS)):
            text = part.text[len(_who(part.text)) :]
            own += [_Phrase(one, words, place=8) for one, words in _phrases_in(text, language, is_known)]
            heading = clause(text, settings.title_words)
            own.append(_Phrase(heading, in_order(heading), place=8))
        for one in own:
            if one.words:
                same = found.setdefault(one.words, one)
                same.place = min(same.place, one.place)
                if len(one.text) < len(same.text) if len(one.words) > 1 else len(one.text) > len(same.text):
                    same.text = one.text
    return list(found.values())


def _best(ranked: Sequence[_Phrase], pages: int, settings: ExtractiveSettings) -> Sequence[_Phrase]:
    """The one or two that make a heading, of those ranked: what says more of a word before the word alone; a second
    one only if it is about a good share of the pages that the first one leaves, and both are phrases."""
    if not ranked:
        return []
    first = ranked[0]
    if len(first.words) == 1:
        first = next((one for one in ranked if len(one.words) > 1 and first.words[0] in one.words), first)
    for other in ranked:
        if other is first:
            continue
        if other.score < settings.second_phrase * first.score:
            break
        if len(other.words) == 1 and len(other.pages) < _OFTEN:
            continue
        if len(other.pages - first.pages) < max(1.0, _SECOND * (pages - len(first.pages))):
            continue
        if set(other.words) & set(first.words) or _size(first) + _size(other) > settings.title_words - 1:
            continue
        if first.is_phrase and other.is_phrase:
            return [first, other]
    return [first]


def _size(phrase: _Phrase) -> int:
    return max(len(phrase.text.split()), len(phrase.words))


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
    """The phrases of a text that have keywords, each with these; none in a language that nobody knows."""
    parts = (text[start:end] for start, end in sentences(text) if is_known)
    phrases = (phrase for part in parts for phrase in language.phrases(part))
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


@memoized
def in_order(text: str) -> tuple[str, ...]:
    """The keywords of a text in the order in which they stand, each once."""
    return tuple(dict.fromkeys(word for word, *_ in placed_keywords(text)))


def _language(texts: Iterable[str]) -> Language:
    said: Counter[Language] = Counter()
    for text in texts:
        language = languages.of(text)
        said[language] += round(len(text) * language.density)
    return max(said, key=lambda one: said[one]) if said else languages.default()
