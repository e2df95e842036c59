"""Ids are made by us, never by the database: a letter for the kind, then time and chance (as in UUID version 7)."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.types import OwnerId

if TYPE_CHECKING:
    from numpy.typing import NDArray

MADE_ID = re.compile(r"[fscl][0-9]+-[0-9]+|[pu][0-9][0-9a-z]{15,40}")
"""An id of a memory."""
_NUMBER = re.compile(r"[0-9]+")
_OF_A_CHANGE = re.compile(r"[fscl]([0-9]{1,9})-[0-9]+$")
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u

_BYTES = 15
"""Bytes of an id without its letter: 24 digits of 5 bits."""
_LENGTH = 1 + 8 * _BYTES // 5
_PAIRS = tuple(one + other for one in _DIGITS for other in _DIGITS)
"""What 10 bits are: a recall unpacks some dozens of ids."""
_NO_DIGIT = 255
_VALUES = np.full(256, _NO_DIGIT, dtype=np.uint8)
_VALUES[np.frombuffer(_DIGITS.encode(), dtype=np.uint8)] = np.arange(len(_DIGITS), dtype=np.uint8)


def new_id(kind: str) -> str:
    """A new id: `kind`, 48 bits of milliseconds and 72 bits of chance; ids made later sort later."""
    number = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 72 | secrets.randbits(72)
    return kind + "".join(_DIGITS[number >> shift & 31] for shift in range(115, -1, -5))


def packed_ids(ids: Sequence[str]) -> NDArray[np.uint8]:
    """Ids of `new_id` in 16 bytes each, shape (n, 16); any other id is 16 zeros."""
    packed = np.zeros((len(ids), 1 + _BYTES), dtype=np.uint8)
    made = [i for i, one in enumerate(ids) if len(one) == _LENGTH and one.isascii()]
    letters = np.frombuffer("".join([ids[i] for i in made]).encode("ascii"), dtype=np.uint8).reshape(-1, _LENGTH)
    digits = _VALUES[letters[:, 1:]]
    known = (digits != _NO_DIGIT).all(axis=1) & (letters[:, 0] > 0)
    bits = np.unpackbits(digits[known, :, None], axis=2)[:, :, 3:]
    rows = np.array(made, dtype=np.int64)[known]
    packed[rows, 0] = letters[known, 0]
    packed[rows, 1:] = np.packbits(bits.reshape(len(rows), 8 * _BYTES), axis=1)
    return packed


def unpacked_id(packed: bytes) -> str:
    """The id of 16 bytes of `packed_ids`; empty for zeros."""
    if not packed[0]:
        return ""
    number = int.from_bytes(packed[1:], "big")
    return chr(packed[0]) + "".join([_PAIRS[number >> shift & 1023] for shift in range(8 * _BYTES - 10, -1, -10)])


def made_order(item_id: str) -> tuple[tuple[int, ...], str]:
    """The order of ids such as f12-003, which are numbered as they are made; others sort by themselves."""
    if not MADE_ID.fullmatch(item_id):
        return (), item_id
    return tuple(int(digits) for digits in _NUMBER.findall(item_id)), item_id


def made_in(item_id: str) -> int:
    """The number of the change that made a fact, segment, chain or link, as its id says; 0 for all other ids. No change
    before it names the item."""
    found = _OF_A_CHANGE.match(item_id)
    return int(found.group(1)) if found else 0


def owner_id(user: str, agent: str) -> OwnerId:
    """The id of a (user, agent) pair: a hash of both, so that no name can reach into another's rows."""
    name, other = user.encode(), agent.encode()
    digest = hashlib.blake2b(len(name).to_bytes(8, "big") + name + other, digest_size=16, person=b"embermem.owner")
    return OwnerId(digest.hexdigest())
