"""Which embedder a command means where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embermem.embedders.weights import find_weights

if TYPE_CHECKING:
    from embermem.core.config import Settings

AUTO, MINILM, HASHED = "auto", "minilm", "hashed"


def wanted(named: str | None, settings: Settings) -> str:
    """The embedder named, else the one set, else the best that is here."""
    for name in (named, settings.embedder):
        if name not in (None, AUTO):
            return str(name)
    return best()


def best() -> str:
    """The best whose weights are here."""
    return HASHED if find_weights() is None else MINILM
