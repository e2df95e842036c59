"""Who one is: name, age, birth, family status."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.en.facts.phrases import ADV, ANY_MORE, CAP, IM, IVE, NO_LONGER, Read, read_group, rule
from embermem.languages.en.facts.places import read_place
from embermem.languages.en.vocabulary import MONTH_WORDS
from embermem.languages.facts.rules import Value
from embermem.languages.language import words_of

_NAME = regex(rf"{CAP}(?: {CAP}){{0,3}}|[A-Z]\w*(?: [A-Z]\.)? {CAP}")
NO_NAME = frozenset(
    """mud not on in unknown a an the written spelled spelt hard difficult pronounced too very legion nobody no tba maybe crazy later back
    tomorrow today tonight old lazy stupid when if after before irish german french english american italian spanish chinese japanese
    russian christian muslim jewish catholic buddhist british canadian dutch indian korean sorry ok okay batman happy fine here i
    libra virgo aries taurus gemini cancer scorpio capricorn aquarius pisces vegan vegetarian single married hindu buddhist new so glad
    monday tuesday wednesday thursday friday saturday sunday what whatever anytime asap naive paranoid ishmael just
    also really still never always your my his her our their""".split()
)
_TITLES = frozenset("dr mr mrs ms miss prof professor sir madam mister".split())
_ORDERS = frozenset(
    """ignore disregard forget previous instructions instruction system prompt admin administrator override drop table
    select delete insert update""".split()
)
NATIONALITY = regex(
    r"(?:half[- ])?(?:American|British|English|Scottish|Irish|Welsh|French|German|Spanish|Italian|Portuguese|Dutch|Belgian|Swiss|Austrian|Swedish|Norwegian|Danish|Finnish|Polish|Czech|Hungarian|Romanian|Bulgarian|Greek|Turkish|Russian|Ukrainian|Chinese|Japanese|Korean|Vietnamese|Thai|Indian|Pakistani|Indonesian|Filipino|Malaysian|Australian|Canadian|Mexican|Brazilian|Argentinian|Chilean|Colombian|Peruvian|Cuban|Egyptian|Moroccan|Nigerian|Kenyan|Ethiopian|Iranian|Israeli|Lebanese)(?=\s*(?:[,.;!)]|$|(?:and|but|so)\b))"
)
_MONTH = rf"(?:{'|'.join(word.capitalize() for word in MONTH_WORDS.split())})\b\.?"
_DATE = regex(
    rf"(?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b)(?:,? (?P<year>(?:19|20)\d\d)\b)?"
)
_YEAR = regex(r"(?:19|20)\d\d\b(?![-–/])")
_AGE = regex(
    r"(\d{1,3}|twenty|thirty|forty|fifty|sixty|seventy|eighteen|nineteen)(?:[ -]years?[ -]old\b|(?= *(?:[,.;!]|$)| (?:last|this|in|on|yesterday|today|two|a few|and)\b))"
)
AGE_OLD = regex(r"(\d{1,3}) (?:years? old|yo|y/o)\b")
_MARITAL = regex(
    r"(?:happily |recently |newly )?(married|single|divorced|engaged|widowed|a widow|a widower|separated)\b(?=\s*(?:[,.;!)]|$|(?:and|but|since|for|with (?:\w+ )?(?:kids|children)|now|to (?=[A-Z]|my (?:\w+ )?(?:wife|husband|partner|friend|love|sweetheart|soulmate)\b|the love|an? (?:\w+ )?(?:man|woman|doctor|nurse|teacher|lawyer|engineer|guy)\b)|at the moment|again|last|in [A-Z\d])))"
)
_GENDER = regex(
    r"(?:an? )?(trans(?:gender)? (?:wo)?man|woman|man|girl|guy|female|male|boy|non-?binary)\b(?=\s*(?:[,.;!)]|$|(?:and|but|so)\b|in my (?:twenties|thirties|forties|fifties|sixties)))"
)
_TEMPER = regex(
    r"(?:an? |very |quite |pretty |a bit of an? |such an? |a total |a real |more of an? )?(introvert(?:ed)?|extrovert(?:ed)?|extravert(?:ed)?|outgoing person|perfectionist|night owl|early bird|morning person)\b(?=\s*(?:[,.;!)]|$|(?:and|but|so|by)\b))"
)

_END = r"(?=\s*(?:[,.;!)]|$|(?:and|but|so|now|since)\b))"
_RELIGION = regex(
    rf"(?:Catholic|Christian|Muslim|Jewish|Buddhist|Hindu|Sikh|Protestant|Lutheran|Mormon|Quaker|Orthodox Christian|atheist|agnostic){_END}"
)
_HEIGHT_BARE = regex(
    r"(?:\d ?(?:m|metres?|meters?) ?\d{2}|\d\.\d{1,2} ?(?:m|metres?|meters?)|\d{3} ?(?:cm|centimetres?|centimeters?)|\d ?(?:'|ft|feet|foot) ?\d{0,2}(?:\"|''| ?in(?:ches)?)?)(?!\w)"
)
_HEIGHT = regex(rf"({_HEIGHT_BARE.pattern}) tall\b")
_PHONE = regex(r"[+(]?\d[\d ()./-]{5,18}\d")
_EMAIL = regex(r"[\w.+-]{1,40}@[\w-]{1,40}(?:\.[a-z]{2,10}){1,3}", re.IGNORECASE)
_PRONOUNS = regex(r"(?:she|he|they|ze)/\w+(?:/\w+)?", re.IGNORECASE)
_DEGREE = regex(
    r"(?:my )?((?:an? )?(?:(?:master|bachelor|associate)'?s(?: degree)?|PhD|doctorate|MBA|law degree|degree|nursing degree|diploma)(?: (?:in|of) [A-Za-z]+(?: (?!from\b|at\b|and\b|last\b|in\b|but\b)[A-Za-z]+)?)?)(?=\s*(?:[,.;!)]|$)|\s+(?:and|but|so|from|at|last|in \d|years?)\b)"
)
_TITLED = regex(rf"(?:Dr|Prof|Mr|Mrs|Ms)\.? {CAP}(?=\s*(?:[,.;!)]|$|(?:please|and|instead)\b))")


def _read_any_name(sentence: str, pos: int) -> Value | None:
    match = _NAME.match(sentence, pos)
    if match is None:
        lower = re.compile(r"[a-z]{2,15}(?=\s*(?:[,.;!]|$))").match(sentence, pos)
        if lower is None or lower.group() in NO_NAME or lower.group() in words_of("en", "names_not"):
            return None
        return lower.group(), lower.end()
    value, end = match.group(), match.end()
    tokens = value.split()
    if tokens[0].lower() in NO_NAME:
        return None
    if len(tokens) > 1 and tokens[-1] in ("I", "I'm", "I've", "My"):
        value = value[: -len(tokens[-1])].rstrip()
        end = pos + len(value)
    value = value.removesuffix("'s")
    spoken = [t.lower().strip(".") for t in value.split()]
    if value.endswith("'") or len(spoken) > 3 or spoken[-1] in _TITLES or any(t in _ORDERS for t in spoken):
        return None
    return (value, pos + len(value)) if not sentence[end : end + 1].isalnum() and len(value) > 1 else None


def read_name(sentence: str, pos: int) -> Value | None:
    found = _read_any_name(sentence, pos)
    if found is None or not re.compile(r"\s*(?:[,.;!)\"]|$|(?:for short|please|instead|from|and)\b)").match(
        sentence, found[1]
    ):
        return None
    return found


def read_age(pattern: re.Pattern[str]) -> Read:
    numbers = {
        "eighteen": 18,
        "nineteen": 19,
        "twenty": 20,
        "thirty": 30,
        "forty": 40,
        "fifty": 50,
        "sixty": 60,
        "seventy": 70,
    }

    def read(sentence: str, pos: int) -> Value | None:
        match = pattern.match(sentence, pos)
        if match is None:
            return None
        age = numbers.get(match[1]) or (int(match[1]) if match[1].isdecimal() else 0)
        return (str(age), match.end()) if 4 <= age <= 119 else None

    return read


def _read_capital_name(sentence: str, pos: int) -> Value | None:
    return read_name(sentence, pos) if sentence[pos : pos + 1].isupper() else None


ENDED: Final = (
    rule("marital_status", NO_LONGER, read_group(_MARITAL, 1), retracts=True),
    rule("marital_status", rf"{IM}not (?={ANY_MORE})", read_group(regex(r"(married|single|engaged)(?= any)"), 1), retracts=True),
)  # fmt: skip
RULES: Final = (
    rule("name", r"[Mm]y (?:full |real |first )?name(?: is|'s) (?:\")?", read_name),
    rule("name", r"(?:[Ii]'m|[Ii] am) (?:called|named) ", read_name),
    rule("nickname", r"(?:[Yy]ou (?:can |may )?|[Pp]lease |(?:[Mm]y friends|[Pp]eople|[Ee]veryone|[Ee]verybody) )?[Cc]alls? me ", _read_capital_name),
    rule("nickname", r"(?:[Yy]ou (?:can |may )?|[Pp]lease )?[Cc]all me ", read_group(_TITLED)),
    rule("nickname", r"[Mm]y (?:friends|family) call me ", _read_capital_name),
    rule("nickname", r"[Mm]y nickname(?: is|'s) ", read_name),
    rule("gender", IM, read_group(_GENDER, 1)),
    rule("gender", r"[Aa]s an? (?=(?:wo)?man, I\b)", read_group(regex(r"(woman|man)(?=,)"), 1)),
    rule("temperament", IM, read_group(_TEMPER, 1)),
    rule("birth_year", r"(?:[Ii] was|[Ii]'m) born in ", read_group(_YEAR)),
    rule("birthday", r"[Ii] was born on ", read_group(_DATE)),
    rule("birthday", r"[Mm]y birthday(?: is|'s)(?: on)? ", read_group(_DATE)),
    rule("born_in", r"[Ii] was born (?:and raised )?in ", read_place),
    rule("grew_up_in", rf"[Ii] {ADV}grew up in ", read_place),
    rule("age", IM, read_age(AGE_OLD)),
    rule("age", rf"[Ii] {ADV}(?:just )?turned ", read_age(_AGE)),
    rule("age", r"[Ii]'m (?=\d\d(?:\s*[;!]|[.,](?!\d)(?! ?\d\d\b)|\s*$| and (?!a half|\d)))", read_age(regex(r"(\d\d)\b"))),
    rule("age", rf"{IM}an? (?=\d{{1,3}}-years?-old\b)", read_age(regex(r"(\d{1,3})-years?-old"))),
    rule("religion", IM + r"(?:an? )?(?:practi[cs]ing |devout )?", read_group(_RELIGION)),
    rule("height", rf"{IM}", read_group(_HEIGHT, 1)),
    rule("height", r"[Mm]y height is ", read_group(_HEIGHT_BARE)),
    rule("phone", r"[Mm]y (?:(?:new|mobile|cell|work|home) )?(?:phone|mobile|cell)?(?: ?number)?(?: is|'s) (?=[+(]?\d)", read_group(_PHONE)),
    rule("email", r"[Mm]y (?:(?:new|work|private) )?e-?mail(?: address)?(?: is|'s) ", read_group(_EMAIL)),
    rule("pronouns", r"[Mm]y pronouns are |[Ii] (?:use|go by) (?=(?:she|he|they|ze)/)", read_group(_PRONOUNS)),
    rule("education", rf"[Ii] {ADV}(?:have|hold|got|earned|did|completed|finished) (?=(?:an?|my) )", read_group(_DEGREE, 1)),
    rule("nationality", IM, read_group(NATIONALITY)),
    rule("marital_status", IM, read_group(_MARITAL, 1)),
    rule("marital_status", rf"(?:[Ii]|[Ww]e) {ADV}got ", read_group(regex(r"(married|divorced|engaged)(?=\s*(?:[,.;!]|$|(?:in|last|on|this|yesterday|to [A-Z]|two|three|a few)\b))"), 1)),
    rule("marital_status", IVE + r"been (?:happily )?", read_group(regex(r"(married)(?= (?:for|since)\b)"), 1)),
)  # fmt: skip
