"""Where a list goes on: opaque to the client, and good for that one list only.

A cursor holds a position and a check over it and the list that it was made for (whose, of what, with which filters).
The check is no secret: a position reaches nothing that the request's owner does not hold. It is there so that a cursor
that was cut, edited or given to another list is refused, and never answers with the wrong part.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from embermem.core.errors import InputError

_CHECK_BYTES = 8


def cursor(listing: str, position: str) -> str:
    """The cursor for what follows `position` in a list."""
    return base64.urlsafe_b64encode(_check(listing, position) + position.encode()).decode().rstrip("=")


def position(listing: str, given: str) -> str:
    """The position of a cursor. Raises InputError where it is broken, or of another list."""
    try:
        raw = base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True)
        check, place = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:].decode()
    except (binascii.Error, ValueError):
        check, place = b"", ""
    if not place or check != _check(listing, place) or cursor(listing, place) != given.rstrip("="):
        raise InputError("cursor is not valid for this list; pass next_cursor unchanged with the same filters, or none")
    return place


def number(listing: str, given: str | None) -> int | None:
    """The position of a cursor where that is a number; None without a cursor. Raises InputError."""
    if given is None:
        return None
    place = position(listing, given)
    if not (place.isascii() and place.isdecimal() and len(place) < 17):
        raise InputError("cursor is not valid for this list; pass next_cursor unchanged, or none")
    return int(place)


def _check(listing: str, place: str) -> bytes:
    digest = hashlib.blake2b(digest_size=_CHECK_BYTES, person=b"embermem.cursor")
    for part in (listing.encode(errors="surrogatepass"), place.encode(errors="surrogatepass")):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
