"""Summaries by extraction: the few sentences that say most, in the order in which they were said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from embermem import languages
from embermem.analysts.memoized import term_set
from embermem.core.config import ExtractiveSettings
from embermem.core.patterns import regex
from embermem.core.types import Page, Role, Source, Utterance
from embermem.languages import Language
from embermem.languages.people import no_name
from embermem.languages.words import asks, sentences, unspaced

_MAX_SENTENCES = 60
"""Sentences of a page that compete: from its utterances in turn, the first ones."""
_REDUNDANT = 0.7
FIRST_PERSON = languages.any_of(lambda one: one.talk.my_words)
NAMES_OR_NUMBERS = regex(r"(?<=[a-z,] )[A-Z][a-z]+|\d")
SMALL_TALK = regex(rf"\W*(?:{languages.alternatives(lambda one: one.talk.small_talk)})", re.IGNORECASE)
_CODE = regex(r"[{}<>\\|=_]{2,}|```|https?://\S{40,}")


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    terms: frozenset[str]
    worth: float
    language: Language
    source: Source | None = None


def summarise(
    before: str, page: Page, settings: ExtractiveSettings, told: Sequence[Source] = ()
) -> tuple[str, tuple[Source, ...]]:
    """The summary of a chain after `page`, and where its sentences stand.

    `before` is the chain's summary so far, "" for a new chain, and `told` says where its sentences stand, in order;
    where these are not as many, all of them stay as long as one sentence does. At least one sentence of the page is
    taken if it has any.
    """
    new = _of_page(page, settings)
    old = _of_texts([before], told) if before else []
    if not new:
        return before[: settings.summary_chars], tuple(told)
    language = _prevailing(new)
    if _prevailing([*old, *new]) is language:
        old = [c for c in old if c.language is language]
    new = [c for c in new if c.language is language] or new
    kept = _choose(
        [*old, *new], settings.summary_sentences, settings.summary_chars, must=max(new, key=lambda c: c.worth)
    )
    sources = tuple(c.source for c in kept if c.source is not None)
    return _join(kept), sources if len(sources) == len(kept) else tuple(dict.fromkeys((*told, *sources)))[
        -_MAX_SENTENCES:
    ]


def condense(texts: Sequence[str], limit: int = 600, sentences_limit: int = 6) -> str:
    """One summary of many, such as a segment's of its chains: at most `limit` characters, no sentence twice."""
    candidates = _of_texts(texts)
    if not candidates:
        return ""
    language = _prevailing(candidates)
    one_tongue = [c for c in candidates if c.language is language]
    return _join(_choose(_weighed(one_tongue), sentences_limit, limit, must=None))


def _of_page(page: Page, settings: ExtractiveSettings) -> list[_Candidate]:
    said: list[tuple[str, Utterance, int, int]] = []
    several = len({u.speaker for u in page.utterances}) > 1
    share = max(4, _MAX_SENTENCES // max(1, len(page.utterances)))
    for utterance in page.utterances[:_MAX_SENTENCES]:
        if utterance.role in (Role.SYSTEM, Role.TOOL) and len(page.utterances) > 1:
            continue
        text = utterance.text[: settings.max_chars]
        for start, end in sentences(text)[:share]:
            said.append((_shorten(text[start:end], settings.sentence_chars), utterance, start, end))
    said = said[:_MAX_SENTENCES]
    counted = [term_set(text) for text, *_ in said]
    centre = Counter(t for ts in counted for t in ts)
    found = []
    for i, (text, utterance, start, end) in enumerate(said):
        if not counted[i] or _CODE.search(text):
            continue
        worth = _informativeness(text, counted[i], centre) + (0.25 if not utterance.role.agent_side else 0.0)
        language = languages.of(text)
        if not no_name(utterance.speaker):
            text = language.said_by(" ".join(utterance.speaker.split())[:40], text)
        elif utterance.role.agent_side and several:
            text = language.said_by(language.assistant, text)
        source = Source(seq=utterance.seq, utterance_id=utterance.id, start=start, end=end)
        found.append(_Candidate(text, counted[i], worth, languages.of(text), source))
    return found


def _informativeness(text: str, own: frozenset[str], centre: Counter[str]) -> float:
    """How much a sentence says of its page: shared terms, length, names, numbers, the first person; not small talk."""
    central = sum(centre[t] - 1 for t in own) / (len(own) + 2.0)
    size = len(own) / 2.0 if unspaced(text) else len(own)
    worth = min(central, 1.5) * 0.4 + min(size, 9.0) / 9.0
    worth += 0.25 * bool(FIRST_PERSON.search(text)) + 0.2 * bool(NAMES_OR_NUMBERS.search(text))
    if asks(text.rstrip()):
        worth -= 0.35
    return worth - 0.4 * bool(SMALL_TALK.match(text)) - 0.4 * (size < 3)


def _of_texts(texts: Iterable[str], told: Sequence[Source] = ()) -> list[_Candidate]:
    """The sentences of texts; of a single one each with its source, where `told` has as many."""
    found: list[_Candidate] = []
    for text in texts:
        spans = sentences(text[:20_000])[:_MAX_SENTENCES]
        for i, (start, end) in enumerate(spans):
            piece = _shorten(text[start:end], 240)
            own = term_set(piece)
            if own and len(found) < 400:
                source = told[i] if len(told) == len(spans) else None
                found.append(_Candidate(piece, own, 0.0, languages.of(piece), source))
    return _weighed(found)


def _weighed(candidates: list[_Candidate]) -> list[_Candidate]:
    centre = Counter(t for c in candidates for t in c.terms)
    return [replace(c, worth=_informativeness(c.text, c.terms, centre) + 0.15) for c in candidates]


def _choose(candidates: list[_Candidate], count: int, limit: int, must: _Candidate | None) -> list[_Candidate]:
    """The worthiest that fit and do not repeat each other, in their order."""
    order = sorted(range(len(candidates)), key=lambda i: (candidates[i] is not must, -candidates[i].worth, i))
    taken: list[int] = []
    room = limit
    for i in order:
        candidate = candidates[i]
        if len(taken) == count:
            break
        cost = len(candidate.text) + (1 if taken else 0)
        if cost > room:
            if taken:
                continue
            candidates[i] = candidate = replace(candidate, text=_shorten(candidate.text, room))
            cost = len(candidate.text)
        if taken and candidate.worth < 0.35:
            break
        if any(overlap(candidate.terms, candidates[j].terms) > _REDUNDANT for j in taken):
            continue
        taken.append(i)
        room -= cost
    return [candidates[i] for i in sorted(taken)]


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / max(1, min(len(a), len(b)))


def _prevailing(candidates: Sequence[_Candidate]) -> Language:
    """The language in which most is said; of equals the first of all languages."""
    said = dict.fromkeys(languages.all(), 0.0)
    for one in candidates:
        said[one.language] += len(one.text) * one.language.density
    return max(said, key=lambda language: said[language])


def _join(kept: Sequence[_Candidate]) -> str:
    """Sentences stand on one line; a line break would be lost in a prompt, a missing full stop would glue them."""
    parts = []
    for i, candidate in enumerate(kept):
        text = " ".join(candidate.text.split())
        if i < len(kept) - 1 and text[-1:] not in ".!?…。！？；":
            text += candidate.language.full_stop
        parts.append(text)
    return " ".join(parts)


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: max(1, limit - 1)]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip() + "…"
