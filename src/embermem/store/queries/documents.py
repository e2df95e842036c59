"""Documents: stored whole, replaced where they changed, and read."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, and_, bindparam, delete, exists, func, insert, or_, select, tuple_, update
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import Cause, Change, Erased
from embermem.core.errors import KeyReused, NotFound
from embermem.core.ids import new_id
from embermem.core.types import (
    Document,
    DocumentAdded,
    DocumentId,
    Message,
    Owner,
    OwnerId,
    PageId,
    Passage,
    Role,
    ThreadId,
    Utterance,
    UtteranceId,
    thread_of,
)
from embermem.protocols import NewDocument, NewPassage
from embermem.store import schema
from embermem.store.codec import from_json, json_text, micros, offset_of, record, row_of, zoned
from embermem.store.engines.words import begins_with, has_text, replacing
from embermem.store.erasing import Erasing, embedded_seq, is_gone, lose_passages, purge_utterances, remember_scrub
from embermem.store.index_cache import drop_index_files
from embermem.store.queries import originals, reads
from embermem.store.queries.changes import log
from embermem.store.queries.log import new_page, said_receipt
from embermem.store.queries.retaining import log_expiry
from embermem.store.receipts import kept_receipt
from embermem.store.statements import due_from, ensure_owner, locked_owner, update_rows, utterances
from embermem.store.values import value_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """A passage as it is stored."""

    seq: int
    id: UtteranceId
    page_id: PageId
    title: str
    text: str
    passage: Passage
    metadata: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Difference:
    """What a document needs to be as it is given: passages to store, those that stay with what they are to be, and
    those that go."""

    new: Sequence[NewPassage]
    kept: Sequence[tuple[_Held, NewPassage]]
    gone: Sequence[_Held]


_OF_THREAD = and_(schema.page.c.owner_id == bindparam("owner"), schema.page.c.thread == bindparam("of_thread"))
_STORED = select(*(schema.document.c[name] for name in ("document_id", "title", "source", "digest"))).where(
    schema.document.c.owner_id == bindparam("owner"), schema.document.c.source == bindparam("source")
)
_HELD = (
    select(*(schema.utterance.c[name] for name in ("seq", "id", "page_id", "speaker", "text", "passage", "metadata")))
    .join(schema.page, reads.same(schema.page, schema.utterance, "page_id"))
    .where(_OF_THREAD)
    .with_hint(*reads.BY_PAGE)
)
_COUNT = select(func.count()).select_from(schema.page).where(_OF_THREAD)
_REMOVABLE = (
    select(
        schema.document.c.document_id,
        schema.utterance.c.page_id,
        schema.utterance.c.seq,
        schema.utterance.c.id,
        exists()
        .where(
            schema.change_source.c.owner_id == bindparam("owner"),
            schema.change_source.c.seq == schema.utterance.c.seq,
        )
        .label("named"),
    )
    .join_from(
        schema.document,
        schema.page,
        and_(reads.same(schema.page, schema.document), schema.page.c.thread == reads.DOCUMENT_THREAD),
    )
    .join(schema.utterance, reads.same(schema.utterance, schema.page, "page_id"))
    .where(schema.document.c.owner_id == bindparam("owner"), schema.document.c.source == bindparam("source"))
    .with_hint(*reads.BY_PAGE)
)
_AT = bindparam("at", type_=BigInteger)
_TAKE_SEQS = (
    update(schema.owner)
    .where(schema.owner.c.owner_id == bindparam("owner"))
    .values(seq=schema.owner.c.seq + bindparam("more"), due_at=due_from(_AT))
    .returning(schema.owner.c.seq)
)
_MOVED = (
    update(schema.owner)
    .where(schema.owner.c.owner_id == bindparam("owner"))
    .values(
        revision=schema.owner.c.revision + 1,
        reset_no=schema.owner.c.revision + 1,
        embedded_seq=embedded_seq(bindparam("owner")),
        due_at=due_from(_AT),
    )
    .returning(schema.owner.c.revision)
)
_UTTERANCE, _PAGE, _VALUE = insert(schema.utterance), insert(schema.page), insert(schema.utterance_value)
_DROP_VALUES = delete(schema.utterance_value).where(
    schema.utterance_value.c.owner_id == bindparam("owner"), schema.utterance_value.c.seq == bindparam("moved_seq")
)


class Documents(Erasing):
    """Documents and their passages."""

    def put_document(self, owner: Owner, given: NewDocument, *, now: datetime, key: str | None = None) -> DocumentAdded:
        """Store a document, durably, in one transaction, or replace what changed of the one with its source: passages
        of equal text, place and title keep their utterances and vectors, the others go as forgetting does it, and are
        not barred; all pages end when it says. An unchanged one writes nothing, and a key used before gives what is
        stored by now. Where some were `removed`, the scrub is due. Raises KeyReused.
        """
        with self._write() as c:
            new = ensure_owner(c, owner, micros(now))
            known = _stored(c, owner.id, given.source)
            if key is not None and self._was_given(c, owner.id, given, key, new=new):
                if known is None:
                    raise KeyReused(f"the document stored under the key {key!r} was forgotten and is not stored again")
                return _added(known, kept=_count(c, owner.id, known.document_id))
            if known is not None and known.digest == given.digest:
                done = _added(known, kept=_count(c, owner.id, known.document_id))
            else:
                document = DocumentId(new_id("d") if known is None else known.document_id)
                held = [] if known is None else list(_held(c, owner.id, document))
                difference = _compared(given, held)
                done = _put(c, owner.id, document, given, difference, now, partial(self._made_secret, c))
                if held:  # a file may have what was taken out
                    drop_index_files(c, owner.id, self._database)
            if done.kept:  # new passages end when it says from the beginning
                _end(c, owner.id, done.id, given.expires_at, now)
            if key is not None:
                said_receipt(c, owner.id, key, given.digest, *_receipt_span(c, owner.id, done), micros(now))
        return done

    def remove_document(self, owner_id: OwnerId, source: str, *, now: datetime) -> DocumentId | None:
        """Take the document of a source out of every table, in one transaction; the scrub is due then. Where a change
        rests on one of its passages nothing is done but to return its id: `forget` takes what goes with it. Raises
        NotFound."""
        with self._write() as c:
            locked_owner(c, owner_id)
            rows = c.execute(_REMOVABLE, {"owner": owner_id, "source": source}).all()
            if any(row.named for row in rows):
                return DocumentId(rows[0].document_id)
            if rows:
                pages, document = [PageId(row.page_id) for row in rows], DocumentId(rows[0].document_id)
                purge_utterances(c, owner_id, [row.seq for row in rows], pages, partial(self._made_secret, c))
                originals.drop(c, owner_id, [*(row.id for row in rows), document])
                lose_passages(c, owner_id, document)
                drop_index_files(c, owner_id, self._database)
                _log_moved(c, owner_id, pages, now)
                remember_scrub(c)
        if not rows:
            raise NotFound(f"no document of the source {source!r}")
        return None

    def documents(
        self,
        owner_id: OwnerId,
        ids: Collection[DocumentId] | None = None,
        *,
        now: datetime,
        source: str | None = None,
        under: str | None = None,
        text: str | None = None,
        before: Document | None = None,
        limit: int | None = None,
    ) -> tuple[Document, ...]:
        """Documents with passages that have not expired, the first stored first; those of some ids, of one source,
        whose source begins with a text, or that have a text in source or title; the newest `limit` of those stored
        before one."""
        table, page = schema.document, schema.page
        stands = or_(page.c.expires_at.is_(None), page.c.expires_at > micros(now))
        own = (page.c.owner_id == owner_id, page.c.thread == reads.DOCUMENT_THREAD, stands)
        ends = (page.c[name] for name in ("expires_at", offset_of("expires_at")))
        counted = [select(func.max(one)).where(*own).scalar_subquery().label(one.name) for one in ends]
        counted.append(select(func.count()).select_from(page).where(*own).scalar_subquery().label("passages"))
        order = (table.c.recorded_at, table.c.document_id)
        query = select(table, *counted).where(table.c.owner_id == owner_id, exists().where(*own))
        if ids is not None:
            query = query.where(table.c.document_id.in_(sorted(ids)))
        if source is not None:
            query = query.where(table.c.source == source)
        if under:
            query = query.where(*begins_with(table.c.source, under))
        if text:
            query = query.where(or_(has_text(table.c.source, text), has_text(table.c.title, text)))
        if before is not None:
            query = query.where(tuple_(*order) < tuple_(micros(before.recorded_at), before.id))
        with self._read() as c:
            rows = c.execute(query.order_by(*(one.desc() for one in order)).limit(limit)).all()
            return tuple(record(Document, row, id=row.document_id) for row in reversed(rows))

    def passages(
        self, owner_id: OwnerId, document_id: DocumentId, *, start: int = 0, limit: int | None = None
    ) -> tuple[Utterance, ...]:
        """Passages in the order of the document's text: the next `limit` that begin at a character or later."""
        said, page = schema.utterance, schema.page
        of = select(said.c.seq, said.c.passage).join(page, reads.same(page, said, "page_id")).with_hint(*reads.BY_PAGE)
        with self._read() as c:
            rows = c.execute(of.where(page.c.owner_id == owner_id, page.c.thread == thread_of(document_id)))
            places = sorted((from_json(row.passage, Passage).start, row.seq) for row in rows if row.passage is not None)
            wanted = [seq for at, seq in places if at >= start][:limit]
            found = [
                one for some in reads.chunks(wanted) for one in utterances(c, owner_id, 0, where=[said.c.seq.in_(some)])
            ]
        place = {seq: at for at, seq in enumerate(wanted)}
        return tuple(sorted(found, key=lambda one: place[one.seq]))

    def _was_given(self, c: Connection, owner_id: OwnerId, given: NewDocument, key: str, *, new: bool) -> bool:
        """Whether this call was made before under its key. Raises KeyReused."""
        if kept_receipt(c, owner_id, key, given.digest, lambda: self._secret_within(c)) is not None:
            return True
        secret = self._known_key(c)
        return secret is not None and is_gone(c, owner_id, key, given.digest, secret, new=new)


