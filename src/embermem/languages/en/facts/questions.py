"""What a sentence states before it asks: "I just moved to Ghent, any tips?"."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re

from embermem.core.patterns import regex

_ASKS = (
    r"(?:any(?:one|body|thing)?|what(?:'s)?|how(?:'s)?|where|when|who|which|why|do|does|did|is|are|was|were|can|could|would|will|should|shall|have|has|got|thoughts|ideas|recommendations|suggestions"
    r"|tips|advice|don't|isn't|aren't|can't|know of|wanna|want to|care to|mind|ever|need|fancy|ready|and you|you)\b"
)
_TURN = regex(
    rf"(?:\s*[,;:–—]|\s+-|\.{{2,}}|\s(?=(?:and|but|so) |any (?:tips|ideas|suggestions|recommendations|recs|advice)\b))\s*(?:(?:and|but|so|then|also) )?(?={_ASKS})",
    re.IGNORECASE,
)
_TAG = regex(
    r"(?:(?:is|are|do|does|did|was|were|have|has|had|can|could|would|will|should|am)(?:n't| not)? (?:i|you|it|he|she|they|we|that|there)|right|huh|eh|ok|okay|no|yes|correct|true|innit|remember|you know|know what i mean|deal|yeah)\W*$",
    re.IGNORECASE,
)
_ASKING = regex(rf"\W*(?:(?:so|and|but|well|hey|hi|oh|ok|okay|also|then)\W+)*(?:{_ASKS}|if\b|whether\b)", re.IGNORECASE)


def declared(sentence: str) -> str:
    """The part of a sentence that states something: all of it if it asks nothing; empty for one that only asks."""
    if not sentence.rstrip("\"'”’) ").endswith(("?", "?!", "!?")):
        return sentence
    for turn in _TURN.finditer(sentence):
        if _TAG.match(sentence, turn.end()) or _ASKING.match(sentence):
            return ""
        if turn.start() >= 6:
            return sentence[: turn.start()]
    return ""
