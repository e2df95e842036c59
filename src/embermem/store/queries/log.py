"""What was said: the first log."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Row, and_, bindparam, insert, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.ids import new_id
from embermem.core.paging import PageTail, joins
from embermem.core.types import Added, Message, Owner, OwnerId, PageId, Role, ThreadId, Utterance, UtteranceId
from embermem.languages.text_marks import marks_of_message
from embermem.protocols import OwnerState, Within
from embermem.store import schema
from embermem.store.codec import micros, row_of, zoned
from embermem.store.erasing import Erasing, barred_marks, gone_marks, mark_of_receipt
from embermem.store.queries import originals
from embermem.store.queries.pages import said_within
from embermem.store.queries.reads import same
from embermem.store.receipts import kept_receipt
from embermem.store.statements import due_from, ensure_owner, owner_state, set_owner, update_rows, utterances
from embermem.store.transactions import Undo
from embermem.store.values import value_rows

logger = logging.getLogger(__name__)

# Statements of every `add`, made once: making them took more time than running them.
_TAKE = (
    update(schema.owner)
    .where(schema.owner.c.owner_id == bindparam("of"))
    .values(
        seq=schema.owner.c.seq + bindparam("said"),
        pages=schema.owner.c.pages + bindparam("opened"),
        due_at=due_from(bindparam("at", type_=BigInteger)),
    )
)
_COUNTS = select(schema.owner.c.seq, schema.owner.c.pages).where(schema.owner.c.owner_id == bindparam("of"))
_TAIL = (
    select(
        schema.page.c.page_id,
        schema.page.c.answered,
        schema.page.c.expires_at,
        schema.utterance.c.role,
        schema.utterance.c.speaker,
    )
    .outerjoin(
        schema.utterance,
        and_(same(schema.utterance, schema.page), schema.utterance.c.seq == schema.page.c.last_seq),
    )
    .where(schema.page.c.owner_id == bindparam("of"), schema.page.c.thread == bindparam("thread"))
    .order_by(schema.page.c.no.desc())
    .limit(1)
)
_SAID, _VALUES, _OPENED = insert(schema.utterance), insert(schema.utterance_value), insert(schema.page)
_RECEIPT = insert(schema.receipt)


class Log(Erasing):
    """Utterances and the pages they make."""

    def append(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        now: datetime,
        key: str | None,
        digest: str,
        fresh: bool,
        expires_at: datetime | None = None,
    ) -> Added:
        at = micros(now)
        with self._write() as c:
            new = ensure_owner(c, owner, at)
            if key is not None:
                known = kept_receipt(c, owner.id, key, digest, lambda: self._secret_within(c))
                if known is not None:
                    return _stored(c, owner.id, known)
            secret = self._known_key(c)
            if secret is not None:
                sent = () if key is None else (mark_of_receipt(key, digest, secret),)
                messages = _still_new(c, owner.id, messages, sent, secret, new=new)
            if not messages:
                raise Undo  # no row of an owner is left either
            before = c.execute(_COUNTS, {"of": owner.id}).one()
            added = _append(c, owner.id, messages, before.seq, before.pages, at, fresh)
            if expires_at is not None:
                _expire(c, owner.id, added.page_ids, expires_at)
            if key is not None:
                said_receipt(c, owner.id, key, digest, before.seq + 1, before.seq + len(messages), at)
            return added
        return Added(page_ids=(), utterance_ids=())

    def owner_state(self, owner_id: OwnerId) -> OwnerState | None:
        """The owner's row, or None before the first add."""
        with self._read() as c:
            return owner_state(c, owner_id)

    def set_timezone(self, owner: Owner, timezone: str, now: datetime) -> None:
        """The zone of this owner's times that come without one."""
        with self._write() as c:
            ensure_owner(c, owner, micros(now))
            set_owner(c, owner.id, timezone=timezone)

    def utterances(
        self, owner_id: OwnerId, after_seq: int = 0, limit: int | None = None, *, within: Within | None = None
    ) -> tuple[Utterance, ...]:
        with self._read() as c:
            shown = () if within is None else said_within(c, owner_id, within, None)
            return utterances(c, owner_id, after_seq, limit, shown)

    def speakers(self, owner_id: OwnerId) -> frozenset[tuple[str, Role]]:
        said = schema.utterance.c
        with self._read() as c:
            spoke = c.execute(select(said.speaker, said.role).where(said.owner_id == owner_id).distinct())
            return frozenset((row.speaker, Role(row.role)) for row in spoke)

    def utterances_by_id(self, owner_id: OwnerId, ids: Collection[UtteranceId]) -> tuple[Utterance, ...]:
        with self._read() as c:
            return utterances(c, owner_id, where=[schema.utterance.c.id.in_(sorted(ids))])


def _still_new(
    c: Connection, owner_id: OwnerId, messages: Sequence[Message], sent: Sequence[str], secret: bytes, *, new: bool
) -> Sequence[Message]:
    """The messages but for those that were forgotten: who said what, and when. None of them, if the marks of how they
    are `sent` are known of a memory that was forgotten whole."""
    marks = [marks_of_message(secret, one.role.value, one.text, one.said_at) for one in messages]
    wanted = frozenset[str]().union(*marks)
    gone = gone_marks(c, owner_id, [*sent, *wanted], secret, new=new)
    if not gone.isdisjoint(sent):
        return ()
    known = gone | barred_marks(c, owner_id, wanted)
    return [one for one, own in zip(messages, marks, strict=True) if known.isdisjoint(own)]


