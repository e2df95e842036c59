"""What the contexts of questions hold: relative times, questions without their answer, lines that say little.

The expressions and rules here are of the benchmark alone: they name no rule of Ember's, and are for English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from embermem.core.types import Context, Utterance, UtteranceId
from embermem_bench.understanding.words import content_words

UNRELATED = (
    "What is the boiling point of liquid nitrogen?",
    "Who won the chess championship in 1972?",
    "How do I fix a leaking carburetor on a tractor?",
    "Explain the difference between TCP and UDP.",
    "What are the export rules for ceramic tiles in Portugal?",
    "When was the Peloponnesian war?",
    "Which enzyme unwinds the DNA helix?",
    "How tall is the tallest lighthouse in Norway?",
    "Can you convert 45 furlongs to kilometres?",
    "What does the Turkish word kalem mean?",
)
"""Questions of which no conversation knows anything."""
SHORT_WORDS = 4
"""Content words up to which a line is short."""
_WITHIN = 30
"""Characters after an expression, and before it, in which its date may stand."""

_LITTLE = content_words(
    """
    hey hi hello hiya yeah yep yes ok okay oh ooh wow whoa haha lol well thanks thank welcome please sure great good
    nice cool awesome amazing fantastic wonderful lovely glad happy sorry congrats congratulations bye get got go going
    know think like thing things make lot much many sound sounds see let definitely absolutely totally exactly too
    """
)
"""Words of courtesy and talk, which are no content either."""
_LINE = re.compile(r"#(\d+) ")
_DAYS = "mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs)?(?:day)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_UNITS = "day|night|week|weekend|fortnight|month|year"
_LONG = "night|week|weekend|fortnight|month|year"
_SEASONS = "spring|summer|autumn|fall|winter"
_PARTS = "morning|afternoon|evening"
_COUNT = r"\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a (?:few|couple(?: of)?)|few|several"
RELATIVE = re.compile(
    rf"\b(?:yesterday|tomorrow|tonight"
    rf"|last (?:{_LONG}|{_SEASONS}|{_PARTS}|{_DAYS}|{_MONTHS})"
    rf"|next (?:{_LONG}|{_SEASONS}|{_DAYS}|{_MONTHS})"
    rf"|this (?:{_PARTS}|{_SEASONS}|week|weekend|month|year|(?:past |coming |last )(?:{_LONG}|{_DAYS})|{_DAYS})"
    rf"|(?:{_COUNT}) (?:{_UNITS})s? ago"
    rf"|in (?!(?:a|one) day)(?:{_COUNT}) (?:{_UNITS})s?(?! of\b)"
    rf"|the (?:day|night|week|weekend|month|year) (?:before|after)"
    rf"|(?:past|last|next|coming) (?:{_COUNT}) (?:{_UNITS})s)\b",
    re.IGNORECASE,
)
"""Times that say when only together with the day on which they are said. "Recently" and "the other day" say none."""
_DATE = re.compile(rf"\b(?:19|20)\d\d\b|\b\d{{1,2}}[-/.]\d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})\b"
                   rf"|\b(?:{_MONTHS})\.? \d{{1,2}}\b", re.IGNORECASE)  # fmt: skip
_HEADER = re.compile(r"\d{4}-\d\d-\d\d \S+:$")


def unresolved(text: str) -> list[str]:
    """The relative times of a context that have no date beside them, in their line; headings do not count."""
    found: list[str] = []
    for line in text.splitlines():
        if _HEADER.fullmatch(line):
            continue
        for match in RELATIVE.finditer(line):
            beside = line[max(0, match.start() - _WITHIN) : match.end() + _WITHIN]
            if _DATE.search(beside) is None:
                found.append(match.group())
    return found


def asks(text: str) -> bool:
    """Whether a text ends in a question mark, whatever signs that are no letters stand after it."""
    return re.search(r"[?？][^\w?？]*$", text) is not None


def packed_lines(context: Context) -> dict[int, str]:
    """The text of each utterance's line, without its speaker, by seq."""
    speaker = {hit.utterance.seq: " ".join(hit.utterance.speaker.split()) for hit in context.packed}
    found: dict[int, str] = {}
    for line in context.text.splitlines():
        match = _LINE.match(line)
        if match is not None and (seq := int(match[1])) in speaker:
            found[seq] = line[match.end() :].removeprefix(speaker[seq]).partition(":")[2].strip()
    return found


def answers_of(utterances: Sequence[Utterance]) -> dict[UtteranceId, UtteranceId]:
    """Of each utterance the next in its thread that another speaker says, if one does. `utterances` run by seq."""
    following: dict[str, Utterance] = {}
    found: dict[UtteranceId, UtteranceId] = {}
    for one in reversed(utterances):
        after = following.get(one.thread)
        if after is not None and after.speaker != one.speaker:
            found[one.id] = after.id
        elif after is not None and after.id in found:
            found[one.id] = found[after.id]
        following[one.thread] = one
    return found


def figures(
    contexts: Sequence[Context], answers: Mapping[UtteranceId, UtteranceId], budget: int
) -> dict[str, tuple[float, float]]:
    """The figures of the contexts of one budget; `answers` are of `answers_of`."""
    relative = sum(bool(unresolved(context.text)) for context in contexts)
    asking = alone = short = lines = tokens = 0
    for context in contexts:
        packed = {hit.utterance.id for hit in context.packed}
        names = content_words(" ".join({hit.utterance.speaker for hit in context.packed}))
        tokens += context.tokens
        for hit in context.packed:
            if asks(hit.utterance.text) and hit.utterance.id in answers:
                asking += 1
                alone += answers[hit.utterance.id] not in packed
        for said in packed_lines(context).values():
            lines += 1
            short += len(content_words(said) - _LITTLE - names) <= SHORT_WORDS
    return {
        f"relative_{budget}": (relative, len(contexts)),
        f"unanswered_{budget}": (alone, asking),
        f"short_{budget}": (short, lines),
        f"tokens_{budget}": (tokens, len(contexts)),
    }


def unrelated(contexts: Sequence[Context]) -> dict[str, tuple[float, float]]:
    """The tokens of the contexts of unrelated questions."""
    return {"unrelated_tokens": (sum(context.tokens for context in contexts), len(contexts))}
