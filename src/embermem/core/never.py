"""What a memory is never to keep, as the setting `never` names it.

An entry is the name of an attribute or of a kind of them ("religion", "health"): no fact of it is kept; a kind of
sensitive content ("card number"), words in double quotes, or a pattern between slashes: these are taken out of a text
before it is stored. Everything else is a sentence, which only a language model understands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from embermem.core.attributes import Attributes, Kind
from embermem.core.errors import ConfigError
from embermem.core.fields import Field
from embermem.core.sensitive import KINDS, Finder, Found

__all__ = ["Never", "Vocabulary", "never_of", "vocabulary"]

_KIND = "private"
"""What stands in place of words and patterns: `[redacted: private]`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Never:
    """What is not kept: `attributes` and kinds of them by name; `kinds` of sensitive content; `patterns` of words;
    `sentences` for a model."""

    attributes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    patterns: tuple[re.Pattern[str], ...] = ()
    sentences: tuple[str, ...] = ()

    def finders(self, secrets: Callable[[], Finder]) -> tuple[Finder, ...]:
        """What finds in a text what is to be taken out of it. `secrets` gives the finder of sensitive content."""
        made: list[Finder] = []
        if self.kinds:
            all_kinds, wanted = secrets(), frozenset(self.kinds)
            made.append(lambda text: [one for one in all_kinds(text) if one.kind in wanted])
        if self.patterns:
            made.append(self._matches)
        return tuple(made)

    def _matches(self, text: str) -> Iterator[Found]:
        for pattern in self.patterns:
            for match in pattern.finditer(text):
                if match.group():
                    yield Found(kind=_KIND, start=match.start(), end=match.end())


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The attributes of one memory, and what it never keeps."""

    attributes: Attributes
    never: Never


@lru_cache(maxsize=64)
def vocabulary(own: tuple[Field, ...], never: tuple[str, ...]) -> Vocabulary:
    """Both, of fields and of the entries of `never`. Raises ConfigError for fields or entries that cannot be used."""
    known = Attributes(own)
    told = never_of(never, known)
    return Vocabulary(Attributes(own, told.attributes), told)


def never_of(entries: Sequence[str], known: Attributes) -> Never:
    """What the entries name. Raises ConfigError for a pattern that is none."""
    names, kinds, patterns, sentences = [], [], [], []
    sensitive = {kind.lower(): kind for kind in KINDS}
    for place, entry in enumerate(entries):
        name = "_".join(re.findall(r"[a-z0-9]+", entry.lower()))
        if len(entry) > 1 and entry[0] == entry[-1] == "/":
            patterns.append(_pattern(entry[1:-1], f"never[{place}]"))
        elif len(entry) > 1 and entry[0] == entry[-1] == '"':
            patterns.append(_words(entry[1:-1], f"never[{place}]"))
        elif known.field(known.canonical(name)) is not None:
            names.append(known.canonical(name))
        elif name in {kind.name.lower() for kind in Kind}:
            names.append(name)
        elif known.knows(known.canonical(name)) and entry.isascii():
            names.append(known.canonical(name))
        elif entry.lower() in sensitive:
            kinds.append(sensitive[entry.lower()])
        else:
            sentences.append(entry)
    return Never(attributes=tuple(names), kinds=tuple(kinds), patterns=tuple(patterns), sentences=tuple(sentences))


def _pattern(text: str, where: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ConfigError(f"{where} = '/{text}/' is not a regular expression: {error}") from error
    if pattern.search("") is not None:
        raise ConfigError(f"{where} = '/{text}/' matches an empty text; give a pattern that needs a character")
    return pattern


def _words(text: str, where: str) -> re.Pattern[str]:
    words = text.split()
    if not words:
        raise ConfigError(f"{where} has no words between its quotes")
    pattern = r"\s+".join(map(re.escape, words))
    return re.compile(rf"(?<!\w){pattern}(?!\w)" if text.isascii() else pattern, re.IGNORECASE)
