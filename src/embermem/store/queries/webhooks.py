"""Webhooks: which there are, and which of them have something to deliver. The logs are the queue; a row says how far
its receiver was told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.types import Owner, OwnerId, Position, Webhook, WebhookState
from embermem.protocols import Delivery, Receipt
from embermem.store import schema
from embermem.store.codec import micros, moment
from embermem.store.erasing import Erasing, remember_scrub
from embermem.store.queries import reads
from embermem.store.statements import ensure_owner, owner_state, write_receipt
from embermem.store.transactions import over_owners

MOST_SAID, MOST_CHANGES = 500, 100
"""Utterances and changes of one delivery at most."""
_LOOKED_AT = 8
"""Webhooks looked at in one claim: others may be taking the first of them."""


class Webhooks(Erasing):
    """Webhooks of all owners. A delivery is claimed by a conditional update: lease, end, and a token that grows."""

    def add_webhook(
        self, owner: Owner, webhook: Webhook, since: Position | None, now: datetime, receipt: Receipt | None
    ) -> None:
        """Keep a new webhook, with the receipt of the call. It is told what comes after `since`, by default after
        now."""
        with self._write() as c:
            ensure_owner(c, owner, micros(now))
            at = _now(c, owner.id) if since is None else since
            c.execute(
                insert(schema.webhook).values(
                    owner_id=owner.id,
                    webhook_id=webhook.id,
                    url=webhook.url,
                    events=json.dumps(webhook.events),
                    tells_text=webhook.text,
                    created_at=micros(webhook.created_at),
                    seq=at.seq,
                    revision=at.revision,
                    attempts=0,
                    lease_token=0,
                )
            )
            write_receipt(c, owner.id, receipt, micros(now))

    def webhooks(self, owner_id: OwnerId) -> tuple[Webhook, ...]:
        """Those of one owner, oldest first."""
        table = schema.webhook
        with self._read() as c:
            query = select(table).where(table.c.owner_id == owner_id)
            return tuple(webhook_from(row) for row in c.execute(query.order_by(table.c.created_at, table.c.webhook_id)))

    @over_owners
    def has_webhooks(self) -> bool:
        """Whether there is any webhook in the whole store."""
        with self._read() as c:
            return c.scalar(select(schema.webhook.c.webhook_id).limit(1)) is not None

    def remove_webhook(self, owner_id: OwnerId, webhook_id: str) -> bool:
        """Remove one and wipe the bytes of its address; False for one that there is not."""
        with self._write() as c:
            found = bool(c.execute(delete(schema.webhook).where(_one(owner_id, webhook_id))).rowcount)
            if found:
                remember_scrub(c)
        if found:
            self.wipe()
        return found

    def replay_webhook(self, owner_id: OwnerId, webhook_id: str, since: Position | None) -> bool:
        """Deliver again what came after a position (None: after the one it has), now, also if it was stopped. A
        delivery on its way counts for nothing. False for one that there is not."""
        table = schema.webhook
        place = {} if since is None else {"seq": since.seq, "revision": since.revision}
        again = dict.fromkeys(("upto_seq", "upto_revision", "retry_at", "stopped_at", "error", "lease_until"))
        with self._write() as c:
            done = c.execute(
                update(table)
                .where(_one(owner_id, webhook_id))
                .values(**again, **place, attempts=0, lease_token=table.c.lease_token + 1)
            )
            return bool(done.rowcount)

    @over_owners
    def claim_delivery(self, now: datetime, lease_s: float) -> Delivery | None:
        """The next delivery that is due, held for so long; None if there is none.

        What it covers is kept with the webhook until it was delivered, so another attempt is of the same events.
        """
        table, owner, at = schema.webhook, schema.owner, micros(now)
        until = at + int(lease_s * 1e6)
        new = or_(owner.c.seq > table.c.seq, owner.c.revision > table.c.revision)
        due = (
            select(table, owner.c.user, owner.c.agent, owner.c.seq.label("said"), owner.c.revision.label("changed"))
            .join(owner, owner.c.owner_id == table.c.owner_id)
            .where(new, table.c.stopped_at.is_(None), or_(table.c.retry_at.is_(None), table.c.retry_at <= at))
            .where(_free(at, until))
            .order_by(func.coalesce(table.c.delivered_at, 0), table.c.webhook_id)
            .limit(_LOOKED_AT)
        )
        with self._read() as c:
            rows = c.execute(due).all()
        for row in rows:
            upto = _upto(row)
            with self._write() as c:
                taken = c.execute(
                    update(table)
                    .where(_one(row.owner_id, row.webhook_id), table.c.lease_token == row.lease_token, _free(at, until))
                    .values(
                        lease_token=row.lease_token + 1,
                        lease_until=until,
                        upto_seq=upto.seq,
                        upto_revision=upto.revision,
                    )
                )
            if taken.rowcount:
                return Delivery(
                    owner=reads.owner_from(row),
                    webhook=webhook_from(row),
                    since=Position(seq=row.seq, revision=row.revision),
                    upto=upto,
                    token=row.lease_token + 1,
                )
        return None

    def delivered(self, delivery: Delivery, now: datetime) -> None:
        """The receiver was told. Where the lease is another's by now, nothing is noted: it will be told again."""
        values = {"seq": delivery.upto.seq, "revision": delivery.upto.revision, "delivered_at": micros(now)}
        free = dict.fromkeys(("upto_seq", "upto_revision", "retry_at", "error", "lease_until"))
        self._settle(delivery, {**values, **free, "attempts": 0})

    def undelivered(self, delivery: Delivery, error: str, now: datetime, retry_at: datetime | None) -> None:
        """An attempt failed; another is made at a time, or (None) the webhook is stopped."""
        stopped = {"stopped_at": micros(now)} if retry_at is None else {"retry_at": micros(retry_at)}
        attempts = delivery.webhook.attempts + 1
        self._settle(delivery, {"attempts": attempts, "error": error, "lease_until": None, **stopped})

    def _settle(self, delivery: Delivery, values: Mapping[str, Any]) -> None:
        table = schema.webhook
        mine = and_(_one(delivery.owner.id, delivery.webhook.id), table.c.lease_token == delivery.token)
        with self._write() as c:
            c.execute(update(table).where(mine).values(**values))


