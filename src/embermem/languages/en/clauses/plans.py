"""Plans and wishes without a subject ("my goal is to …", "let's …"), and plans that are over."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator

from embermem.core.patterns import regex
from embermem.languages.en import verbs
from embermem.languages.en.clauses import frames, worth
from embermem.languages.en.clauses.boundaries import natural_end
from embermem.languages.en.clauses.clause import Clause, Tense
from embermem.languages.en.clauses.tokens import Token, low
from embermem.languages.en.clauses.told import told
from embermem.languages.en.clauses.values import complement
from embermem.languages.en.clauses.words import LEAD_OUT
from embermem.languages.facts.finding import USER, Finding

_DREAM = regex(
    r"(?:\b(?:it's|it is|it has)(?: always)?(?: been)? (?:a|my|our)(?: \w+)? (?:dream|goal|wish)(?: of (?:mine|ours))?"
    r"|\b(?:my|our)(?: \w+)? (?:dream|goal|plan|aim|hope|wish|resolution) (?:is|has always been|has been)(?: now| still)?) to (?=[a-z])",
    re.IGNORECASE,
)
_LETS = regex(
    r"(?:^|[.,;] |\b(?:yes|okay|ok|so|and|then) )(?:let's|(?P<asked>please)) (?:just |also )?(?=(?P<verb>\w+)\b)",
    re.IGNORECASE,
)
_NO_MORE = regex(r"\b(?:any ?more|any longer|after all|no longer)\b", re.IGNORECASE)
_DONE = frozenset(("finally", "already", "just"))
_CANCELLED = frozenset(("cancel", "abandon"))
_HAPPENED = (Tense.PAST, Tense.PERFECT)


def wished(sentence: str, parts: list[Token]) -> Iterator[tuple[Finding, float]]:
    """ "It's been a dream to adopt", "My goal is to …", "Let's book the hotel", with what it is worth."""
    match = _DREAM.search(sentence)
    is_dream = match is not None and "plan" not in match.group().lower()
    if match is None:
        match = _LETS.search(sentence)
        if match is None or match["verb"].lower() not in (frames.INSTRUCTIONS if match["asked"] else frames.DECISIONS):
            return
        if re.match(r"move (?:on|forward)\b", sentence[match.end() :], re.IGNORECASE):
            return
        if match["verb"].lower() == "put" and " on hold" not in sentence:
            return
    at = next((k for k, token in enumerate(parts) if token.start >= match.end()), None)
    if at is None or verbs.verb(parts[at].low) is None or any(t.low in LEAD_OUT for t in parts[:at]):
        return
    end, stopped = natural_end(parts, at)
    kept = complement(parts, at, end)
    if kept is None or stopped == "?" or kept[1] - at < 3 or low(parts, at + 1) in ("this", "that", "these"):
        return
    score = worth.of_wish(parts[at + 1 : kept[1]], is_dream=is_dream)
    if score is not None:
        finding = Finding(
            subject=USER,
            attribute="would_like_to",
            value=told(parts, at, kept[1]),
            start=match.start(),
            end=parts[kept[1] - 1].end,
        )
        yield finding, score


def over(parts: list[Token], clause: Clause) -> Iterator[Finding]:
    """The plan that is done ("we finally visited Rome"), or given up ("I'm not going to Rome any more")."""
    before = {t.low for t in parts[clause.start : clause.at]}
    is_done = bool(before & _DONE) or (clause.tense is Tense.PERFECT and clause.verb in frames.HEAVY)
    done = clause.tense in _HAPPENED and not clause.negative and is_done
    planned = clause.tense in (Tense.FUTURE, Tense.PROGRESSIVE, Tense.WISH) or clause.verb in frames.TO_INFINITIVE
    given_up = planned and is_given_up(parts, clause)
    if clause.subject != USER:
        return
    if clause.verb in _CANCELLED and not clause.negative and clause.tense in _HAPPENED:
        yield from _called_off(parts, clause)
    if not (done or given_up):
        return
    at, base = clause.at, clause.verb
    if base in frames.TO_INFINITIVE or (
        base == "go" and low(parts, at + 1) == "to" and verbs.verb(low(parts, at + 2)) and given_up
    ):
        at += 2
        base = low(parts, at)
    end = next((k for k in range(at + 1, clause.end) if parts[k].low in ("any", "anymore", "after")), clause.end)
    kept = complement(parts, at + 1, end)
    if kept is None:
        return
    value = f"{base} {told(parts, kept[0], kept[1])}"
    for attribute in ("plans", "would_like_to"):
        yield Finding(
            subject=USER,
            attribute=attribute,
            value=value,
            start=parts[clause.start].start,
            end=parts[kept[1] - 1].end,
            retracts=True,
        )


def is_given_up(parts: list[Token], clause: Clause) -> bool:
    """Whether it is said that something is so no more."""
    if clause.tense not in (Tense.FUTURE, Tense.PROGRESSIVE, Tense.PRESENT, Tense.WISH, Tense.IS):
        return False
    said = parts[clause.start : clause.end + 3]
    no_longer = any(t.low == "longer" for t in parts[clause.start : clause.at])
    return no_longer or (clause.negative and _NO_MORE.search(" ".join(t.low for t in said)) is not None)


def _called_off(parts: list[Token], clause: Clause) -> Iterator[Finding]:
    """ "We cancelled our trip to Rome": the plan of a trip to Rome."""
    start = clause.at + 1
    while low(parts, start) in ("my", "our", "the", "a", "that"):
        start += 1
    kept = complement(parts, start, clause.end)
    if kept is not None:
        begin, end = parts[clause.start].start, parts[kept[1] - 1].end
        value = told(parts, *kept)
        yield Finding(subject=USER, attribute="plans", value=value, start=begin, end=end, retracts=True)
