"""Body and table: allergies, conditions, diets, what one cannot do."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.facts.goals import FOODS, lasting
from embermem.languages.en.facts.nouns import read_infinitive, read_noun_phrase
from embermem.languages.en.facts.phrases import (
    ADV,
    ANY_MORE,
    FIRM,
    I_OR_WE,
    IM,
    IVE,
    NO_LONGER,
    read_group,
    read_lasting,
    rule,
)
from embermem.languages.facts.rules import Value

_CONDITIONS = regex(
    r"(?:type (?:1|2|one|two) diabetes|diabetes|asthma|ADHD|adhd|ADD|OCD|epilepsy|arthritis|migraines|chronic migraines|celiac disease|coeliac disease|dyslexia|tinnitus|insomnia|hypertension|high blood pressure|depression|bipolar disorder|autism|endometriosis|PTSD|PCOS|hay fever|Crohn's disease|IBS|eczema|psoriasis|lupus|scoliosis|multiple sclerosis)\b(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|since|because|too|as|which|that|when|now|anymore|any more|any longer|type|last|this|at age|at the age|two|three|a few|\d|recently|years?|for (?:\d|many|years|the|over|as long)|in (?:\d{4}|[A-Z]\w+|my (?:teens|twenties|thirties|forties|childhood)))\b)"
)
DIET = regex(
    r"(?:an? |strict |lifelong |a strict |a lifelong )?(vegetarian|vegan|pescatarian|pescetarian|gluten[- ]free|teetotal|kosher|halal)\b(?! (?:food|restaurant|recipe|chef|cook|diet|option|dish|meal|friend|at heart|curious|on))"
)
_HEALTH = regex(
    r"(?:(?:type (?:1|2|one|two) )?diabetic|(?:lactose|gluten|histamine|fructose)[- ]intolerant|colou?r[- ]?blind|(?:legally |partially )?blind|(?:partially )?deaf|hard of hearing|visually impaired|in a wheelchair|claustrophobic|epileptic|asthmatic)"
    r"(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|since|in (?:my|one)|because)\b)(?! (?:to|with|by|as)\b)"
)
_UNABLE = regex(
    r"(?:swim|drive|cycle|ride a bike|climb stairs|walk (?:far|long distances)|lift (?:heavy things|anything heavy)|have (?:caffeine|alcohol|gluten|dairy|sugar|nuts|shellfish|lactose)|stand for long)"
    r"(?=\s*(?:[.;!)]|$)|,(?! (?:can|right)\b)|\s+(?:and|but|so|because|due to|at all|since)\b)"
)
_FOOD = regex(rf"\b(?:{FOODS}|any|anything)\b(?! and bolts)", re.IGNORECASE)
_PASSING = regex(r"\s+because (?:it|they|there)\b")
_AMOUNT = regex(r"(?:much|more|enough|another|so|too|as|out)\b")
_ABSTRACT = regex(r"(?:ity|ness|ism|ship|hood|dom)$")
_NO_ALLERGEN = frozenset(
    """morning mornings monday mondays sunday sundays work people drama nonsense effort commitment math maths homework fun boredom
    meeting meetings love politics rules change bullshit deadlines small-talk losing failure winter school marriage feelings emotions
    money taxes adulting spreadsheets excuses lies liars silence noise waiting exercise cleaning cooking housework paperwork""".split()
)


def _read_again(sentence: str, pos: int) -> Value | None:
    match = re.compile(rf"(?P<v>{FOODS}) again(?=\s*(?:[.;!,]|$))").match(sentence, pos)
    return None if match is None else (match["v"], match.end())


def _read_after_all(sentence: str, pos: int) -> Value | None:
    """ "I'm not allergic to nuts after all": what was taken for true."""
    end = sentence.find(" after all", pos)
    found = read_allergen(sentence[:end], pos)
    return None if found is None or found[1] != end else (found[0], end + len(" after all"))


def read_allergen(sentence: str, pos: int) -> Value | None:
    found = read_noun_phrase(sentence, pos)
    if found is None:
        return None
    tokens = found[0].lower().split()
    if (
        tokens[0] in _NO_ALLERGEN
        or tokens[-1] in _NO_ALLERGEN
        or any(_ABSTRACT.search(t) for t in (tokens[0], tokens[-1]))
    ):
        return None
    return found


def _read_avoided(sentence: str, pos: int) -> Value | None:
    """What somebody leaves out for good, whole."""
    found = read_noun_phrase(sentence, pos) if lasting(sentence[pos:]) else None
    return None if found is None or _PASSING.match(sentence, found[1]) or _AMOUNT.match(sentence, pos) else found


def _read_food(sentence: str, pos: int) -> Value | None:
    """The same, if it is something to eat or drink, or anything of a kind."""
    found = _read_avoided(sentence, pos)
    return found if found is not None and _FOOD.search(found[0]) else None


_read_unable = read_lasting(_UNABLE)
ENDED: Final = (
    rule("diet", r"(?:[Ii]'m|[Ii] am) (?:no longer|not) ", read_group(DIET, 1), retracts=True),
    rule("allergic_to", rf"{NO_LONGER}allergic to ", read_allergen, retracts=True),
    rule("allergic_to", rf"{IM}not allergic to (?={ANY_MORE})", read_allergen, retracts=True),
    rule("allergic_to", rf"{IM}not (?:actually |really |even )?allergic to (?=[^.,;!?]{{2,40}} after all\b)", _read_after_all, retracts=True),
    rule("has_condition", r"[Ii] no longer have ", read_group(_CONDITIONS), retracts=True),
    rule("has_condition", rf"[Ii] don't have (?={ANY_MORE})", read_group(_CONDITIONS), retracts=True),
    rule("avoids", rf"(?:[Ii] {ADV}(?:can )?|(?:[Ii]'m|[Ii] am) {ADV})(?:eat|eating|drink|drinking) (?=[^.,;!?]{{2,40}} again\b)", _read_again, retracts=True),
)  # fmt: skip
RULES: Final = (
    rule("allergic_to", IM + r"(?:very |severely |deathly |highly |slightly )?allergic to ", read_allergen),
    rule("allergic_to", r"[Ii] have (?:an? )?(?:severe |bad |serious |mild )?(?=(?:peanut|nut|shellfish|pollen|cat|dog|dust|dairy|egg|soy|seafood|gluten|bee|latex|penicillin|milk|wheat) allerg)", read_group(regex(r"(\w+) allerg(?:y|ies)\b"), 1)),
    rule("has_condition", r"[Ii] have (?:had )?(?:mild |severe |chronic )?", read_group(_CONDITIONS)),
    rule("has_condition", r"[Ii] (?:was|got) (?:recently )?diagnosed with ", read_group(_CONDITIONS)),
    rule("diet", IM, read_group(DIET, 1)),
    rule("diet", r"[Ii] (?:recently )?(?:became|went) ", read_group(DIET, 1)),
    rule("diet", IVE + r"been ", read_group(DIET, 1)),
    rule("avoids", rf"(?:{I_OR_WE}|[Ii]'?d ){FIRM}(?:don'?t|do not|(?:would )?never|w(?:ill|ould) not|won'?t|will never|refuse to) (?:eat|drink) ", _read_avoided),
    rule("avoids", rf"(?:{I_OR_WE}{FIRM}(?:can'?t|cannot|can not|must not|mustn't|may not)|{IM}(?:not allowed to|not supposed to|unable to)) (?:eat|drink) ", _read_avoided),
    rule("avoids", rf"(?:{I_OR_WE}{FIRM}(?:can'?t|cannot|can not|must not|mustn't|may not)|{IM}(?:not allowed to|not supposed to|unable to)) have ", _read_food),
    rule("avoids", rf"{I_OR_WE}{FIRM}(?:\w+ly )?(?:tend to |try to )?(?:avoid|stay away from|keep away from|stay off|abstain from|steer clear of) (?:eating |drinking )?", _read_avoided),
    rule("avoids", rf"{I_OR_WE}{FIRM}(?:have to |need to |must )(?:avoid|stay away from|stay off|abstain from) (?:eating |drinking )?", _read_food),
    rule("avoids", rf"{IVE}{FIRM}(?:given up|cut out|stopped eating|stopped drinking|quit) ", _read_food),
    rule("health", IM, read_group(_HEALTH)),
    rule("afraid_of", rf"{IM}(?:very |deathly |terribly |absolutely )?(?:afraid|scared|terrified) of ", read_noun_phrase),
    rule("afraid_of", rf"{IVE}(?:got )?an? (?:\w+ )?(?:fear|phobia|terror|horror) of ", read_noun_phrase),
    rule("cannot", rf"[Ii] {FIRM}(?:can't|cannot|can not|am not able to|am unable to|must not|mustn't|never learned to|never learnt to) ", _read_unable),
    rule("cannot", rf"{I_OR_WE}{FIRM}(?:can'?t|cannot) (?=(?:wear|tolerate|handle|stomach|cope with|deal with) )", read_infinitive),
    rule("cannot", r"(?:[Ii]'m|[Ii] am) (?:not able|unable|not allowed) to ", _read_unable),
)  # fmt: skip
