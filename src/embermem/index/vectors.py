"""What is embedded of an utterance, and how a page gets its vector: one home for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embermem.index.late import packed
from embermem.protocols import TokenEmbedder
from embermem.text import has_cjk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from embermem.protocols import Embedder
    from embermem.types import Utterance, Vector, Vectors

__all__ = ["date_words", "embedded", "embedded_text", "indexed_text", "page_vector"]

# strftime("%B") would follow the machine's language; the index must not.
_MONTHS = (
    "January February March April May June July August September October November December"
).split()  # fmt: skip


def embedded_text(utterance: Utterance) -> str:
    """The text an embedder is given for an utterance: what was said. Speaker and date are left to BM25."""
    return utterance.text


def embedded(embedder: Embedder, utterances: Sequence[Utterance]) -> tuple[Vectors, list[bytes]]:
    """The utterances' vectors (n, dim), and their packed tokens (n), none by an embedder without token vectors."""
    texts = [embedded_text(utterance) for utterance in utterances]
    if not isinstance(embedder, TokenEmbedder):
        return embedder.embed(texts), []
    vectors, tokens = embedder.embed_tokens(texts)
    return vectors, [packed(one) for one in tokens]


def indexed_text(utterance: Utterance) -> str:
    """The text whose terms BM25 indexes: "Speaker: text" and the date words; for CJK the date in numbers too."""
    said_at = utterance.said_at
    numbers = f" {said_at.month}月{said_at.day}日" if has_cjk(utterance.text) else ""
    return f"{utterance.speaker}: {utterance.text} {date_words(said_at)}{numbers}"


def date_words(moment: datetime) -> str:
    """A day as people write it, in the moment's own zone: "8 May 2023"."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def page_vector(vectors: Vectors) -> Vector:
    """A page's vector: the mean of its utterances' vectors (n, dim), with L2 norm 1.

    Rows of norm 0 (nothing to embed) do not count; without any other the vector is 0, shape (dim,).
    """
    total = np.asarray(vectors, dtype=np.float32).sum(axis=0)
    norm = float(np.sqrt(total @ total))
    return np.asarray(total / norm if norm > 0.0 else total, dtype=np.float32)
