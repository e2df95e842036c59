"""Statements in clauses: what somebody did, does, plans, has, likes and feels, where it is worth noting.

The rules of `facts` come first; a clause is read here where none of them has read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple

from embermem.languages.dates.engine import DateSpan, date_spans
from embermem.languages.en import verbs
from embermem.languages.en.clauses import frames, worth
from embermem.languages.en.clauses.boundaries import natural_end
from embermem.languages.en.clauses.clause import Clause, Tense, clauses
from embermem.languages.en.clauses.nouns import Stated, about_things
from embermem.languages.en.clauses.times import label_of, timed
from embermem.languages.en.clauses.told import told, undetermined
from embermem.languages.en.clauses.tokens import Token, low, tokens
from embermem.languages.en.clauses.values import MOST_WORDS, complement
from embermem.languages.en.clauses.words import ADVERBS, KIN, KIN_MANY, LEAD_OUT, NO_END, PREPOSITIONS, THIRD
from embermem.languages.facts.finding import USER, Finding, When

_HEAD = re.compile(
    r"\b(?:i|i'\w+|im|ive|we|we'\w+|my|our|me|us|let's|dream|goal)\b|^\W*(?:\w+,? )?(?:\w+ing|\w+ed|need|want|hope|gotta|wanna|still|just|went|took|got|made|had|bought|lost|won|met|found|began|built|gonna|been|the)\b",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    """A statement and what it is worth."""

    finding: Finding
    score: float


def readings(sentence: str, offset: int, said_at: datetime, taken: Sequence[tuple[int, int]] = ()) -> Iterator[Reading]:
    """The statements of a sentence that stands at `offset`; none in a clause that begins where one of `taken` does."""
    if _HEAD.search(sentence) is None:
        return
    parts = tokens(sentence)
    found = clauses(parts)
    thing = about_things(parts)
    yield from _dreams(sentence, parts, offset)
    if not found and thing is None:
        return
    spans = timed(sentence, said_at) if found else ()
    if thing is not None and any(start <= offset + parts[thing.start].start < end for start, end in taken):
        thing = None
    if thing is not None and (one := _of_thing(parts, thing)) is not None:
        yield Reading(_moved(one.finding, offset), one.score)
        found = [clause for clause in found if clause.start >= thing.end]
    for clause in found:
        if any(start <= offset + parts[clause.start].start < end for start, end in taken):
            continue
        stated = clause.tense in (Tense.PAST, Tense.PASSIVE)
        if any(token.low in LEAD_OUT and not (stated and token.low in ("when", "before")) for token in parts[clause.lead : clause.start]) or "\ue000" in sentence[: parts[clause.start].start]:
            continue
        one = _read(sentence, parts, clause, spans, said_at)
        if one is not None:
            finding, score = one
            yield Reading(_moved(finding, offset), score)
        for over in _over(parts, clause):
            yield Reading(_moved(over, offset), RETRACTED)


def _of_thing(parts: list[Token], thing: Stated) -> Reading | None:
    kept = complement(parts, thing.at + 1, thing.end, MOST_WORDS - (thing.at - thing.start) - 1)
    if kept is None or thing.end - kept[1] > 3:
        return None
    score = worth.of_thing(parts[thing.start : thing.at], parts[kept[0] : kept[1]])
    if score is None:
        return None
    opening = parts[thing.start]
    value = told(parts, thing.start, kept[1])
    if opening.text.istitle() and opening.text != "I" and not opening.text.isupper():
        value = value[:1].lower() + value[1:]
    finding = Finding(subject=USER, attribute="says", value=value, start=opening.start, end=parts[kept[1] - 1].end)
    return Reading(finding, score)


_DREAM = re.compile(
    r"(?:\b(?:it's|it is|it has)(?: always)?(?: been)? (?:a|my|our)(?: \w+)? (?:dream|goal|wish)(?: of (?:mine|ours))?"
    r"|\b(?:my|our)(?: \w+)? (?:dream|goal|plan|aim|hope|wish|resolution) (?:is|has always been|has been)(?: now| still)?) to (?=[a-z])",
    re.IGNORECASE,
)
_NOT_WANTED = THIRD | frozenset("to you your this that these those more help information all everything something nothing anything what how no advice one".split())
_CONDITION = re.compile(r"(?:\w+ )?(?:depression|asthma|diabetes|anxiety|arthritis|migraines?|adhd|ocd|ptsd)\b")
_LETS = re.compile(r"(?:^|[.,;] |\b(?:yes|okay|ok|so|and|then) )let's (?=(\w+)\b)", re.IGNORECASE)


def _dreams(sentence: str, parts: list[Token], offset: int) -> Iterator[Reading]:
    """ "It's been a dream to adopt", "My goal is to …", "Let's book the hotel"."""
    match = _DREAM.search(sentence)
    if match is None:
        match = _LETS.search(sentence)
        if match is None or match[1].lower() not in frames.DECISIONS:
            return
    at = next((k for k, token in enumerate(parts) if token.start >= match.end()), None)
    if at is None or verbs.verb(parts[at].low) is None or any(t.low in LEAD_OUT for t in parts[:at]):
        return
    end, stopped = natural_end(parts, at)
    kept = complement(parts, at, end)
    if kept is None or stopped == "?" or kept[1] - at < 3 or low(parts, at + 1) in ("this", "that", "these"):
        return
    score = worth.of_wish(parts[at + 1 : kept[1]])
    if score is not None:
        finding = Finding(
            subject=USER, attribute="would_like_to", value=told(parts, at, kept[1]), start=offset + match.start(), end=offset + parts[kept[1] - 1].end
        )  # fmt: skip
        yield Reading(finding, score)


RETRACTED = 100.0
"""What is taken back is always read."""
_NO_MORE = re.compile(r"\b(?:any ?more|any longer|after all|no longer)\b", re.IGNORECASE)
_CANCELLED = frozenset(("cancel", "postpone", "skip", "abandon"))


def _over(parts: list[Token], clause: Clause) -> Iterator[Finding]:
    """The plan that is done ("we finally visited Rome"), or given up ("I'm not going to Rome any more")."""
    before = {t.low for t in parts[clause.start : clause.at]}
    rest = " ".join(t.low for t in parts[clause.start : min(len(parts), clause.end + 3)])
    done = clause.tense in (Tense.PAST, Tense.PERFECT) and not clause.negative and before & {"finally", "already", "just", "have", "'ve"}
    given_up = _NO_MORE.search(rest) is not None and (clause.negative or "longer" in before) and clause.tense in (Tense.FUTURE, Tense.PROGRESSIVE, Tense.PRESENT)
    if not (done or given_up) or clause.subject != USER:
        return
    at, base = clause.at, clause.verb
    if base in frames.TO_INFINITIVE or (base == "go" and low(parts, at + 1) == "to" and verbs.verb(low(parts, at + 2)) and given_up):
        at += 2
        base = low(parts, at)
    end = next((k for k in range(at + 1, clause.end) if parts[k].low in ("any", "anymore", "after")), clause.end)
    kept = complement(parts, at + 1, end)
    if kept is None:
        return
    value = f"{base} {told(parts, kept[0], kept[1])}"
    for attribute in ("plans", "would_like_to"):
        yield Finding(
            subject=USER, attribute=attribute, value=value, start=parts[clause.start].start, end=parts[kept[1] - 1].end, retracts=True
        )  # fmt: skip


def _moved(finding: Finding, by: int) -> Finding:
    from dataclasses import replace

    return replace(finding, start=finding.start + by, end=finding.end + by)


def _read(sentence: str, parts: list[Token], clause: Clause, spans: Sequence[DateSpan], said_at: datetime) -> Reading | None:
    frame = _frame(parts, clause)
    if frame is None or clause.stopped in ("?", "if", "unless", "\ue000"):
        return None
    attribute, head, start, weight = frame
    end = clause.end
    span = _time_of(parts, clause, spans)
    inner = span is not None and parts[start].start <= span.start < (parts[end - 1].end if end > start else 0) if start < len(parts) else False
    kept = parts[start:end]
    if inner and span is not None:
        kept = _without(kept, span)
    future = span is not None and (span.first > said_at.date() or (clause.tense is Tense.PROGRESSIVE and clause.verb in frames.ARRANGED and span.last > said_at.date()))
    if attribute == "did" and future:
        return None
    if future and attribute in ("does", "feels") and clause.tense in (Tense.PROGRESSIVE, Tense.PRESENT) and clause.verb not in ("need", "have", "be", "look", "think", "consider"):
        attribute, head = "plans", clause.verb
    value_range = complement(kept, 0, len(kept), MOST_WORDS - head.count(" ") - (2 if span is not None else 0))
    if value_range is None:
        return None
    kept = kept[: value_range[1]]
    if (this := _undetermined(kept, inflected=clause.tense is Tense.PRESENT and attribute in ('does', 'likes'))) is None:
        return None
    rest = this.replace(" '", " ", 1) if this.count("'") == this.count(" '") == 1 else this
    value = f"{head} {rest}".strip() if head else rest
    companions = _companions(parts, clause, kept)
    value = f"{value} {companions}".strip()
    today = span is not None and span.first == span.last == said_at.date()
    if today and head.split(" ")[0] in ("needs", "cannot", "does"):
        return None
    passing = today and attribute not in ("did", "says")
    score = worth.score(clause, attribute, weight - passing, kept, span is not None and not passing)
    if score is None:
        return None
    when = until = None
    if span is not None and attribute in ("did", "plans", "would_like_to", "does", "feels"):
        first = datetime.combine(span.first, time(), said_at.tzinfo)
        when = When(first, label_of(span), span.end)
        if attribute in ("plans", "would_like_to") or span.first > said_at.date():
            until = datetime.combine(span.last + timedelta(days=1), time(), said_at.tzinfo)
            if span.last < said_at.date():
                return None
    finding = Finding(
        subject=clause.subject, attribute=attribute, value=value, start=parts[clause.start].start, end=kept[-1].end if kept else parts[clause.at].end,
        when=when, until=until, retracts=False,
    )  # fmt: skip
    return Reading(finding, score)


def _without(kept: list[Token], span: DateSpan) -> list[Token]:
    left = [t for t in kept if t.end <= span.start]
    while left and left[-1].low in ("in", "on", "at", "during", "over", "for", "this", "the", "from", "back", "just", "around", "about", "since", "until", "by", "early", "late", ",", "of", "starting"):
        left.pop()
    right = [t for t in kept if t.start >= span.end]
    return left + right


def _time_of(parts: Sequence[Token], clause: Clause, spans: Sequence[DateSpan]) -> DateSpan | None:
    begin, end = parts[clause.lead].start, parts[clause.end - 1].end
    return next((one for one in spans if begin <= one.start and one.end <= end + 1), None)


def _undetermined(kept: Sequence[Token], *, inflected: bool) -> str | None:
    """The words told, with "a" for "this" before a noun."""
    if kept and kept[0].low in ("this", "that", "these", "those"):
        word = undetermined(kept, 0)
        return None if word is None else f"{word} {told(kept, 1, len(kept))}"
    return told(kept, 0, len(kept), inflected=inflected)


def _companions(parts: Sequence[Token], clause: Clause, kept: Sequence[Token]) -> str:
    start, end = clause.companions
    if end <= start or any(t.low == "with" for t in kept):
        return ""
    return f"with {told(parts, start, end)}"


_Frame = tuple[str, str, int, float]
"""Attribute, the verb as it is told, where the complement begins, and a weight."""


def _frame(parts: Sequence[Token], clause: Clause) -> _Frame | None:
    tense, base, at = clause.tense, clause.verb, clause.at
    if tense in (Tense.IS, Tense.WAS, Tense.HAS_BEEN):
        return _copula(parts, clause)
    after = low(parts, at + 1)
    if tense in (Tense.PRESENT, Tense.PROGRESSIVE, Tense.PERFECT_PROGRESSIVE) and base in frames.TO_INFINITIVE:
        return _wished(parts, clause)
    if base in ("think", "dream") and tense in (Tense.PROGRESSIVE, Tense.PERFECT_PROGRESSIVE) and after in ("of", "about"):
        return "does", _head(parts, clause), at + 1, 0.5
    if base == "expect" and tense in (Tense.PROGRESSIVE, Tense.PRESENT) and not clause.negative:
        expected = {t.low for t in parts[at + 1 : at + 5]}
        return ("does", "is expecting", at + 1, 3.0) if expected & {"baby", "twins", "child"} else None
    if base == "look" and after == "forward":
        return ("feels", "is looking", at + 1, 0.5) if tense in (Tense.PROGRESSIVE, Tense.PRESENT) else None
    if base == "look" and after in ("into", "for"):
        return frames.BY_TENSE[tense], _head(parts, clause), at + 1, 0.5
    if base in ("think", "believe", "feel", "realize", "realise", "learn", "know") and tense in (Tense.PRESENT, Tense.PAST, Tense.PERFECT) and not clause.negative:
        opinion = _opinion(parts, clause)
        if opinion is not None:
            return opinion
    if base == "feel":
        return _felt(parts, clause)
    if base in frames.RULED and tense in (Tense.PRESENT, Tense.PASSIVE, Tense.PERFECT, Tense.PERFECT_PROGRESSIVE, Tense.PROGRESSIVE):
        following = frames.RULED[base]
        if following is None or after in following:
            return None
    if base in frames.SILENT and not (base == "hate" and tense is Tense.PRESENT):
        return None
    attribute = frames.BY_TENSE[tense]
    if base in frames.BY_VERB and tense is Tense.PRESENT and not clause.negative:
        attribute = frames.BY_VERB[base]
        if attribute in ("likes", "dislikes", "prefers", "owns"):
            return _taste(parts, clause, attribute)
    if base == "have":
        return _having(parts, clause, attribute)
    if base in ("need", "have") and tense is Tense.PRESENT and after != "to":
        return None
    weight = -0.3 if base == "try" else 1.5 if base in frames.HEAVY else 0.0 if base in frames.LIGHT else 0.5
    return attribute, _head(parts, clause), at + 1, weight


def _head(parts: Sequence[Token], clause: Clause) -> str:
    """The verb group in the third person."""
    tense, base, word = clause.tense, clause.verb, parts[clause.at].low
    no = clause.negative
    told_adverbs = [a for a in clause.adverbs if a != "never"] if no and "never" not in clause.adverbs else list(clause.adverbs)
    more = "".join(f"{a} " for a in told_adverbs)
    never = "never" in clause.adverbs
    no = no and not never
    if tense is Tense.PAST:
        return f"did not {more}{base}" if no else more + (word if "past" in (verbs.verb(word) or verbs.Verb("", frozenset())).forms else verbs.past(base))
    if tense is Tense.PERFECT:
        return f"has {'not ' if no else ''}{more}{word}" if no or more else verbs.past(base)
    if tense is Tense.PAST_PROGRESSIVE:
        return f"was {'not ' if no else ''}{more}{word}"
    if tense is Tense.PERFECT_PROGRESSIVE:
        return f"has {'not ' if no else ''}{more}been {word}"
    if tense is Tense.PROGRESSIVE:
        return f"is {'not ' if no else ''}{more}{word}"
    if tense is Tense.PRESENT:
        return f"does not {more}{base}" if no else more + verbs.third(base)
    if tense is Tense.CANNOT:
        return f"cannot {more}{base}"
    if tense is Tense.USED:
        return f"used to {base}"
    if tense is Tense.PASSIVE:
        return f"was {'not ' if no else ''}{more}{word}"
    if tense is Tense.IS_DONE:
        return f"is {'not ' if no else ''}{more}{word}"
    return more + base


def _wished(parts: Sequence[Token], clause: Clause) -> _Frame | None:
    """ "want to visit Rome", "planning on visiting"."""
    attribute, at = frames.TO_INFINITIVE[clause.verb], clause.at + 1
    if clause.verb == "want" and clause.tense is Tense.PRESENT and low(parts, at) not in _NOT_WANTED:
        return "does", _head(parts, clause), at, 0.3 if clause.negative else -0.3
    if clause.negative and clause.verb != "want":
        return None
    if clause.negative:
        return None
    if low(parts, at) == "to":
        at += 1
        while low(parts, at) in ADVERBS:
            at += 1
        known = verbs.verb(low(parts, at))
        if low(parts, at) != "be" and (known is None or "base" not in known.forms or known.base in frames.SILENT - {"share", "show", "send", "bring", "see", "stop", "propose"}):
            return None
        return attribute, low(parts, at), at + 1, 1.0 if known and known.base in frames.HEAVY else 0.3
    if low(parts, at) in ("on", "of", "about") and (base := verbs.base_of_gerund(low(parts, at + 1))):
        return attribute, base, at + 2, 1.0
    if clause.verb == "plan" and clause.tense is not Tense.PRESENT:
        return "does", _head(parts, clause), at, 0.8
    return None


def _opinion(parts: Sequence[Token], clause: Clause) -> _Frame | None:
    """ "I think self-care is important", "I believe that …"."""
    at = clause.at + 1
    if low(parts, at) == "that":
        at += 1
    first = low(parts, at)
    if first == "it" and low(parts, at + 1) in ("'s", "is") and clause.verb in ("think", "believe", "feel"):
        return ("feels", f"{verbs.third(clause.verb)} it is", at + 2, 0.5) if "to" in [t.low for t in parts[at + 2 : at + 6]] else None
    if not first or first in THIRD or first in ("i", "we", "you", "there", "this", "that", "these", "those", "so", "about", "of", "not", "like", "how", "what", "your", "to", "in", "he", "she"):
        return None
    if not any(t.low in ("is", "are", "can", "makes", "brings", "has", "have", "should", "helps", "matters") for t in parts[at + 1 : at + 7]):
        return None
    verb = verbs.third(clause.verb) if clause.tense is Tense.PRESENT else verbs.past(clause.verb)
    return "feels", verb, clause.at + 1, 0.5


def _felt(parts: Sequence[Token], clause: Clause) -> _Frame | None:
    at = clause.at + 1
    while low(parts, at) in ADVERBS:
        at += 1
    word = low(parts, at)
    known = verbs.verb(word)
    is_state = word in frames.FEELING or (known is not None and "participle" in known.forms)
    if not is_state or clause.negative:
        return None
    attribute = "feels" if clause.tense in (Tense.PRESENT, Tense.PROGRESSIVE, Tense.PERFECT_PROGRESSIVE) else "did"
    return attribute, _head(parts, clause), at, -0.3


def _taste(parts: Sequence[Token], clause: Clause, attribute: str) -> _Frame | None:
    at = clause.at + 1
    if low(parts, at) in THIRD or low(parts, at) in ("the", "this", "that", "these", "those", "how", "when", "your", "to", "seeing", "being", "talking", "hearing", "having"):
        if not (low(parts, at) == "to" and (known := verbs.verb(low(parts, at + 1))) is not None and known.base not in frames.SILENT | frames.LIGHT):
            return None
    return attribute, "", at, 0.5


def _having(parts: Sequence[Token], clause: Clause, attribute: str) -> _Frame | None:
    at = clause.at + 1
    if low(parts, at) == "gotta":
        return "does", "needs to", at + 1, -0.5
    if low(parts, at) == "to" and clause.tense is Tense.PRESENT:
        return "does", "needs", at, -0.5
    nouns: list[str] = []
    for k in range(at, min(clause.end, at + 7)):
        if low(parts, k) in PREPOSITIONS or not parts[k].is_word or low(parts, k) in ("that", "who"):
            break
        nouns.append(low(parts, k))
    last = nouns[-1] if nouns else ""
    if nouns and (_CONDITION.match(" ".join(nouns)) or (nouns[-1] in KIN | KIN_MANY and low(parts, at + len(nouns)) in ("in", "of", "to"))):
        return None
    if clause.tense is Tense.PRESENT and not clause.negative:
        if last in frames.EVENTS:
            return "plans", "have", at, 1.0
        if last in ("baby", "twins"):
            return None
        if (last in KIN or last in KIN_MANY - {"team", "friends", "folks"}) and nouns[0] not in ("my", "the", "our") and len(nouns) < 5 and low(parts, at + len(nouns)) not in ("of", "in", "to"):
            return "has_relative", "", at, 1.5
        if any(noun in frames.OWNABLE for noun in nouns) and nouns[0] not in ("the", "this", "that"):
            return "owns", "", at, 1.0
    return attribute, _head(parts, clause), at, 2.0 if "baby" in nouns or "twins" in nouns else 0.0


def _copula(parts: Sequence[Token], clause: Clause) -> _Frame | None:
    at = clause.at
    too = ""
    while low(parts, at) in ADVERBS and low(parts, at) not in ("not",):
        too = " too" if low(parts, at) == "too" else too
        at += 1
    word, after = low(parts, at), low(parts, at + 1)
    verb = {Tense.IS: "is", Tense.WAS: "was", Tense.HAS_BEEN: "has been"}[clause.tense] + (" not" if clause.negative else "") + too
    attribute = {Tense.IS: "feels", Tense.WAS: "did", Tense.HAS_BEEN: "does"}[clause.tense]
    if word in frames.LASTING and not clause.negative and after not in ("to", "with", "by", "in"):
        return ("does", verb, at, 3.0)
    if word in frames.FEELING and (after in frames.FEELING_PREPOSITIONS or verbs.base_of_gerund(after) or low(parts, at + 2) in ("to", "for")):
        if after == "to" and low(parts, at + 2) in frames.SILENT | {"hear", "see", "be", "know"}:
            return None
        return attribute, verb, at, -0.8 if word == "ready" else 0.4
    if word in ("a", "an", "the", "part", "one"):
        nouns = []
        for k in range(at + 1, min(clause.end, at + 6)):
            if low(parts, k) in PREPOSITIONS or not parts[k].is_word:
                break
            nouns.append(low(parts, k))
        if word == "part" or (nouns and nouns[-1] in frames.ROLES):
            return ("does" if attribute == "feels" else attribute), verb, at, 1.0
        return None
    if clause.tense is Tense.HAS_BEEN and word in ("to", "in", "on", "into", "with", "at") and not clause.negative:
        return "did" if word == "to" else "does", verb, at, 0.5
    if clause.tense is Tense.WAS and word in ("in", "at", "on") and not clause.negative:
        return "did", verb, at, 0.0
    if clause.tense is Tense.IS and word in ("in", "on", "at", "into") and not clause.negative:
        return "does", verb, at, 0.0
    return None
