"""What a segment says of itself without a model: sentences of its pages that can be read alone, and a title.

Everything is of the segment's own pages: sentences as they were said, facts in the words of what they rest on, phrases
of these for a title. Pure functions; `memoryos/ingest/segment_text.py` keeps what they give.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from embermem import languages
from embermem.core.attributes import Kind, kind
from embermem.core.changes import SummaryPart
from embermem.core.config import ExtractiveSettings
from embermem.core.text import fold
from embermem.core.types import ChainId, FactProposal, Page, Role, Source, Utterance
from embermem.languages import Language
from embermem.languages.people import no_name
from embermem.languages.words import asks, runs, sentences, terms, unspaced

_GROUNDED = 0.8
"""The share of a fact's terms that what it rests on must say."""
_RARE = 0.15
"""The weight of a word that is no keyword of its segment beside one that is, relative to the highest."""
_OF_ASSISTANT = 0.4
"""What a sentence of an assistant without a name is worth less than the user's own."""
_ASSISTANTS = tuple(language.said_by(language.assistant, "") for language in languages.all())
_USERS = tuple(language.said_by(language.people.user, "") for language in languages.all())
_REQUEST = 4
"""Terms of a question that says what it is about."""
_LEAST = 0.4
"""What a sentence of a summary is worth at least, relative to its best."""
_REPEATED = 0.6
"""The share of the shorter sentence's terms from which two say the same."""
_TOLD_AGAIN = 0.6
"""What a keyword is worth in a summary for each time that another of its sentences has it."""
_NEW_PAGE = 0.3
"""What a sentence is worth more that is the first of its page in a summary."""
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
_COMPETING = 60
"""Sentences of a page of which phrases are taken."""
_READ = 40
"""Sentences of a message that compete, the first ones."""
_BRACKETS = re.compile(r"\s*\[[^\]\n]{0,400}\]")
_MARKUP = re.compile(r"^(?:(?:[#>]+|[-+*•–]|\d+[.)])\s+)+|\*+|__|`+|\|")
_CODE = re.compile(
    r"[{}<>\\|=_]{2,}|https?://|\w\(.*\)|\w\($|;$|\s[=+*/]{1,2}\s|[=%]{2}|\w_\w|%>|</?\w+[^<>]*>|\S@\w"
    r"|^(?:from \S+ )?import \S+|^(?:def|return|const|var) "
)
_UNCLOSED = re.compile(r"""[^\W_]["'”’)）%]*$""")
_DATED = re.compile(r"\s*[(（][^()（）]*[)）]$")
_MINE = languages.either(lambda one: one.talk.me)
_YOURS = languages.either(lambda one: one.talk.you)
_SMALL_TALK = re.compile(rf"\W*(?:{languages.alternatives(lambda one: one.talk.small_talk)})", re.IGNORECASE)
_LEADS = re.compile(rf"(?:{languages.alternatives(lambda one: one.talk.leads)})+(?=\S)", re.IGNORECASE)
_BACK = re.compile(rf"\W*(?:{languages.alternatives(lambda one: one.talk.back)})", re.IGNORECASE)
_TELLING = {Kind.EVENT: 0.3, Kind.PLAN: 0.4}
_NOT_TELLING = frozenset({"feels", "says", "likes", "dislikes", "temperament"})
_ADDRESSED = re.compile(r"(?:,\s*|^|[:：]\s*)([^\W\d_]+)(?=,|\s*[.!?]*$)")
"""A word by itself at either end of a sentence: the name of the one who is spoken to."""
_JOINED = re.compile(r" (?:of|to|in|for|with|at) ")
_SPEAKER = re.compile(r"[^:：]{1,40}[:：]\s*")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    sources: tuple[Source, ...]
    terms: frozenset[str]
    worth: float
    order: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Rated:
    """A part of a segment's text: its worth by itself, the weights of the keywords that it tells, and its page, by what
    all parts of the page have in common."""

    text: str
    terms: frozenset[str]
    worth: float
    weights: Mapping[str, float]
    page: object
    order: tuple[int, int]

    @property
    def tells(self) -> float:
        return sum(self.weights.values())


