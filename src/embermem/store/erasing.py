"""Forgetting: rows of both logs that go, and the file after it."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    BindParameter,
    Table,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError

from embermem.core.changes import Cause, Change, Erased
from embermem.core.errors import (
    ForgottenKeyLost,
    RevisionMoved,
    StoreBusy,
    StoreError,
    StoreUnreachable,
)
from embermem.core.types import DocumentId, Forgotten, Owner, OwnerId, PageId, SegmentId, document_of, thread_of
from embermem.core.user_overrides import mark_of_key
from embermem.core.vector_sums import sum_bytes
from embermem.languages.text_marks import mark_of_text, marks_of_message
from embermem.protocols import Erasure, Receipt, Remains
from embermem.store import checkpoints, schema
from embermem.store.backup_list import chained, known_backups, known_copies, remember_begun, remember_copy
from embermem.store.codec import decisions_from, decisions_text, micros, moment, offset_of, sum_from
from embermem.store.engines.copies import holds_any
from embermem.store.engines.owner_alias import drop_alias
from embermem.store.engines.words import is_spread, upsert
from embermem.store.forgotten_key import KEY_MARK, key_in, lost, new_key
from embermem.store.index_cache import drop_index_files
from embermem.store.projector import Projector
from embermem.store.queries import originals, reads
from embermem.store.queries.changes import log
from embermem.store.queries.retaining import drop_visits
from embermem.store.rewriting import rewrite
from embermem.store.statements import (
    BORN_AFTER,
    SCRUBBED,
    due_from,
    locked_owner,
    remember,
    remember_once,
    set_owner,
    setting,
    update_rows,
    write_receipt,
)
from embermem.store.states import Known, States, counted

if TYPE_CHECKING:
    from embermem.core.types import Vector

logger = logging.getLogger(__name__)

_RECEIPT_HEX = 40
SCRUB_DUE = "scrub_due"
"""The store's setting that says that something was deleted, and the file not yet scrubbed."""
_IDS = frozenset(
    "id page_id document_id chain_id segment_id fact_id other_id superseded_by item_id from_id to_id".split()
)
"""Columns that hold ids of what may be forgotten."""
_QUOTED = re.compile(r'"([a-z][0-9a-z-]{2,40})"')
_FEW_OF = 64
"""A page's vector is taken out of a segment's sum where that has so many times as many; else the sum is made anew."""
GONE = "gone"
"""The kind of the marks that are kept of an owner who was forgotten whole. They stand under an id of no owner."""
_KEYED = "*"
"""Begins the digest of a receipt whose content was forgotten: a keyed hash of what it was."""


