"""Webhooks: addresses to which what is new in one memory is sent."""

from __future__ import annotations

from embermem.core.types import Webhook
from embermem.http.access import Accessible
from embermem.http.api import bodies
from embermem.http.api.dependencies import ItemId, Key, Writing, router, written_by
from embermem.wire.answers import Webhooks

routes = router("webhooks")


@routes.get("/webhooks", summary="List webhooks")
def list_webhooks(owner: Writing) -> Webhooks:
    """The webhooks of one memory, without their secrets. Needs the right to write."""
    return Webhooks(results=owner.webhooks())


@routes.post("/webhooks", status_code=201, summary="Register a webhook")
def add_webhook(access: Accessible, body: bodies.WebhookBody, key: Key = None) -> Webhook:
    """Events are sent to `url`, signed with the `secret` of this answer, which no other answer holds."""
    owner = written_by(access, body)
    return owner.add_webhook(body.url, events=body.events, text=body.text, since=body.since, key=key)


@routes.delete("/webhooks/{item_id}", summary="Remove a webhook")
def remove_webhook(owner: Writing, item_id: ItemId) -> Webhooks:
    """Nothing is sent to it any more. Returns the others."""
    owner.remove_webhook(item_id)
    return Webhooks(results=owner.webhooks())


@routes.post("/webhooks/{item_id}/replay", summary="Send events again")
def replay_webhook(access: Accessible, item_id: ItemId, body: bodies.ReplayBody) -> Webhook:
    """Sends what came after `since` again, or what was not delivered yet; a stopped webhook begins again."""
    return written_by(access, body).replay_webhook(item_id, body.since)
