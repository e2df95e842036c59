"""Noun phrases: what is liked, and lists of it."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator

from embermem.core.patterns import regex
from embermem.languages.en.facts.phrases import GONE
from embermem.languages.en.verbs import gerund, verb
from embermem.languages.facts.finding import Finding
from embermem.languages.facts.rules import Value

_MAX_WORDS = 8
_LIST = regex(
    r"((?:,\s+(?!and\b)[^\s,.;!?()]+(?: [^\s,.;!?()]+){0,3}){0,8}),?\s+and\s+([^\s,.;!?()]+(?: [^\s,.;!?()]+){0,3})(?=\s*(?:[.;!]|$))"
)
_FINITE = regex(
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
_THE = regex(
    r"the (?:ocean|sea|beach|mountains|outdoors|countryside|rain|snow|cold|heat|winter|summer|autumn|spring|piano|violin|guitar|cello"
    r"|cinema|theater|theatre|opera|city|gym|(?:smell|sound|taste) of (?!that\b|this\b|it\b|your\b|my\b)[a-z]+(?: [a-z]+)?|[A-Z]\w+(?: [A-Z]\w+){0,3})(?=\s*(?:[,.;!)]|$|(?:and|but|because|so|in)\b))"
)
_RESTRICTED = regex(r"\s+(?:that|who|which|where|whose|I|we|you)\b")
"""People who lie are not people: what is narrowed down in a clause of its own is not taken."""
_INTENSITY = regex(r" (?:the (?:most|best)|a lot|very much|so much|a bit|a ton|now and then|best|most)$")
_MEASURE = regex(r"\s+(?:lot|bit|ton|much)\b(?! of)")
_TOKEN = regex(r"\s*([^\s,.;!?():\ue000]+)")
_LIKED_TO = regex(
    r"to (?=(?:cook|bake|read|paint|draw|dance|sing|travel|swim|run|hike|garden|knit|sew|ski|surf|fish|camp|climb|write|play"
    r"|collect|ride|cycle|jog|sketch|code|listen to|watch)\b)"
)
_WATCHES = regex(
    r"(?:watching|making|taking|trying|going on|going to|living)\s+(?!it\b|you|that\b|this\b|the\b|them\b|my\b|her\b|him\b|to\b|in\b|here\b|with\b|sure\b)[a-z]"
)
_CUTS = frozenset("in at with for on by about during from every and or".split())
"""Words before which a long phrase may be cut."""
_NO_END = frozenset("and or to of the a my with in is was".split())
_PRIVATE = regex(r"\s+(?:my|me|him|her|them|you|us|our|the (?:morning|evening|afternoon|weekend))\b")
"""What follows "with" or "in" where more is said than what is liked: "with my sister", "in my free time"."""
_CAPITAL = regex(r"\s+[A-Z]")
_CLAUSE = regex(
    r"\s+(?:i|i'm|i've|we|you|he|she|it|it's|they|my|that|this|would|have|want|am|is|was|had|also|then|my|our|how|what|hate|love|like|don't|do|did|can|could|the|so|not)\b",
    re.IGNORECASE,
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
    is_doing = first.split()[0].endswith("ing")
    to_do = is_doing and not sentence.startswith(first.split()[0], sentence.find(first.split()[0][:3], pos))
    if any(_FINITE.search(item) for item, _ in items):
        return
    for item, at in items:
        found = read_noun_phrase(sentence[: at + len(item)], at)
        if found is None or found[1] != at + len(item.rstrip()) or (is_doing and item.count(" ") > 2):
            return
    for item, at in items:
        value = _doing(item.strip()) if to_do else item.strip()
        yield Finding(subject=subject, attribute=attribute, value=value, start=pos, end=at + len(item.rstrip()))


def _doing(item: str) -> str:
    """ "read books" of "like to listen, read books" as what is liked: "reading books"."""
    word, space, rest = item.partition(" ")
    known = verb(word.lower())
    return gerund(known.base) + space + rest if known is not None and "base" in known.forms else item


def read_noun_phrase(sentence: str, pos: int, first: str | None = None) -> Value | None:
    """What is liked, up to where the phrase ends. With `first` it may begin with a word that begins no other."""
    the = _THE.match(sentence, pos)
    if the is not None:
        return the.group(), the.end()
    liked = _LIKED_TO.match(sentence, pos)
    if liked:
        pos = liked.end()
        first = "to"
    found = _words(sentence, pos)
    if found is None:
        return None
    words, end = found
    if not words or (first is None and words[0] in NP_FIRST_DENIED and not _WATCHES.match(sentence, pos)):
        return None
    unfinished = len(words) > 1 and words[-2] in ("a", "an") and sentence[end : end + 1] == ","
    if _is_denied(words) or unfinished or _RESTRICTED.match(sentence, end):
        return None
    end = pos + len(_INTENSITY.sub("", sentence[pos:end]))
    value = sentence[pos:end].strip().strip("\"'“”‘’*_~")
    if liked:
        doing, space, rest = value.partition(" ")
        value = gerund(doing.lower()) + space + rest
    return (value, end) if len(value) > 1 and value[0].isalnum() else None


def _words(sentence: str, pos: int) -> tuple[list[str], int] | None:
    """The words of a phrase in lower case, and where it ends; a long one ends before its last preposition. None where
    something hidden follows, or a long one has none."""
    words: list[str] = []
    cuts: list[tuple[int, int]] = []
    end = pos
    while token := _TOKEN.match(sentence, end):
        word = token[1].lower()
        if words and _ends(word, sentence, end, token.end()):
            return words, end
        if len(words) == _MAX_WORDS:
            usable = [cut for cut in cuts if cut[0] > 0]
            return (words[: usable[-1][0]], usable[-1][1]) if usable else None
        if word in _CUTS:
            cuts.append((len(words), end))
        words.append(word)
        end = token.end()
    return None if sentence[end : end + 1] == "\ue000" else (words, end)


def _ends(word: str, sentence: str, start: int, end: int) -> bool:
    """Whether a phrase ends before this word, which stands there with the space before it."""
    return (
        word in _BOUNDARY
        or (word in ("any", "these") and GONE.match(sentence, start) is not None)
        or (word in ("a", "very", "so") and _MEASURE.match(sentence, end) is not None)
        or (word in ("with", "for", "in", "at") and _PRIVATE.match(sentence, end) is not None)
        or (word == "like" and _CAPITAL.match(sentence, end) is None)
        or (word in ("and", "or") and _CLAUSE.match(sentence, end) is not None)
    )


def _is_denied(words: list[str]) -> bool:
    return (
        any(word in _NP_DENIED for word in words)
        or words[-1] in _NO_END
        or words in (["activities"], ["hobbies"])
        or (len(words) == 1 and not any(c.isalpha() for c in words[0]))
    )