class Erasing(States):
    """What goes for good."""

    def forget(self, owner: Owner, erasure: Erasure, *, now: datetime, receipt: Receipt | None = None) -> Change:
        change = Change(
            no=erasure.revision + 1, cause=Cause.FORGETTING, analyst="", recorded_at=now, decisions=erasure.decisions
        )
        with self._write() as c:
            locked_owner(c, owner.id)
            known, pairs = self._standing(c, owner.id, erasure.revision, erasure.born, topics=True), erasure.pairs
            _refuse_grown(c, owner.id, erasure)
            left = known.held.redacted(pairs)
            assert left.topics is not None  # which were asked for
            topics = left.topics
            sums = _sums_without(c, known, tuple(erasure.pages), erasure.segments)
            purge(c, owner.id, tuple(erasure.pages), partial(self._made_secret, c))
            drop_index_files(c, owner.id, self._database)
            write_receipt(c, owner.id, receipt, micros(now))
            rewrite(c, owner.id, erasure, topics)
            checkpoints.redact(c, owner.id, pairs, topics)
            drop_visits(c, owner.id, left.state)
            at, change = micros(now), log(c, owner.id, change)
            after = left.after(change, reset=True)
            moved = dict.fromkeys(("revision", "persona_no", "reset_no"), change.no)
            vectors = {"embedded_seq": embedded_seq(owner.id)}
            set_owner(c, owner.id, **moved, **vectors, due_at=due_from(at), **counted(after.state))
            projector = Projector(c, owner.id)
            projector.stage(change)
            projector.flush()
            sum_again(c, owner.id, erasure.segments, sums)
            remember_scrub(c)
        self._hold(owner.id, known.held, after)
        return change

    @contextmanager
    def alone_with(self, owner_id: OwnerId) -> Iterator[None]:
        with self._holding() as c:
            locked_owner(c, owner_id)
            yield

    def forget_owner(self, owner_id: OwnerId, now: datetime) -> None:
        """Every row, in every table that names an owner; of one who never said anything, the lines of the ledger. Who
        comes back under the name begins later than this one began, so that no reader takes the one for the other
        (`BORN_AFTER`, which is committed before the row is deleted; see `ensure_owner`).

        What is kept are keyed hashes, under an id that nobody finds without the key: of each message (who said what,
        and when) and of each receipt, so that neither is stored when it is sent again.
        """
        with self._write() as c:
            born = _born(c, owner_id)
            if born is None:
                c.execute(delete(schema.call).where(schema.call.c.owner_id == owner_id))
                if not any(_has_rows(c, table, owner_id) for table in schema.OWNED):
                    drop_alias(c, owner_id)
                return
        key = self.secret()
        while born is not None:
            self._later_than(max(born, micros(now)))
            with self._write() as c:
                before, born = born, _born(c, owner_id)
                if born == before:
                    self._delete_owner(c, owner_id, key)
                    return

    def _later_than(self, at: int) -> None:
        """New owners begin later than at a time, in a transaction of its own.

        It is a table of no owner, which Citus has on every node and writes on all of them. If one of them does not
        answer, the forgetting of an owner of another node goes on without: then the time on the clock of whoever adds
        first again is the later one, unless that clock is behind, and a reader still tells the two apart by the mark of
        what was said and done last (queries/delta.py).
        """
        try:
            with self._write() as c:
                table = schema.store
                statement = upsert(c, table).values(key=BORN_AFTER, value=str(at))
                later = cast(table.c.value, BigInteger) < at  # another may have written a later one meanwhile
                c.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": str(at)}, where=later))
        except (StoreUnreachable, StoreBusy) as error:
            if not self._database.has_parts:
                raise
            logger.warning("the time of a forgetting could not be kept on every node: %s", error)

    def _delete_owner(self, c: Connection, owner_id: OwnerId, key: bytes) -> None:
        """Of an owner whose row is held."""
        marks = {*_marks_of_messages(c, owner_id, key), *_marks_of_receipts(c, owner_id, key)}
        remember_scrub(c)
        drop_index_files(c, owner_id, self._database)
        for table in schema.OWNED:
            c.execute(delete(table).where(table.c.owner_id == owner_id))
        drop_alias(c, owner_id)
        gone = [
            {"owner_id": _gone_id(owner_id, key), "mark": mark, "change_no": 0, "kind": GONE} for mark in sorted(marks)
        ]
        if gone:
            c.execute(upsert(c, schema.barred).on_conflict_do_nothing(), gone)

    def readmit(self, owner_id: OwnerId) -> int:
        """Throw away what `forget_owner` kept; how many marks that were."""
        if key_in(self._database.key, "") is None:
            return 0
        table, key = schema.barred, self.secret()
        with self._write() as c:
            gone = table.c.owner_id == _gone_id(owner_id, key)
            count = c.scalar(select(func.count()).select_from(table).where(gone)) or 0
            c.execute(delete(table).where(gone))
            drop_alias(c, _gone_id(owner_id, key))
        return count

    def _known_key(self, c: Connection) -> bytes | None:
        """The key, for who may do without; None where nothing was ever marked with it, or where it is lost."""
        try:
            return key_in(self._database.key, setting(c, KEY_MARK))
        except ForgottenKeyLost as error:
            logger.warning("it cannot be seen whether a message was forgotten before: %s", error)
            return None

    def scrub(self) -> bool:
        """Bring the store's files to where they hold no byte of what was deleted, and look at them to see that it is
        so. False: somebody was in the way; the store remembers that it is due."""
        if self._database.read_only:
            return not self.scrub_due()
        with self._read() as c:
            due = setting(c, SCRUB_DUE)

        def done(c: Connection) -> None:
            table = schema.store  # what was deleted meanwhile is due still
            c.execute(delete(table).where(table.c.key == SCRUB_DUE, table.c.value == due))
            remember(c, {SCRUBBED: secrets.token_hex(8)})

        return self._database.scrub(done) and not self.scrub_due()

    def wipe(self) -> bool:
        if not self.scrub_due():
            return True
        try:
            with self._read() as c:
                by_itself = self._database.scrubs_by_itself(c)
            return by_itself and self.scrub()
        except StoreError as error:
            logger.warning("the scrub after a forgetting failed, and is still due: %s", error)
            return False

    def scrub_due(self) -> bool:
        """Whether a scrub is owed, or none was ever made by an Ember that looks at the bytes; on Citus, where nothing
        is noted of it, always."""
        with self._read() as c:
            return is_spread(c) or bool(setting(c, SCRUB_DUE)) or not setting(c, SCRUBBED)

    def remains(self, owner_id: OwnerId, forgotten: Forgotten) -> Remains:
        said, facts = forgotten.utterances, forgotten.facts
        numbered = [*facts, *forgotten.segments, *forgotten.chains]
        with self._read() as c:
            ids = [*forgotten.pages, *said, *(() if _came_back(c, owner_id, forgotten) else numbered)]
            rows = tuple(sorted(_standing(c, owner_id, ids)))
        scrubbed = not self.scrub_due()
        try:  # else the bytes wait for the scrub, and nothing more is to be found in them
            found = self._database.remains(said) if scrubbed else frozenset()
        except OSError as error:
            raise StoreError(f"{self._database.place}: its files cannot be read: {error}") from error
        return Remains(rows=rows, bytes=found, scrubbed=scrubbed, backups=self.backups_holding([*said, *facts]))

    def backups_holding(self, ids: Collection[str]) -> tuple[str, ...]:
        if not ids:
            return ()
        with self._read() as c:
            copies = known_copies(c)
            since, backups = self._erased_mark(c), known_backups(c)
        files = (*self._database.backups(), *copies)
        older = chained(one for one in backups if one.erased != since)
        return (
            *(str(file) for file in files if holds_any(file, ids)),
            *(one[-1] for one in older if any(holds_any(Path(place), ids) for place in one)),
        )

    def _erased_mark(self, c: Connection) -> str:
        return erased_mark({key: setting(c, key) for key in (SCRUBBED, SCRUB_DUE)})

    def remember_copy(self, place: Path, *, whole: bool = True) -> None:
        """Keep in mind that the store was copied to a file, or a copy was begun: what is forgotten here stands there
        still."""
        with self._write() as c:
            (remember_copy if whole else remember_begun)(c, place)

    def barred(self, owner_id: OwnerId, texts: Collection[str]) -> frozenset[str]:
        """Where none ever were, no key is made."""
        with self._read() as c:
            if not _has_rows(c, schema.barred, owner_id):
                return frozenset()
        key = self.secret()
        of = {text: mark_of_text(key, text) for text in texts}
        with self._read() as c:
            known = barred_marks(c, owner_id, of.values())
        return frozenset(text for text, mark in of.items() if mark in known)

    def secret(self) -> bytes:
        with self._read() as c:
            known, mark = self._key_and_mark(c)
        if known is not None and (mark or self._database.read_only):
            return known
        with self._write() as c:
            return self._made_secret(c)

    def _made_secret(self, c: Connection) -> bytes:
        """The key, for who holds a transaction that writes; it is made where there is none. Raises ForgottenKeyLost."""
        place = self._database.key
        known, mark = self._key_and_mark(c)
        key = known or new_key(place)
        return key if mark else key_in(place, remember_once(c, KEY_MARK, mark_of_key(key))) or key

    def _key_and_mark(self, c: Connection) -> tuple[bytes | None, str]:
        mark = setting(c, KEY_MARK)
        known = key_in(self._database.key, mark)
        if known is None and is_marked(c):  # by an Ember that kept no mark of the key
            raise lost(self._database.key)
        return known, mark

    def _secret_within(self, c: Connection) -> bytes:
        """The key, for who holds a transaction and has seen what was hashed with it. Raises ForgottenKeyLost."""
        key = key_in(self._database.key, setting(c, KEY_MARK))
        if key is None:
            raise lost(self._database.key)
        return key

    def renew_secret(self) -> None:
        """Put a new key in place of one that is lost for good. A file that lies in its place is kept under another
        name. What was hashed with the lost key compares with nothing any more."""
        place = self._database.key
        with self._write() as c:
            place.set_aside()
            remember(c, {KEY_MARK: mark_of_key(new_key(place))})

    def key_mark(self) -> str | None:
        """What tells the key of forgotten values from another; None where there is none yet."""
        with self._read() as c:
            mark = setting(c, KEY_MARK)
        if mark or key_in(self._database.key, "") is None:
            return mark or None
        return mark_of_key(self.secret())


