"""What is embedded and what is indexed of an utterance: one home for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from embermem.index.late import packed
from embermem.index.passages import passages
from embermem.languages.words import date_words
from embermem.protocols import TokenEmbedder, VectorBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from embermem.core.types import Utterance
    from embermem.protocols import Embedder

__all__ = ["embedded", "embedded_texts", "indexed_text"]


def embedded_texts(utterance: Utterance) -> list[str]:
    """The texts an embedder is given for an utterance, one a passage: what was said. Speaker and date are left to
    BM25."""
    return [utterance.text[start:end] for start, end in passages(utterance.text)]


def embedded(embedder: Embedder, utterances: Sequence[Utterance]) -> VectorBatch:
    """The vectors of the utterances' passages, and their packed tokens, none by an embedder without token vectors."""
    texts = [(one.seq, text) for one in utterances for text in embedded_texts(one)]
    seqs = [seq for seq, _ in texts]
    if not isinstance(embedder, TokenEmbedder):
        return VectorBatch(embedder=embedder.name, seqs=seqs, vectors=embedder.embed([text for _, text in texts]))
    vectors, tokens = embedder.embed_tokens([text for _, text in texts])
    return VectorBatch(embedder=embedder.name, seqs=seqs, vectors=vectors, tokens=[packed(one) for one in tokens])


def indexed_text(utterance: Utterance, passage: str) -> str:
    """The text whose terms BM25 indexes: "Speaker: text" and the date, as it may be asked for."""
    return f"{utterance.speaker}: {passage} {date_words(passage, utterance.said_at)}"
