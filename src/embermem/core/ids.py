"""Ids are made by us, never by the database: a letter for the kind, then time and chance (as in UUID version 7)."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time

from embermem.core.patterns import regex
from embermem.core.types import OwnerId

MADE_ID = regex(r"[fsc][0-9]+-[0-9]+|[pu][0-9][0-9a-z]{15,40}")
"""An id of a memory."""
_NUMBER = regex(r"[0-9]+")
_OF_A_CHANGE = regex(r"[fsc]([0-9]{1,9})-[0-9]+$")
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u


class _Numbers:
    """The numbers of ids, each above all that this process gave before: within a millisecond, and where the clock was
    set back, each lies by chance above the last."""

    def __init__(self) -> None:
        self._last = 0
        self._giving = threading.Lock()

    def next(self) -> int:
        made = (time.time_ns() // 1_000_000) << 72 | secrets.randbits(72)
        with self._giving:
            self._last = made if made > self._last else self._last + 1 + secrets.randbits(64)
            return self._last


_NUMBERS = _Numbers()


def new_id(kind: str) -> str:
    """A new id: `kind`, 48 bits of milliseconds and 72 bits of chance; ids that a process makes later sort later."""
    number = _NUMBERS.next()
    return kind + "".join(DIGITS[number >> shift & 31] for shift in range(115, -1, -5))


def made_order(item_id: str) -> tuple[tuple[int, ...], str]:
    """The order of ids such as f12-003, which are numbered as they are made; others sort by themselves."""
    if not MADE_ID.fullmatch(item_id):
        return (), item_id
    return tuple(int(digits) for digits in _NUMBER.findall(item_id)), item_id


def made_in(item_id: str) -> int:
    """The number of the change that made a fact, segment or chain, as its id says; 0 for all other ids. No change
    before it names the item."""
    found = _OF_A_CHANGE.match(item_id)
    return int(found.group(1)) if found else 0


def owner_id(user: str, agent: str) -> OwnerId:
    """The id of a (user, agent) pair: a hash of both, so that no name can reach into another's rows."""
    name, other = user.encode(), agent.encode()
    digest = hashlib.blake2b(len(name).to_bytes(8, "big") + name + other, digest_size=16, person=b"embermem.owner")
    return OwnerId(digest.hexdigest())