def _has_rows(c: Connection, table: Table, owner_id: str) -> bool:
    return c.scalar(select(exists().where(table.c.owner_id == owner_id))) is True


def _born(c: Connection, owner_id: OwnerId) -> int | None:
    """When an owner began, whose row is held from now on; None for one that there is not."""
    locked_owner(c, owner_id)
    return c.scalar(select(schema.owner.c.created_at).where(schema.owner.c.owner_id == owner_id))


def same_digest(kept: str, digest: str, key: bytes) -> bool:
    """Whether a receipt is of this content, also where that was forgotten."""
    return kept == digest or (kept.startswith(_KEYED) and hmac.compare_digest(kept, _keyed(digest, key)))


def is_keyed(kept: str) -> bool:
    """Whether a receipt's content was forgotten, wholly or in part."""
    return kept.startswith(_KEYED)


def _keyed(digest: str, key: bytes) -> str:
    return _KEYED + hmac.digest(key, digest.encode(), hashlib.sha256).hex()[:63]


def is_marked(c: Connection) -> bool:
    """Whether any owner has a hash that was made with the key."""
    barred, receipt = schema.barred, schema.receipt
    if c.scalar(select(barred.c.mark).limit(1)) is not None:
        return True
    return c.scalar(select(receipt.c.key).where(receipt.c.digest.like(f"{_KEYED}%")).limit(1)) is not None


