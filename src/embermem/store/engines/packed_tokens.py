"""Packed token vectors (index/late.py) in SQLite's file: the same codes, the frequent ones in fewer bits.

Most codes of 4 bits lie near the middle, so that Huffman's code of them takes a sixth less than 4 bits each. A packed
value is two marks, a raw DEFLATE stream (RFC 1951) of the codes, a byte each, and a zero where the length would be
even. What has an even length is the codes themselves, where that is shorter or the store was migrated to schema 0013.
An embedder whose codes have an odd length is always packed.
"""

from __future__ import annotations

import zlib

import numpy as np
from sqlalchemy import Dialect, LargeBinary, TypeDecorator

__all__ = ["PackedTokens"]

_MARKS = b"\xe5\x02"
_RAW = -zlib.MAX_WBITS


class PackedTokens(TypeDecorator[bytes]):
    """Two codes of 4 bits a byte, packed in SQLite's file."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """What the column holds."""
        return value if not value or dialect.name != "sqlite" else _packed(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """The codes."""
        return value if not value or dialect.name != "sqlite" else _codes(value)


def _packed(codes: bytes) -> bytes:
    pairs = np.frombuffer(codes, dtype=np.uint8)
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, zlib.DEF_MEM_LEVEL, zlib.Z_HUFFMAN_ONLY)
    made = _MARKS + packer.compress(np.concatenate((pairs & 15, pairs >> 4)).tobytes()) + packer.flush()
    made += bytes(1 - len(made) % 2)
    return made if len(made) < len(codes) or len(codes) % 2 else codes


def _codes(value: bytes) -> bytes:
    if len(value) % 2 == 0 or not value.startswith(_MARKS):
        return value
    unpacker = zlib.decompressobj(_RAW)
    try:  # Huffman's code of a code has a bit at least
        nibbles = np.frombuffer(unpacker.decompress(value[len(_MARKS) :], 8 * len(value)), dtype=np.uint8)
    except zlib.error:  # what is damaged is told by its length, as of every embedder
        return value
    half = len(nibbles) // 2
    return (nibbles[:half] | nibbles[half:] << 4).tobytes() if unpacker.eof and len(nibbles) % 2 == 0 else value
