"""Relatives and pets."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.facts.health import DIET, read_allergen
from embermem.languages.en.facts.identity import AGE_OLD, NO_NAME, read_age
from embermem.languages.en.facts.nouns import read_noun_phrase
from embermem.languages.en.facts.phrases import ADV, ANY_MORE, CAP, read_group, rule
from embermem.languages.en.facts.places import NO_PLACE, read_home, read_new_home
from embermem.languages.en.facts.work import read_job, read_occupation, read_organisation
from embermem.languages.facts.finding import Finding
from embermem.languages.facts.rules import Value

_PET_NAMED = regex(r"(?P<kind>[a-z ]+) (?P<name>[A-Z][a-z]+)")
_LIST_PETS = r"dogs?|cats?|pupp(?:y|ies)|kittens?|hamsters?|parrots?|rabbits?|bunn(?:y|ies)|goldfish|fish|turtles?|tortoises?|snakes?|lizards?|guinea pigs?|ferrets?|horses?|pon(?:y|ies)|birds?|chickens|geckos?|budgies?|canar(?:y|ies)|iguanas?|hedgehogs?"
_COUNT = r"(?:an?|one|two|three|four|five|six|\d)"
_PETS = regex(
    rf"(?:{_COUNT} (?:[a-z-]+ ){{0,3}}?(?:{_LIST_PETS})\b)(?P<names>,? (?:named|called) {CAP}(?:(?:, |,? and ){CAP}){{0,3}}|, {CAP}(?:(?:, |,? and ){CAP}){{0,3}}(?=\s*[.!;]|$))?"
)
_CHILDREN = regex(
    rf"(?:{_COUNT} (?:[a-z-]+ ){{0,2}}?(?:kids?|children|child|sons?|daughters?|brothers?|sisters?|siblings|twins|grandchildren|grandsons?|granddaughters?|nieces?|nephews?)\b)(?P<names>,? (?:named|called) {CAP}(?:(?:, |,? and ){CAP}){{0,3}}|, {CAP}(?:(?:, |,? and ){CAP}){{0,3}}(?=\s*[.!;]|$))?"
)
_PET_END = regex(
    r"\s*(?:[,.;!)]|$)|\s+(?:and|but|so|because|since|at home|named|called|too|now|as (?:well|pets?|a pet)|yesterday|today|last|this (?:week|month|year|summer|spring|morning)|(?:two|three|four|a few|\d+|an?) (?:days?|weeks?|months?|years?)"
    r"|who|that (?:loves?|likes?|sleeps?|barks?|is|are|I|we)|with|from|for (?:the|over|about|almost|\d|two|three|four|many|my)|already|whom|which|of my own|in (?:the|my|our) (?:house|home|apartment|flat|garden|yard)|when|while|these days|recently|any ?more|any longer|together|I|we|in (?:\d{4}|[A-Z]\w+))\b"
)
"""A pet is one only where its noun phrase ends: "a dog day" and "a dog in this fight" are none."""
_NOT_MINE = regex(
    r"\b(?:isn't|aren't|is not|are not|not)(?: \w+)? (?:mine|ours|my own|real)\b|\bbelongs?\b|\bmy neighbou?r's\b|\bcosplay"
)
_KIN = (
    r"sister|brother|mother|father|mom|mum|dad|wife|husband|son|daughter|girlfriend|boyfriend|partner|fiancée?|grandmother|grandfather"
    r"|grandma|grandpa|aunt|uncle|cousin|niece|nephew|best friend|friend|roommate|flatmate|boss|neighbor|neighbour|colleague"
    r"|stepfather|stepmother|mother-in-law|father-in-law|sister-in-law|brother-in-law|twin sister|twin brother|twin"
)
_MY_KIN = (
    rf"[Mm]y (?:older |elder |younger |little |big |eldest |youngest |baby )?(?P<kin>{_KIN})(?:,? (?P<who>{CAP}))?,? "
)
_MY_KIN_S = rf"[Mm]y (?:older |elder |younger |little |big |eldest |youngest |baby )?(?P<kin>{_KIN})"
_TASTES = (
    ("likes", "likes|loves|enjoys|adores"),
    ("dislikes", "hates|dislikes|can'?t stand|doesn'?t (?:really )?like|has no interest in"),
    ("avoids", "avoids|stays away from"),
    ("prefers", "prefers"),
)
_DEAD_PET = regex(
    rf"(?P<kind>{_LIST_PETS}),? (?P<name>[A-Z][a-z]+),? (?:has |was |had to be |is )?(?:just |sadly |finally |already )?"
    r"(?:died|dead|passed (?:away|on)|put (?:down|to sleep))(?=\s*(?:[,.;!)]|$)|\s+(?:last|yesterday|today|this|on|in|at|two|three|a|an|\d+|and|of|peacefully|suddenly)\b)"
)


def other_names(value: str, subject: str, start: int, end: int) -> Iterator[Finding]:
    """Who says "my dog Rex died" may have said "I have a dog named Rex": no longer so either."""
    named = _PET_NAMED.fullmatch(value)
    if named is not None:
        article = "an" if named["kind"][0] in "aeiou" else "a"
        for word in ("named", "called"):
            said = f"{article} {named['kind']} {word} {named['name']}"
            yield Finding(subject=subject, attribute="has_pet", value=said, start=start, end=end, retracts=True)


def _read_pets(sentence: str, pos: int) -> Value | None:
    match = _PETS.match(sentence, pos)
    if match is None or not _PET_END.match(sentence, match.end()) or _NOT_MINE.search(sentence, match.end()):
        return None
    return match.group(), match.end()


def _read_children(sentence: str, pos: int) -> Value | None:
    match = _CHILDREN.match(sentence, pos)
    if match is None or re.compile(
        r" (?:in (?:my|the) (?:class|team|group)|to (?:teach|tutor|feed)|menu|book|meal|room|at (?:work|the))"
    ).match(sentence, match.end()):
        return None
    return match.group(), match.end()


def kin_subject(match: re.Match[str]) -> str | None:
    who = match.groupdict().get("who")
    if who and (who.lower() in NO_PLACE or who.lower() in NO_NAME):
        return None
    if who and who.endswith("'s"):
        who = who[:-2]
    return f"{match['kin'].lower()} {who}" if who else match["kin"].lower()


def _read_named_pet(sentence: str, pos: int) -> Value | None:
    match = re.compile(rf"((?:{_LIST_PETS})),? (?:named |called )?([A-Z][a-z]+)\b(?! (?:and (?:I|my)))").match(
        sentence, pos
    )
    if match is None or match[2].lower() in NO_PLACE or match[2].lower() in NO_NAME:
        return None
    return f"{match[1]} {match[2]}", match.end()


def _read_called_pet(sentence: str, pos: int) -> Value | None:
    """ "My dog is called Rex": the same value as of "my dog Rex"."""
    match = re.compile(
        rf"({_LIST_PETS})(?:'s name is|'s name's| is (?:called|named)) ([A-Z][a-z]+)(?=\s*(?:[,.;!)]|$|(?:and|but)\b))"
    ).match(sentence, pos)
    if match is None or match[2].lower() in NO_PLACE or match[2].lower() in NO_NAME:
        return None
    return f"{match[1]} {match[2]}", match.end()


def _read_dead_pet(sentence: str, pos: int) -> Value | None:
    """ "My dog Rex died": what `has_pet` holds of it, no longer."""
    match = _DEAD_PET.match(sentence, pos)
    return None if match is None else (f"{match['kind']} {match['name']}", match.end())


ENDED: Final = (
    rule("has_pet", r"(?:[Ii]|[Ww]e) no longer (?:have|own) ", _read_pets, retracts=True),
    rule("has_pet", rf"(?:[Ii]|[Ww]e) (?:don't|do not) (?:have|own) (?={ANY_MORE})", _read_pets, retracts=True),
    rule("has_pet", rf"[Mm]y (?:(?:dear|old|poor|beloved|sweet|little) )?(?=(?:{_LIST_PETS}),? [A-Z])", _read_dead_pet, retracts=True),
)  # fmt: skip
RULES: Final = (
    rule("has_pet", rf"(?:[Ii]|[Ww]e|[Ii]'ve|[Ww]e've) (?:{ADV})(?:have|own|got|adopted) (?:got )?", _read_pets),
    rule("has_pet", rf"[Mm]y (?=(?:{_LIST_PETS})(?:'s name| is (?:called|named)))", _read_called_pet),
    rule("has_pet", rf"[Mm]y (?=(?:{_LIST_PETS}),? (?:named |called )?[A-Z][a-z]+\b(?!'))", _read_named_pet),
    rule("has_relative", rf"(?:[Ii]|[Ww]e) (?:{ADV})have ", _read_children),
    rule("works_as", _MY_KIN + r"(?:is|'s) (?=an? )", read_occupation),
    rule("works_as", _MY_KIN + r"works as ", read_job),
    rule("works_at", _MY_KIN + r"works (?:at|for) ", read_organisation),
    rule("lives_in", _MY_KIN + r"(?:lives|is living) in ", read_home),
    rule("lives_in", _MY_KIN + r"moved to ", read_new_home),
    rule("age", _MY_KIN + r"is ", read_age(AGE_OLD)),
    rule("allergic_to", _MY_KIN + r"is allergic to ", read_allergen),
    rule("diet", _MY_KIN + r"is ", read_group(DIET, 1)),
    *(rule(taste, rf"{_MY_KIN}(?:really |always |only )?(?:{said}) ", read_noun_phrase) for taste, said in _TASTES),
)  # fmt: skip