def barred_marks(c: Connection, owner_id: OwnerId, marks: Collection[str]) -> set[str]:
    """Those of some marks that bar a message of an owner, for pages that were forgotten."""
    table = schema.barred
    if not _has_rows(c, table, owner_id):
        return set()
    return {
        mark
        for some in reads.chunks(sorted(set(marks)))
        for mark in c.scalars(select(table.c.mark).where(table.c.owner_id == owner_id, table.c.mark.in_(some)))
    }


def gone_marks(c: Connection, owner_id: OwnerId, marks: Collection[str], key: bytes, *, new: bool) -> set[str]:
    """Those of some marks that were kept of an owner's whole memory when that was forgotten.

    They stand under another id, so on Citus they may be on another node. Where that does not answer, an owner who has
    a memory here goes on without them: only what is sent again from before that forgetting would be let in. Of a new
    owner all may be so: that is refused.
    """
    gone = OwnerId(_gone_id(owner_id, key))
    if new or not is_spread(c):
        return barred_marks(c, gone, marks)
    try:
        with c.begin_nested():
            return barred_marks(c, gone, marks)
    except OperationalError as error:
        logger.warning("it cannot be seen whether a message was forgotten before: %s", type(error.orig).__name__)
        return set()


def is_gone(c: Connection, owner_id: OwnerId, name: str, digest: str, key: bytes, *, new: bool) -> bool:
    """Whether what was stored under a key of a call, by its name, went with the whole memory of this owner."""
    return bool(gone_marks(c, owner_id, [mark_of_receipt(name, digest, key)], key, new=new))


def mark_of_receipt(name: str, digest: str, key: bytes) -> str:
    """The mark of what was stored under a key of `add`, by its name and content."""
    return _mark_of_receipt(name, _keyed(digest, key), key)


