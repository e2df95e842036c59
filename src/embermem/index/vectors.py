"""What is embedded and what is indexed of an utterance: one home for each."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.recent import Recent
from embermem.core.vector_codes import rounded
from embermem.index.late import packed
from embermem.index.passages import passages_of
from embermem.languages.people import no_name
from embermem.languages.words import date_words
from embermem.protocols import TokenEmbedder, VectorBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from embermem.core.types import Utterance, Vector, Vectors
    from embermem.protocols import Embedder

__all__ = ["TextVectors", "embedded", "embedded_texts", "indexed_text", "named"]


def embedded_texts(utterance: Utterance, *, with_speaker: bool) -> list[str]:
    """The texts an embedder is given for an utterance, one a passage: what was said, `with_speaker` behind the name of
    who said it, if it is one; and of a document its title and the headings over it. The date is left to BM25."""
    texts = [utterance.text[start:end] for start, end in passages_of(utterance)]
    if (passage := utterance.passage) is not None:
        return [f"{passage.title}: {passage.place}\n{text}" for text in texts]
    return [named(utterance, text) for text in texts] if with_speaker else texts


def named(utterance: Utterance, text: str) -> str:
    """A text of an utterance behind the name of who said it, if it is one."""
    return f"{utterance.speaker}: {text}" if _is_name(utterance.speaker) else text


def _is_name(speaker: str) -> bool:
    """Whether it is a name, as far as one can see: no part that is played ("user"), and no number of an account."""
    return not no_name(speaker) and not any(map(str.isdigit, speaker))


def embedded(embedder: Embedder, utterances: Sequence[Utterance]) -> VectorBatch:
    """The vectors of the utterances' passages, rounded as they are stored, and their packed tokens, none by an embedder
    without token vectors. An encoder with token vectors reads who spoke; features of words would take all that one
    person says for alike."""
    reads_names = isinstance(embedder, TokenEmbedder)
    texts = [(one.seq, text) for one in utterances for text in embedded_texts(one, with_speaker=reads_names)]
    seqs = [seq for seq, _ in texts]
    if not isinstance(embedder, TokenEmbedder):
        vectors = rounded(embedder.embed([text for _, text in texts]))
        return VectorBatch(embedder=embedder.name, seqs=seqs, vectors=vectors)
    vectors, tokens = embedder.embed_tokens([text for _, text in texts])
    packed_tokens = [packed(one) for one in tokens]
    return VectorBatch(embedder=embedder.name, seqs=seqs, vectors=rounded(vectors), tokens=packed_tokens)


class TextVectors:
    """Vectors of short texts that nothing stores, made when first asked for; those used last are kept."""

    def __init__(self, embedder: Embedder, limit: int) -> None:
        self._embedder = embedder
        self._kept: Recent[bytes, Vector] = Recent(limit)

    def of(self, texts: Sequence[str]) -> Vectors:
        """The vector of each text, (len(texts), dim). Raises EmbedderError."""
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        found = {key: vector for key in keys if (vector := self._kept.get(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            found |= zip(missing, self._embedder.embed(list(missing.values())), strict=True)
        for key in missing:
            self._kept.put(key, found[key])
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, self._embedder.dim), dtype=np.float32)


def indexed_text(utterance: Utterance, passage: str) -> str:
    """The text whose terms BM25 indexes: "Speaker: text" and the date, as it may be asked for; of a document the title,
    the headings and the text."""
    if utterance.passage is not None:
        return f"{utterance.speaker}: {utterance.passage.place}: {passage}"
    return f"{utterance.speaker}: {passage} {date_words(passage, utterance.said_at)}"
