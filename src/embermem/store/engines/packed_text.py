"""JSON that is kept deflated in SQLite's file, where it is not searched by people: what was decided, and what
of it stands in rows of pages and segments, and in checkpoints. PostgreSQL compresses long values by itself.

A packed value is a BLOB: two marks, and a raw DEFLATE stream (RFC 1951) with a dictionary of the words that our JSON
repeats. Text is too short to gain, or of a store that was migrated to schema 0013. What looks for a word in a column
asks `Plain`; what looks through a file's bytes asks `unpacked_within`, which knows packed values by their marks.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Dialect, Text, TypeDecorator
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from embermem.core.errors import StoreCorrupt

__all__ = ["PLAIN", "PackedText", "Plain", "plain_text", "unpacked_within"]

PLAIN = "ember_plain"
"""The SQL function by which SQLite reads a packed value; each connection of an engine has it (`plain_text`)."""
_MARKS = b"\xe5\x01"
"""Not UTF-8 of any text, and the number of the dictionary."""
_LEVEL = 6
"""The default of zlib."""
_RAW = -zlib.MAX_WBITS
_MOST = 1 << 26
"""Bytes of a text that is packed, at most: what unpacks to more is damaged, and is not unpacked further."""
_DICTIONARY = (
    b'["Undone",{"no":["Evicted",{"segment_id":"["SegmentEnded",{"segment_id":"["FactRetired",{"fact_id":"'
    b'","superseded_by":"["FactArchived",{"fact_id":"["ProfileSet",{"whose":"user","name":","set_by":"'
    b'["TraitSet",{"dimension":"","level":0.,"confidence":0.,"sources":[["Linked",{"link_id":"l","from_id":"","to_id":"'
    b'["PersonRelated",{"relation":"speaks","one":"","other":"","holds":true,"sources":[["Embedded",{"first_seq":'
    b',"last_seq":,"embedder":"all-MiniLM-L6-v2+use-multilingual-v3"}]]["FactStrengthened",{"fact_id":"'
    b'"preference""occupation""relationship""location""health""event""plan""likes""dislikes""instruction""did"'
    b'["ChainSummarised",{"chain_id":"c","thread":"","summary":"Assistant: ","sources":['
    b'{"word":"about","pages":1},{"word":"time","pages":1},{"word":"new","pages":2},{"word":"'
    b'["SegmentWritten",{"segment_id":"s","parts":[{"chain_id":"c-0","text":"user: I have been to the and my for with '
    b'that it was so you are not this is a what of in on at we"}],"phrases":["],"keywords":[{"word":"",'
    b'"pages":1}],"said_from":"2025-01-01T00:00:00Z","said_to":"2026-","title":"","shown":["'
    b'["FactAdded",{"fact_id":"f","about":"agent","subject":"User","attribute":"","value":"","text":"","sources":'
    b'[{"seq":1,"utterance_id":"u06h","start":0,"end":}],"valid_from":null,"expires_at":null,"metadata":{}}],'
    b'["Analysed",{"page_id":"p06h","upto_seq":}],["Placed",{"page_id":"p06h","segment_id":"s","f_score":null}],'
    b'["Noted",{"page_id":"p06h","upto_seq":,"chain_id":"c-0","continues":true,"keywords":[""],'
    b'"analyst":"extractive-v1","facts":[],"traits":[],"profile":[]}],["continues":false,'
    b'{"facts":[{"about":"user","subject":"","attribute":"","value":"","text":"","sources":[{"seq":'
    b',"utterance_id":"u06h","start":0,"end":}],"single":false,"valid_from":null,"retracts":false,"replaces":null,'
    b'"expires_at":null}],"traits":[],"profile":[],"segment_summary":null,"segment_title":"","summary_sources":[],'
    b'"links":[],"evolutions":[],"read_by":""}'
)
"""It is that of the second mark, and never changes: another one would get another mark."""


class PackedText(TypeDecorator[str]):
    """Text that is packed in SQLite's file where that is shorter."""

    impl = Text
    cache_ok = True

    def __init__(self, level: int = _LEVEL) -> None:
        """`level` is zlib's: what is rewritten often is packed with less effort."""
        super().__init__()
        self.level = level

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """What the column holds."""
        return value if value is None or dialect.name != "sqlite" else _packed(value, self.level)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """The text. Raises StoreCorrupt."""
        return plain_text(value)


def _packed(text: str, level: int) -> bytes | str:
    data = text.encode()
    if len(data) > _MOST:
        return text
    packer = zlib.compressobj(level, zlib.DEFLATED, _RAW, zlib.DEF_MEM_LEVEL, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    made = _MARKS + packer.compress(data) + packer.flush()
    return made if len(made) < len(data) else text


def plain_text(value: bytes | str | None) -> str | None:
    """The text of what a column holds. Raises StoreCorrupt for a damaged value."""
    if not isinstance(value, bytes):
        return value
    unpacker = zlib.decompressobj(_RAW, _DICTIONARY)
    try:
        if not value.startswith(_MARKS):
            raise ValueError
        data = unpacker.decompress(value[len(_MARKS) :], _MOST + 1)
        if not unpacker.eof:
            raise ValueError
        return data.decode()
    except (zlib.error, ValueError):
        raise StoreCorrupt("a packed text is damaged; restore a copy, or see `embermem doctor`") from None


class Plain(FunctionElement[str]):
    """A column's text, as statements compare it."""

    type = Text()
    inherit_cache = True


@compiles(Plain)
def _as_it_is(element: Plain, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(Plain, "sqlite")
def _unpacked(element: Plain, compiler: SQLCompiler, **options: Any) -> str:
    return f"{PLAIN}({compiler.process(element.clauses, **options)})"


def unpacked_within(piece: bytes) -> Iterator[bytes]:
    """What can be read of each packed value that begins within some bytes: of one that is cut off, its beginning."""
    at = piece.find(_MARKS)
    while at >= 0:
        unpacker = zlib.decompressobj(_RAW, _DICTIONARY)
        found = bytearray()
        try:
            for start in range(at + len(_MARKS), len(piece), _STEP):  # in steps: what comes before an error is kept
                found += unpacker.decompress(piece[start : start + _STEP])
                if unpacker.eof or len(found) > _MOST:
                    break
        except zlib.error:
            pass
        if found:
            yield bytes(found)
        at = piece.find(_MARKS, at + 1)


_STEP = 64
