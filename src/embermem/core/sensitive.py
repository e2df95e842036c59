"""Sensitive texts, found and taken out before anything is stored: keys, tokens, passwords, card numbers, IBANs.

`secrets` is the built-in finder; a caller may bring one of their own. Nothing here is reversible, and nothing keeps a
word of what it took out. Every search is linear in the text's length: each looks a bounded way on from where it stands.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from embermem.core.errors import InputError
from embermem.core.patterns import regex

__all__ = ["KINDS", "Finder", "Found", "Redacted", "SecretWords", "finders", "redacted", "secrets"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A sensitive part of a text: the characters [start, end), and in a word or two what they are ("card number")."""

    kind: str
    start: int
    end: int


Finder = Callable[[str], Iterable[Found]]
"""What finds sensitive parts of a text, in any order; they may overlap."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Redacted:
    """A text without what was found in it. `places` are the characters of `text` that stand in the place of each;
    `taken` those that it had in the text before, [start, end)."""

    text: str
    places: tuple[Found, ...] = ()
    taken: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SecretWords:
    """What names a secret beside its value. Patterns of a verbose expression: white space is written `[ ]`."""

    password: str = r"(?!)"
    key: str = r"(?!)"
    equals: str = r"(?!)"
    """Between name and value."""
    hints: tuple[str, ...] = ()
    """In lower case; one of them stands wherever a name is found."""
    ends: str = ""
    """The class of characters that end a value with no blank behind it."""


_LONGEST_KIND = 64
_AGAIN_AT_LEAST = 6
"""Characters of a found value that is looked for in the rest of its text: a shorter one may be any word."""
_AGAIN_AT_MOST = 64
"""Values that are looked for again, so that a text made of passwords is read in time."""


def redacted(texts: Sequence[str], finders: Sequence[Finder], wheres: Sequence[str]) -> list[Redacted]:
    """Texts that come together, each sensitive part replaced by `[redacted: KIND]`; parts that overlap become one.

    What is found in one place is taken out wherever it stands in these texts. `wheres` name them in errors. Raises
    InputError where a finder raises, or gives what is no part of its text.
    """
    found = [
        [one for finder in finders for one in _asked(finder, text, where)] if text else []
        for text, where in zip(texts, wheres, strict=True)
    ]
    if not any(found):
        return [Redacted(text=text) for text in texts]
    known = _known(texts, found)
    return [_without(text, _joined([*own, *_again(text, known)])) for text, own in zip(texts, found, strict=True)]


@cache
def secrets(words: SecretWords) -> Finder:
    """Finds what in a text is a secret by its form: private keys, tokens of well-known services, passwords and keys
    that are named as such in these words, card numbers, IBANs. Those that overlap are all given."""
    searches = (_private_keys, _tokens, _Assigned(words), _cards, _ibans)
    return lambda text: tuple(one for search in searches for one in search(text))


def finders(setting: str, words: Callable[[], SecretWords], own: Finder | None = None) -> tuple[Finder, ...]:
    """The finders in use: those that the setting `redact` names, and the caller's own; `words` says what names a
    secret. Raises InputError for a finder of the caller's that cannot be called."""
    if own is not None and not callable(own):
        raise InputError(f"filter = {type(own).__name__} cannot be called; give a function of a text")
    built_in: tuple[Finder, ...] = (secrets(words()),) if setting == "secrets" else ()
    return built_in if own is None else (*built_in, own)


# ------------------------------------------------------------------------------------------------------------- finding


