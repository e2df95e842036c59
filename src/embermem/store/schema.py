"""The schema, once, for every engine. Every primary key, unique key and index begins with the owner, but for two: the
one that finds due owners, and the one that adds up a day's calls of a model.

Times are integers, microseconds since 1970 in UTC; where the caller gave a zone, its offset in minutes stands beside
them. Of what was derived, rows say only where work stands; all else is folded from the log (store/states.py). Two
tables belong to no owner: `store`, and `api_key`, the service's keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex, SchemaItem

from embermem.store.codec import offset_of
from embermem.store.engines.owner_alias import OwnerKey
from embermem.store.engines.packed_text import PackedText
from embermem.store.engines.packed_tokens import PackedTokens
from embermem.store.engines.short_names import ShortName
from embermem.store.engines.vector_type import Vectors

if TYPE_CHECKING:
    from sqlalchemy.sql.compiler import DDLCompiler

HEAD = "0014"
"""The schema that `metadata` makes. `migrations.STEPS` has those that lead to it."""

metadata = MetaData()
_WHERE = "where"
"""The key in an index's `info` of which rows it holds."""

_BY_CODE_POINTS = Text().with_variant(Text(collation="C"), "postgresql")
"""Texts that are compared and ordered as Python does it, whatever language a database is set to."""


def _owned(name: str, *items: SchemaItem, small: bool = False) -> Table:
    """`small`: its rows are, or most stores have none, and SQLite keeps them in the order of the key, not beside an
    index that repeats it, which takes a page of an empty store."""
    return Table(name, metadata, Column("owner_id", OwnerKey(), primary_key=True), *items, sqlite_with_rowid=not small)


_QUICKLY = 1
"""The level at which zlib packs what is written again and again."""
ID_LENGTH = 40
"""Characters of an id, at most; a key that may be longer is a caller's or a person's words."""


def _key(name: str, length: int = ID_LENGTH) -> Column[str]:
    return Column(name, String(length), primary_key=True)


def _zoned(name: str, *, empty: bool = True) -> Sequence[SchemaItem]:
    """A time, and its zone's offset."""
    return Column(name, BigInteger, nullable=empty), Column(offset_of(name), Integer, nullable=empty)


def _partial(name: str, *columns: str, where: str) -> Index:
    """An index of the rows that are looked for; the others are most."""
    return Index(name, *columns, sqlite_where=text(where), info={_WHERE: where})


@compiles(CreateIndex, "postgresql")
def _create_index(create: CreateIndex, compiler: DDLCompiler, **options: Any) -> str:
    """PostgreSQL's `where` is told when it makes the index: naming it before imports all of its dialect, for SQLite
    too."""
    if (where := create.element.info.get(_WHERE)) is not None:
        create.element.dialect_options["postgresql"]["where"] = text(where)
    made: str = compiler.visit_create_index(create, **options)  # type: ignore[no-untyped-call]
    return made


