"""A few themes on which a goal or a limit of the user bears on a query that shares no word with it.

A burger bears on a wish to get slimmer, and a laptop on a budget: no vector of one short sentence is near to the
other's. A theme has words that touch on it, and examples; a query that is near to an example is of the theme too.
docs/research/recall.md has what it changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from embermem import languages
from embermem.core.types import Fact
from embermem.languages.parts import NEVER, ThemeWords

__all__ = ["THEME_NEAR", "bears_on", "theme_examples", "themes_of"]

THEME_NEAR = 0.35
"""The cosine of a query to an example of a theme from which it is of that theme. Of fifteen queries of other matters
none was above 0.30; of seventeen about food three were below 0.35, which have words of their own (MiniLM)."""


_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "food": frozenset({"allergic_to", "avoids", "diet", "on_diet", "gives_up", "cuts_down_on"}),
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


def theme_examples() -> Mapping[str, tuple[str, ...]]:
    """Questions of each theme, in all languages."""
    return {
        name: tuple(text for language in languages.all() for text in language.theme_examples.get(name, ()))
        for name in _ATTRIBUTES
    }


_ASKED = {name: _words(name, lambda words: words.asked) for name in _ATTRIBUTES}
_TOLD = {name: _words(name, lambda words: words.told) for name in _ATTRIBUTES}
