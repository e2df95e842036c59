"""The available languages, and the detection of a text's language.

Each folder next to this module that is named by a language code and defines `LANGUAGE` is one; there is no other list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, TypeVar

from embermem.core.patterns import regex
from embermem.core.sensitive import SecretWords
from embermem.core.text import fold
from embermem.languages.language import Language
from embermem.languages.parts import NEVER

__all__ = [
    "all",
    "alternatives",
    "any_of",
    "by_signs",
    "default",
    "either",
    "finder",
    "gender",
    "merged",
    "named",
    "of",
    "of_signs",
    "secret_words",
    "signed",
    "spelled",
]

DEFAULT: Final = "en"
"""The default language, for text that no other language claims."""
_CODE = regex("[a-z]{2,3}")
_LATIN = regex("[A-Za-z]")
"""How many words of a text tell its language, and the least share of function words in it."""
_SPELLED = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*'?")
_SPELLED_IN_ASCII = re.compile(r"[a-z]+(?:'[a-z]+)*'?")
_LOOKS_AT = 2_000
"""Characters of a text whose function words say what language it is spelled in."""
_LETTERS = 0.5
"""What letters of its own are worth to a language, in words."""
_OWN = 8
"""A text is Japanese if it has at least one kana for so many Han characters: talk has one for each, a heading with の
one for four or five; a Chinese sentence with the name of a Japanese shop has less (ours)."""
_AT_WORD = r"\b"
_MORE_CASES = frozenset("\u0130\u0131\u017f")
"""What matches a letter of ASCII in either case, but is not that letter in lower case."""
_ESCAPED = re.compile(r"\\.")
_PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
"""What a pattern is made of: an escaped character, a set of characters, or a character."""
_Value = TypeVar("_Value")


@cache
def all() -> tuple[Language, ...]:
    """Every language, the default first, the others by their codes."""
    room = "embermem.languages"
    paths = import_module(room).__path__
    codes = [one.name for one in iter_modules(paths) if one.ispkg and _CODE.fullmatch(one.name)]
    found = [import_module(f"{room}.{code}").LANGUAGE for code in codes]
    return tuple(sorted(found, key=lambda one: (one.code != DEFAULT, one.code)))


def named(code: str) -> Language:
    """The language with this code. Raises LookupError for an unknown one."""
    for language in all():
        if language.code == code:
            return language
    known = ", ".join(language.code for language in all())
    raise LookupError(f"there is no language {code!r}; known: {known}")


def default() -> Language:
    """The default language, for text that no other language claims."""
    return all()[0]


def of(text: str) -> Language:
    """The language in which a text is mostly written; a character of only one language counts as two letters."""
    if not text.isascii():
        for language, count in _counted(text):
            if 2 * count > len(_LATIN.findall(text)):
                return language
    return spelled(text)


def by_signs(text: str) -> Language:
    """The first language one of whose own signs stands in a text, be it a name only; `spelled`, if there is none."""
    return of_signs(text) or spelled(text)


def of_signs(text: str) -> Language | None:
    """The same; None if there is none."""
    return None if text.isascii() else next((language for language, _ in _counted(text)), None)


def _counted(text: str) -> Iterator[tuple[Language, int]]:
    """The languages with signs of their own that stand in a text, each with their number; first those that share the
    signs of another, with these, unless they are few among them."""
    for language, signs in signed():
        count = len(signs.findall(text))
        if count and language.shares:
            shared = len(_signs_of(language.shares).findall(text))
            count = count + shared if _OWN * count >= shared else 0
        if count:
            yield language, count


@cache
def _signs_of(code: str) -> re.Pattern[str]:
    return re.compile(f"[{named(code).signs}]")


def spelled(text: str) -> Language:
    """The language of what a text has in letters that languages share, by its function words; the default in doubt."""
    return _spelled(fold(text[:_LOOKS_AT]))


@lru_cache(maxsize=4096)
def _spelled(folded: str) -> Language:
    several, telling = _sharing(), _telling()
    words = (_SPELLED_IN_ASCII if folded.isascii() else _SPELLED).findall(folded)
    found: dict[Language, float] = dict.fromkeys(several, 0)
    for word in words:
        known: Collection[Language] = telling.get(word, ())
        if "'" in word:  # "j'habite": it begins with a word that lost its vowel
            known = {*known, *telling.get(word[: word.index("'") + 1], ())}
        for language in known:
            found[language] += 1
    if not folded.isascii():
        for language in several:
            if found[language] and any(letter in folded for letter in language.own_letters):
                found[language] += _LETTERS
    best = max(several, key=found.__getitem__)
    tells = found[best] > found[several[0]] and best.is_written_in(words)
    # "e", "no": words of several languages
    return best if tells and not (folded.isascii() and max(map(len, words)) <= 2) else several[0]


@cache
def _telling() -> dict[str, list[Language]]:
    """The languages of which a word tells that a text is theirs, by the word."""
    found: dict[str, list[Language]] = {}
    for language in _sharing():
        for word in language.telling_words or language.stop_words:
            found.setdefault(word, []).append(language)
    return found


def alternatives(part: Callable[[Language], str]) -> str:
    """The patterns of all languages for a field, joined as alternatives."""
    found = dict.fromkeys(pattern for language in all() if (pattern := part(language)) != NEVER)
    return "|".join(found) or NEVER


def either(part: Callable[[Language], str], flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """The pattern of these alternatives, compiled when it is first used."""
    return regex(lambda: alternatives(part), flags)


def finder(part: Callable[[Language], str]) -> Callable[[str], re.Match[str] | None]:
    """What searches a text for the first place where the pattern of `either` matches: of the match, no more than its
    start is to be relied on. It takes a third of the time: alternatives without capital letters are searched in lower
    case."""
    every = either(part)

    @cache
    def by_case() -> tuple[re.Pattern[str], re.Pattern[str] | None]:
        lower, others = list[str](), list[str]()
        for one in _split(alternatives(part)):
            letters = _ESCAPED.sub("", one)
            (lower if letters == letters.lower() else others).append(one)
        with_capitals = re.compile("|".join(others), re.IGNORECASE) if others else None
        return re.compile("|".join(lower) or NEVER), with_capitals

    def find(text: str) -> re.Match[str] | None:
        if not text.isascii() and not _MORE_CASES.isdisjoint(text):
            return every.search(text)
        lower, others = by_case()
        found = lower.search(text.lower()), None if others is None else others.search(text)
        return min((match for match in found if match is not None), key=lambda match: match.start(), default=None)

    return find


def any_of(part: Callable[[Language], str], flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern that occurs in a text where that of `either` does, for whom asks no more than that: which of the
    alternatives matches is left open. It takes a half to a quarter of the time: those that begin a word are tried where
    a word begins only, and those without letters that have a case are compared as they are. It is compiled when it is
    first used."""
    return regex(lambda: _rearranged(alternatives(part)), flags)


