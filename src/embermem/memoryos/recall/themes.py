"""A few themes on which a goal or a limit of the user bears on a query that shares no word with it.

A burger bears on a wish to get slimmer, and a laptop on a budget. Plain words, because no vector of a short sentence
knows it: docs/research/recall.md has what it changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from embermem import languages
from embermem.core.types import Fact
from embermem.languages.parts import NEVER, ThemeWords

__all__ = ["bears_on", "themes_of"]


_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "food": frozenset({"allergic_to", "avoids", "diet", "on_diet"}),
    "money": frozenset({"budget", "saves_for"}),
    "body": frozenset({"cannot", "health", "has_condition", "afraid_of"}),
    "smoke": frozenset(),
    "time": frozenset({"prepares_for"}),
}
"""The themes, and which attributes belong to each whole; of others, those whose text says so."""


def themes_of(query: str) -> frozenset[str]:
    """The themes that a query touches."""
    return frozenset(name for name in _ATTRIBUTES if _ASKED[name].search(query))


def bears_on(fact: Fact, themes: Collection[str]) -> bool:
    """Whether the fact belongs to one of these themes."""
    return any(
        name in themes and (fact.attribute in attributes or _TOLD[name].search(fact.text) is not None)
        for name, attributes in _ATTRIBUTES.items()
    )


def _words(name: str, kind: Callable[[ThemeWords], str]) -> re.Pattern[str]:
    return languages.either(lambda one: kind(one.themes[name]) if name in one.themes else NEVER)


_ASKED = {name: _words(name, lambda words: words.asked) for name in _ATTRIBUTES}
_TOLD = {name: _words(name, lambda words: words.told) for name in _ATTRIBUTES}
