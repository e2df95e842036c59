"""Embed: vectors for utterances that have none, and for segments: of their summaries, or again after a reindex."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.changes import Cause, Embedded
from embermem.core.types import SegmentId, Utterance
from embermem.index.vectors import embedded
from embermem.memoryos.ingest.claim import Claim
from embermem.protocols import SegmentState, VectorBatch

if TYPE_CHECKING:
    from embermem.core.types import Vector


def embed(claim: Claim) -> bool:
    """Vectors for the next utterances that have none."""
    after = claim.held.embedded_seq
    ahead, claim.ahead = claim.ahead, None
    batch, made = known = ahead[1]() if ahead is not None and ahead[0] == after else _vectors_after(claim, after)
    if not batch:
        return False
    first, last, embedder = batch[0].seq, batch[-1].seq, claim.parts.embedder.name
    claim.ahead = after, lambda: known  # if another change comes first
    decision = Embedded(first_seq=first, last_seq=last, embedder=embedder)
    claim.apply(Cause.EMBEDDING, embedder, [decision], vectors=made)
    claim.held.embedded_seq, claim.ahead = last, None
    if len(batch) == claim.settings.embed_batch:
        with contextlib.suppress(RuntimeError):  # the interpreter is ending: no thread can be had any more
            claim.ahead = last, claim.pool.submit(_vectors_after, claim, last).result
    claim.parts.watch.embedded(len(batch))
    return True


def _vectors_after(claim: Claim, seq: int) -> tuple[tuple[Utterance, ...], VectorBatch]:
    batch = claim.store.log.utterances(claim.owner.id, seq, claim.settings.embed_batch)
    return batch, embedded(claim.parts.embedder, batch)


def renew_segment_vectors(claim: Claim) -> bool:
    """After a reindex, or where another version or preset made them, once every utterance has its new vector: each
    segment's from its pages' or its summary."""
    stale = claim.stale_segments
    if not stale or claim.store.log.utterances(claim.owner.id, claim.held.embedded_seq, 1):
        return False
    made: dict[SegmentId, Vector] = {}
    if claim.settings.placed_by == "page":
        known = claim.store.reads.segments(claim.owner.id, ids=stale)
        made = _embedded(claim, {one.id: one.summary for one in known})
    for segment_id in stale:
        if segment_id in made:
            continue
        if vectors := claim.store.work.page_vectors(claim.owner.id, segment_id):
            made[segment_id] = np.sum(vectors, axis=0)
    if not made:
        return False
    claim.apply(Cause.REINDEX, claim.parts.embedder.name, [], segment_vectors=made)
    claim.held.segments = claim.held.stale_segments = None
    return True


def summary_vectors(claim: Claim, segments: Iterable[SegmentState]) -> dict[SegmentId, Vector]:
    """The vectors of segments' summaries (paper §3.2), where pages are placed one by one; none of one that tells
    nothing, which keeps its pages' sum. Raises EmbedderError."""
    if claim.settings.placed_by != "page":
        return {}
    return _embedded(claim, {one.id: "\n".join(part.text for part in one.parts) for one in segments})


def _embedded(claim: Claim, texts: Mapping[SegmentId, str]) -> dict[SegmentId, Vector]:
    told = {segment_id: text for segment_id, text in texts.items() if text.strip()}
    made: dict[SegmentId, Vector] = {}
    some = claim.settings.embed_batch
    for first in range(0, len(told), some):
        names = list(told)[first : first + some]
        made |= zip(names, claim.parts.embedder.embed([told[one] for one in names]), strict=True)
    return made