def _stored(c: Connection, owner_id: OwnerId, source: str) -> Row[Any] | None:
    return c.execute(_STORED, {"owner": owner_id, "source": source}).first()


def _held(c: Connection, owner_id: OwnerId, document: DocumentId) -> Iterator[_Held]:
    """A document's passages, in the order of its text."""
    rows = c.execute(_HELD, {"owner": owner_id, "of_thread": thread_of(document)})
    held = (record(_Held, row, title=row.speaker, passage=from_json(row.passage, Passage)) for row in rows)
    return iter(sorted(held, key=lambda one: one.passage.start))


def _count(c: Connection, owner_id: OwnerId, document: DocumentId) -> int:
    return c.scalar(_COUNT, {"owner": owner_id, "of_thread": thread_of(document)}) or 0


def _added(row: Row[Any], *, kept: int) -> DocumentAdded:
    """What was done where there was nothing to do."""
    return record(DocumentAdded, row, id=row.document_id, added=0, kept=kept, removed=0)


def _compared(given: NewDocument, held: Sequence[_Held]) -> _Difference:
    """Passages of equal text and place under the same title stay, each once, in order: their vectors are made of all
    three."""
    known: dict[tuple[str, str, str], deque[_Held]] = defaultdict(deque)
    for one in held:
        known[one.title, one.passage.place, one.text].append(one)
    new, kept = list[NewPassage](), list[tuple[_Held, NewPassage]]()
    for passage in given.passages:
        same = known[given.title, passage.place, passage.text]
        if same:
            kept.append((same.popleft(), passage))
        else:
            new.append(passage)
    return _Difference(new=new, kept=kept, gone=[one for left in known.values() for one in left])


