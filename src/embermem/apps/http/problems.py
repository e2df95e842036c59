"""Failures as problem details (RFC 9457): what was wrong, where, and what to do."""

from __future__ import annotations

from embermem.errors import EmberError


class HttpError(EmberError):
    """A failure that only a server knows. `status` is its HTTP status."""

    status = 500


class Unauthorized(HttpError):
    """No key, or one that is not ours, was revoked, or has a fault."""

    status = 401


class Forbidden(HttpError):
    """The key does not hold this owner, or not this right."""

    status = 403
