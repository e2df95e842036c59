"""Forgetting: rows of both logs that go, and the file after it."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
from sqlalchemy import delete, exists, insert, select, update
from sqlalchemy.engine import Connection

from embermem.changes import Cause, Change
from embermem.errors import RevisionMoved, StoreError
from embermem.protocols import Erasure
from embermem.stores import reads, schema
from embermem.stores.codec import decisions_text, micros, sum_bytes
from embermem.stores.replaying import replay
from embermem.stores.statements import BORN_AFTER, due_from, locked_owner, remember, setting
from embermem.stores.transactions import Transactions
from embermem.types import Owner, OwnerId, PageId, SegmentId

_KEY_BYTES = 32
_KEYED = "*"
"""Begins the digest of a receipt whose content was forgotten: a keyed hash of what it was."""


class Erasing(Transactions):
    """What goes for good."""

    def forget(self, owner: Owner, erasure: Erasure, *, now: datetime, revision: int) -> Change:
        """Purge, redact, say so, and derive again, in one transaction; see protocols.Store."""
        change = Change(
            no=revision + 1, cause=Cause.FORGETTING, analyst="", recorded_at=now, decisions=erasure.decisions
        )
        key = self.secret()
        with self._write() as c:
            locked_owner(c, owner.id)
            _refuse_moved(c, owner.id, erasure, revision)
            _purge(c, owner.id, tuple(erasure.pages), key)
            _redact(c, owner.id, erasure)
            at = micros(now)
            c.execute(
                insert(schema.change).values(
                    owner_id=owner.id,
                    no=change.no,
                    cause=change.cause.value,
                    analyst="",
                    recorded_at=at,
                    decisions=decisions_text(change.decisions),
                )
            )
            c.execute(
                update(schema.owner)
                .where(schema.owner.c.owner_id == owner.id)
                .values(revision=change.no, persona_no=change.no, due_at=due_from(at))
            )
            replay(c, owner.id)
            _sum_again(c, owner.id, erasure.segments)
            _nothing_to_embed(c, owner.id)
        return change

    def forget_owner(self, owner_id: OwnerId, now: datetime) -> None:
        """Every row, in every table that names an owner. Who comes back under the name begins later than this one
        began, so that no reader takes the one for the other."""
        owner = schema.owner
        with self._write() as c:
            locked_owner(c, owner_id)
            born = c.scalar(select(owner.c.created_at).where(owner.c.owner_id == owner_id))
            if born is None:
                return
            after = max(born, micros(now), int(setting(c, BORN_AFTER) or 0))
            remember(c, {BORN_AFTER: str(after)})
            for table in reversed(schema.metadata.sorted_tables):
                if "owner_id" in table.c:
                    c.execute(delete(table).where(table.c.owner_id == owner_id))

    def scrub(self) -> bool:
        """Bring the database to where it holds nothing that was deleted; see protocols.Store."""
        return self._database.scrub()

    def secret(self) -> bytes:
        """The key in its file outside the database, made by the first who needs it. Raises StoreError where it can
        be neither read nor made."""
        file = self._database.key_file
        try:
            if not file.exists():
                write_key(file, secrets.token_hex(_KEY_BYTES).encode())
            return bytes.fromhex(file.read_text(encoding="ascii"))
        except (OSError, ValueError) as error:
            raise StoreError(f"{file}: the key of forgotten values cannot be read or made: {error}") from error


def same_digest(kept: str, digest: str, key: bytes) -> bool:
    """Whether a receipt is of this content, also where that was forgotten."""
    return kept == digest or (kept.startswith(_KEYED) and hmac.compare_digest(kept, _keyed(digest, key)))


def is_keyed(kept: str) -> bool:
    """Whether a receipt's content was forgotten, wholly or in part."""
    return kept.startswith(_KEYED)


def _keyed(digest: str, key: bytes) -> str:
    return _KEYED + hmac.digest(key, digest.encode(), hashlib.sha256).hex()[:63]


def write_key(file: Path, key: bytes) -> None:
    """Keep a key whole or not at all, and the first one only: it appears under its name when it is complete."""
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, key)
        os.fsync(handle)
        with contextlib.suppress(FileExistsError):
            os.link(part, file)
    finally:
        os.close(handle)
        part.unlink()


