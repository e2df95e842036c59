"""What rules share: how a speaker begins, and readers that many rules use."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Callable

from embermem.core.patterns import regex
from embermem.languages.en.facts.goals import lasting, of_them
from embermem.languages.facts.rules import Rule, Value

Read = Callable[[str, int], "Value | None"]
"""Reads a value at a position of a sentence."""

SENTENCE_CHARS = 400
"""Of a longer sentence this many characters are read."""
GONE = regex(r"\s+(?:anymore|any more|any longer|these days|now)\b", re.IGNORECASE)
CAP = r"[A-ZÀ-ÖØ-Þ][\w'.&-]*(?<!\.)"
ADV = r"(?:(?:really|absolutely|also|just|actually|currently|now|still|truly|totally|recently|finally|already|even|do|both|certainly|definitely|especially|personally|simply|mostly|usually|all|always|generally|originally|only|so|sure|quite|particularly|genuinely|officially|presently|much|kind of|sort of) ){0,2}"
I_OR_WE = rf"(?:[Ii]|[Ww]e) {ADV}"
IM = rf"(?:[Ii]'m|[Ii] am|[Ii]m) {ADV}"
IVE = rf"(?:[Ii]'ve|[Ii] have|[Ww]e have|[Ww]e've) {ADV}"
FIRM = r"(?:(?:really|also|just|actually|currently|now|still|truly|definitely|seriously|finally|always|desperately|recently|absolutely|do|even|only|simply|already) ){0,2}"
"""Adverbs that leave a goal or a limit certain."""
NO_LONGER = r"(?:[Ii]'m|[Ii] am) no longer "
ANY_MORE = r"[^.,;!?]{2,60}\b(?:any ?more|any longer)\b"
END_OR_TIME = r"(?=\s*(?:[.;!,]|$)|\s+(?:last|yesterday|today|this|in \d|two|three|a few|and|because|but|now)\b)"


def rule(attribute: str, pattern: str, read: Read, *, retracts: bool = False) -> Rule:
    """A rule that reads its value where the pattern ends."""
    return Rule(attribute, re.compile(pattern), lambda match: read(match.string, match.end()), retracts)


def clause_rest(sentence: str, end: int) -> str:
    """What follows a value in its clause."""
    stop = re.compile(r"[,;.!()]|\b(?:because|but|and|so|where|while|which|who)\b").search(sentence, end, end + 80)
    return sentence[end : stop.start() if stop else end + 80]


def read_group(pattern: re.Pattern[str], group: int = 0) -> Read:
    """What a group of the pattern holds, without a full stop at its end."""

    def read(sentence: str, pos: int) -> Value | None:
        match = pattern.match(sentence, pos)
        return None if match is None else (match[group].rstrip("."), match.start(group) + len(match[group].rstrip(".")))

    return read


def read_lasting(pattern: re.Pattern[str], group: int | str = 0) -> Read:
    """What the pattern reads, unless the sentence wavers or speaks of today only."""

    def read(sentence: str, pos: int) -> Value | None:
        match = pattern.match(sentence, pos)
        return (of_them(match[group]), match.end()) if match is not None and lasting(sentence) else None

    return read


def read_nothing(sentence: str, pos: int) -> Value | None:
    """No value: whatever it was, it is over."""
    return "", pos
