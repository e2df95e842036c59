"""What one does, where, and what one studies."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.facts.phrases import (
    ADV,
    ANY_MORE,
    END_OR_TIME,
    I_OR_WE,
    IM,
    IVE,
    NO_LONGER,
    read_group,
    read_nothing,
    rule,
)
from embermem.languages.en.facts.places import read_place
from embermem.languages.facts.finding import Finding, When
from embermem.languages.facts.rules import Value
from embermem.languages.language import words_of

_AGED = regex(r"(?:-years?-old)? ")
_SECOND = {
    "works_as": ("works_at", regex(r"\s+(?:at|for|with)\s+")),
    "studies": ("studies_at", regex(r"\s+at\s+")),
}
_INSTITUTIONS = frozenset(
    """hospital bank school university college restaurant startup start-up library bakery cafe café museum company firm hotel clinic shop
    store bookstore bookshop agency factory nonprofit non-profit charity lab laboratory kindergarten gym zoo theater theatre
    newspaper magazine supermarket pharmacy nursery salon studio brewery airline airport studio institute ministry""".split()
)
_ORG_LOWER = regex(
    r"(?:an?|the|our) (?:[a-z-]+ ){0,3}?([a-zé-]+)\b(?! (?:school|center|centre|firm|company|agency|store))"
)
_FIELDS = regex(
    r"(?:marketing|finance|sales|tech|IT|it support|advertising|education|healthcare|health care|hospitality|retail|logistics|construction|law"
    r"|real estate|software|accounting|banking|insurance|publishing|journalism|media|human resources|HR|customer service|public relations|PR"
    r"|research|consulting|engineering|manufacturing|tourism|agriculture|fashion|film|cybersecurity|data science|architecture|nursing)\b"
    r"(?=\s*(?:[,.;!)]|$|(?:and|but|in|at|for|now|since|because)\b))"
)
_OCC = regex(
    r"an? ((?:[A-Za-z-]+ ){0,3}?[A-Za-z-]+)(?=\s*(?:[,.;!)]|$)|\s+(?:at|in|for|by|now|too|here|with|working|from|and|who|since|but|because|so|specializing|specialising|on|last|yesterday|any ?more|any longer)\b)"
)
_SHOUTED = regex(r"\b(?!CEO|CTO|CFO|COO|HR|IT|UX|UI|QA|ER|ICU|EMT)[A-Z]{3,}\b")
"""A role that is shouted is one given to a model."""
_NOT_OCC = frozenset(
    """bad good great terrible horrible decent fast slow big quick lifelong visual former ex aspiring future wannabe would-be amateur lousy
    huge better worse natural born true fake failed frustrated secret real total lucky careful safe nervous proud supermodel not
    struggling second-rate mediocre pretty awful excellent amazing fantastic happy poor role homebody messy picky heavy hopeless brilliant
    wonderful fellow non fictional home""".split()
)
_JOB_END = regex(
    r"(?:er|or|ist|ian|ant|ent|man|woman|person|eer|ess|tech|rep|lead|hand|aide|clerk|head|officer|sitter|au pair|apprentice|consul|fellow|dj|DJ|ceo|cto|cfo|coach|host|maid|volunteer|cop|sommelier|temp|steward)$"
)
_NOT_JOB = frozenset(
    """number matter order parent filter character member partner winner loser deterrent answer letter paper power weather other
    brother sister mother father never ever together barrier buffer placeholder client incentive supplement statement container
    computer error mirror color colour anchor sponsor replacement""".split()
)


def second(sentence: str, pos: int, end: int, subject: str, attribute: str, when: When | None) -> Iterator[Finding]:
    """What a second phrase adds: "a nurse at Mercy Hospital"; both hold from the same day on."""
    if attribute == "age" and (match := _AGED.match(sentence, end)) is not None:
        begin = match.end()
        job = read_occupation("a " + sentence[begin:], 0)
        if job is not None:
            last = begin + job[1] - len("a ")
            yield Finding(subject=subject, attribute="works_as", value=job[0].removeprefix("a "), start=pos, end=last)
    if attribute in _SECOND and (match := _SECOND[attribute][1].match(sentence, end)):
        found = read_organisation(sentence, match.end())
        if found is not None:
            yield Finding(
                subject=subject, attribute=_SECOND[attribute][0], value=found[0], start=pos, end=found[1], when=when
            )  # fmt: skip


def read_organisation(sentence: str, pos: int) -> Value | None:
    lower = _ORG_LOWER.match(sentence, pos)
    if lower is not None:
        vague = lower.group() in (
            "a company",
            "the company",
            "our company",
            "a firm",
            "a shop",
            "the store",
            "the gym",
            "the shop",
        )
        return (lower.group(), lower.end()) if lower[1] in _INSTITUTIONS and not vague else None
    found = read_place(sentence, pos)
    if found is not None and found[0].lower() in (
        "night",
        "noon",
        "midnight",
        "dawn",
        "dusk",
        "weekends",
        "large",
        "home",
    ):
        return None
    return found if (found and found[0][:1].isupper()) or (found and found[0].startswith("the ")) else None


def read_occupation(sentence: str, pos: int) -> Value | None:
    match = _OCC.match(sentence, pos)
    if match is None:
        return None
    tokens = match[1].lower().split()
    known = tokens[-1] in words_of("en", "occupations") or " ".join(tokens[-2:]) in words_of("en", "occupations")
    if not known or any(t in _NOT_OCC for t in tokens) or _SHOUTED.search(match[1]):
        return None
    if re.compile(
        r" (?:in (?:my|your|his|her|their|our|another|the game|this|training|a |disguise|the making|name)|at (?:heart|parties)|by nature|for (?:a day|Halloween|once)|and a half|on (?:the side|weekends|tv|TV|television|stage|screen|paper|Halloween))"
    ).match(sentence, match.end()):
        return None
    return match.group(), match.end()


def _read_title(sentence: str, pos: int) -> Value | None:
    """ "My role is Middle Manager": an occupation without an article."""
    found = read_occupation("a " + sentence[pos:], 0)
    return None if found is None else (found[0], pos + found[1] - len("a "))


def read_job(sentence: str, pos: int) -> Value | None:
    """After "work as": whatever stands there up to a boundary, with its article."""
    match = re.compile(
        r"(?:an? |the )([A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,3}?)(?=\s*(?:[,.;!)]|$)|\s+(?:at|in|for|and|but|with|from|because|since|on|near|now|so|here|these|when|while)\b)"
    ).match(sentence, pos)
    if match is None:
        return None
    *before, last = match[1].lower().split()
    known = last in words_of("en", "occupations") or _JOB_END.search(last)
    if not known or last in _NOT_JOB or "student" in before or any(t in _NOT_OCC for t in (*before, last)):
        return None
    if last == "player" and (not before or before[-1] in ("team", "key", "major", "solo", "dvd", "record")):
        return None
    return match.group(), match.end()


def _read_subject(sentence: str, pos: int) -> Value | None:
    match = re.compile(
        r"((?!(?:hard|abroad|here|there|at|in|for|with|a|an|the|my|every|all|until|on|it|that|this|too|when|what|how|together|late|best|better|alone|more|from|and|online|by|to|as|your|because|while|well|lot|lots|so|really)\b)[A-Za-z]+(?: (?:(?!at\b|in\b|for\b|with\b|because\b|but\b|on\b|so\b|right\b|now\b|every\b|all\b|when\b|while\b|from\b|I\b|here\b)[A-Za-z]+)){0,3})(?=\s*(?:[,.;!)]|$)|\s+(?:at|in|because|but|right now|now|so|from|here|and)\b)"
    ).match(sentence, pos)
    return None if match is None else (match[1], match.end())


ENDED: Final = (
    rule("works_at", rf"[Ii] {ADV}(?:no longer work|don't work|do not work|stopped working) (?:at|for) ", read_organisation, retracts=True),
    rule("works_at", rf"[Ii] {ADV}(?:quit|left|resigned from|lost) my job at ", read_organisation, retracts=True),
    rule("works_at", r"[Ii] used to work (?:at|for) ", read_organisation, retracts=True),
    rule("works_as", r"[Ii] (?:no longer work|don't work|used to work) as ", read_job, retracts=True),
    rule("works_as", rf"{NO_LONGER}(?=an? )", read_occupation, retracts=True),
    rule("works_as", rf"{IM}not (?=an? {ANY_MORE})", read_occupation, retracts=True),
    rule("works_as", r"[Ii] used to be (?=an? )", read_occupation, retracts=True),
    rule("works_as", rf"(?:{IM}(?:fully )?retired|[Ii] {ADV}retired|[Ii]'ve retired)(?=\s*(?:[.;!,]|$)|\s+(?:now|last|in \d|this|from|and|but|since|two|three|\d+|a few)\b)", read_nothing, retracts=True),
    rule("works_at", rf"[Ii] {ADV}(?:quit|left|lost) my job{END_OR_TIME}", read_nothing, retracts=True),
    rule("works_at", rf"(?:[Ii] (?:got|was) {ADV}(?:laid off|fired)|{IM}unemployed){END_OR_TIME}", read_nothing, retracts=True),
)  # fmt: skip
RULES: Final = (
    rule("works_as", IM + r"(?=an? )", read_occupation),
    rule("works_as", r"[Ii] (?:am|'m) employed as ", read_job),
    rule("works_as", I_OR_WE + r"(?:work|worked? now) as ", read_job),
    rule("works_as", rf"(?:[Ii]'m|[Ii] am) {ADV}working as ", read_job),
    rule("works_as", IVE + r"(?:been working|worked) as ", read_job),
    rule("works_as", rf"[Ii] {ADV}(?:got (?:a|the) (?:new )?job|started (?:a new job|working|my new job)|became) (?:as )?(?=an? )", read_occupation),
    rule("works_at", I_OR_WE + r"work (?:\w+[- ]time )?(?:at|for) ", read_organisation),
    rule("works_at", rf"(?:[Ii]'m|[Ii] am) {ADV}working (?:at|for) ", read_organisation),
    rule("works_at", IVE + r"(?:been working|worked) (?:at|for) ", read_organisation),
    rule("works_at", rf"[Ii] {ADV}(?:got (?:a|the) (?:new )?job|started (?:a new job|working|my new job)) (?:at|with|for) ", read_organisation),
    rule("works_in", I_OR_WE + r"work in ", read_group(_FIELDS)),
    rule("works_as", r"[Mm]y job is (?=an? )", read_occupation),
    rule("works_as", r"[Mm]y (?:current |new )?(?:role|position|job|job title) is (?:as )?(?!an? )", _read_title),
    rule("studies_at", rf"(?:[Ii]|[Ii]'m) {ADV}stud(?:y|ying) at ", read_organisation),
    rule("studies", rf"[Ii] {ADV}(?:study|major in) ", _read_subject),
    rule("studies", rf"(?:[Ii]'m|[Ii] am) {ADV}(?:studying|majoring in) (?=[^.!?]{{2,60}}\b(?:at|university|college|degree|major)\b)", _read_subject),
    rule("studies", rf"(?:[Ii]'m|[Ii] am) {ADV}majoring in ", _read_subject),
    rule("studies", r"[Mm]y major is ", _read_subject),
    rule("graduated_from", rf"[Ii] {ADV}graduated from ", read_organisation),
)  # fmt: skip