def _gone_id(owner_id: OwnerId, key: bytes) -> str:
    """The id under which marks of a forgotten owner stand: who has not the key cannot try names on it."""
    return hmac.digest(key, f"owner\n{owner_id}".encode(), hashlib.sha256).hex()[: len(owner_id)]


def _mark_of_receipt(name: str, keyed: str, key: bytes) -> str:
    """The keyed hash of a key of `add` and of the content that was stored under it."""
    return hmac.digest(key, f"receipt\n{keyed}\n{name}".encode(), hashlib.sha256).hex()[:_RECEIPT_HEX]


def _marks_of_messages(c: Connection, owner_id: OwnerId, key: bytes) -> Iterator[str]:
    """Of all that was said and is still there, and of what was forgotten before with its page."""
    said, barred = schema.utterance, schema.barred
    columns = said.c.role, said.c.text, said.c.said_at, said.c[offset_of("said_at")]
    for row in c.execute(select(*columns).where(said.c.owner_id == owner_id)):
        yield from marks_of_message(key, row.role, row.text, moment(row[2], row[3]))
    known = select(barred.c.mark).where(barred.c.owner_id == owner_id, barred.c.kind == "message")
    yield from c.scalars(known.distinct())


def _marks_of_receipts(c: Connection, owner_id: OwnerId, key: bytes) -> Iterator[str]:
    table = schema.receipt
    for row in c.execute(select(table.c.key, table.c.digest).where(table.c.owner_id == owner_id)):
        yield _mark_of_receipt(row.key, row.digest if is_keyed(row.digest) else _keyed(row.digest, key), key)


def _refuse_grown(c: Connection, owner_id: OwnerId, erasure: Erasure) -> None:
    page = schema.page
    for ids in reads.chunks(tuple(erasure.pages)):
        rows = c.execute(
            select(page.c.page_id, page.c.last_seq).where(
                page.c.owner_id == owner_id, reads.one_of(page.c.page_id, ids)
            )
        )
        if {PageId(row.page_id): row.last_seq for row in rows} != {page_id: erasure.pages[page_id] for page_id in ids}:
            raise RevisionMoved("a page that is to be forgotten has grown meanwhile")


def erased_mark(settings: Mapping[str, str]) -> str:
    """What changes with every forgetting, and with every scrub, of a store's settings; "" where no scrub was made."""
    scrubbed, due = settings.get(SCRUBBED, ""), settings.get(SCRUB_DUE, "")
    return f"{scrubbed} {due}".strip()


def remember_scrub(c: Connection) -> None:
    """Something was deleted: the files are to be scrubbed. On Citus that holds at any time, and nothing is written: a
    setting is on every node, and a node that does not answer would keep the owners of the others from forgetting."""
    if not is_spread(c):
        remember(c, {SCRUB_DUE: secrets.token_hex(8)})


def purge(c: Connection, owner_id: OwnerId, pages: Sequence[PageId], key: Callable[[], bytes]) -> None:
    """The rows of the first log, and what is of its utterances. Receipts stay, so that a key used before stores
    nothing again. A document goes with its last passage; of one that lost some, neither its original nor a hash of its
    text is kept. `key` is asked for where a receipt is hidden."""
    found = [row for ids in reads.chunks(pages) for row in c.execute(_SAID, {"owner": owner_id, "pages": ids})]
    said = {row.seq: row.id for row in found if row.seq is not None}
    documents = sorted({document_of(row.thread) for row in found if row.no < 1})
    purge_utterances(c, owner_id, said, pages, key)
    originals.drop(c, owner_id, [*said.values(), *documents])
    for document in documents:
        lose_passages(c, owner_id, document)


def lose_passages(c: Connection, owner_id: OwnerId, document: DocumentId) -> None:
    """A document lost passages: it goes with the last one; of one that has some left, no hash of its text is kept."""
    of = {"owner": owner_id, "document": document, "of_thread": thread_of(document)}
    if c.execute(_EMPTY_DOCUMENT, of).rowcount == 0:
        c.execute(_UNKNOWN_DOCUMENT, of)


