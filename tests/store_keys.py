"""Where a store's key of forgotten values lies."""

from __future__ import annotations

from pathlib import Path

from embermem import OwnerMemory
from embermem.store.forgotten_key import KeyFile
from lives import store_of


def key_of(alice: OwnerMemory) -> Path:
    """On whichever engine."""
    key = store_of(alice)._database.key
    assert isinstance(key, KeyFile)
    return key.file