def _put(
    c: Connection,
    owner_id: OwnerId,
    document: DocumentId,
    given: NewDocument,
    difference: _Difference,
    now: datetime,
    secret: Callable[[], bytes],
) -> DocumentAdded:
    """Write what is new, move what stays, and take out what goes."""
    at = micros(now)
    _insert(c, owner_id, document, given, difference.new, at)
    moved = list(_moved(document, given, difference.kept))
    update_rows(c, schema.utterance, owner_id, ("seq",), moved)
    if moved:
        c.execute(_DROP_VALUES, [{"owner": owner_id, "moved_seq": row["seq"]} for row in moved])
        _label(c, owner_id, given, [row["seq"] for row in moved])
    pages = [one.page_id for one in difference.gone]
    if pages:
        purge_utterances(c, owner_id, [one.seq for one in difference.gone], pages, secret)
        remember_scrub(c)
    if pages or difference.kept:
        originals.drop(c, owner_id, [*(one.id for one in difference.gone), document])
    if pages or moved:  # readers begin anew: they hold what was
        _log_moved(c, owner_id, pages, now)
    originals.keep(c, owner_id, [(document, given.original)])
    row = row_of(given, schema.document, owner_id=owner_id, document_id=document, recorded_at=at)
    c.execute(replacing(c, schema.document), row)
    return DocumentAdded(
        id=document,
        title=given.title,
        source=given.source,
        added=len(difference.new),
        kept=len(difference.kept),
        removed=len(pages),
    )


