"""Finds the clauses of a sentence that state something of the speaker or of a relative: who, and which verb how."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from embermem.languages.en import verbs
from embermem.languages.en.clauses.boundaries import natural_end
from embermem.languages.en.clauses.subjects import Subject, subject_at
from embermem.languages.en.clauses.tokens import Token, low
from embermem.languages.en.clauses.words import (
    BEFORE_CLAUSE,
    DOUBTFUL,
    DROPPED,
    NOT,
    is_adverb,
)
from embermem.languages.facts.finding import USER


class Tense(Enum):
    """What the form of a verb says of time and modality."""

    PAST = auto()
    PERFECT = auto()
    PAST_PROGRESSIVE = auto()
    PERFECT_PROGRESSIVE = auto()
    PROGRESSIVE = auto()
    PRESENT = auto()
    FUTURE = auto()
    """ "will", "going to"."""
    WISH = auto()
    """ "would like to", "wanna"."""
    USED = auto()
    CANNOT = auto()
    IS = auto()
    WAS = auto()
    HAS_BEEN = auto()
    PASSIVE = auto()
    """ "was promoted", "have been promoted"."""
    IS_DONE = auto()
    """ "am employed"."""


class Clause(NamedTuple):
    """A clause: tokens[start:end], whose verb (of a form of "be" without another: the complement) is at `at`."""

    subject: str
    companions: tuple[int, int]
    """Tokens of who did it too: "my husband" of "my husband and I"; an empty range for nobody."""
    lead: int
    """Where what stands before the subject begins: a time may be named there."""
    start: int
    tense: Tense
    negative: bool
    adverbs: tuple[str, ...]
    """Adverbs before the verb that change what is said."""
    verb: str
    at: int
    end: int
    stopped: str
    """The word or sign at which it ended."""
    plural: bool = False
    """Whether its subject is "we": the hearer may be meant too."""


class _Verb(NamedTuple):
    tense: Tense
    negative: bool
    adverbs: tuple[str, ...]
    base: str
    at: int


_BE_NOW = frozenset(("am", "'m", "is", "'s", "are", "'re", "isn't", "aren't", "ain't"))
_BE_THEN = frozenset(("was", "were", "wasn't", "weren't"))
_HAVE = frozenset(("have", "'ve", "has", "had", "haven't", "hasn't", "hadn't"))
_DO = frozenset(("do", "does", "did", "don't", "doesn't", "didn't"))
_WILL = frozenset(("will", "'ll", "won't", "shall"))
_RATHER = frozenset(("rather", "prefer"))
_WISHED = frozenset(("love", "like"))
_NOT_GERUNDS = frozenset(
    """exciting interesting amazing boring something anything nothing everything king during evening morning""".split()
)
_STATES = frozenset(
    """excited tired married interested worried scared divorced engaged retired stressed bored surprised thrilled
    inspired motivated determined committed involved obsessed addicted pleased disappointed relieved blessed
    concerned overwhelmed exhausted frustrated convinced prepared devastated heartbroken dedicated confused
    organized relaxed satisfied shocked touched honored fascinated amazed used supposed hooked swamped impressed
    moved lost done gone depressed annoyed embarrassed torn experienced delighted privileged terrified ashamed
    psyched pumped stoked stuck united accepted known""".split()
)
"""Participles that are adjectives."""


_NOT_PERFECT = frozenset("got limited mixed advanced restricted reduced related unlimited dedicated".split())
"""Participles after "have" that belong to its object: "have limited data"."""


def clauses(sentence: Sequence[Token]) -> list[Clause]:
    """The clauses of a sentence whose subject is the speaker or a relative and whose verb is understood, in order."""
    found: list[Clause] = []
    reached = 0
    for at in range(len(sentence)):
        if at < reached:
            continue
        subject = subject_at(sentence, at)
        if subject is None:
            verb = _without_subject(sentence, at) if _opens(sentence, at) else None
            subject = Subject(USER, at)
        elif _may_begin(sentence, at):
            verb = _verb(sentence, subject.after, speaker=subject.name == USER)
        else:
            verb = (
                _verb(sentence, subject.after, speaker=subject.name == USER)
                if low(sentence, at - 1) in _SUBORDINATE
                else None
            )
            if verb is not None and (verb.tense not in (Tense.PAST, Tense.PASSIVE) or verb.negative):
                verb = None
        if verb is None:
            continue
        end, stopped = natural_end(sentence, verb.at)
        found.append(
            Clause(
                subject=subject.name,
                companions=subject.companions,
                lead=reached,
                start=at,
                tense=verb.tense,
                negative=verb.negative,
                adverbs=verb.adverbs,
                verb=verb.base,
                at=verb.at,
                end=end,
                stopped=stopped,
                plural=sentence[at].low == "we",
            )
        )
        reached = end
    return found


_SUBORDINATE = frozenset(("since", "after", "when", "before"))
"""Words before a clause in the past that states what happened: "since I lost my job"."""
_BEGUN = frozenset("just finally recently still also even currently already".split())
_BEGUN_DOING = frozenset(
    """planning thinking working researching learning looking heading trying considering hoping aiming saving training
    studying going""".split()
)
_BEGIN_OBJECT = frozenset(
    """a an the my our some another two three four in on at to up out for with into from""".split()
)
_FINITE = frozenset(
    """is was has 's are were makes helps can will would could should may might means takes sounds feels seems gives
    brings keeps""".split()
)
"""Before these "doing something" is what is spoken of, not what somebody does."""
_NOT_STATED = frozenset(
    """thought said heard loved liked hoped wished glad excited based given used supposed called told asked let put set
    read hit cut felt meant guessed figured agreed thanked needed looked sounded seemed wanted had did was were
    been got left close welcome wait bit gave kept brought came turned meant held cost saved proved""".split()
)


def _opens(sentence: Sequence[Token], at: int) -> bool:
    return at == 0 or (at <= 2 and all(not t.is_word or t.low in BEFORE_CLAUSE for t in sentence[:at]))


def _without_subject(sentence: Sequence[Token], at: int) -> _Verb | None:
    """ "Lost my job yesterday", "Still working on the shop", "Gonna visit Rome", "Been reading": a clause that leaves
    out "I"."""
    adverbs = []
    while low(sentence, at) in _BEGUN:
        adverbs.append(sentence[at].low)
        at += 1
    word, after = low(sentence, at), low(sentence, at + 1)
    kept = tuple(a for a in adverbs if a == "still")
    if word == "gonna" and after != "be" and (base := _base(after)):
        return _Verb(Tense.FUTURE, False, kept, base, at + 1)
    if word == "been" and (base := verbs.base_of_gerund(after)):
        return _Verb(Tense.PERFECT_PROGRESSIVE, False, kept, base, at + 1)
    if word == "need" and low(sentence, at - 1) == "no":
        return None
    if word in ("gotta", "need", "want", "wanna", "hope") and (word in ("gotta", "wanna") or after == "to"):
        step = at + (1 if word in ("gotta", "wanna") else 2)
        base = _base(low(sentence, step))
        if base is None:
            return None
        if word in ("need", "gotta"):
            return (
                _Verb(Tense.PRESENT, False, kept, "have", step - 2)
                if low(sentence, step - 1) in ("to", "gotta")
                else None
            )
        return _Verb(Tense.WISH, False, kept, base, step)
    known = verbs.verb(word)
    if known is None:
        return None
    is_regular = word.endswith("ed") and not (word in verbs.forms() and after in _BEGIN_OBJECT)
    if word == "made" and {"difference", "sense", "progress"} & {t.low for t in sentence[at + 1 : at + 5]}:
        return None
    if (
        "past" in known.forms
        and "base" not in known.forms
        and not is_regular
        and (word not in _NOT_STATED or (adverbs and word == "got"))
    ):
        return _Verb(Tense.PAST, False, kept, known.base, at)
    if "gerund" in known.forms and (adverbs or word in _BEGUN_DOING):
        is_subject = any(t.low in _FINITE for t in sentence[at + 1 : at + 10])
        return None if is_subject else _Verb(Tense.PROGRESSIVE, False, kept, known.base, at)
    return None


def _may_begin(sentence: Sequence[Token], at: int) -> bool:
    """Whether a main clause may begin there."""
    if at == 0:
        return True
    before = sentence[at - 1]
    if not before.is_word:
        return before.text not in "'\ue000"
    if before.low in BEFORE_CLAUSE:
        focus = low(sentence, at - 2)
        if before.low in ("though", "because", "so"):
            return focus not in ("even", "not", "as", "only")
        return before.low not in ("yesterday", "today") or focus not in ("like", "just", "only")
    return _ends_time(sentence, at)


_TIME_UNITS = frozenset(
    """week month year weekend night morning afternoon evening day spring summer autumn fall winter monday tuesday
    wednesday thursday friday saturday sunday ago fri sat sun mon tue wed thu semester january february march
    april may june july august september october november december christmas days weeks months years""".split()
)
_TIME_LEADS = frozenset(
    """last this next every each the other past one in on a few couple two three four five six ten several""".split()
)


def _ends_time(sentence: Sequence[Token], at: int) -> bool:
    """Whether a short expression of time ends before the subject: "last week I …"."""
    last = sentence[at - 1]
    if last.low not in _TIME_UNITS and not (last.text.isdecimal() and len(last.text) == 4):
        return False
    begin = at - 1
    while begin > 0 and at - begin < 6 and _may_name_time(sentence[begin - 1]):
        begin -= 1
    return begin == 0 or not sentence[begin - 1].is_word or sentence[begin - 1].low in BEFORE_CLAUSE


def _may_name_time(token: Token) -> bool:
    return token.low in _TIME_LEADS or token.low in _TIME_UNITS or token.text.isdecimal()


# ------------------------------------------------------------------------------------------------------- verb


def _verb(sentence: Sequence[Token], at: int, *, speaker: bool) -> _Verb | None:
    """The verb group that begins there; None for one that states nothing (a modal, a question, an unknown word)."""
    adverbs: list[str] = []
    negative = False
    auxiliary = ""
    while at < len(sentence):
        word = sentence[at].low
        if word in NOT or word.endswith("n't"):
            negative = True
        if word in DOUBTFUL:
            return None
        if is_adverb(word):
            if negative and word == "only":
                return None
            if word not in DROPPED and word != "not":
                adverbs.append(word)
            at += 1
            continue
        if auxiliary or word not in _BE_NOW | _BE_THEN | _HAVE | _DO | _WILL:
            break
        auxiliary = word
        at += 1
    word = low(sentence, at)
    if (
        at > 0
        and not auxiliary
        and (word in ("wanna", "'d", "would", "can't", "cannot") or (word == "used" and low(sentence, at + 1) == "to"))
    ):
        return _special(sentence, at, word, negative, adverbs)
    tense_and_base = _form(sentence, at, auxiliary, speaker=speaker)
    if tense_and_base is None:
        return None
    tense, base, place = tense_and_base
    return _Verb(tense, negative, tuple(adverbs), base, place)


def _special(sentence: Sequence[Token], at: int, word: str, negative: bool, adverbs: list[str]) -> _Verb | None:
    """ "would love to", "wanna", "used to"."""
    step = at + 1
    while is_adverb(low(sentence, step)):
        step += 1
    if word in ("'d", "would") and low(sentence, step) in _RATHER:
        step += 1 + (low(sentence, step + 1) == "to")
    elif word in ("'d", "would"):
        if low(sentence, step) not in _WISHED or low(sentence, step + 1) != "to":
            return None
        step += 2
    elif word in ("can't", "cannot"):
        base = _base(low(sentence, step))
        unable = base is not None and base not in (
            "wait",
            "believe",
            "help",
            "stop",
            "imagine",
            "remember",
            "do",
            "be",
            "thank",
            "say",
            "tell",
            "see",
            "think",
        )
        return _Verb(Tense.CANNOT, False, tuple(adverbs), base, step) if unable and base else None
    elif word == "used":
        step += 1
    base = _base(low(sentence, step))
    if base is None:
        return None
    return _Verb(Tense.USED if word == "used" else Tense.WISH, negative, tuple(adverbs), base, step)


def _base(word: str) -> str | None:
    if word == "be":
        return word
    known = verbs.verb(word)
    return word if known is not None and "base" in known.forms else None


def _form(sentence: Sequence[Token], at: int, auxiliary: str, *, speaker: bool) -> tuple[Tense, str, int] | None:
    word = low(sentence, at)
    if not word:
        return None
    if auxiliary in _BE_NOW or auxiliary in _BE_THEN:
        return _of_be(sentence, at, is_past=auxiliary in _BE_THEN)
    if auxiliary in _HAVE:
        return _of_have(sentence, at, auxiliary)
    if auxiliary in _DO:
        base = _base(word)
        if base is not None:
            return (Tense.PAST if auxiliary.startswith("did") else Tense.PRESENT), base, at
        if auxiliary.endswith("n't") or low(sentence, at - 1) != auxiliary:
            return None
        return (Tense.PAST if auxiliary == "did" else Tense.PRESENT), "do", at - 1
    if auxiliary in _WILL:
        if word == "be" and (base := verbs.base_of_gerund(low(sentence, at + 1))):
            return Tense.FUTURE, base, at + 1
        base = _base(word)
        return None if base is None else (Tense.FUTURE, base, at)
    if word == "gonna":
        base = _base(low(sentence, at + 1))
        return None if base is None else (Tense.FUTURE, base, at + 1)
    return _finite(sentence, at, speaker=speaker)


def _finite(sentence: Sequence[Token], at: int, *, speaker: bool) -> tuple[Tense, str, int] | None:
    known = verbs.verb(sentence[at].low)
    if known is None:
        return None
    if "past" in known.forms:
        if "base" in known.forms and known.base == sentence[at].low and speaker and _habitual(sentence, at):
            return Tense.PRESENT, known.base, at
        if "base" in known.forms and known.base != sentence[at].low:
            return None
        return Tense.PAST, known.base, at
    if ("base" if speaker else "third") in known.forms:
        return Tense.PRESENT, known.base, at
    return None


def _habitual(sentence: Sequence[Token], at: int) -> bool:
    rest = {token.low for token in (*sentence[max(0, at - 2) : at], *sentence[at + 1 : at + 14])}
    return bool(
        rest & {"every", "often", "usually", "daily", "regularly", "always", "a lot", "whenever", "weekly", "each"}
    )


def _of_be(sentence: Sequence[Token], at: int, *, is_past: bool) -> tuple[Tense, str, int] | None:
    word, after = low(sentence, at), low(sentence, at + 1)
    if word == "gonna" or (word == "going" and after == "to" and _base(low(sentence, at + 2))):
        step = at + (1 if word == "gonna" else 2)
        base = _base(low(sentence, step))
        return None if base is None or is_past else (Tense.FUTURE, base, step)
    if word == "about" and after == "to":
        base = _base(low(sentence, at + 2))
        return None if base is None or is_past else (Tense.FUTURE, base, at + 2)
    if word not in _NOT_GERUNDS and (base := verbs.base_of_gerund(word)):
        return (Tense.PAST_PROGRESSIVE if is_past else Tense.PROGRESSIVE), base, at
    known = verbs.verb(word)
    if known is not None and "participle" in known.forms and word not in _STATES and "base" not in known.forms:
        return (Tense.PASSIVE if is_past else Tense.IS_DONE), known.base, at
    return (Tense.WAS if is_past else Tense.IS), "be", at


def _of_have(sentence: Sequence[Token], at: int, auxiliary: str) -> tuple[Tense, str, int] | None:
    word = low(sentence, at)
    if word == "been":
        step = at + 1
        while is_adverb(low(sentence, step)):
            step += 1
        if (base := verbs.base_of_gerund(low(sentence, step))) and low(sentence, step) not in _NOT_GERUNDS:
            return Tense.PERFECT_PROGRESSIVE, base, step
        known = verbs.verb(low(sentence, step))
        if (
            known is not None
            and "participle" in known.forms
            and low(sentence, step) not in _STATES
            and "base" not in known.forms
        ):
            return Tense.PASSIVE, known.base, step
        return Tense.HAS_BEEN, "be", step
    known = verbs.verb(word)
    if known is not None and "participle" in known.forms and word not in _NOT_PERFECT:
        return Tense.PERFECT, known.base, at
    if word == "to" and auxiliary in ("have", "has"):
        return (Tense.PRESENT, "have", at - 1)
    return (Tense.PAST if auxiliary == "had" else Tense.PRESENT), "have", (at - 1 if word != "got" else at)
