"""Does a page go on with what its thread was about?

A logistic regression on how soon it comes, how near its vector is, the words that it shares with its chain, and how
much the user says: who goes on says little. The weights are those of reader/fit_continuity.py; figures:
docs/research/understanding.md.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from embermem import languages
from embermem.core.config import ExtractiveSettings
from embermem.core.equations import logistic
from embermem.core.types import PageView
from embermem.languages.words import terms

_READ = 4_000
"""Characters of a side that are compared: topic shows early, and the cost stays bounded."""
_WITH_VECTORS, _BY_WORDS = (0.85, -0.24, 11.01, -0.91, 4.53), (2.14, -0.30, 12.61, -0.67)
"""The base, and the weights of the signs, the cosine last; the second where a page has no vector."""
_SHIFTED = 4.0
"""What the log odds lose for a page that begins with a change of topic."""

_SHIFT = re.compile(rf"\W*(?:{languages.alternatives(lambda one: one.talk.shift)})", re.IGNORECASE)
_FEW = 2
"""A page with so few content words ("yes, sure!") continues, and one that follows a chain of so few, unless it begins
with a change of topic."""


class Signs(NamedTuple):
    """`gap`: ln(1 + minutes since the page before); `shared`: `cohesion` with that page and its chain's summary;
    `said`: ln(1 + content words of what the user says first); `cosine` of the two pages' vectors, None without them."""

    gap: float
    shared: float
    said: float
    cosine: float | None


def continues(before: PageView, summary: str, now: PageView, settings: ExtractiveSettings) -> bool:
    """Whether `now` belongs to the chain that ends with `before` and reads `summary`; a long silence ends a chain."""
    if not before.page.utterances or not now.page.utterances:
        return False
    if abs(_seconds(before, now)) > settings.break_after_s:
        return False
    is_shift = _SHIFT.match(_opening(now)) is not None
    if not is_shift and min(len(_terms(now)), len(_so_far(before, summary))) <= _FEW:
        return True  # filler goes on with what was said, and what follows filler that began a chain goes on with it
    found = signs(before, summary, now)
    odds = _odds(_BY_WORDS, found[:-1]) if found.cosine is None else _odds(_WITH_VECTORS, (*found[:-1], found.cosine))
    return logistic(odds - _SHIFTED * is_shift) >= settings.continue_at


def signs(before: PageView, summary: str, now: PageView) -> Signs:
    """What tells whether `now` goes on with `before` and its chain."""
    return Signs(
        gap=math.log1p(abs(_seconds(before, now)) / 60.0),
        shared=cohesion(_terms(now), _so_far(before, summary)),
        said=math.log1p(len(terms(_said(now)))),
        cosine=_cosine(before, now),
    )


def _odds(weights: Sequence[float], found: Sequence[float]) -> float:
    return weights[0] + math.fsum(weight * one for weight, one in zip(weights[1:], found, strict=True))


def _seconds(before: PageView, now: PageView) -> float:
    return (now.page.said_at - before.page.utterances[-1].said_at).total_seconds()


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


def _so_far(before: PageView, summary: str) -> Counter[str]:
    """The terms of a page and of what its chain says."""
    return _terms(before) + _counted(summary[:_READ])


@lru_cache(maxsize=16)
def _counted(text: str) -> Counter[str]:
    """The terms of a page, which is compared twice: with the one before it and with the one after it; of a chain's
    summary, which is looked at twice."""
    return Counter(terms(text))


def _said(view: PageView) -> str:
    """What the user says first, or else the first of the page."""
    first = next((u for u in view.page.utterances if not u.role.agent_side), view.page.utterances[0])
    return first.text[:_READ]


def _opening(view: PageView) -> str:
    return _said(view)[:120]


def _cosine(a: PageView, b: PageView) -> float | None:
    if a.vector is None or b.vector is None or a.vector.shape != b.vector.shape:
        return None
    value = float(a.vector @ b.vector)
    return value if value == value else None