class TopicText:
    """The `SegmentWriter` that needs no model."""

    def __init__(self, settings: ExtractiveSettings | None = None) -> None:
        self._settings = settings or ExtractiveSettings()

    def told(self, page: Page, facts: Sequence[FactProposal], chain_id: ChainId | None) -> tuple[SummaryPart, ...]:
        """Facts that rest on the page, and statements with their speaker. A page with any words gives at least one,
        any other an empty one, which says where it stands."""
        told = _told([*_facts(page, facts), *_statements(page, self._settings)], self._settings)
        if not told:
            whole = tuple(Source(seq=u.seq, utterance_id=u.id) for u in page.utterances)
            return (SummaryPart(chain_id=chain_id, text="", sources=whole),)
        phrases = _spoken_of(page, self._settings)
        return tuple(
            SummaryPart(chain_id=chain_id, text=_closed(one.text), sources=one.sources, phrases=phrases) for one in told
        )

    def chosen(self, parts: Sequence[SummaryPart], weights: Mapping[str, float], limit: int) -> tuple[SummaryPart, ...]:
        """The most telling parts; none says what another says."""
        return _chosen(parts, weights, limit)

    def title(self, parts: Sequence[SummaryPart], weights: Mapping[str, float]) -> str:
        """The one or two phrases of the parts and their pages that tell most of the segment's words, else its first
        words."""
        return _title(parts, weights, self._settings)

    def people(self, texts: Sequence[str]) -> frozenset[str]:
        """The keywords of the speakers that stand before sentences, and of facts' subjects."""
        return _people(texts)


# ------------------------------------------------------------------------------------------------- sentences of a page


def _told(found: Sequence[_Sentence], settings: ExtractiveSettings) -> Sequence[_Sentence]:
    chosen: list[_Sentence] = []
    room = settings.summary_chars
    for one in sorted(found, key=lambda s: (-s.worth, s.order)):
        if chosen and (one.worth < settings.telling or len(one.text) > room or len(chosen) == settings.page_sentences):
            continue
        if any(_overlap(one.terms, other.terms) > _REPEATED for other in chosen):
            continue
        chosen.append(one)
        room -= len(one.text)
    return sorted(chosen, key=lambda s: s.order)


def _facts(page: Page, facts: Sequence[FactProposal]) -> Iterable[_Sentence]:
    """The facts of a page as sentences, in words that were said there. A date that the page does not say is left out:
    when it was said stands with the source."""
    said = {u.seq: u for u in page.utterances}
    for fact in facts:
        if fact.attribute in _NOT_TELLING or fact.retracts or not all(source.seq in said for source in fact.sources):
            continue
        text = _one_line(fact.text if fact.valid_from is None else _DATED.sub("", fact.text))
        words = frozenset(terms(text))
        own = {t for s in fact.sources for t in (*terms(said[s.seq].text), *terms(said[s.seq].speaker))}
        if len(words) < 4 or len(words & own) < _GROUNDED * len(words):
            continue
        worth = 0.9 + _TELLING.get(kind(fact.attribute), 0.2) + min(len(words), 8) / 12
        first = min(fact.sources, key=lambda s: (s.seq, s.start or 0))
        yield _Sentence(text, fact.sources, words, worth, (first.seq, first.start or 0))


def _statements(page: Page, settings: ExtractiveSettings) -> Iterable[_Sentence]:
    several = len({u.speaker for u in page.utterances}) > 1
    asked = _is_asked(page)
    parts = [u for u in page.utterances if u.role not in (Role.SYSTEM, Role.TOOL)] or page.utterances
    shown = [(u, start, end, _plain(u.text[start:end])) for u in parts for start, end in _spans(u, settings)]
    counted = [frozenset(terms(text)) for *_, text in shown]
    centre = Counter(term for one in counted for term in one)
    for (utterance, start, end, text), own in zip(shown, counted, strict=True):
        if not own or _CODE.search(text):
            continue
        source = Source(seq=utterance.seq, utterance_id=utterance.id, start=start, end=end)
        worth = _worth(text, own, centre) + _request(text, own) * (asked and not utterance.role.agent_side)
        worth += 0.3 if not utterance.role.agent_side else -0.3 * text[0].islower()
        told_by = _with_speaker(_begun(_shorten(text, settings.sentence_chars)), utterance, several)
        yield _Sentence(told_by, (source,), own, worth, (utterance.seq, start))


