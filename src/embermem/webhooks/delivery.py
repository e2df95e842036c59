"""Deliveries that are due: claimed, built from the logs, signed, sent, and tried again."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from embermem.core.errors import ForgottenKeyLost
from embermem.telemetry import Done
from embermem.webhooks import events, sending, signing

if TYPE_CHECKING:
    from embermem.core.config import Settings
    from embermem.protocols import Delivery
    from embermem.store.sql import SqlStore

logger = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 10.0, 3600.0
"""The pause after a first failure, which doubles with each, and the longest."""
_LEASE_S = 60.0
"""A lease lasts this much longer than the time that an attempt may take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deliverer:
    """Delivers what is due in a store. Any number of threads and processes may do so at the same time."""

    store: SqlStore
    settings: Settings
    clock: Callable[[], datetime]
    done: Done = field(default_factory=Done)
    """Counts the attempts, as `delivered` or `failed`."""

    def run(self, stopping: Callable[[], bool] = lambda: False) -> int:
        """Make the attempts that are due; returns how many deliveries were taken by their receivers."""
        done = 0
        timeout_s = self.settings.webhook_timeout_s
        lease_s = (sending.MOST_ADDRESSES + 1) * timeout_s + _LEASE_S
        while not stopping():
            delivery = self.store.claim_delivery(self.clock(), lease_s)
            if delivery is None:
                break
            try:
                self._attempt(delivery, timeout_s)
            except sending.NotSent as error:
                self._failed(delivery, error)
                self.done.add("failed")
            else:
                self.store.delivered(delivery, self.clock())
                self.done.add("delivered")
                done += 1
        return done

    def _attempt(self, delivery: Delivery, timeout_s: float) -> None:
        """Send the events of a delivery, if any are wanted. Raises NotSent."""
        hook, owner = delivery.webhook, delivery.owner
        found = events.news(
            self.store.protocols, owner.id, delivery.since, delivery.upto, now=self.clock(), text=hook.text
        )
        told = [events.as_json(one) for one in events.wanted(found, hook.events)]
        if not told:
            return
        body = json.dumps(
            {"webhook_id": hook.id, "user_id": owner.user, "agent_id": owner.agent, "events": told}
        ).encode()
        delivery_id = f"{hook.id}.{delivery.upto}"
        timestamp = int(self.clock().timestamp())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "embermem",
            signing.ID: delivery_id,
            signing.TIMESTAMP: str(timestamp),
            signing.SIGNATURE: signing.signature(self._secret(delivery), delivery_id, timestamp, body),
        }
        allowed = sending.Allowed.parsed(self.settings.webhook_hosts)
        sending.send(hook.url, headers, body, allowed=allowed, timeout_s=timeout_s)

    def _secret(self, delivery: Delivery) -> str:
        try:
            return signing.secret_of(self.store.secret(), delivery.owner.id, delivery.webhook.id)
        except ForgottenKeyLost as error:
            raise sending.NotSent("the store's key of forgotten values is missing: nothing can be signed") from error

    def _failed(self, delivery: Delivery, error: sending.NotSent) -> None:
        hook, now = delivery.webhook, self.clock()
        last = error.final or hook.attempts + 1 >= self.settings.webhook_attempts
        retry_at = None if last else now + timedelta(seconds=pause_s(hook.id, hook.attempts + 1))
        self.store.undelivered(delivery, str(error), now, retry_at)
        what = "is stopped" if last else "will be tried again"
        logger.warning("webhook %s %s after %d attempts: %s", hook.id, what, hook.attempts + 1, error)


def pause_s(webhook_id: str, attempts: int) -> float:
    """How long the next attempt waits: exponential, bounded, and spread by up to a fifth, by the webhook's id."""
    spread = int.from_bytes(hashlib.blake2b(webhook_id.encode(), digest_size=2).digest()) / 0xFFFF
    return min(FIRST_PAUSE_S * float(2 ** min(attempts - 1, 30)), LONGEST_PAUSE_S) * (0.9 + 0.2 * spread)
