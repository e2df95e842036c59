"""How much a test does: a bounded part in `make test`, more in `make proofs`."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")
PROOFS = "proofs"
"""The name of the hypothesis profile of `--proofs`."""


def bounded(quick: T, *, proofs: T) -> T:
    """A number of examples, lives, kills or seeds: the first in `make test`, the second in `make proofs`."""
    return proofs if settings.get_current_profile_name() == PROOFS else quick
