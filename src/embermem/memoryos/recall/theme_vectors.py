"""The vectors of the themes' examples: which themes a query is near to, and what preferences of a theme look like."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import numpy as np

from embermem.core import npz
from embermem.core.errors import EmbedderError
from embermem.index.products import cosines
from embermem.memoryos.recall.themes import THEME_NEAR, theme_examples, theme_statements
from embermem.protocols import Embedder

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

__all__ = ["EXAMPLES", "VECTORS", "ThemeVectors", "examples", "key_of"]

VECTORS = "theme_vectors.npz"
"""The examples' vectors by the embedder that a new store gets; `scripts/build_theme_vectors.py` makes the file."""


class ThemeVectors:
    """The vectors of the themes' examples, read from a file, or embedded, when they are first needed. If the embedder
    fails, only words say of what theme a text is, until the next query."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._questions, self._preferences = map(_Examples, EXAMPLES)

    def near(self, vector: Vector | None) -> frozenset[str]:
        """The themes of which an example question is near to a query's vector (dim,)."""
        if vector is None or (known := self._questions.embedded(self._embedder)) is None:
            return frozenset()
        names, vectors = known
        near = (cosines(vectors, vector[None])[:, 0] >= THEME_NEAR).tolist()
        return frozenset(name for name, is_near in zip(names, near, strict=True) if is_near)

    def preferences(self, themes: Collection[str]) -> Vectors | None:
        """The vectors (k, dim) of the example preferences of these themes; None where there are none."""
        if not themes or (known := self._preferences.embedded(self._embedder)) is None:
            return None
        names, vectors = known
        places = [place for place, name in enumerate(names) if name in themes]
        return vectors[places] if places else None


EXAMPLES: Sequence[Callable[[], Mapping[str, tuple[str, ...]]]] = (theme_examples, theme_statements)
"""What gives the examples of each theme: questions, and preferences."""


def examples(texts: Callable[[], Mapping[str, tuple[str, ...]]]) -> tuple[Sequence[str], Sequence[str]]:
    """The theme and the text of each example."""
    told = [(name, text) for name, texts in texts().items() for text in texts]
    names, found = zip(*told, strict=True)
    return names, found


def key_of(embedder: str, texts: Sequence[str]) -> str:
    """The name in the file of what an embedder makes of these texts: other texts have another one."""
    return hashlib.sha256("\n".join((embedder, *texts)).encode()).hexdigest()


class _Examples:
    """Examples of the themes, with their vectors once they were asked for."""

    def __init__(self, texts: Callable[[], Mapping[str, tuple[str, ...]]]) -> None:
        self._texts = texts
        self._known: tuple[Sequence[str], Vectors] | None = None

    def embedded(self, embedder: Embedder) -> tuple[Sequence[str], Vectors] | None:
        """Each example's theme, and the vectors (k, dim); None while the embedder fails."""
        if self._known is None:
            names, texts = examples(self._texts)
            with suppress(EmbedderError):
                vectors = _kept(key_of(embedder.name, texts))
                self._known = names, np.asarray(embedder.embed(texts)) if vectors is None else vectors
        return self._known


def _kept(key: str) -> Vectors | None:
    with as_file(files("embermem.memoryos.recall") / VECTORS) as path, npz.reading(path) as stored:
        return stored[key].astype(np.float32) if key in stored.names else None