def _rearranged(pattern: str) -> str:
    at_words: list[str] = []
    caseless: list[str] = []
    others: list[str] = []
    for one in _split(pattern):
        if one.startswith(_AT_WORD):
            at_words.append(one.removeprefix(_AT_WORD))
        else:
            letters = _ESCAPED.sub("", one)
            (caseless if letters.lower() == letters.upper() else others).append(one)
    if at_words:
        others.append(f"{_AT_WORD}(?:{'|'.join(at_words)})")
    if caseless:
        others.append(f"(?-i:{'|'.join(caseless)})")
    return "|".join(others)


def _split(pattern: str) -> list[str]:
    """The alternatives of a pattern that stand in no group."""
    found, depth = [""], 0
    for piece in _PIECES.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += piece
    return found


def merged(part: Callable[[Language], Mapping[str, _Value]]) -> dict[str, _Value]:
    """The entries of all languages for a field, by key; the first language with a key wins."""
    return {key: value for language in reversed(all()) for key, value in part(language).items()}


def gender(word: str) -> str | None:
    """The gender that a word names: "female" or "male"; None for any other word."""
    return _genders().get(word.strip().lower())


def secret_words() -> SecretWords:
    """The names of secrets in all languages."""
    return SecretWords(
        password=alternatives(lambda one: one.secrets.password),
        key=alternatives(lambda one: one.secrets.key),
        equals=alternatives(lambda one: one.secrets.equals),
        ends="".join(language.secrets.ends for language in all()),
        hints=tuple(dict.fromkeys(hint for language in all() for hint in language.secrets.hints)),
    )


@cache
def _genders() -> dict[str, str]:
    return merged(lambda one: one.guards.genders)


@cache
def _sharing() -> tuple[Language, ...]:
    return tuple(language for language in all() if not language.signs)


@cache
def signed() -> tuple[tuple[Language, re.Pattern[str]], ...]:
    """The languages with characters of their own, each with the pattern of one character; first those that share the
    characters of another."""
    found = sorted((language for language in all() if language.signs), key=lambda one: not one.shares)
    return tuple((language, re.compile(f"[{language.signs}]")) for language in found)
