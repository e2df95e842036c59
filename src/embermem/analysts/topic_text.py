"""What a segment says of itself without a model: sentences of its pages that can be read alone, and a title.

Everything is of the segment's own pages: sentences as they were said, facts in the words of what they rest on, phrases
of these for a title. Pure functions; `memoryos/ingest/segment_text.py` keeps what they give.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from embermem import languages
from embermem.analysts.memoized import memoized, term_set
from embermem.analysts.summary import NAMES_OR_NUMBERS, SMALL_TALK, overlap
from embermem.analysts.topic_title import ASSISTANTS, SPEAKER, in_order, people_of, spoken_of, title_of
from embermem.core.attributes import Kind, kind
from embermem.core.changes import SummaryPart
from embermem.core.config import ExtractiveSettings
from embermem.core.patterns import regex
from embermem.core.types import ChainId, FactProposal, Page, Role, Source, Utterance, UtteranceId
from embermem.languages.people import no_name
from embermem.languages.words import asks, sentences, terms, unspaced

_GROUNDED = 0.8
"""The share of a fact's terms that what it rests on must say."""
_OF_ASSISTANT = 0.4
"""What a sentence of an assistant without a name is worth less than the user's own."""
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
_COMPETING = 60
"""Sentences of a page of which phrases are taken."""
_READ = 40
"""Sentences of a message that compete, the first ones."""
_FACT = 0.3
"""What a sentence that a fact rests on tells more of its page's matter."""
_FIRST, _AGAIN = 0.6, 0.2
"""The same for the first sentence of its page, and for each word that another message of the page has too."""
_BACK = re.compile(rf"\W*(?:{languages.alternatives(lambda one: one.talk.back)})", re.IGNORECASE)
"""What begins with a reference to what was said before."""
_CLAUSES = 3
"""Sentences of a page of which a clause may be a title."""
_BRACKETS = regex(r"\s*\[[^\]\n]{0,400}\]")
_MARKUP = regex(r"^(?:(?:[#>]+|[-+*•–]|\d+[.)])\s+)+|\*+|__|`+|\|")
_CODE = regex(
    r"[{}<>\\|=_]{2,}|https?://|\w\(.*\)|\w\($|;$|\s[=+*/]{1,2}\s|[=%]{2}|\w_\w|%>|</?\w+[^<>]*>|\S@\w"
    r"|^(?:from \S+ )?import \S+|^(?:def|return|const|var) "
)
_UNCLOSED = regex(r"""[^\W_]["'”’)）%]*$""")
_DATED = regex(r"\s*[(（][^()（）]*[)）]$")
_MINE = languages.any_of(lambda one: one.talk.me)
_YOURS = languages.any_of(lambda one: one.talk.you)
_LEADS = regex(rf"(?:{languages.alternatives(lambda one: one.talk.leads)})+(?=\S)", re.IGNORECASE)
_TELLING = {Kind.EVENT: 0.3, Kind.PLAN: 0.4}
_NOT_TELLING = frozenset({"feels", "says", "likes", "dislikes", "temperament"})


_Said = tuple[Utterance, int, int, str, bool]
"""A sentence of a page: who says it, its [start, end) there, its text as it is told, and whether that is like code."""


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
        said = [one for u in page.utterances for one in _sentences(u, self._settings)]
        stated = [*_statements(page, said, self._settings)]
        told = _told([*_facts(page, facts), *stated], self._settings)
        if not told:
            whole = tuple(Source(seq=u.seq, utterance_id=u.id) for u in page.utterances)
            return (SummaryPart(chain_id=chain_id, text="", sources=whole),)
        phrases = _spoken_of(page, said, _titled(page, stated, facts), self._settings)
        return tuple(
            SummaryPart(chain_id=chain_id, text=_closed(one.text), sources=one.sources, phrases=phrases) for one in told
        )

    def chosen(self, parts: Sequence[SummaryPart], weights: Mapping[str, float], limit: int) -> tuple[SummaryPart, ...]:
        """The most telling parts; none says what another says."""
        return _chosen(parts, weights, limit)

    def title(self, parts: Sequence[SummaryPart], weights: Mapping[str, float]) -> str:
        """The one or two phrases of the parts and their pages that tell most of the segment's words, else its first
        words."""
        return title_of(parts, weights, self._settings)

    def people(self, texts: Sequence[str]) -> frozenset[str]:
        """The keywords of the speakers that stand before sentences, and of facts' subjects."""
        return people_of(texts)


# ------------------------------------------------------------------------------------------------- sentences of a page


def _told(found: Sequence[_Sentence], settings: ExtractiveSettings) -> Sequence[_Sentence]:
    chosen: list[_Sentence] = []
    room = settings.summary_chars
    for one in sorted(found, key=lambda s: (-s.worth, s.order)):
        if chosen and (one.worth < settings.telling or len(one.text) > room or len(chosen) == settings.page_sentences):
            continue
        if any(overlap(one.terms, other.terms) > _REPEATED for other in chosen):
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
        words = term_set(text)
        own = {t for s in fact.sources for t in (*terms(said[s.seq].text), *terms(said[s.seq].speaker))}
        if len(words) < 4 or len(words & own) < _GROUNDED * len(words):
            continue
        worth = 0.9 + _TELLING.get(kind(fact.attribute), 0.2) + min(len(words), 8) / 12
        first = min(fact.sources, key=lambda s: (s.seq, s.start or 0))
        yield _Sentence(text, fact.sources, words, worth, (first.seq, first.start or 0))