def _spans(utterance: Utterance, settings: ExtractiveSettings) -> Sequence[tuple[int, int]]:
    text = utterance.text[: settings.max_chars]
    return [(start, end) for start, end in sentences(text)[:_READ] if _plain(text[start:end])]


def _plain(text: str) -> str:
    """A sentence without the marks of a layout, and without what stands in square brackets, such as a photo's
    caption."""
    return _one_line(_MARKUP.sub("", _BRACKETS.sub("", text).strip())).strip()


def _worth(text: str, own: frozenset[str], centre: Counter[str]) -> float:
    """How much a sentence tells by itself: of its page's matter, of its speaker, with names and numbers; questions,
    small talk and what is said to the other tell little."""
    size = len(own) / 2.0 if unspaced(text) else float(len(own))
    worth = min(size, 9.0) / 9.0 + 0.4 * min(1.5, sum(centre[t] - 1 for t in own) / (len(own) + 2.0))
    worth += 0.3 * bool(_MINE.search(text.lower())) + 0.15 * bool(re.search(r"(?<=[a-z,] )[A-Z][a-z]+|\d", text))
    worth -= 0.6 * bool(asks(text.rstrip(' "”)'))) + 0.5 * bool(_SMALL_TALK.match(text)) + 0.3 * (size < 4)
    worth -= (
        0.25 * bool(_YOURS.search(text.lower())) + 0.35 * bool(_BACK.match(text)) + 0.2 * text.endswith(("!", "！"))
    )
    return worth - 0.6 * text.endswith((":", "：", "…", "..."))


def _is_asked(page: Page) -> bool:
    """Whether an assistant answers there: what its user asks says what the page is about."""
    return any(u.role.agent_side and no_name(u.speaker) for u in page.utterances)


def _request(text: str, own: Collection[str]) -> float:
    """What a user's sentence to an assistant tells more than it would tell somebody else: of a request nothing is taken
    for asking."""
    return 0.6 * (asks(text.rstrip(' "”)')) and len(own) >= _REQUEST)


def _begun(text: str) -> str:
    """A sentence without the words that join it to the one before, with a capital at its beginning."""
    text = _LEADS.sub("", text, count=1) if _LEADS.match(text) else text
    return text[:1].upper() + text[1:] if text[1:2].islower() or text[1:2].isspace() else text


def _closed(text: str) -> str:
    """A sentence with a full stop, unless it ends otherwise."""
    text = text.rstrip(",;，；")
    return text + languages.of(text).full_stop if _UNCLOSED.search(text) else text


def _with_speaker(text: str, utterance: Utterance, several: bool) -> str:
    language = languages.of(text)
    if not no_name(utterance.speaker):
        return language.said_by(" ".join(utterance.speaker.split())[:40], text)
    if not several:
        return text
    return language.said_by(language.assistant if utterance.role.agent_side else language.people.user, text)


# --------------------------------------------------------------------------------------------------------- which stay


def _chosen(parts: Sequence[SummaryPart], weights: Mapping[str, float], limit: int) -> tuple[SummaryPart, ...]:
    """Greedy: always the part that adds most to those taken, which makes what nobody has told yet worth more."""
    rated = [_rated(part, weights) for part in parts]
    least = _LEAST * max((one.worth + one.tells for one in rated), default=0.0)
    told, pages, taken, room = Counter[str](), set[object](), list[int](), limit
    left = set(range(len(parts)))
    while left:
        added = {i: _added(rated[i], told, pages) for i in left}
        i = max(left, key=lambda i: (parts[i].chain_id is None, added[i], i))
        left.remove(i)
        if taken and parts[i].chain_id is not None and (added[i] < least or not parts[i].text):
            break
        if taken and (len(parts[i].text) + 1 > room or any(_same(rated[i], rated[j]) for j in taken)):
            continue
        taken.append(i)
        told.update(rated[i].weights.keys())
        pages.add(rated[i].page)
        room -= len(parts[i].text) + 1
    return tuple(parts[i] for i in sorted(taken, key=lambda i: (rated[i].order, i)))


