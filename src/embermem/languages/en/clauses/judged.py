"""How something was found, told after it: "I went to a fair. It was so inspiring!"."""

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.clauses.frames import FEELING
from embermem.languages.en.clauses.words import _set

_JUDGING: Final = _set(
    """powerful inspiring amazing awesome fun great cool rewarding emotional relaxing calming therapeutic stressful
    exhausting challenging tough hard difficult scary exciting thrilling incredible unforgettable memorable
    enlightening educational interesting boring disappointing delicious tasty peaceful magical special wonderful
    fantastic intense nerve-wracking hilarious heartwarming touching moving refreshing beautiful gorgeous lovely
    terrible awful horrible nice good bad sad fascinating eye-opening fulfilling freeing empowering motivating
    encouraging frustrating overwhelming breathtaking surreal worthwhile uplifting thought-provoking insightful
    humbling painful useful helpful productive successful tiring chaotic cozy spectacular stunning"""
)
_FELT_SO: Final = _set(
    """accepted welcome welcomed refreshed alive free empowered supported connected included relaxed refreshed calm
    peaceful loved appreciated humbled energized energised nostalgic moved touched accomplished fulfilled stronger
    better calmer recharged relieved"""
)
_ADVERBS = r"(?:\s+(?:so|really|very|pretty|super|such|just|truly|absolutely|quite|actually|both|incredibly|totally))*"
_AND = r"(?:(?P<and>,?\s+(?:and|but|yet)\s+)(?:(?:so|really|very|pretty|super)\s+)?(?P<more>[a-z-]+))?"
_END = r"(?=\s*(?:[.!,;–—-]|$)|\s+(?:and|but|because|for|with|when)\b)"
_FELT = regex(
    r"[\s,–—-]*(?:[.!]\s+)?(?:(?:and|but|so)\s+)?(?:i|(?:it|that|which)(?: really| just)? made me)(?:\s+(?:feel|felt))"
    rf"{_ADVERBS}\s+(?P<how>[a-z-]+){_AND}{_END}",
    re.IGNORECASE,
)
_HOW = regex(
    r"[\s,–—-]*(?:[.!]\s+)?(?:(?:and|but|though)\s+)?(?:it|which|that)(?:\s+was|\s+turned out to be)"
    rf"{_ADVERBS}\s+(?P<how>[a-z-]+){_AND}{_END}",
    re.IGNORECASE,
)


def judgement(text: str) -> str:
    """How what was told before a text was found or felt, as a text begins to say: "found it powerful", "felt proud";
    empty where it does not."""
    for pattern, words, told in ((_HOW, _JUDGING, "found it"), (_FELT, FEELING | _FELT_SO, "felt")):
        match = pattern.match(text)
        if match is None or match["how"].lower() not in words:
            continue
        how = match["how"].lower()
        if match["more"] is None or match["more"].lower() not in words:
            return f"{told} {how}"
        return f"{told} {how} {match['and'].strip(' ,')} {match['more'].lower()}"
    return ""