def _statements(page: Page, said: Sequence[_Said], settings: ExtractiveSettings) -> Iterable[_Sentence]:
    several = len({u.speaker for u in page.utterances}) > 1
    asked = _is_asked(page)
    parts = [u for u in page.utterances if u.role not in (Role.SYSTEM, Role.TOOL)] or page.utterances
    shown = [one for one in said if one[0] in parts]
    counted = [term_set(text) for *_, text, _ in shown]
    centre = Counter(term for one in counted for term in one)
    for (utterance, start, end, text, is_code), own in zip(shown, counted, strict=True):
        if not own or is_code:
            continue
        source = Source(seq=utterance.seq, utterance_id=utterance.id, start=start, end=end)
        worth = _worth(text, own, centre) + _request(text, own) * (asked and not utterance.role.agent_side)
        worth += 0.3 if not utterance.role.agent_side else -0.3 * text[0].islower()
        told_by = _with_speaker(_begun(_shorten(text, settings.sentence_chars)), utterance, several)
        yield _Sentence(told_by, (source,), own, worth, (utterance.seq, start))


def _sentences(utterance: Utterance, settings: ExtractiveSettings) -> Iterable[_Said]:
    """The sentences of a message that have any words."""
    text = utterance.text[: settings.max_chars]
    for start, end in sentences(text)[:_READ]:
        if plain := _plain(text[start:end]):
            yield utterance, start, end, plain, _CODE.search(plain) is not None


def _plain(text: str) -> str:
    """A sentence without the marks of a layout, and without what stands in square brackets, such as a photo's
    caption."""
    return _one_line(_MARKUP.sub("", _BRACKETS.sub("", text).strip())).strip()


def _worth(text: str, own: frozenset[str], centre: Counter[str]) -> float:
    """How much a sentence tells by itself: of its page's matter, of its speaker, with names and numbers; questions,
    small talk and what is said to the other tell little."""
    lowered = text.lower()
    size = len(own) / 2.0 if unspaced(text) else float(len(own))
    worth = min(size, 9.0) / 9.0 + 0.4 * min(1.5, sum(centre[t] - 1 for t in own) / (len(own) + 2.0))
    worth += 0.3 * bool(_MINE.search(lowered)) + 0.15 * bool(NAMES_OR_NUMBERS.search(text))
    worth -= 0.6 * bool(asks(text.rstrip(' "”)'))) + 0.5 * bool(SMALL_TALK.match(text)) + 0.3 * (size < 4)
    worth -= 0.25 * bool(_YOURS.search(lowered)) + 0.35 * bool(_BACK.match(text)) + 0.2 * text.endswith(("!", "！"))
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


def _titled(page: Page, stated: Sequence[_Sentence], facts: Sequence[FactProposal]) -> Sequence[str]:
    """The sentences of a page that tell most of its matter, without their speakers: of an assistant's talk its user's.
    The first one begins with it, an answer says its words again, and a fact rests on it."""
    asked = _is_asked(page)
    told = [(s.utterance_id, s.start or 0) for fact in facts for s in fact.sources]
    said = {u.id: term_set(u.text) for u in page.utterances}
    others = [one for one in stated if not (asked and one.text.startswith(ASSISTANTS))]

    def matter(one: _Sentence) -> float:
        again = max(
            (len(one.terms & words) for u, words in said.items() if u != one.sources[0].utterance_id), default=0
        )
        return (
            one.worth
            + _FACT * any(_says(one, *where) for where in told)
            + _FIRST * (one is others[0])
            + _AGAIN * min(again, 3)
        )

    ranked = sorted(others, key=lambda one: -matter(one))
    return [SPEAKER.sub("", one.text, count=1) for one in ranked[:_CLAUSES]]


def _says(one: _Sentence, utterance_id: UtteranceId, at: int) -> bool:
    return any(s.utterance_id == utterance_id and (s.start or 0) <= at < (s.end or 0) for s in one.sources)


def _spoken_of(page: Page, said: Sequence[_Said], told: Sequence[str], settings: ExtractiveSettings) -> tuple[str, ...]:
    """The phrases and clauses of a page that could stand in a heading."""
    texts, users = list[str](), set[int]()
    asked = _is_asked(page)
    for utterance, _, _, text, is_code in said:
        if not is_code and len(texts) < _COMPETING:
            users |= {len(texts)} if asked and not utterance.role.agent_side else set()
            texts.append(text)
    people = {word for u in page.utterances for word in in_order(u.speaker)}
    return spoken_of(texts, users, people, told, settings)


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
    own, worth = _read(part.text)
    first = min(part.sources, key=lambda s: s.seq, default=None)
    order = (0, 0) if first is None else (first.seq, first.start or 0)
    told = {word: weights[word] / most for word in in_order(part.text) if word in weights}
    return _Rated(part.text, own, worth, told, part.phrases or order[:1], order)


@memoized
def _read(text: str) -> tuple[frozenset[str], float]:
    """The terms of a part's text, and how much it tells by itself."""
    if not text:
        return frozenset(), float("-inf")
    body, own = SPEAKER.sub("", text, count=1), term_set(text)
    worth = _worth(body, own, Counter())
    if text.startswith(ASSISTANTS):
        return own, worth - _OF_ASSISTANT
    return own, worth + _request(body, own) if text.startswith(_USERS) else worth


def _same(one: _Rated, other: _Rated) -> bool:
    return one.text == other.text or overlap(one.terms, other.terms) > _REPEATED


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: max(1, limit - 1)]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:-–") + "…"
