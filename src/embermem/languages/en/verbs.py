"""Verbs and their forms: the irregular ones of verbs.txt, the rest by rule."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from embermem.core.patterns import regex
from embermem.languages.language import words_of

Form = Literal["base", "third", "past", "participle", "gerund"]
_VOWELS = "aeiou"
_DOUBLED = regex(r"(?:^|[^aeiou])(?:[aeiou]|qui)([bdgmnprt])$")
_STRESSED_LAST = frozenset(
    "admit commit prefer refer regret begin submit control enrol occur transfer forget upset".split()
)


class Verb(NamedTuple):
    """A form of a verb: its base, and which forms it can be."""

    base: str
    forms: frozenset[Form]


@cache
def forms() -> dict[str, Verb]:
    """Every known form of a verb; of two verbs with one form, the one that has it as its base or is first listed."""
    found: dict[str, dict[str, set[Form]]] = {}
    for word in sorted(words_of("en", "verbs")):
        base, *rest = word.split("/")
        past = rest[0].split("|") if rest else [past_of(base), *_british(base, "ed")]
        participle = rest[1].split("|") if len(rest) > 1 else past
        for form, spelt in (
            ("base", [base]),
            ("third", [third(base)]), ("gerund", [gerund(base), *_british(base, "ing")]), ("past", past),
            ("participle", participle),
        ):  # fmt: skip
            for one in spelt:
                found.setdefault(one, {}).setdefault(base, set()).add(form)  # type: ignore[arg-type]
    return {one: _preferred(one, bases) for one, bases in found.items()}


def _preferred(form: str, bases: dict[str, set[Form]]) -> Verb:
    """ "found" is find, not found; "lay" is lay."""
    base = max(bases, key=lambda one: (len(bases[one]), one != form, one))
    return Verb(base, frozenset(bases[base]))


def verb(word: str) -> Verb | None:
    """What a lower-cased word is as a verb; an unknown word that ends in -ed is a past form. None for any other."""
    known = forms().get(word)
    if known is None and len(word) > 4 and word.endswith("ed") and not word.endswith("eed") and word.isalpha():
        return Verb(_before(word[:-2]), frozenset(("past", "participle")))
    return known


def base_of_gerund(word: str) -> str | None:
    """ "making" → "make"; None for a word that is no gerund."""
    if len(word) < 5 or not word.endswith("ing"):
        return None
    known = forms().get(word)
    if known is not None and "gerund" in known.forms:
        return known.base
    return _before(word[:-3]) if any(c in "aeiouy" for c in word[:-3]) else None


def third(base: str) -> str:
    """ "goes", "studies", "watches"."""
    if base == "have":
        return "has"
    if base == "be":
        return "is"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def gerund(base: str) -> str:
    """ "making", "running", "lying"."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    return (base + base[-1] if _doubles(base) else base) + "ing"


def past_of(base: str) -> str:
    """The regular past: "baked", "stopped", "studied"."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    return (base + base[-1] if _doubles(base) else base) + "ed"


def _british(base: str, ending: str) -> list[str]:
    """ "cancelled", "travelling"."""
    return [base + "l" + ending] if re.search(r"[aeiouy].*[^aeiou][aeiou]l$", base) else []


def _doubles(base: str) -> bool:
    syllables = len(re.findall(r"[aeiouy]+", base.replace("qu", "q")))
    return _DOUBLED.search(base) is not None and (syllables == 1 or base in _STRESSED_LAST)


def _before(stem: str) -> str:
    """The likely base of what stands before -ed or -ing."""
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem.endswith("i"):
        return stem[:-1] + "y"
    return stem + "e" if re.search(r"(?:[cvuz]|[^s]s|[aeiou][kmt]|[dlrn]g|at|iz|[^aeiou]l)$", stem) else stem


@cache
def _pasts() -> dict[str, str]:
    rows = (word.split("/") for word in words_of("en", "verbs"))
    return {base: rest[0].split("|")[0] for base, *rest in rows if rest}


def past(base: str) -> str:
    """The past of a verb: "went", "baked"."""
    return _pasts().get(base) or past_of(base)
