"""Embed: vectors for utterances that have none, and for segments after a reindex."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.changes import Cause, Embedded
from embermem.core.types import SegmentId, Utterance
from embermem.index.vectors import embedded
from embermem.memoryos.ingest.claim import Claim
from embermem.protocols import InSegment, VectorBatch

if TYPE_CHECKING:
    from embermem.core.types import Vector


def embed(claim: Claim) -> bool:
    """Vectors for the next utterances that have none."""
    after = claim.held.embedded_seq
    ahead, claim.ahead = claim.ahead, None
    batch, made = ahead[1].result() if ahead is not None and ahead[0] == after else _vectors_after(claim, after)
    if not batch:
        return False
    first, last, embedder = batch[0].seq, batch[-1].seq, claim.parts.embedder.name
    if len(batch) == claim.settings.embed_batch:
        with contextlib.suppress(RuntimeError):  # the interpreter is ending: no thread can be had any more
            claim.ahead = (last, claim.pool.submit(_vectors_after, claim, last))
    decision = Embedded(first_seq=first, last_seq=last, embedder=embedder)
    claim.apply(Cause.EMBEDDING, embedder, [decision], vectors=made)
    claim.held.embedded_seq = last
    return True


def _vectors_after(claim: Claim, seq: int) -> tuple[tuple[Utterance, ...], VectorBatch]:
    batch = claim.store.utterances(claim.owner.id, seq, claim.settings.embed_batch)
    return batch, embedded(claim.parts.embedder, batch)


def renew_segment_vectors(claim: Claim) -> bool:
    """After a reindex, once every utterance has its new vector: each segment's from its pages'."""
    stale = claim.stale_segments
    if not stale or claim.store.utterances(claim.owner.id, claim.held.embedded_seq, 1):
        return False
    sums: dict[SegmentId, Vector] = {}
    for segment_id in stale:
        own = claim.store.pages_to_read(claim.owner.id, InSegment(segment_id=segment_id))
        vectors = [noted.view.vector for noted in own if noted.view.vector is not None]
        if vectors:
            sums[segment_id] = np.sum(vectors, axis=0)
    if not sums:
        return False
    claim.apply(Cause.REINDEX, claim.parts.embedder.name, [], segment_vectors=sums)
    claim.held.segments = claim.held.stale_segments = None
    return True
