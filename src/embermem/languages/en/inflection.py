"""Forms of one word that mean the same in a value."""

from __future__ import annotations

from embermem.languages.en.words import stem

_PLURALS = (frozenset({"", "s"}), frozenset({"", "es"}), frozenset({"y", "ies"}))
_DOING = frozenset({"ing"})
_BASE = frozenset({"", "e", "s", "es"})


def inflected(one: str, other: str, *, counted: bool) -> bool:
    """Singular and plural, of what is not `counted` ("a dog" is not "dogs"); "hike" and "hiking"."""
    if not (one.isalpha() and other.isalpha()) or stem(one) != stem(other):
        return False
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    ends = {one[shared:], other[shared:]}
    if ends in _PLURALS:
        return not counted
    if len(ends) == 2 and shared:  # a doubled consonant: run, running
        ends = {end[1:] if end[:1] == one[shared - 1] and end[1:] == "ing" else end for end in ends}
    return bool(ends & _DOING) and bool(ends - _DOING) and (ends - _DOING) <= _BASE