def _added(one: _Rated, told: Mapping[str, int], pages: Collection[object]) -> float:
    """What a part is worth beside those taken: words that are told already say less, pages that are not say more."""
    words = sum(weight * _TOLD_AGAIN ** told.get(word, 0) for word, weight in one.weights.items())
    return one.worth + words + _NEW_PAGE * (one.page not in pages)


def _rated(part: SummaryPart, weights: Mapping[str, float]) -> _Rated:
    most = max(weights.values(), default=0.0) or 1.0
    body = _SPEAKER.sub("", part.text, count=1)
    own = frozenset(terms(part.text))
    worth = _worth(body, own, Counter())
    if part.text.startswith(_ASSISTANTS):
        worth -= _OF_ASSISTANT
    elif part.text.startswith(_USERS):
        worth += _request(body, own)
    if not part.text:
        worth = float("-inf")
    first = min(part.sources, key=lambda s: s.seq, default=None)
    order = (0, 0) if first is None else (first.seq, first.start or 0)
    told = {word: weights[word] / most for word in _keywords(part.text) if word in weights}
    return _Rated(part.text, own, worth, told, part.phrases or order[:1], order)


def _same(one: _Rated, other: _Rated) -> bool:
    return one.text == other.text or _overlap(one.terms, other.terms) > _REPEATED


# -------------------------------------------------------------------------------------------------------------- title


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
        return next(iter(_keywords(_JOINED.split(self.text, maxsplit=1)[0])[::-1]), "")


def _spoken_of(page: Page, settings: ExtractiveSettings) -> tuple[str, ...]:
    """The phrases of a page that could stand in a heading, those said most often first, the longer ones of equals: of
    an assistant's answer those with a word of what it was asked, if that has any phrase."""
    texts, users = list[str](), set[int]()
    people = {word for u in page.utterances for word in _keywords(u.speaker)}
    asked = _is_asked(page)
    for utterance in page.utterances:
        for start, end in _spans(utterance, settings):
            text = _plain(utterance.text[start:end])
            if not _CODE.search(text) and len(texts) < _COMPETING:
                users |= {len(texts)} if asked and not utterance.role.agent_side else set()
                texts.append(text)
    language = _language(texts)
    find = _finder(texts, language)
    found = _phrases(texts, language, find, people, lambda place: _ASKED if place in users else 1.0)
    wanted = {word for place in users for word in _keywords(texts[place])}
    if any(wanted.issuperset(one.words) for one in found):
        found = [one for one in found if not wanted.isdisjoint(one.words)]
    ranked = sorted(found, key=lambda p: -p.said * (0.6 if len(p.words) == 1 else 1.0))
    return tuple(one.text for one in ranked[: settings.page_phrases])


def _title(parts: Sequence[SummaryPart], weights: Mapping[str, float], settings: ExtractiveSettings) -> str:
    texts = [part.text for part in parts]
    people, called, language = _people(texts), _called(texts), _language(texts)
    rare = _RARE * max(weights.values(), default=0.0)
    pages = _pages(parts)
    told = _whole(_found(parts, language, _finder(texts, language), people, called))
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
        said.setdefault(page, set()).update(word for text in texts for word in _keywords(text))
    return [frozenset(words) for words in said.values()]


