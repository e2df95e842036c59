"""Which embedder a command means where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embermem.embedders.weights import find_weights

if TYPE_CHECKING:
    from embermem.core.config import Settings
    from embermem.protocols import Embedder

AUTO, MINILM, HASHED = "auto", "minilm", "hashed"


def wanted(named: str | None, settings: Settings) -> str:
    """The embedder named, else the one set, else the best that is here."""
    for name in (named, settings.embedder):
        if name not in (None, AUTO):
            return str(name)
    return HASHED if find_weights() is None else MINILM


def bare(settings: Settings) -> Embedder:
    """The embedder that a new store would have, on its own."""
    from embermem import bootstrap

    return bootstrap.make_embedder(wanted(None, settings), settings)