def _insert(
    c: Connection, owner_id: OwnerId, document: DocumentId, given: NewDocument, new: Sequence[NewPassage], at: int
) -> None:
    """New passages: an utterance each, and a page that no work is due on but vectors."""
    if not new:
        return
    thread = thread_of(document)
    last = c.execute(_TAKE_SEQS, {"owner": owner_id, "more": len(new), "at": at}).scalar_one()
    said, pages = list[dict[str, Any]](), list[dict[str, Any]]()
    for seq, passage in enumerate(new, last - len(new) + 1):
        page_id = PageId(new_id("p"))
        message = Message(
            role=Role.DOCUMENT,
            speaker=given.title,
            text=passage.text,
            said_at=given.said_at,
            thread=thread,
            metadata=given.metadata,
            passage=_passage(document, given, passage),
        )
        own = {"owner_id": owner_id, "seq": seq, "id": new_id("u"), "page_id": page_id, "recorded_at": at}
        said.append(row_of(message, schema.utterance, **own))
        ends = zoned("expires_at", given.expires_at)
        pages.append({**passage_page(owner_id, page_id, thread, seq, at), **ends})
    c.execute(_UTTERANCE, said)
    c.execute(_PAGE, pages)
    _label(c, owner_id, given, [row["seq"] for row in said])


def _end(c: Connection, owner_id: OwnerId, document: DocumentId, at: datetime | None, now: datetime) -> None:
    """All pages of a document end then, or (None) do not; where some did not yet, readers are told."""
    page, ends = schema.page, zoned("expires_at", at)
    moved = c.execute(
        update(page)
        .where(page.c.owner_id == owner_id, page.c.thread == thread_of(document))
        .where(page.c.expires_at.is_distinct_from(ends["expires_at"]))
        .values(ends)
    )
    if moved.rowcount:
        log_expiry(c, owner_id, now)


def _label(c: Connection, owner_id: OwnerId, given: NewDocument, seqs: Sequence[int]) -> None:
    """The metadata of passages, as rows by which they are found."""
    rows = [row for seq in seqs for row in value_rows(owner_id, seq, given.metadata)]
    if rows:
        c.execute(_VALUE, rows)


def passage_page(owner_id: OwnerId, page_id: PageId, thread: ThreadId, seq: int, at: int) -> dict[str, Any]:
    """The row of a passage's page: below all numbers of pages of talk, and read and analysed as far as it goes."""
    row = new_page(owner_id, page_id, -seq, thread, seq, False, at)
    return {**row, "annotated_seq": seq, "analysed_seq": seq}


def _passage(document: DocumentId, given: NewDocument, passage: NewPassage) -> Passage:
    return Passage(
        document=document,
        title=given.title,
        source=given.source,
        place=passage.place,
        start=passage.start,
        end=passage.end,
    )


def _moved(
    document: DocumentId, given: NewDocument, kept: Sequence[tuple[_Held, NewPassage]]
) -> Iterator[dict[str, Any]]:
    """The columns of passages that stay and stand elsewhere, or have other metadata."""
    metadata = json_text(given.metadata) if given.metadata else None
    for held, passage in kept:
        new = _passage(document, given, passage)
        if (held.passage, held.metadata) != (new, metadata):
            yield {"seq": held.seq, "passage": json_text(new), "metadata": metadata}


def _log_moved(c: Connection, owner_id: OwnerId, gone: Sequence[PageId], now: datetime) -> None:
    """A change that readers begin anew from: passages moved, or are gone."""
    revision = c.execute(_MOVED, {"owner": owner_id, "at": micros(now)}).scalar_one()
    erased = Erased(pages=tuple(gone), facts=(), utterances=len(gone), passages=len(gone))
    decisions = (erased,) if gone else ()
    log(c, owner_id, Change(no=revision, cause=Cause.FORGETTING, analyst="", recorded_at=now, decisions=decisions))


def _receipt_span(c: Connection, owner_id: OwnerId, done: DocumentAdded) -> tuple[int, int]:
    """The utterances that a receipt names: those of the document, the first to the last."""
    page = schema.page
    mine = (page.c.owner_id == owner_id, page.c.thread == thread_of(done.id))
    first, last = c.execute(select(func.min(page.c.first_seq), func.max(page.c.last_seq)).where(*mine)).one()
    return first, last