def webhook_counts(c: Connection) -> Mapping[WebhookState, int]:
    """How many webhooks of the whole store are in each state."""
    table = schema.webhook
    states = [_state(row) for row in c.execute(select(table.c.stopped_at, table.c.attempts))]
    return {state: states.count(state) for state in WebhookState}


def _now(c: Connection, owner_id: OwnerId) -> Position:
    state = owner_state(c, owner_id)
    return Position(seq=0, revision=0) if state is None else Position(seq=state.seq, revision=state.revision)


def _one(owner_id: OwnerId, webhook_id: str) -> ColumnElement[bool]:
    table = schema.webhook
    return and_(table.c.owner_id == owner_id, table.c.webhook_id == webhook_id)


def _free(at: int, until: int) -> ColumnElement[bool]:
    """Nobody delivers it. A lease that ends much later than a new one would is of a clock gone wrong."""
    lease = schema.webhook.c.lease_until
    return or_(lease.is_(None), lease <= at, lease > 2 * until - at)


def _upto(row: Any) -> Position:
    """What a delivery covers: as an earlier attempt did, or what is new by now."""
    if row.upto_seq is not None:
        return Position(seq=row.upto_seq, revision=row.upto_revision)
    return Position(seq=min(row.said, row.seq + MOST_SAID), revision=min(row.changed, row.revision + MOST_CHANGES))


def _state(row: Any) -> WebhookState:
    if row.stopped_at is not None:
        return WebhookState.STOPPED
    return WebhookState.RETRYING if row.attempts else WebhookState.ACTIVE


def webhook_from(row: Any) -> Webhook:
    """A webhook."""
    return Webhook(
        id=row.webhook_id,
        url=row.url,
        events=tuple(json.loads(row.events)),
        text=row.tells_text,
        state=_state(row),
        created_at=moment(row.created_at),
        position=str(Position(seq=row.seq, revision=row.revision)),
        attempts=row.attempts,
        error=row.error or "",
        retry_at=None if row.retry_at is None or row.stopped_at is not None else moment(row.retry_at),
        delivered_at=None if row.delivered_at is None else moment(row.delivered_at),
    )
