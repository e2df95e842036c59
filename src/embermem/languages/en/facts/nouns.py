"""Noun phrases: what is liked, and lists of it."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator

from embermem.languages.en.facts.phrases import GONE
from embermem.languages.facts.finding import Finding
from embermem.languages.facts.rules import Value

_MAX_WORDS = 8
_LIST = re.compile(
    r"((?:,\s+(?!and\b)[^\s,.;!?()]+(?: [^\s,.;!?()]+){0,3}){0,8}),?\s+and\s+([^\s,.;!?()]+(?: [^\s,.;!?()]+){0,3})(?=\s*(?:[.;!]|$))"
)
_FINITE = re.compile(
    r"'(?:re|s|m|ve|d|ll|t)\b|\b(?:is|are|was|were|am|has|have|had|do|does|did|gets?|makes?|keeps?|gives?|loves?|likes?|hates?|can|will|takes?|helps?|feels?)\b",
    re.IGNORECASE,
)
_BOUNDARY = frozenset(
    """such or sometimes because but so since when while that which who where if though although after before until unless especially even too lately
    recently now then than as just right whenever cuz cause - – — & lol haha anymore always either whatever ever except
    well also i'm i've i it's""".split()
)
NP_FIRST_DENIED = frozenset(
    """it that this these those you your yours him her his them their its he she they me myself how what when where why who whom my our us
    a an some one all every everything anything something nothing both any another such so being doing seeing hearing talking chatting
    having knowing getting going it's that's was went said had totally not of the to option i i'm we things stuff people everyone
    someone anyone more most less no and but very much or with in on at for by from up if is are were here there
    just too thinking saying telling feeling looking messing making be as seeing trying dealing waiting starting spending
    finding giving keeping putting taking using letting watching sharing hearing bringing living""".split()
)
_NP_DENIED = frozenset(
    "you your yours it it's him her them that this these those here there me us we he she they i i'm i've its everyone yourself".split()
)
_THE = re.compile(
    r"the (?:ocean|sea|beach|mountains|outdoors|countryside|rain|snow|cold|heat|winter|summer|autumn|spring|piano|violin|guitar|cello"
    r"|cinema|theater|theatre|opera|city|gym|(?:smell|sound|taste) of [a-z]+(?: [a-z]+)?|[A-Z]\w+(?: [A-Z]\w+){0,3})(?=\s*(?:[,.;!)]|$|(?:and|but|because|so|in)\b))"
)
_RESTRICTED = re.compile(r"\s+(?:that|who|which|where|whose)\b")
"""People who lie are not people: what is narrowed down in a clause of its own is not taken."""
_INTENSITY = re.compile(r" (?:the (?:most|best)|a lot|very much|so much|a bit|a ton|now and then|best|most)$")
_MEASURE = re.compile(r"\s+(?:lot|bit|ton|much)\b(?! of)")
_TOKEN = re.compile(r"\s*([^\s,.;!?():\ue000]+)")
_LIKED_TO = re.compile(
    r"to (?=(?:cook|bake|read|paint|draw|dance|sing|travel|swim|run|hike|garden|knit|sew|ski|surf|fish|camp|climb|write|play"
    r"|collect|ride|cycle|jog|sketch|code|listen to|watch)\b)"
)
_WATCHES = re.compile(
    r"(?:watching|making|taking|trying|going on|going to|living)\s+(?!it\b|you|that\b|this\b|the\b|them\b|my\b|her\b|him\b|to\b|in\b|here\b|with\b|sure\b)[a-z]"
)


def listed(sentence: str, pos: int, end: int, subject: str, attribute: str, first: str) -> Iterator[Finding]:
    """The other items of a list: "I like hiking, chess and baking"."""
    match = _LIST.match(sentence, end)
    if match is None or not match[1]:
        return
    items = [
        (m.group(), m.start()) for m in re.compile(r"[^\s,][^,]*").finditer(sentence, match.start(1), match.end(1))
    ]
    items.append((match[2], match.start(2)))
    gerund = first.split()[0].endswith("ing")
    if any(_FINITE.search(item) for item, _ in items):
        return
    for item, at in items:
        found = read_noun_phrase(sentence[: at + len(item)], at)
        if found is None or found[1] != at + len(item.rstrip()) or (gerund and item.count(" ") > 2):
            return
    for item, at in items:
        yield Finding(subject=subject, attribute=attribute, value=item.strip(), start=pos, end=at + len(item.rstrip()))


def read_noun_phrase(sentence: str, pos: int, first: str | None = None) -> Value | None:
    the = _THE.match(sentence, pos)
    if the is not None:
        return the.group(), the.end()
    if liked := _LIKED_TO.match(sentence, pos):
        pos = liked.end()
        first = "to"
    tokens: list[str] = []
    end = at = pos
    trimmed = False
    prepositions = []
    while True:
        token = _TOKEN.match(sentence, at)
        if token is None:
            if at < len(sentence) and sentence[at] in "\ue000":
                return None
            break
        word = token[1].lower()
        if tokens and (
            word in _BOUNDARY
            or (word in ("any", "these") and GONE.match(sentence, end))
            or (word in ("a", "very", "so") and _MEASURE.match(sentence, token.end()))
            or (word in ("with", "for", "in", "at") and _private(sentence, token.end()))
        ):
            break
        if tokens and word == "like" and not re.compile(r"\s+[A-Z]").match(sentence, token.end()):
            break
        if word in ("and", "or") and tokens and _clause_follows(sentence, token.end()):
            break
        if len(tokens) == _MAX_WORDS:
            trimmed = True
            break
        if word in ("in", "at", "with", "for", "on", "by", "about", "during", "from", "every", "and", "or"):
            prepositions.append((len(tokens), end))
        tokens.append(word)
        at = end = token.end()
    if trimmed:
        usable = [p for p in prepositions if p[0] > 0]
        if not usable:
            return None
        count, end = usable[-1]
        tokens = tokens[:count]
    if not tokens or (first is None and tokens[0] in NP_FIRST_DENIED and not _WATCHES.match(sentence, pos)):
        return None
    if any(t in _NP_DENIED for t in tokens) or tokens[-1] in (
        "and",
        "or",
        "to",
        "of",
        "the",
        "a",
        "my",
        "with",
        "in",
        "is",
        "was",
    ):
        return None
    if tokens in (["activities"], ["hobbies"]):
        return None
    if len(tokens) == 1 and not any(c.isalpha() for c in tokens[0]):
        return None
    if _RESTRICTED.match(sentence, end) or (
        len(tokens) > 1 and tokens[-2] in ("a", "an") and sentence[end : end + 1] == ","
    ):
        return None
    end = pos + len(_INTENSITY.sub("", sentence[pos:end]))
    value = sentence[pos:end].strip().strip("\"'“”‘’*_~")
    return (value, end) if len(value) > 1 and value[0].isalnum() else None


def _private(sentence: str, pos: int) -> bool:
    """Whether a phrase such as "with my sister" or "in my free time" begins: it says more than what is liked."""
    return (
        re.compile(r"\s+(?:my|me|him|her|them|you|us|our|the (?:morning|evening|afternoon|weekend))\b").match(
            sentence, pos
        )
        is not None
    )


def _clause_follows(sentence: str, pos: int) -> bool:
    return re.compile(
        r"\s+(?:i|i'm|i've|we|you|he|she|it|it's|they|my|that|this|would|have|want|am|is|was|had|also|then|my|our|how|what|hate|love|like|don't|do|did|can|could|the|so|not)\b",
        re.IGNORECASE,
    ).match(sentence, pos) is not None  # fmt: skip