def _stored(c: Connection, owner_id: OwnerId, row: Row[Any]) -> Added:
    """What was stored under a key and is still there; of what was forgotten, nothing is stored again."""
    utterance = schema.utterance
    stored = c.execute(
        select(utterance.c.id, utterance.c.page_id)
        .where(utterance.c.owner_id == owner_id, utterance.c.seq.between(row.first_seq, row.last_seq))
        .order_by(utterance.c.seq)
    ).all()
    return Added(
        page_ids=tuple(dict.fromkeys(PageId(one.page_id) for one in stored)),
        utterance_ids=tuple(UtteranceId(one.id) for one in stored),
    )


def said_receipt(c: Connection, owner_id: OwnerId, key: str, digest: str, first: int, last: int, at: int) -> None:
    """Keep what was stored under a key: the utterances from the first to the last."""
    row = {"owner_id": owner_id, "key": key, "digest": digest, "first_seq": first, "last_seq": last, "recorded_at": at}
    c.execute(_RECEIPT, row)


def _thread_tail(c: Connection, owner_id: OwnerId, thread: ThreadId, at: int) -> PageTail | None:
    """The thread's newest page; none where that has expired, so that what is said now does not end with it."""
    row = c.execute(_TAIL, {"of": owner_id, "thread": thread}).first()
    if row is None or (row.expires_at is not None and row.expires_at <= at):
        return None
    speaker = row.speaker if row.role == Role.USER.value else ""
    return PageTail(page_id=PageId(row.page_id), answered=row.answered, speaker=speaker)


def _append(
    c: Connection, owner_id: OwnerId, messages: Sequence[Message], seq: int, pages: int, at: int, fresh: bool
) -> Added:
    """Number the messages from seq + 1, give each its page, and write both. The owner's row is held."""
    tails = {thread: _thread_tail(c, owner_id, thread, at) for thread in {message.thread for message in messages}}
    utterances: list[dict[str, Any]] = []
    opened: dict[PageId, dict[str, Any]] = {}
    joined: dict[PageId, dict[str, Any]] = {}
    for message in messages:
        seq += 1
        tail = tails[message.thread]
        if tail is not None and joins(tail, message.role, message.speaker, fresh=fresh):
            page_id, answered = tail.page_id, tail.answered or message.role.agent_side
            if page_id in opened:
                opened[page_id] |= {"last_seq": seq, "answered": answered}
            else:
                joined[page_id] = {"page_id": page_id, "last_seq": seq, "answered": answered}
        else:
            pages += 1
            page_id, answered = PageId(new_id("p")), message.role.agent_side
            opened[page_id] = new_page(owner_id, page_id, pages, message.thread, seq, answered, at)
            fresh = False
        speaker = message.speaker if message.role is Role.USER else ""
        tails[message.thread] = PageTail(page_id=page_id, answered=answered, speaker=speaker)
        said = {"owner_id": owner_id, "seq": seq, "id": new_id("u"), "page_id": page_id, "recorded_at": at}
        utterances.append(row_of(message, schema.utterance, **said))
    c.execute(_TAKE, {"of": owner_id, "said": len(utterances), "opened": len(opened), "at": at})
    c.execute(_SAID, utterances)
    if values := [
        row
        for message, said in zip(messages, utterances, strict=True)
        for row in value_rows(owner_id, said["seq"], message.metadata)
    ]:
        c.execute(_VALUES, values)
    originals.keep(c, owner_id, ((said["id"], one.original) for one, said in zip(messages, utterances, strict=True)))
    if opened:
        c.execute(_OPENED, list(opened.values()))
    update_rows(c, schema.page, owner_id, ("page_id",), joined.values())
    return Added(
        page_ids=tuple(dict.fromkeys(row["page_id"] for row in utterances)),
        utterance_ids=tuple(row["id"] for row in utterances),
    )


def _expire(c: Connection, owner_id: OwnerId, page_ids: Sequence[PageId], expires_at: datetime) -> None:
    """The pages end then, but for those that end earlier."""
    page, at = schema.page, micros(expires_at)
    c.execute(
        update(page)
        .where(page.c.owner_id == owner_id, page.c.page_id.in_(page_ids))
        .where(or_(page.c.expires_at.is_(None), page.c.expires_at > at))
        .values(zoned("expires_at", expires_at))
    )


def new_page(
    owner_id: OwnerId, page_id: PageId, no: int, thread: ThreadId, seq: int, answered: bool, at: int
) -> dict[str, Any]:
    """The row of a page that begins with one utterance."""
    return {
        "owner_id": owner_id,
        "page_id": page_id,
        "no": no,
        "thread": thread,
        "first_seq": seq,
        "last_seq": seq,
        "answered": answered,
        "recorded_at": at,
        **dict.fromkeys(("annotated_seq", "analysed_seq", "attempts"), 0),
    }
