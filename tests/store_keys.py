"""Where a store's key of forgotten values lies."""

from __future__ import annotations

from pathlib import Path

from embermem import OwnerMemory
from lives import store_of


def key_of(alice: OwnerMemory) -> Path:
    """On whichever engine."""
    return store_of(alice)._database.key_file
