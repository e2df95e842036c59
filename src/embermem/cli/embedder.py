"""Which embedder a command means where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embermem.embedders.weights import find_weights

if TYPE_CHECKING:
    from embermem.core.config import Settings

AUTO, E5, HASHED = "auto", "e5", "hashed"


def wanted(named: str | None, settings: Settings) -> str:
    """The embedder named, else the one set, else the best that is installed."""
    for name in (named, settings.embedder):
        if name not in (None, AUTO):
            return str(name)
    return best()


def best() -> str:
    """The best whose weights are installed."""
    return HASHED if find_weights() is None else E5
