"""Does a page go on with what its thread was about?"""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections import Counter

from embermem.core.config import ExtractiveSettings
from embermem.core.text import terms
from embermem.core.types import PageView

_READ = 4_000
"""Characters of a side that are compared: topic shows early, and the cost stays bounded."""

_SHIFT = re.compile(
    r"\W*(?:(?:oh|so|ok|okay|well|and|but|hey|haha)\W+)?(?:by the way|btw|anyway|anyways|on another note|on a different note|changing the subject"
    r"|change of (?:topic|subject)|new (?:topic|question)|unrelated|off[- ]topic|something else|another (?:question|thing|topic)"
    r"|different (?:question|topic)|speaking of something else|good morning|hello again|hi again)\b"
    r"|\W*(?:对了|另外|话说|换个话题|说点别的|顺便(?:问|说)|言归正传|不说这个了|早上好|又来了)",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\W*(?:(?:and|so|but|yes|yeah|no|ok|okay|oh|wow|haha|well|thanks|really|right|sure)\W+){0,2}(?:that|this|it|it's|its|that's|those|these|they|them|he|she|there"
    r"|why|how (?:come|so)|what about|how about|which one|both|neither|same|me too|exactly|agreed|then|tell me more|go on|because)\b"
    r"|\W*(?:那|这|它|他|她|所以|然后|为什么|怎么会|还有呢|继续|是的|是啊|对啊|没错|因为|不过|可是|但是|可以|好的)",
    re.IGNORECASE,
)


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
        answers = before.page.utterances[-1].text.rstrip()[-1:] in ("?", "？") or not before.page.answered
        cue = settings.cue_bonus * (bool(_BACK.match(opening)) + bool(answers))
    words_now = _terms(now)
    if cue >= 0 and len(words_now) <= settings.few_terms:
        return True
    shared = cohesion(words_now, _terms(before) + Counter(terms(summary[:_READ])))
    cosine = _cosine(before, now)
    if cosine is None:
        return settings.cohesion_weight * shared + cue >= settings.continue_at_lexical
    return settings.cosine_weight * cosine + settings.cohesion_weight * shared + cue >= settings.continue_at


def cohesion(a: Counter[str], b: Counter[str]) -> float:
    """Shared terms in [0, 1]: the weight of terms in both over the weight of the lighter side; longer words weigh more."""
    lighter = min(_weight(a), _weight(b))
    if lighter == 0.0:
        return 0.0
    return min(1.0, sum(_term_weight(t) for t in a.keys() & b.keys()) / lighter)


def _weight(counts: Counter[str]) -> float:
    return sum(_term_weight(t) for t in counts)


def _term_weight(term: str) -> float:
    return 1.0 if not term.isascii() else min(len(term), 8) / 5.0


def _terms(view: PageView) -> Counter[str]:
    return Counter(terms("\n".join(u.text[:_READ] for u in view.page.utterances[:8])))


def _opening(view: PageView) -> str:
    return next((u.text for u in view.page.utterances if not u.role.agent_side), view.page.utterances[0].text)[:120]


def _cosine(a: PageView, b: PageView) -> float | None:
    if a.vector is None or b.vector is None or a.vector.shape != b.vector.shape:
        return None
    value = float(a.vector @ b.vector)
    return value if value == value else None