def purge_utterances(
    c: Connection, owner_id: OwnerId, said: Collection[int], pages: Sequence[PageId], key: Callable[[], bytes]
) -> None:
    """All that `purge` deletes of pages and of the utterances in them, by their numbers, but for originals."""
    if said:
        for statement in _OF_UTTERANCE:
            c.execute(statement, [{"owner": owner_id, "seq_gone": seq} for seq in said])
    if pages:
        c.execute(_PAGE, [{"owner": owner_id, "page_gone": page_id} for page_id in pages])
    _hide_receipts(c, owner_id, said, key)


_SAID = (
    select(schema.page.c.thread, schema.page.c.no, schema.utterance.c.seq, schema.utterance.c.id)
    .outerjoin(schema.utterance, reads.same(schema.utterance, schema.page, "page_id"))
    .where(schema.page.c.owner_id == bindparam("owner"), schema.page.c.page_id.in_(bindparam("pages", expanding=True)))
    .with_hint(*reads.BY_PAGE)
)
_OF_UTTERANCE = [
    delete(table).where(table.c.owner_id == bindparam("owner"), table.c.seq == bindparam("seq_gone"))
    for table in (schema.embedding, schema.utterance_value, schema.change_source, schema.utterance)
]
_PAGE = delete(schema.page).where(
    schema.page.c.owner_id == bindparam("owner"), schema.page.c.page_id == bindparam("page_gone")
)
_DOCUMENT = and_(
    schema.document.c.owner_id == bindparam("owner"), schema.document.c.document_id == bindparam("document")
)
_EMPTY_DOCUMENT = delete(schema.document).where(
    _DOCUMENT,
    ~exists().where(schema.page.c.owner_id == bindparam("owner"), schema.page.c.thread == bindparam("of_thread")),
)
_UNKNOWN_DOCUMENT = update(schema.document).where(_DOCUMENT).values(digest="")
_PLAIN_RECEIPTS = select(
    *(schema.receipt.c[name] for name in ("key", "digest", "first_seq", "last_seq", "change_no"))
).where(
    schema.receipt.c.owner_id == bindparam("owner"),
    schema.receipt.c.digest.not_like(f"{_KEYED}%"),
    or_(
        schema.receipt.c.change_no.is_not(None),
        and_(schema.receipt.c.first_seq <= bindparam("last"), schema.receipt.c.last_seq >= bindparam("first")),
    ),
)


def _hide_receipts(c: Connection, owner_id: OwnerId, seqs: Collection[int], key: Callable[[], bytes]) -> None:
    """A digest of what was said could be tried on guesses: in its place stands a keyed one. The same for the digests of
    all other calls than `add`: any of them may be of a text that is forgotten now."""
    gone = {"owner": owner_id, "first": min(seqs, default=0), "last": max(seqs, default=-1)}
    purged = set(seqs)
    plain = [
        row
        for row in c.execute(_PLAIN_RECEIPTS, gone)
        if row.change_no is not None or not purged.isdisjoint(range(row.first_seq, row.last_seq + 1))
    ]
    if plain:
        secret = key()
        hidden = [{"key": row.key, "digest": _keyed(row.digest, secret)} for row in plain]
        update_rows(c, schema.receipt, owner_id, ("key",), hidden)


def _came_back(c: Connection, owner_id: OwnerId, forgotten: Forgotten) -> bool:
    """Whether an owner was forgotten whole by a receipt, or after it, and is another now, who has other items of the
    same numbers."""
    owner, change, at = schema.owner.c, schema.change.c, micros(forgotten.recorded_at)
    told = select(change.recorded_at).where(change.owner_id == owner_id, change.no == (forgotten.change_no or 0))
    row = c.execute(select(owner.created_at, told.scalar_subquery()).where(owner.owner_id == owner_id)).first()
    return row is not None and row[0] > at and row[1] != at


