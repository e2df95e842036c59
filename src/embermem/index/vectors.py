"""What is embedded and what is indexed of an utterance: one home for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embermem.index.late import packed
from embermem.languages.words import date_words
from embermem.protocols import TokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from embermem.core.types import Utterance, Vectors
    from embermem.protocols import Embedder

__all__ = ["embedded", "embedded_text", "indexed_text"]


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
    """The text whose terms BM25 indexes: "Speaker: text" and the date, as it may be asked for."""
    return f"{utterance.speaker}: {utterance.text} {date_words(utterance.text, utterance.said_at)}"
