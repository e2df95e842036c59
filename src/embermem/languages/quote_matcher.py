"""Knowing sentences again in a summary that quotes them: by how they begin, since a summary may have cut them."""

from __future__ import annotations

from collections.abc import Iterable

from embermem.core.patterns import regex
from embermem.languages.words import sentences

__all__ = ["Probes", "flat", "probes_of"]

_PROBE = 24
"""By so many characters a sentence is known again."""
_STARTS = regex(r"(?:^|(?<=[\s：\"]))\S")
"""Where a sentence of a summary may begin: after a space, the name of a speaker, or a mark of JSON."""


def probes_of(texts: Iterable[str]) -> frozenset[str]:
    """How the sentences of texts begin."""
    return frozenset(
        piece[:_PROBE] for text in texts for start, end in sentences(text) if (piece := flat(text[start:end]))
    )


def flat(text: str) -> str:
    """A text on one line, with single spaces."""
    return " ".join(text.split())


class Probes:
    """Beginnings of sentences, all looked for at once: what that takes does not grow with how many they are."""

    def __init__(self, probes: Iterable[str]) -> None:
        self._probes = frozenset(probes)
        self._lengths = sorted({len(probe) for probe in self._probes})

    def in_(self, text: str) -> bool:
        """Whether a sentence of theirs begins in the text."""
        if len(self._probes) <= len(self._lengths) * 4:
            return any(probe in text for probe in self._probes)
        probes = self._probes
        return any(
            text[at : at + length] in probes
            for at in (match.start() for match in _STARTS.finditer(text))
            for length in self._lengths
        )
