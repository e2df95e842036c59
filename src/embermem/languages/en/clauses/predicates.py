"""What a clause predicates: the attribute that its verb or construction gives, and the verb as it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from embermem.core.patterns import regex
from embermem.languages.en import verbs
from embermem.languages.en.clauses import frames
from embermem.languages.en.clauses.clause import Clause, Tense
from embermem.languages.en.clauses.tokens import Token, low
from embermem.languages.en.clauses.words import ADVERBS, KIN, KIN_MANY, PREPOSITIONS, THIRD

_CONDITION = regex(r"(?:\w+ )?(?:depression|asthma|diabetes|anxiety|arthritis|migraines?|adhd|ocd|ptsd)\b")
_NOT_WANTED = THIRD | frozenset(
    """to you your this that these those more help information all everything something nothing anything what how no
    advice one whatever whichever""".split()
)
_NO_OPINION_OF = THIRD | frozenset(
    """i we you there this that these those so about of not like how what your to in he she""".split()
)
"""Words after "I think" with which no opinion of a thing begins."""
_JUDGES = frozenset("is are can makes brings has have helps matters".split())
_ADVISED = frozenset("thing step way point part solution answer".split())
"""Nouns with which advice begins: "I think the first step is …"."""
_ABSTRACT = frozenset(
    """power attitude ability strength courage responsibility right mindset potential chance""".split()
)
_NOT_NEEDED = frozenset("have be know understand see hear tell ask say check remember".split())
_TALKING = frozenset("discuss talk go keep try repeat".split())
_IN_HAND = (Tense.PROGRESSIVE, Tense.PRESENT)
_LASTING = (*_IN_HAND, Tense.PASSIVE, Tense.PERFECT, Tense.PERFECT_PROGRESSIVE)
_TO_TELL = frozenset("share show send bring see stop propose".split())
"""Verbs that say nothing by themselves, but much as what is wished."""


class Predicate(NamedTuple):
    """`attribute`, the verb as it is told (`head`, empty where the attribute says it), where the complement begins, and
    how much the construction adds to the worth."""

    attribute: str
    head: str
    start: int
    weight: float


def predicate(parts: Sequence[Token], clause: Clause) -> Predicate | None:
    tense, base, at = clause.tense, clause.verb, clause.at
    if tense in (Tense.IS, Tense.WAS, Tense.HAS_BEEN):
        return _copula(parts, clause)
    if (clause.negative and tense in (Tense.FUTURE, Tense.WISH)) or (base in frames.TASTES and tense is Tense.PRESENT):
        return None
    after = low(parts, at + 1)
    if tense in (Tense.PRESENT, Tense.PROGRESSIVE, Tense.PERFECT_PROGRESSIVE) and base in frames.TO_INFINITIVE:
        return _wished(parts, clause)
    if (
        base in ("think", "dream")
        and tense in (Tense.PROGRESSIVE, Tense.PERFECT_PROGRESSIVE)
        and after in ("of", "about")
    ):
        return Predicate("does", verb_group(parts, clause), at + 1, 0.5)
    if base == "expect" and tense in (Tense.PROGRESSIVE, Tense.PRESENT) and not clause.negative:
        expected = {t.low for t in parts[at + 1 : at + 5]}
        return Predicate("does", "is expecting", at + 1, 3.0) if expected & {"baby", "twins", "child"} else None
    if base == "look" and after == "forward":
        awaited = {t.low for t in parts[at + 2 : clause.end]}
        if tense not in (Tense.PROGRESSIVE, Tense.PRESENT) or (len(awaited) < 5 and "next" in awaited):
            return None
        return Predicate("feels", "is looking", at + 1, 0.5)
    if base == "look" and after in ("into", "for"):
        return Predicate(frames.BY_TENSE[tense], verb_group(parts, clause), at + 1, 0.5)
    if (
        base in ("think", "believe", "feel", "realize", "realise", "learn", "know")
        and tense in (Tense.PRESENT, Tense.PAST, Tense.PERFECT)
        and not clause.negative
    ):
        opinion = _opinion(parts, clause)
        if opinion is not None or after == "that":
            return opinion
    if base == "feel":
        return _felt(parts, clause)
    if _says_nothing(parts, clause):
        return None
    attribute = frames.BY_TENSE[tense]
    if base in frames.BY_VERB and tense is Tense.PRESENT and not clause.negative:
        attribute = frames.BY_VERB[base]
        if attribute == "owns":
            return Predicate(attribute, "", at + 1, 0.5)
    if base == "have":
        return _having(parts, clause, attribute)
    if base in ("need", "have") and tense is Tense.PRESENT and after != "to":
        return None
    weight = -0.3 if base == "try" else 1.5 if base in frames.HEAVY else 0.0 if base in frames.LIGHT else 0.5
    return Predicate(attribute, verb_group(parts, clause), at + 1, weight)


def _says_nothing(parts: Sequence[Token], clause: Clause) -> bool:
    """Whether the verb says nothing of a life: of the talk, of the moment, or what other rules read."""
    tense, base, at = clause.tense, clause.verb, clause.at
    after, second = low(parts, at + 1), low(parts, at + 2)
    if base in frames.RULED and tense in _LASTING:
        following = frames.RULED[base]
        if following is None or after in following:
            return True
    if base in frames.SILENT and not (base in _TO_TELL and tense is Tense.WISH) and not _is_decided(parts, clause):
        return True
    if tense is Tense.PROGRESSIVE and base in ("head", "leave", "get") and after in frames.PASSING and second != "on":
        return True
    if base == "need" and after == "to" and tense is Tense.PRESENT and (clause.plural or second in _NOT_NEEDED):
        return True
    if base == "want" and tense is Tense.PAST and "always" not in clause.adverbs:
        wished = verbs.verb(second)
        if after != "to" or (wished is not None and wished.base in frames.SILENT):
            return True
    if base == "manage" and tense in (Tense.PAST, Tense.PERFECT) and after != "to":
        return True
    if (tense is Tense.PROGRESSIVE and base in frames.MOMENTARY) or (base == "discuss" and clause.plural):
        return True
    if tense is Tense.CANNOT and clause.companions[1] > clause.companions[0]:
        return True
    return (after, second) == ("out", "that") or (base, after) == ("schedule", "for")


def _is_decided(parts: Sequence[Token], clause: Clause) -> bool:
    """Whether an agreement is told with what was agreed: "we agreed to meet on Tuesdays", "I accepted the offer"."""
    if clause.tense not in (Tense.PAST, Tense.PERFECT) or clause.negative:
        return False
    after = low(parts, clause.at + 1)
    if clause.verb == "agree":
        return after in ("to", "on") and low(parts, clause.at + 2) not in _NOT_WANTED
    return clause.verb == "accept" and after in ("the", "a", "an", "my", "their", "our")


def _wished(parts: Sequence[Token], clause: Clause) -> Predicate | None:
    """ "want to visit Rome", "planning on visiting"."""
    attribute, at = frames.TO_INFINITIVE[clause.verb], clause.at + 1
    if clause.verb == "want" and clause.tense is Tense.PRESENT and low(parts, at) not in _NOT_WANTED:
        return Predicate("does", verb_group(parts, clause), at, 0.9 if clause.negative else 0.3)
    if clause.negative:
        return None
    if low(parts, at) == "to":
        at += 1
        if low(parts, at) == "be" and {t.low for t in parts[at + 1 : at + 4]} & {"sure", "certain", "clear"}:
            return None
        while low(parts, at) in ADVERBS:
            at += 1
        known = verbs.verb(low(parts, at))
        if low(parts, at) != "be" and (
            known is None or "base" not in known.forms or known.base in frames.SILENT - _TO_TELL
        ):
            return None
        return Predicate(attribute, low(parts, at), at + 1, 1.0 if known and known.base in frames.HEAVY else 0.3)
    if low(parts, at) in ("on", "of", "about") and (base := verbs.base_of_gerund(low(parts, at + 1))):
        return Predicate(attribute, base, at + 2, 1.0)
    if clause.verb == "plan" and clause.tense is not Tense.PRESENT:
        return Predicate("does", verb_group(parts, clause), at, 0.8)
    return None


def _opinion(parts: Sequence[Token], clause: Clause) -> Predicate | None:
    """ "I think self-care is important", "I believe that …"."""
    at = clause.at + 1
    if low(parts, at) == "that":
        at += 1
    first = low(parts, at)
    if first == "it" and low(parts, at + 1) in ("'s", "is") and clause.verb in ("think", "believe", "feel"):
        return (
            Predicate("feels", f"{verbs.third(clause.verb)} it is", at + 2, 0.5)
            if "to" in [t.low for t in parts[at + 2 : at + 6]]
            else None
        )
    if not first or first in _NO_OPINION_OF:
        return None
    if first == "the" and {t.low for t in parts[at + 1 : at + 5]} & _ADVISED:
        return None
    if not any(t.low in _JUDGES for t in parts[at + 1 : min(at + 7, clause.end)]):
        return None
    verb = verbs.third(clause.verb) if clause.tense is Tense.PRESENT else verbs.past(clause.verb)
    return Predicate("feels", verb, clause.at + 1, 0.5)


def _felt(parts: Sequence[Token], clause: Clause) -> Predicate | None:
    at = clause.at + 1
    while low(parts, at) in ADVERBS:
        at += 1
    word = low(parts, at)
    known = verbs.verb(word)
    is_state = word in frames.FEELING or (known is not None and "participle" in known.forms)
    if not is_state or clause.negative:
        return None
    attribute = "feels" if clause.tense in (Tense.PRESENT, Tense.PROGRESSIVE, Tense.PERFECT_PROGRESSIVE) else "did"
    return Predicate(attribute, verb_group(parts, clause), at, -0.3)


def _having(parts: Sequence[Token], clause: Clause, attribute: str) -> Predicate | None:
    at = clause.at + 1
    if low(parts, at) == "gotta":
        return Predicate("does", "needs to", at + 1, -0.5)
    if low(parts, at) == "to" and clause.tense is Tense.PRESENT:
        if clause.negative or clause.plural or low(parts, at + 1) in _NOT_NEEDED:
            return None
        return Predicate("does", "needs", at, -0.2)
    nouns: list[str] = []
    for k in range(at, min(clause.end, at + 7)):
        if low(parts, k) in PREPOSITIONS or not parts[k].is_word or low(parts, k) in ("that", "who"):
            break
        nouns.append(low(parts, k))
    last = nouns[-1] if nouns else ""
    if nouns and (
        _CONDITION.match(" ".join(nouns))
        or (nouns[-1] in KIN | KIN_MANY and low(parts, at + len(nouns)) in ("in", "of", "to"))
    ):
        return None
    if clause.tense is Tense.PRESENT and not clause.negative:
        if clause.plural and set(nouns) & _ABSTRACT:
            return None
        if last in frames.EVENTS or (last in ("coming", "up") and set(nouns) & frames.EVENTS):
            return Predicate("plans", "have", at, 1.0)
        if last in ("baby", "twins"):
            return None
        if set(nouns) & frames.AILMENTS:
            return Predicate("did", "had", at, 0.5)
        if (
            (last in KIN or last in KIN_MANY - {"team", "friends", "folks"})
            and nouns[0] not in ("my", "the", "our")
            and len(nouns) < 5
            and low(parts, at + len(nouns)) not in ("of", "in", "to")
        ):
            return Predicate("has_relative", "", at, 1.5)
        if any(noun in frames.OWNABLE for noun in nouns) and nouns[0] not in ("the", "this", "that"):
            return Predicate("owns", "", at, 1.0)
    is_lacking = clause.negative and "never" not in clause.adverbs
    weight = 2.0 if {"baby", "twins"} & set(nouns) else 0.5 * is_lacking
    return Predicate(attribute, verb_group(parts, clause), at, weight)


def _copula(parts: Sequence[Token], clause: Clause) -> Predicate | None:
    at = clause.at
    too = " too" if "too" in clause.adverbs else ""
    while low(parts, at) in ADVERBS and low(parts, at) not in ("not",):
        too = " too" if low(parts, at) == "too" else too
        at += 1
    word, after = low(parts, at), low(parts, at + 1)
    verb = (
        {Tense.IS: "is", Tense.WAS: "was", Tense.HAS_BEEN: "has been"}[clause.tense]
        + (" not" if clause.negative else "")
        + too
    )
    attribute = {Tense.IS: "feels", Tense.WAS: "did", Tense.HAS_BEEN: "does"}[clause.tense]
    if word in frames.LASTING and not clause.negative and after not in ("to", "with", "by", "in"):
        return Predicate("does", verb, at, 3.0)
    if word in frames.FEELING and (
        after in frames.FEELING_PREPOSITIONS or verbs.base_of_gerund(after) or low(parts, at + 2) in ("to", "for")
    ):
        if after == "to" and low(parts, at + 2) in frames.SILENT | {"hear", "see", "be", "know"}:
            return None
        if word in ("tired", "sick") and (
            after == "to" or verbs.base_of_gerund(low(parts, at + 2)) in frames.SILENT | _TALKING
        ):
            return None
        if word == "ready":
            return _ready(parts, clause, at)
        return Predicate(attribute, verb, at, 0.4)
    if word in ("a", "an", "the", "part", "one"):
        nouns = []
        for k in range(at + 1, min(clause.end, at + 6)):
            if low(parts, k) in PREPOSITIONS or not parts[k].is_word:
                break
            nouns.append(low(parts, k))
        is_role = bool(nouns) and nouns[-1] in frames.ROLES and _is_role(parts, at + len(nouns))
        if is_role or (word == "part" and after == "of"):
            return Predicate("does" if attribute == "feels" else attribute, verb, at, 1.0)
        return None
    if clause.tense is Tense.HAS_BEEN and word in ("to", "in", "on", "into", "with", "at") and not clause.negative:
        return Predicate("did" if word == "to" else "does", verb, at, 0.5)
    if clause.tense is Tense.WAS and word in ("in", "at", "on") and not clause.negative:
        return Predicate("did", verb, at, 0.0)
    if clause.tense is Tense.IS and word in ("in", "on", "at", "into") and not clause.negative:
        return Predicate("does", verb, at, 0.0)
    return None


def _ready(parts: Sequence[Token], clause: Clause, at: int) -> Predicate | None:
    """ "I'm ready to book the flights" tells what is to be done next."""
    if clause.tense is not Tense.IS or clause.negative or low(parts, at + 1) != "to":
        return None
    known = verbs.verb(low(parts, at + 2))
    if known is None or "base" not in known.forms:
        return None
    if known.base in ("continue", "proceed", "move", "go") and "with" not in (low(parts, at + 3), low(parts, at + 4)):
        return None
    return Predicate("plans", low(parts, at + 2), at + 3, 1.3)


def _is_role(parts: Sequence[Token], at: int) -> bool:
    """Whether the role that stands there says something: "a fan" needs what of."""
    role, after = low(parts, at), low(parts, at + 1)
    if after in ("of", "at", "in"):
        return low(parts, at + 2) not in THIRD | {"this", "that", "these", "those"}
    return role not in ("fan", "member", "believer", "supporter", "owner") and not after.isalpha()


def verb_group(parts: Sequence[Token], clause: Clause) -> str:
    """The verb group in the third person."""
    tense, base, word = clause.tense, clause.verb, parts[clause.at].low
    no = clause.negative
    told_adverbs = (
        [a for a in clause.adverbs if a != "never"] if no and "never" not in clause.adverbs else list(clause.adverbs)
    )
    more = "".join(f"{a} " for a in told_adverbs if a != "too")
    never = "never" in clause.adverbs
    no = no and not never
    if tense is Tense.PAST:
        return (
            f"did not {more}{base}"
            if no
            else more
            + (word if "past" in (verbs.verb(word) or verbs.Verb("", frozenset())).forms else verbs.past(base))
        )
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
