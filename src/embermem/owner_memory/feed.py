"""What is new in one memory: events after a position, changes as they come, and webhooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from embermem.arguments import checked
from embermem.core import messages
from embermem.core.changes import Cause, Change
from embermem.core.errors import InputError
from embermem.core.ids import new_id
from embermem.core.messages import At
from embermem.core.types import Event, Position, Webhook, WebhookState
from embermem.owner_memory.items import Items
from embermem.owner_memory.reading import LONGEST_WAIT_S

_MOST_WEBHOOKS = 20
AT_ONCE = 100
"""Changes read at once."""


@checked
class Feed(Items):
    """The change feed and webhooks."""

    def watch(self, since: int | At = None) -> Iterator[Change]:
        """Yield changes as they are made, by any process, for as long as it is asked: those after a number or a time,
        by default after now. It waits in the caller's thread; a reader that stopped goes on from the last `no`."""
        if isinstance(since, int):
            messages.whole(since, "since", 0)
            return self._watched((), since)
        state = self.state()
        first = () if since is None else self.changes(since, limit=AT_ONCE)
        return self._watched(first, 0 if state is None else state.revision)

    def events(self, since: str, *, until: str | None = None) -> tuple[Event, ...]:
        """Return what came after a position ("seq.revision"), up to another or now, oldest first: ids, counts and
        causes, without text. A memory that went far ahead (100 changes), or back, is told as one event `state`. Raises
        InputError for what is no position."""
        from embermem.webhooks import events

        upto = None if until is None else _position(until, "until")
        return events.news(self._store, self.owner.id, _position(since, "since"), upto, now=self._parts.clock())

    def standing(self) -> Event:
        """Return where the memory stands: an event `state`, whose position is where `events` and webhooks begin."""
        from embermem.webhooks import events

        state = self.state()
        return events.standing(state, events.position(state))

    def add_webhook(
        self,
        url: str,
        *,
        events: Sequence[str] = (),
        text: bool = False,
        since: str | None = None,
        key: str | None = None,
    ) -> Webhook:
        """Send what is new to an address, signed, from now on or from a position; returns the webhook with its
        `secret`, which no later call returns (docs/guides/changes.md).

        `events` are "page" and causes of changes, such as "promotion" or "forgetting"; none means all. With `text`,
        events hold what was said and decided. Raises InputError for an address that is not allowed.
        """
        from embermem.webhooks.sending import Allowed, checked_url

        known = ("page", *Cause)
        for name in events:
            if name not in known:
                raise InputError(f"events: {name!r} is not allowed; any of: {', '.join(known)}")
        once = self._once(key, "add_webhook", url, list(events), text, since)
        if self._done_before(once) is not None and once is not None:
            return self._with_secret(self._webhook(json.loads(once.result or '""')))
        checked_url(url, Allowed.parsed(self._parts.settings.webhook_hosts))
        if len(self.webhooks()) >= _MOST_WEBHOOKS:
            raise InputError(f"this memory has {_MOST_WEBHOOKS} webhooks already; remove one first")
        now = self._parts.clock()
        place = None if since is None else _position(since, "since")
        made = Webhook(
            id=new_id("w"),
            url=url,
            events=tuple(dict.fromkeys(str(name) for name in events)),
            text=text,
            state=WebhookState.ACTIVE,
            created_at=now,
            position="",
        )
        if once is not None:
            once.result = json.dumps(made.id)
        made = self._with_secret(made)
        self._parts.admin.add_webhook(self.owner, made, place, now, None if once is None else once.receipt(0))
        self._parts.added()
        return replace(self._webhook(made.id), secret=made.secret)

    def webhooks(self) -> tuple[Webhook, ...]:
        """Return the webhooks of this memory, oldest first, without their secrets."""
        return self._parts.admin.webhooks(self.owner.id)

    def remove_webhook(self, webhook_id: str) -> None:
        """Send nothing to it any more. Raises NotFound."""
        if not self._parts.admin.remove_webhook(self.owner.id, webhook_id):
            raise self._none_such("webhook", webhook_id)

    def replay_webhook(self, webhook_id: str, since: str | None = None) -> Webhook:
        """Send what came after a position again, by default what its receiver was not told yet; a webhook that was
        stopped begins again. Raises NotFound, and InputError for what is no position."""
        place = None if since is None else _position(since, "since")
        if not self._parts.admin.replay_webhook(self.owner.id, webhook_id, place):
            raise self._none_such("webhook", webhook_id)
        self._parts.added()
        return self._webhook(webhook_id)

    def _webhook(self, webhook_id: str) -> Webhook:
        for one in self.webhooks():
            if one.id == webhook_id:
                return one
        raise self._none_such("webhook", webhook_id)

    def _with_secret(self, webhook: Webhook) -> Webhook:
        from embermem.webhooks.signing import secret_of

        return replace(webhook, secret=secret_of(self._store.forgetting.secret(), self.owner.id, webhook.id))

    def _watched(self, some: Sequence[Change], last: int) -> Iterator[Change]:
        while True:
            yield from some
            last = some[-1].no if some else last
            some = self.changes(last, limit=AT_ONCE, wait_s=LONGEST_WAIT_S)


def _position(text: str, where: str) -> Position:
    found = Position.parsed(text)
    if found is None:
        raise InputError(f"{where} = {text!r} is no position; give one such as '12.3', from an event's id")
    return found