def _asked(finder: Finder, text: str, where: str) -> list[Found]:
    """What a finder gives, checked. It may be a caller's, and its errors may say what the text says: none is shown."""
    try:
        given = list(finder(text))
    except Exception as error:  # noqa: BLE001 - whatever it is, its words are not passed on
        name = type(error).__name__
        raise InputError(f"the filter failed on {where} with a {name}; nothing was stored") from None
    for one in given:
        if not isinstance(one, Found):
            raise InputError(f"the filter gave a {type(one).__name__} for {where}, not a Found; nothing was stored")
        if not _whole(one.start) or not _whole(one.end) or not 0 <= one.start < one.end <= len(text):
            raise InputError(
                f"the filter gave characters {one.start!r} to {one.end!r} of {where}, which has {len(text)}; "
                "nothing was stored"
            )
        if not isinstance(one.kind, str) or not _is_kind(one.kind):
            raise InputError(
                f"the filter gave a kind for {where} that is no plain word or two of at most {_LONGEST_KIND} "
                "characters; nothing was stored"
            )
    return given


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _is_kind(kind: str) -> bool:
    return bool(kind.strip()) and len(kind) <= _LONGEST_KIND and kind.isprintable() and not set(kind) & set("[]")


def _known(texts: Sequence[str], found: Sequence[Sequence[Found]]) -> dict[str, str]:
    """The kinds of what was found, by its words; the longest ones, of those that are no common words."""
    kinds: dict[str, str] = {}
    for text, own in zip(texts, found, strict=True):
        for one in own:
            if one.end - one.start >= _AGAIN_AT_LEAST:
                kinds.setdefault(text[one.start : one.end], one.kind)
    return {value: kinds[value] for value in sorted(kinds, key=len, reverse=True)[:_AGAIN_AT_MOST]}


def _again(text: str, known: Mapping[str, str]) -> Iterator[Found]:
    """Where the same words stand in a text."""
    if known:
        for match in re.finditer("|".join(re.escape(value) for value in known), text):
            yield Found(kind=known[match[0]], start=match.start(), end=match.end())


def _without(text: str, parts: Sequence[Found]) -> Redacted:
    """The text with something else in the place of these parts, which are in order and do not overlap."""
    pieces: list[str] = []
    places: list[Found] = []
    done = length = 0
    for part in parts:
        instead = f"[redacted: {part.kind}]"
        pieces += [text[done : part.start], instead]
        length += part.start - done
        places.append(Found(kind=part.kind, start=length, end=length + len(instead)))
        length += len(instead)
        done = part.end
    taken = tuple((part.start, part.end) for part in parts)
    return Redacted(text="".join([*pieces, text[done:]]), places=tuple(places), taken=taken)


def _joined(found: Iterable[Found]) -> list[Found]:
    """In order, those that overlap as one, of the kind of the longest of them."""
    joined: list[Found] = []
    longest = 0
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        length = one.end - one.start
        if not joined or one.start >= joined[-1].end:
            joined.append(one)
            longest = length
            continue
        last = joined[-1]
        kind = one.kind if length > longest else last.kind
        longest = max(longest, length)
        joined[-1] = Found(kind=kind, start=last.start, end=max(last.end, one.end))
    return joined


# -------------------------------------------------------------------------------------------------------- private keys