def _standing(c: Connection, owner_id: OwnerId, ids: Collection[str]) -> set[str]:
    """Ids in the columns of ids of every table, and in the log but for where it says what was forgotten."""
    found: set[str] = set()
    for table in schema.OWNED:
        for name in _IDS & set(table.c.keys()):
            for some in reads.chunks(sorted(ids)):
                query = select(table.c[name]).where(table.c.owner_id == owner_id, table.c[name].in_(some))
                found |= set(c.scalars(query.distinct()))
    table = schema.change
    told = c.execute(select(table.c.cause, table.c.decisions).where(table.c.owner_id == owner_id))
    wanted = {*ids}
    for row in told:
        named = wanted.intersection(_QUOTED.findall(row.decisions))
        if named and row.cause == Cause.FORGETTING.value:
            others = tuple(d for d in decisions_from(row.decisions) if not isinstance(d, Erased))
            named = wanted.intersection(_QUOTED.findall(decisions_text(others)))
        found |= named
    parts = schema.checkpoint_part.c
    for row in c.execute(select(parts.changes, parts.topics).where(parts.owner_id == owner_id)):
        for text in row:
            found |= wanted.intersection(_QUOTED.findall(text))
    return found


def _sums_without(
    c: Connection, known: Known, pages: Sequence[PageId], segments: Collection[SegmentId]
) -> Mapping[SegmentId, Vector]:
    """The sums of segments' vectors without pages that are still there: for segments that lose few of many pages, each
    with the vector that it was added with."""
    page, segment, vector, owner_id = schema.page, schema.segment, schema.embedding, known.owner_id
    embedder, topics = setting(c, "embedder"), known.topics_at()
    many = {
        SegmentId(row.segment_id): row
        for some in reads.chunks(sorted(segments))
        for row in c.execute(
            select(segment).where(
                segment.c.owner_id == owner_id,
                segment.c.segment_id.in_(some),
                segment.c.pages >= _FEW_OF,
                segment.c.embedder == embedder,
            )
        )
    }
    if not many:
        return {}
    going: dict[SegmentId, list[Vector]] = {}
    whole: set[SegmentId] = set()
    for ids in reads.chunks(pages):
        rows = c.execute(reads.select_pages(owner_id).where(page.c.page_id.in_(ids))).all()
        for view in reads.page_views(c, owner_id, rows, 0, embedder):
            place = topics.place(view.page.id)
            if place is None:
                continue
            made = c.execute(
                select(func.count(), func.max(vector.c.change_no)).where(
                    vector.c.owner_id == owner_id, vector.c.seq.in_([u.seq for u in view.page.utterances])
                )
            ).one()
            if view.vector is None or made[0] != len(view.page.utterances) or made[1] >= place[1]:
                whole.add(place[0])
            else:
                going.setdefault(place[0], []).append(view.vector)
    return {
        segment_id: sum_from(many[segment_id].vector_sum) - np.sum(gone, axis=0)
        for segment_id, gone in going.items()
        if segment_id not in whole and segment_id in many and many[segment_id].pages >= _FEW_OF * len(gone)
    }


def sum_again(
    c: Connection,
    owner_id: OwnerId,
    segments: Iterable[SegmentId] | None = None,
    sums: Mapping[SegmentId, Vector] | None = None,
) -> None:
    """The vectors of some segments, or of all, from the pages left; where one has none yet, it is made once they have
    (a reindex is on its way)."""
    embedder, table, known = setting(c, "embedder"), schema.segment, sums or {}
    every, rows = select(table.c.segment_id).where(table.c.owner_id == owner_id), []
    for segment_id in c.scalars(every).all() if segments is None else segments:
        total = known.get(segment_id)
        if total is None:
            vectors = reads.segment_page_vectors(c, owner_id, segment_id, embedder)
            made = [vector for vector in vectors if vector is not None]
            total = np.sum(made, axis=0) if made and len(made) == len(vectors) else None
        of = (None, None) if total is None else (embedder, sum_bytes(total))
        rows.append({"segment_id": segment_id, "embedder": of[0], "vector_sum": of[1]})
    update_rows(c, table, owner_id, ("segment_id",), rows)


def embedded_seq(owner_id: OwnerId | BindParameter[Any]) -> Any:
    """Up to where utterances have vectors, in an update of the owner's row: where those without one are gone, all."""
    owner, utterance = schema.owner.c, schema.utterance.c
    left = exists().where(utterance.owner_id == owner_id, utterance.seq > owner.embedded_seq)
    return case((left, owner.embedded_seq), else_=owner.seq)