store = Table(
    "store",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_with_rowid=False,
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("grants", Text, nullable=False),
    Column("read_only", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
    sqlite_with_rowid=False,
)

owner = _owned(
    "owner",
    Column("user", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("timezone", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("persona_no", Integer, nullable=False),
    Column("reset_no", Integer, nullable=False),
    Column("embedded_seq", Integer, nullable=False),
    Column("facts", Integer),  # current facts of the user's knowledge base; NULL: none
    Column("fact_expires_at", BigInteger),  # when the first fact that holds expires; NULL: none does
    Column("due_at", BigInteger),
    Column("failures", Integer, nullable=False),
    Column("error", Text),
    Column("lease_by", Text),
    Column("lease_token", Integer, nullable=False),
    Column("lease_until", BigInteger),
    Index("ix_owner_due", "due_at"),
    small=True,
)

# ---- the first log: what was said

utterance = _owned(
    "utterance",
    Column("seq", Integer, primary_key=True),
    Column("id", String(40), nullable=False),
    Column("page_id", String(40), nullable=False),
    Column("thread", Text, nullable=False),
    Column("role", String(16), nullable=False),
    Column("speaker", Text, nullable=False),
    Column("text", Text, nullable=False),
    *_zoned("said_at", empty=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("metadata", Text),  # NULL: none
    Column("passage", Text),  # NULL: it was said; else where in which document it stands
    Column("origin", String(16)),  # NULL: that of the role
    UniqueConstraint("owner_id", "id"),
    Index("ix_utterance_page", "owner_id", "page_id", "seq"),
    Index("ix_utterance_recorded", "owner_id", "recorded_at", "seq"),
    small=True,
)

# A text of which the passages are utterances, each a page by itself, of the thread "document:" and its id.
document = _owned(
    "document",
    _key("document_id"),
    Column("source", _BY_CODE_POINTS, nullable=False),
    Column("title", Text, nullable=False),
    Column("digest", String(64), nullable=False),  # empty: not all of it is there
    *_zoned("said_at", empty=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("metadata", Text),  # NULL: none
    UniqueConstraint("owner_id", "source"),
    small=True,
)

# What a caller handed in, beside the utterance or the document that was made of it: JSON.
original = _owned("original", _key("item_id"), Column("value", Text, nullable=False), small=True)

# One row for each value of an utterance's metadata (`utterance.metadata`), by which utterances are found. An empty list
# has a row without a value. Texts are ordered by code points, as filters in Python order them.
utterance_value = _owned(
    "utterance_value",
    Column("seq", Integer, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("text", _BY_CODE_POINTS),
    Column("number", Float),
    Column("truth", Boolean),
    Index("ix_utterance_value", "owner_id", "name", "text", "number", "truth", "seq"),
    small=True,
)

# A page is the roll-up of its utterances, and where the work on it stands: what it says of its note, its chain and its
# segment follows from the log. A passage's number is below 0, so that it is never among the newest.
page = _owned(
    "page",
    _key("page_id"),
    Column("no", Integer, nullable=False),
    Column("thread", Text, nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("answered", Boolean, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("annotated_seq", Integer, nullable=False),
    Column("noted_no", Integer),  # the change that has its note; NULL: nobody read it
    Column("read_by", ShortName),
    Column("keywords", PackedText),
    Column("chain_id", String(40)),
    Column("analysed_seq", Integer, nullable=False),
    Column("segment_id", String(40)),
    Column("attempts", Integer, nullable=False),
    Column("error", Text),
    Column("retry_at", BigInteger),
    Column("redo_tries", Integer),  # NULL: none
    Column("redo_at", BigInteger),
    *_zoned("expires_at"),
    UniqueConstraint("owner_id", "no"),
    Index("ix_page_thread", "owner_id", "thread", "no"),
    Index("ix_page_segment", "owner_id", "segment_id", "no"),
    _partial("ix_page_expires", "owner_id", "expires_at", where="expires_at IS NOT NULL"),
    _partial("ix_page_retry", "owner_id", "retry_at", where="retry_at IS NOT NULL"),
    _partial("ix_page_unread", "owner_id", "no", where="annotated_seq < last_seq"),
    _partial("ix_page_unplaced", "owner_id", "no", where="segment_id IS NULL"),
    _partial("ix_page_unanalysed", "owner_id", "segment_id", "no", where="analysed_seq < last_seq"),
)

receipt = _owned(
    "receipt",
    _key("key", 256),
    Column("digest", String(64), nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    # Of another call than `add`, both seqs are 0; NULL: of `add`.
    Column("change_no", Integer),
    Column("result", Text),
    small=True,
)

# The logs are the queue: `seq` and `revision` say how far the receiver was told, `upto_…` what the attempt under
# way, or the last one that failed, covers. No secret is kept (webhooks/signing.py).
webhook = _owned(
    "webhook",
    _key("webhook_id"),
    Column("url", Text, nullable=False),
    Column("events", Text, nullable=False),
    Column("tells_text", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("upto_seq", Integer),
    Column("upto_revision", Integer),
    Column("attempts", Integer, nullable=False),
    Column("retry_at", BigInteger),
    Column("stopped_at", BigInteger),
    Column("error", Text),
    Column("delivered_at", BigInteger),
    Column("lease_token", Integer, nullable=False),
    Column("lease_until", BigInteger),
    small=True,
)

# Not "vector": that is the name of a type in pgvector, and a table is a type in PostgreSQL.
embedding = _owned(
    "embedding",
    Column("seq", Integer, primary_key=True),
    Column("embedder", ShortName, nullable=False),
    Column("change_no", Integer, nullable=False),
    Column("data", Vectors, nullable=False),
    Column("tokens", PackedTokens),  # NULL: the embedder gave none; empty: it found nothing in the text
    Column("passages", LargeBinary),  # the same of the further passages of a long text (index/passages.py)
    Index("ix_embedding_change", "owner_id", "change_no"),
)

# ---- the second log: what was decided

change = _owned(
    "change",
    Column("no", Integer, primary_key=True),
    Column("cause", String(32), nullable=False),
    Column("analyst", Text, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("decisions", PackedText, nullable=False),
    Index("ix_change_recorded", "owner_id", "recorded_at", "no"),
    Index("ix_change_cause", "owner_id", "cause", "no"),
)

# Which changes rest on an utterance: what is to be forgotten is found by it, and nothing is read from it.
change_source = _owned(
    "change_source",
    Column("seq", Integer, primary_key=True),
    Column("no", Integer, primary_key=True),
    small=True,
)

# ---- the ledger of model calls: no text of requests, of answers or of errors

call = _owned(
    "call",
    _key("id"),
    Column("at", BigInteger, nullable=False),
    Column("purpose", String(16), nullable=False),
    Column("model", Text, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("cached_tokens", Integer, nullable=False),
    Column("ms", Integer, nullable=False),
    Column("outcome", String(16), nullable=False),
    Index("ix_call_owner_at", "owner_id", "at"),
    Index("ix_call_at", "at"),
    small=True,
)

# ---- what was derived

# A segment as it stands: its text, which follows from the log, as the change `change_no` left it (NULL: it ended), and
# its counters and the sum of its vectors, of which no change tells.
segment = _owned(
    "segment",
    _key("segment_id"),
    Column("opened_no", Integer, nullable=False),
    Column("evicted_no", Integer),
    Column("touched_no", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("newest_at", BigInteger, nullable=False),
    Column("embedder", ShortName),
    Column("vector_sum", LargeBinary),
    Column("change_no", Integer),
    Column("recorded_at", BigInteger),
    Column("parts", PackedText),
    Column("keywords", PackedText),
    *_zoned("said_from"),
    *_zoned("said_to"),
    Column("title", Text),  # NULL: none
    Column("shown", Text),  # NULL: the first of the keywords; else their places among them, or words
    Index("ix_segment_touched", "owner_id", "touched_no"),
    _partial("ix_segment_live", "owner_id", where="evicted_no IS NULL"),
)

# How often segments and facts were visited since the last change, and when last: the next one takes these rows away
# and says it (changes.Visited).
visit = _owned(
    "visit",
    _key("item_id"),
    Column("visits", Integer, nullable=False),
    Column("visited_at", BigInteger, nullable=False),
    small=True,
)

# What the changes up to `no` say of the persona and of topics, in parts of the log's numbers (store/checkpoints.py): a
# cache.
checkpoint = _owned(
    "checkpoint",
    Column("no", Integer, nullable=False),
    Column("digests", Text, nullable=False),
    small=True,
)

checkpoint_part = _owned(
    "checkpoint_part",
    Column("part", Integer, primary_key=True),
    Column("changes", PackedText(_QUICKLY), nullable=False),
    Column("topics", PackedText(_QUICKLY), nullable=False),
)

# Keyed hashes of what was forgotten: `kind` is message or text (changes.TextsBarred). A mark has a row for each change
# that bars it, so that undoing the one does not lift the other. Marks of an owner who was forgotten whole are of kind
# gone, under a keyed hash of the owner's id and the change 0 (store/erasing.py).
barred = _owned(
    "barred",
    _key("mark", 64),
    Column("change_no", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
    small=True,
)

# Who else may read this owner's memory, or also write to it: a space's, or what is known of a user. Rows that were
# revoked stay, as the record of it.
share = _owned(
    "share",
    _key("id"),
    Column("user", Text),  # NULL: everybody
    Column("agent", Text),  # NULL: any agent
    Column("write", Boolean, nullable=False),
    Column("granted_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
    small=True,
)

OWNED = (owner, *(one for one in metadata.sorted_tables if "owner_id" in one.c and one is not owner))
"""Tables that belong to owners, the owners' own first."""
COMMON = tuple(table for table in metadata.sorted_tables if "owner_id" not in table.c)
"""Tables that belong to no owner."""
