"""A few themes on which a goal or a limit of the user bears on a query that shares no word with it.

A burger bears on a wish to get slimmer, and a laptop on a budget: no vector of one short sentence is near to the
other's. A theme has words by which a query or a fact is of it. docs/concepts/recall.md describes the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from embermem import languages
from embermem.core.attributes import Kind, kind
from embermem.core.types import Fact
from embermem.languages.parts import NEVER, ThemeWords
from embermem.languages.questions import asks_for_advice

__all__ = ["bears_on", "states_taste", "themes_of"]

_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "food": frozenset({"allergic_to", "avoids", "diet", "on_diet", "gives_up", "cuts_down_on"}),
    "money": frozenset({"budget", "saves_for"}),
    "body": frozenset({"cannot", "health", "has_condition", "afraid_of"}),
    "smoke": frozenset(),
    "time": frozenset({"prepares_for"}),
    "travel": frozenset({"afraid_of", "cannot"}),
    "gifts": frozenset(),
    "media": frozenset(),
    "home": frozenset(),
    "work": frozenset(),
    "company": frozenset({"afraid_of"}),
}
"""The themes, and which attributes belong to each whole; of others, those whose text says so."""
_WHATEVER_IS_ASKED = frozenset({"food", "money", "body", "smoke", "time"})
"""The themes of which goals and limits bear on any query; those of the others only on one that asks for advice."""


def themes_of(query: str) -> frozenset[str]:
    """The themes of which facts bear on a query, by the words in it."""
    lowered = query.lower()
    themes = _ATTRIBUTES if asks_for_advice(query) else _WHATEVER_IS_ASKED
    return frozenset(name for name in themes if _ASKED[name].search(lowered))


def states_taste(fact: Fact, themes: Collection[str]) -> bool:
    """Whether the fact is what somebody likes or dislikes, and has a word of one of these themes."""
    lowered = fact.text.lower()
    return kind(fact.attribute) is Kind.TASTE and any(
        _ASKED[name].search(lowered) or _TOLD[name].search(lowered) for name in themes
    )


def bears_on(fact: Fact, themes: Collection[str]) -> bool:
    """Whether the fact belongs to one of these themes."""
    return any(
        name in themes and (fact.attribute in attributes or _TOLD[name].search(fact.text.lower()) is not None)
        for name, attributes in _ATTRIBUTES.items()
    )


def _words(name: str, kind: Callable[[ThemeWords], str]) -> re.Pattern[str]:
    """A pattern for texts in small letters, in which it takes a third of the time that it takes in any."""
    return languages.any_of(lambda one: kind(one.themes[name]) if name in one.themes else NEVER, re.NOFLAG)


_ASKED = {name: _words(name, lambda words: words.asked) for name in _ATTRIBUTES}
_TOLD = {name: _words(name, lambda words: words.told) for name in _ATTRIBUTES}