def _found(
    parts: Sequence[SummaryPart],
    language: Language,
    find: Callable[[str], Iterable[str]],
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
        asked = part.phrases and part.text.startswith(_ASSISTANTS)
        texts = [] if asked else [part.text[len(_who(part.text)) :]]
        own = (_Phrase(text, _keywords(text), place=place) for place, text in enumerate(part.phrases))
        for one in (*own, *_phrases(texts, language, find, people, lambda place: 1.0)):
            if one.words and _is_of_things(one.text, one.words, people) and not set(called).issuperset(one.words):
                same = found.setdefault(one.words, one)
                same.pages.add(page)
                same.place = min(same.place, one.place)
    for one in found.values():
        one.said = float(len(one.pages))
    return list(found.values())


def _stated(texts: Sequence[str], language: Language, settings: ExtractiveSettings) -> str:
    """The first fact of a summary that is short enough for a heading; "" where there is none."""
    facts = (text for text in texts if text and _SPEAKER.match(text) is None)
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
    said = {word for text in texts for word in _keywords(text)}
    if not _is_known(texts, language):
        said = {word for word in said if len(word) >= _LONG}
    ranked = sorted(said & weights.keys(), key=lambda word: (-weights[word], word))
    return [w for w in ranked if language.is_thing(w) and w not in called and not _is_called(w, people)][:2]


def _headed(language: Language, things: Sequence[str]) -> str:
    text = language.both(things[0], things[1]) if len(things) > 1 else "".join(things)
    return text[:1].upper() + text[1:]


def _finder(texts: Sequence[str], language: Language) -> Callable[[str], Iterable[str]]:
    """What finds phrases in texts that are read as this language: for one that nobody knows, single words."""
    return language.phrases if _is_known(texts, language) else partial(_single_words, language)


def _single_words(language: Language, text: str) -> Iterable[str]:
    """The longer words of a text: the short ones of a language that nobody knows are mostly function words."""
    return (word for word in Language.phrases(language, text) if len(word) >= _LONG)


def _phrases(
    texts: Sequence[str],
    language: Language,
    find: Callable[[str], Iterable[str]],
    people: Collection[str],
    worth: Callable[[int], float],
) -> list[_Phrase]:
    """The phrases of the texts in a language, but for names of people, each with what the texts that say it are
    worth."""
    found: dict[tuple[str, ...], _Phrase] = {}
    for place, text in enumerate(texts):
        if languages.of(text) is not language:
            continue
        here = set[tuple[str, ...]]()
        for start, end in sentences(text):
            for phrase in find(text[start:end]):
                words = _keywords(phrase)
                if words and _is_of_things(phrase, words, people):
                    one = found.setdefault(words, _Phrase(phrase, words))
                    one.said += 0.0 if words in here else worth(place)
                    here.add(words)
    return _whole(found.values())


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
    words = [fold(run) for text in texts for run, _, _ in runs(text)]
    return not language.spaced or sum(word in language.stop_words for word in words) >= _FUNCTION_WORDS * len(words)


def _people(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _keywords(_who(text)))


def _called(texts: Sequence[str]) -> frozenset[str]:
    """The words by which the texts address somebody, as keywords."""
    return frozenset(word for text in texts for name in _ADDRESSED.findall(text) for word in _keywords(name))


def _who(text: str) -> str:
    """The speaker before a sentence, with the colon; of a fact its subject's first word."""
    match = _SPEAKER.match(text) or re.match(r"\S+\s", text)
    return match.group() if match is not None else ""


def _is_called(word: str, people: Collection[str]) -> bool:
    """Whether a word is a person's name, or a short form of it."""
    return word in people or (len(word) > 2 and any(name.startswith(word) for name in people))


def _score(phrase: _Phrase, weights: Mapping[str, float], rare: float, language: Language) -> float:
    """The mean weight of a phrase's words, the head counted twice, less where its page says it late; of a word by
    itself a part of it."""
    told = {word: weights.get(word, 0.0) * (1.0 if language.is_thing(word) else _NO_THING) for word in phrase.words}
    names = sum(run[0].isupper() and not _keywords(run) for run, _, _ in runs(phrase.text))
    total = sum(told.values()) + rare * names  # a name of which no keyword is made
    if len(told) + names == 1 and _size(phrase) == 1:
        mean = total * min(1.0, _ALONE * (1.0 + 0.5 * (phrase.said - 1.0)))
    else:
        mean = (total + told.get(phrase.head, 0.0)) / (len(told) + names + 1)
    return mean / (1.0 + _LATER * phrase.place)


def _keywords(text: str) -> tuple[str, ...]:
    """The keywords of a text in the order in which they stand, each once."""
    otherwise = languages.spelled(text)
    found: dict[str, None] = {}
    for run, _, _ in runs(text):
        language = otherwise if run.isascii() else languages.by_signs(run)
        found |= dict.fromkeys(language.keywords_of(run))
    return tuple(found)


def _language(texts: Iterable[str]) -> Language:
    said: Counter[Language] = Counter()
    for text in texts:
        language = languages.of(text)
        said[language] += round(len(text) * language.density)
    return max(said, key=lambda one: said[one]) if said else languages.default()


def _overlap(a: Collection[str], b: Collection[str]) -> float:
    return len(set(a) & set(b)) / max(1, min(len(a), len(b)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: max(1, limit - 1)]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:-–") + "…"
