"""Does a page go on with what its thread was about?"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from embermem import languages
from embermem.core.config import ExtractiveSettings
from embermem.core.types import PageView
from embermem.languages.words import asks, terms

_READ = 4_000
"""Characters of a side that are compared: topic shows early, and the cost stays bounded."""

_SHIFT = re.compile(rf"\W*(?:{languages.alternatives(lambda one: one.talk.shift)})", re.IGNORECASE)
BACK = re.compile(rf"\W*(?:{languages.alternatives(lambda one: one.talk.back)})", re.IGNORECASE)


def continues(before: PageView, summary: str, now: PageView, settings: ExtractiveSettings) -> bool:
    """Whether `now` belongs to the chain that ends with `before` and reads `summary`.

    A long silence ends a chain. Otherwise similarity of meaning (cosine, if both have a vector), shared words and
    the words a page opens with are added up and compared with a threshold.
    """
    if not before.page.utterances or not now.page.utterances:
        return False
    gap = (now.page.said_at - before.page.utterances[-1].said_at).total_seconds()
    if abs(gap) > settings.break_after_s:
        return False
    opening = _opening(now)
    if _SHIFT.match(opening):
        cue = -settings.shift_penalty
    else:
        answers = asks(before.page.utterances[-1].text.rstrip()) or not before.page.answered
        cue = settings.cue_bonus * (bool(BACK.match(opening)) + bool(answers))
    words_now, words_before = _terms(now), _terms(before) + Counter(terms(summary[:_READ]))
    if cue >= 0 and min(len(words_now), len(words_before)) <= settings.few_terms:
        return True  # filler goes on with what was said, and what follows filler that began a chain goes on with it
    shared = cohesion(words_now, words_before)
    cosine = _cosine(before, now)
    if cosine is None:
        return settings.cohesion_weight * shared + cue >= settings.continue_at_lexical
    return settings.cosine_weight * cosine + settings.cohesion_weight * shared + cue >= settings.continue_at


def cohesion(a: Counter[str], b: Counter[str]) -> float:
    """Shared terms in [0, 1]: the weight of terms in both over that of the lighter side; longer words weigh more."""
    lighter = min(_weight(a), _weight(b))
    if lighter == 0.0:
        return 0.0
    return min(1.0, sum(_term_weight(t) for t in a.keys() & b.keys()) / lighter)


def _weight(counts: Counter[str]) -> float:
    return sum(_term_weight(t) for t in counts)


def _term_weight(term: str) -> float:
    return 1.0 if not term.isascii() else min(len(term), 8) / 5.0


def _terms(view: PageView) -> Counter[str]:
    return _counted("\n".join(u.text[:_READ] for u in view.page.utterances[:8]))


@lru_cache(maxsize=16)
def _counted(text: str) -> Counter[str]:
    """The terms of a page, which is compared twice: with the one before it and with the one after it."""
    return Counter(terms(text))


def _opening(view: PageView) -> str:
    return next((u.text for u in view.page.utterances if not u.role.agent_side), view.page.utterances[0].text)[:120]


def _cosine(a: PageView, b: PageView) -> float | None:
    if a.vector is None or b.vector is None or a.vector.shape != b.vector.shape:
        return None
    value = float(a.vector @ b.vector)
    return value if value == value else None