_KEY_BEGINS = regex(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = regex(r"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = regex(r"(?:\s*[A-Za-z0-9+/=\\]{16,})*(?:\s*[A-Za-z0-9+/]+={1,2})?")
_LONGEST_KEY = 20_000
"""Characters between the two marks: a key of 16,384 bits has 13,000."""


def _private_keys(text: str) -> Iterator[Found]:
    """From mark to mark; where the second is missing before the next key, what goes on like a key."""
    begins = list(_KEY_BEGINS.finditer(text))
    ends = [match.end() for match in _KEY_ENDS.finditer(text)] if begins else []
    nexts = [*(match.start() for match in begins[1:]), len(text)]
    for match, until in zip(begins, nexts, strict=False):
        place = bisect_left(ends, match.end())
        if place < len(ends) and ends[place] <= min(until, match.end() + _LONGEST_KEY):
            end = ends[place]
        else:
            body = _KEY_BODY.match(text, match.end(), until)
            end = match.end() if body is None else body.end()
        yield Found(kind="private key", start=match.start(), end=end)


# -------------------------------------------------------------------------------------------------------------- tokens

_TOKENS: Mapping[str, str] = {
    "AWS access key": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "GitHub token": r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    "GitLab token": r"gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_.-]{20,}",
    "Slack token": r"(?:xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}",
    "Stripe key": r"(?:(?:sk|rk)_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}",
    "Google key": r"(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})",
    "API key": r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    "Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "npm token": r"npm_[A-Za-z0-9]{30,}",
    "PyPI token": r"pypi-[A-Za-z0-9_-]{40,}",
    "SendGrid key": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "Ember key": r"ember_[A-Za-z0-9]{6,}_[A-Za-z0-9_-]{20,}",
    "JSON web token": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}",
}
"""What each service's begin with, and how they go on."""
_KIND_NAMES = tuple(_TOKENS)
KINDS = ("private key", "password", "token", "card number", "IBAN", *_KIND_NAMES)
"""The kinds of what `secrets` finds."""
_TOKEN = regex("(?<![A-Za-z0-9_-])(?:" + "|".join(f"({pattern})" for pattern in _TOKENS.values()) + ")")


def _tokens(text: str) -> Iterator[Found]:
    for match in _TOKEN.finditer(text):
        yield Found(kind=_KIND_NAMES[(match.lastindex or 1) - 1], start=match.start(), end=match.end())


# ------------------------------------------------------------------------------------------- named as a secret in text

_NAMED = r"""
    (?: (?P<password> {password} )
      | (?P<key> {key} )
      | (?P<authorization> (?: proxy- )?authorization )
    )
    (?: \\? ["'`] )?
    (?: \s{{0,4}} (?: :=? | => | = | ： | ＝ ) \s{{0,4}}  |  {equals} )
    (?: (?: bearer | basic | token | digest | apikey ) \s{{1,4}} )?
    (?: (?P<quote> \\? ["'`] ) )?
    """
_HINTS = ("authorization", "bearer", "basic", "://")
_BEARER = regex(r"(?<![A-Za-z0-9])(?:bearer|basic)\s{1,4}(?=[A-Za-z0-9._~+/=-]{16})", re.IGNORECASE)
_URL_PASSWORD = regex(r"(?<=://)[^\s/:@\"'<>]{0,64}:(?=[^\s/@\"'<>]{3,128}@)")
_TO_AT = regex(r"[^\s/@]+")
_AFTER_VALUE = ".,;:!?)]}\\"
_NO_VALUE = ("$", "{", "<", "(", "[", "%", "*", "&", "os.", "process.", "env.")
"""What a place where a secret will be put begins with."""
_SIGN = regex(r"[^\w\s./,-]")
"""What stands in a password and in no word."""
_LONGEST_VALUE = 128
"""Characters looked at to say whether a value is a secret."""
_PASSWORD_AT_LEAST = 6
_KEY_AT_LEAST = 8
_KEY_BITS = 20.0
"""Shannon entropy of a key or token, times its length: eight letters and digits have 24, "v1.2.3.4" has 18."""


class _Assigned:
    """Values that are named as secrets: `password: …`, `api_key=…`, `Authorization: Bearer …`, `https://user:…@host`.
    A value that a person would read as a word ("password: required") is none."""

    def __init__(self, words: SecretWords) -> None:
        pattern = _NAMED.format(password=words.password, key=words.key, equals=words.equals)
        self._named = re.compile(pattern, re.VERBOSE | re.IGNORECASE)
        ends = f"\\s\"'`<>{words.ends}"
        self._value = re.compile(rf"(?=[^{ends}])[^{ends}&]*(?:&(?![A-Za-z0-9_.-]{{1,40}}=)[^{ends}&]*)*")
        self._hints = (*words.hints, *_HINTS)
        """One of these stands in every text in which anything is found; most texts have none."""

    def __call__(self, text: str) -> Iterator[Found]:
        """What is found in a text."""
        folded, done = text.lower(), 0
        if not any(hint in folded for hint in self._hints):
            return
        for match in self._named.finditer(text):
            if match.end() < done:
                continue
            span = self._span(text, match.end(), match["quote"])
            if span is None:
                continue
            is_password = match["password"] is not None
            if _telling(text[span[0] : min(span[1], span[0] + _LONGEST_VALUE)], is_password):
                done = span[1]
                yield Found(kind="password" if is_password else "token", start=span[0], end=span[1])
        for match in _BEARER.finditer(text):
            span = self._span(text, match.end(), None)
            if span is not None and _telling(text[span[0] : min(span[1], span[0] + _LONGEST_VALUE)], False):
                yield Found(kind="token", start=span[0], end=span[1])
        for match in _URL_PASSWORD.finditer(text):
            value = _TO_AT.match(text, match.end())
            if value is not None and not value[0].startswith(_NO_VALUE):
                yield Found(kind="password", start=value.start(), end=value.end())

    def _span(self, text: str, start: int, quote: str | None) -> tuple[int, int] | None:
        """Where the value stands that begins here: to the closing quote, or to the next blank."""
        if quote is not None:
            end = text.find(quote, start, start + _LONGEST_VALUE)
            if end > start and "\n" not in text[start:end]:
                return start, end
        match = self._value.match(text, start, start + _LONGEST_VALUE)
        if match is None:
            return None
        end = match.end()
        if end == start + _LONGEST_VALUE:
            if not _telling(match[0], False):
                return None
            rest = self._value.match(text, end)
            end = end if rest is None else rest.end()
        while end > start and text[end - 1] in _AFTER_VALUE:
            end -= 1
        return (start, end) if end > start else None


def _telling(value: str, is_password: bool) -> bool:
    """Whether a value looks made up to be kept secret, not written to be read."""
    if value.startswith(_NO_VALUE) or value.endswith("()"):
        return False
    digits, inner = re.search(r"\d", value) is not None, value[1:]
    inner_case = inner != inner.lower() and inner != inner.upper()
    if is_password:
        return len(value) >= _PASSWORD_AT_LEAST and (digits or inner_case or _SIGN.search(value) is not None)
    if len(value) < _KEY_AT_LEAST or " " in value or re.search(r"[A-Za-z]", value) is None:
        return False
    return (digits or (inner_case and len(value) >= 2 * _KEY_AT_LEAST)) and _bits(value) >= _KEY_BITS


def _bits(value: str) -> float:
    """H(value)·|value|: Shannon's entropy of its characters, times their number."""
    n = len(value)
    return sum(-count * math.log2(count / n) for count in Counter(value).values())


# --------------------------------------------------------------------------------------------------- cards and accounts

_SEPARATORS = " \u00a0\u202f\\-\u2010\u2011\u2013"
_DIGITS = regex(rf"\d+(?:[{_SEPARATORS}]\d+)*")
_SHORTEST_CARD, _LONGEST_CARD = 13, 19
_LONGEST_PHONE = 15
"""Digits of a telephone number with its country's (E.164)."""
_CARD_GROUPS = frozenset({(4, 6, 5), (4, 6, 4)})
"""How cards that are not written by fours are: American Express, Diners Club."""


def _cards(text: str) -> Iterator[Found]:
    """Luhn's check, and written as cards are: in one, by fours, or as American Express and Diners Club write them.
    Digits of a word ("hunter2"), and those behind a plus sign, are none."""
    for run in _DIGITS.finditer(text):
        if len(run[0]) < _SHORTEST_CARD:
            continue
        number = run[0] if run[0].isascii() else "".join(str(int(c)) if c.isdigit() else c for c in run[0])
        groups = _alone(text, run.start(), run.end(), [match.span() for match in re.finditer(r"\d+", number)])
        first = 0
        while first < len(groups):
            last = _card_from(number, groups, first)
            if last is None:
                first += 1
                continue
            yield Found(kind="card number", start=run.start() + groups[first][0], end=run.start() + groups[last][1])
            first = last + 1


def _alone(text: str, start: int, end: int, groups: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without groups of digits that belong to a word before or behind, or to a telephone number with its plus sign."""
    if text[start - 1 : start] == "+":
        length, skipped = 0, 0
        while skipped < len(groups) and length + groups[skipped][1] - groups[skipped][0] <= _LONGEST_PHONE:
            length += groups[skipped][1] - groups[skipped][0]
            skipped += 1
        groups = groups[max(1, skipped) :]
    elif _is_ascii_word(text[start - 1 : start]):
        groups = groups[1:]
    return groups[:-1] if _is_ascii_word(text[end : end + 1]) else groups


def _is_ascii_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _card_from(run: str, groups: Sequence[tuple[int, int]], first: int) -> int | None:
    """The last group of the longest card number that begins with this group."""
    found, digits, lengths = None, "", list[int]()
    for place in range(first, len(groups)):
        start, end = groups[place]
        lengths.append(end - start)
        if len(digits) + end - start > _LONGEST_CARD:
            break
        digits += run[start:end]
        written = tuple(lengths)
        if not _issued(digits) or not (len(written) == 1 or _begins_card(written)):
            break
        if len(digits) >= _SHORTEST_CARD and _ends_card(written) and luhn(digits):
            found = place
    return found


def _begins_card(lengths: tuple[int, ...]) -> bool:
    """Whether a card's groups may begin so; the last may be any."""
    return set(lengths[:-1]) == {4} or any(lengths[:-1] == groups[: len(lengths) - 1] for groups in _CARD_GROUPS)


def _ends_card(lengths: tuple[int, ...]) -> bool:
    return len(lengths) == 1 or lengths in _CARD_GROUPS or (set(lengths[:-1]) == {4} and lengths[-1] <= 4)


def _issued(digits: str) -> bool:
    """Whether a payment card may begin so (ISO/IEC 7812): 3 to 6, and the 2200s to 2700s of Mastercard and Mir."""
    return digits[0] in "3456" or "2200" <= digits[:4] <= "2720"


_DOUBLED = str.maketrans("0123456789", "0246813579")
"""Twice a digit, and of that the sum of its digits."""


def luhn(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1): from the right, every second digit doubled, the sum of all digits ends in 0."""
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


_IBAN_LENGTHS: Mapping[str, int] = {
    country: int(length)
    for length, countries in {
        "15": "NO",
        "16": "BE",
        "18": "DK FI FO GL NL",
        "19": "MK SI",
        "20": "AT BA EE KZ LT LU XK",
        "21": "CH HR LI LV",
        "22": "BG BH CR DE GB GE IE ME RS VA",
        "23": "AE GI IL IQ OM SO TL",
        "24": "AD CZ ES MD PK RO SA SE SK TN VG",
        "25": "LY PT ST",
        "26": "IS TR",
        "27": "BI DJ FR GR IT MC MR SM",
        "28": "AL AZ BY CY DO GT HN HU LB NI PL SV",
        "29": "BR EG PS QA UA",
        "30": "JO KW MU",
        "31": "MT SC",
        "32": "LC",
        "33": "RU",
    }.items()
    for country in countries.split()
}
"""Characters of an IBAN by country: the IBAN registry of SWIFT."""
_IBAN = regex(rf"(?<![A-Za-z0-9])([A-Za-z]{{2}})(?=\d\d(?:[{_SEPARATORS}]?[A-Za-z0-9]){{11}})")
_ALNUM = regex(r"[A-Za-z0-9]", re.ASCII)


def _ibans(text: str) -> Iterator[Found]:
    """As long as the country's are, and right by the check of ISO 7064 (mod 97-10)."""
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[1].upper())
        end = None if length is None else _iban_end(text, match.start(), length)
        if end is not None and not _is_ascii_word(text[end : end + 1]):
            letters = "".join(_ALNUM.findall(text[match.start() : end]))
            if iban(letters):
                yield Found(kind="IBAN", start=match.start(), end=end)


def _iban_end(text: str, start: int, length: int) -> int | None:
    """Where so many letters and digits end, with at most one blank or dash between two."""
    place, seen, gap = start, 0, False
    while seen < length and place < len(text):
        char = text[place]
        if char.isascii() and char.isalnum():
            seen, gap = seen + 1, False
        elif gap or not re.match(f"[{_SEPARATORS}]", char):
            return None
        else:
            gap = True
        place += 1
    return place if seen == length else None


def iban(letters: str) -> bool:
    """ISO 7064, mod 97-10: the first four characters moved to the end, letters as 10 to 35, leave 1."""
    moved = letters[4:] + letters[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1
