"""How a delivery is signed, as the Standard Webhooks specification writes it: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

SECRET_PREFIX = "whsec_"
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
"""The headers of a delivery."""
TOLERANCE_S = 300
_VERSION = "v1"


def secret_of(key: bytes, owner_id: str, webhook_id: str) -> str:
    """The secret of a webhook. It follows from the store's key of forgotten values, which lies outside the database:
    the database alone gives no secret away."""
    made = hmac.digest(key, f"webhook\n{owner_id}\n{webhook_id}".encode(), hashlib.sha256)
    return SECRET_PREFIX + base64.b64encode(made).decode()


def signature(secret: str, delivery_id: str, timestamp: int, body: bytes) -> str:
    """The value of the header `webhook-signature`. Raises ValueError for what is no secret."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("the secret of a webhook begins with whsec_ and is base64") from error
    signed = hmac.digest(key, f"{delivery_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return f"{_VERSION},{base64.b64encode(signed).decode()}"


def verified(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float, tolerance_s: float = TOLERANCE_S
) -> bool:
    """Whether a delivery is signed with a secret and not older than `tolerance_s` seconds. `headers` by their names in
    lower case; `body` as it arrived; `now` as `time.time()` gives it."""
    told, given = headers.get(TIMESTAMP, ""), headers.get(SIGNATURE, "")
    if not (told.isascii() and told.isdigit() and len(told) < 16) or abs(now - int(told)) > tolerance_s:
        return False
    wanted = signature(secret, headers.get(ID, ""), int(told), body)
    return any(hmac.compare_digest(wanted.encode(), one.encode()) for one in given.split(" "))