def _refuse_moved(c: Connection, owner_id: OwnerId, erasure: Erasure, revision: int) -> None:
    now = c.scalar(select(schema.owner.c.revision).where(schema.owner.c.owner_id == owner_id))
    if now != revision:
        raise RevisionMoved(f"the owner stands at change {now}, not at {revision}")
    page = schema.page
    for ids in reads.chunks(tuple(erasure.pages)):
        rows = c.execute(
            select(page.c.page_id, page.c.last_seq).where(page.c.owner_id == owner_id, page.c.page_id.in_(ids))
        )
        if {PageId(row.page_id): row.last_seq for row in rows} != {page_id: erasure.pages[page_id] for page_id in ids}:
            raise RevisionMoved("a page that is to be forgotten has grown meanwhile")


def _purge(c: Connection, owner_id: OwnerId, pages: Sequence[PageId], key: bytes) -> None:
    """The rows of the first log, and the vectors. Receipts stay, so that a key used before stores nothing again."""
    utterance, vector, page = schema.utterance, schema.embedding, schema.page
    for ids in reads.chunks(pages):
        seqs = c.scalars(
            select(utterance.c.seq).where(utterance.c.owner_id == owner_id, utterance.c.page_id.in_(ids))
        ).all()
        for some in reads.chunks(seqs):
            c.execute(delete(vector).where(vector.c.owner_id == owner_id, vector.c.seq.in_(some)))
            _hide_receipts(c, owner_id, some, key)
        for table in (utterance, page):
            c.execute(delete(table).where(table.c.owner_id == owner_id, table.c.page_id.in_(ids)))


def _hide_receipts(c: Connection, owner_id: OwnerId, seqs: Sequence[int], key: bytes) -> None:
    """A digest of what was said could be tried on guesses: in its place stands a keyed one."""
    table, purged = schema.receipt, set(seqs)
    first, last = min(purged), max(purged)
    rows = c.execute(
        select(table).where(table.c.owner_id == owner_id, table.c.first_seq <= last, table.c.last_seq >= first)
    ).all()
    for row in rows:
        if not is_keyed(row.digest) and not purged.isdisjoint(range(row.first_seq, row.last_seq + 1)):
            c.execute(
                update(table)
                .where(table.c.owner_id == owner_id, table.c.key == row.key)
                .values(digest=_keyed(row.digest, key))
            )


def _redact(c: Connection, owner_id: OwnerId, erasure: Erasure) -> None:
    table = schema.change
    for no, decisions in erasure.rewritten.items():
        c.execute(
            update(table)
            .where(table.c.owner_id == owner_id, table.c.no == no)
            .values(decisions=decisions_text(decisions))
        )


def _sum_again(c: Connection, owner_id: OwnerId, segments: Iterable[SegmentId]) -> None:
    """Segments' vectors from the pages left; where one has none yet, it is made once they have (a reindex is on its
    way)."""
    embedder, table = setting(c, "embedder"), schema.segment
    for segment_id in segments:
        rows = c.execute(
            reads.select_pages(owner_id).where(schema.page.c.segment_id == segment_id).order_by(schema.page.c.no)
        ).all()
        vectors = [view.vector for view in reads.page_views(c, owner_id, rows, 0, embedder)]
        made = [vector for vector in vectors if vector is not None]
        whole = len(made) == len(vectors) and bool(made)
        c.execute(
            update(table)
            .where(table.c.owner_id == owner_id, table.c.segment_id == segment_id)
            .values(
                embedder=embedder if whole else None,
                vector_sum=sum_bytes(np.sum(made, axis=0)) if whole else None,
            )
        )


def _nothing_to_embed(c: Connection, owner_id: OwnerId) -> None:
    """Where the utterances without a vector are gone, none is missing."""
    owner, utterance = schema.owner, schema.utterance
    left = exists().where(utterance.c.owner_id == owner_id, utterance.c.seq > owner.c.embedded_seq)
    c.execute(update(owner).where(owner.c.owner_id == owner_id, ~left).values(embedded_seq=owner.c.seq))
