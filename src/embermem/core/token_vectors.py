"""The vectors of a text's tokens. The module imports nothing, so that an encoder starts without the protocols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embermem.core.types import Vectors

__all__ = ["TokenVectors"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TokenVectors:
    """One text's tokens: `words` (t,), the word that each stands in, as it was cut out of the text (lower case), and
    `vectors` float32 (t, token_dim), L2 norm 1. Several tokens may stand in one word; t = 0 for nothing to embed."""

    words: tuple[str, ...]
    vectors: Vectors
