"""The schema, once, for every engine. Every primary key, unique key and index begins with the owner, but for two: the
one that finds due owners, and the one that adds up a day's calls of a model.

Times are integers, microseconds since 1970 in UTC; where the caller gave a zone, its offset in minutes stands beside
them. Rows that say what was derived carry the change that made them (`change_no`) and, once they no longer hold,
the change that ended them (`retired_no`). Two tables belong to no owner: `store`, and `api_key`, the service's keys.
"""

from __future__ import annotations

from collections.abc import Mapping

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

from embermem.store.engines.vector_type import Vectors

metadata = MetaData()


def _owner() -> Column[str]:
    return Column("owner_id", String(32), primary_key=True)


def _derived() -> list[Column[int]]:
    """When it was written and by which change; when it ended and by which."""
    return [
        Column("recorded_at", BigInteger, nullable=False),
        Column("retired_no", Integer),
        Column("retired_at", BigInteger),
    ]


def _partial(name: str, *columns: str, where: str) -> Index:
    """An index of the rows that are looked for; the others are most."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


store = Table("store", metadata, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False))

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
)

owner = Table(
    "owner",
    metadata,
    _owner(),
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
    Column("due_at", BigInteger),
    Column("failures", Integer, nullable=False),
    Column("error", Text),
    Column("lease_by", Text),
    Column("lease_token", Integer, nullable=False),
    Column("lease_until", BigInteger),
    Index("ix_owner_due", "due_at"),
)

# ---- the first log: what was said

utterance = Table(
    "utterance",
    metadata,
    _owner(),
    Column("seq", Integer, primary_key=True),
    Column("id", String(40), nullable=False),
    Column("page_id", String(40), nullable=False),
    Column("thread", Text, nullable=False),
    Column("role", String(16), nullable=False),
    Column("speaker", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("said_at", BigInteger, nullable=False),
    Column("said_offset", Integer, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    UniqueConstraint("owner_id", "id"),
    Index("ix_utterance_page", "owner_id", "page_id", "seq"),
    Index("ix_utterance_recorded", "owner_id", "recorded_at", "seq"),
)

# A page is the roll-up of its utterances, and where the work on it stands.
page = Table(
    "page",
    metadata,
    _owner(),
    Column("page_id", String(40), primary_key=True),
    Column("no", Integer, nullable=False),
    Column("thread", Text, nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("answered", Boolean, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("annotated_seq", Integer, nullable=False),
    Column("analysed_seq", Integer, nullable=False),
    Column("chain_id", String(40)),
    Column("segment_id", String(40)),
    Column("touched_no", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("error", Text),
    Column("retry_at", BigInteger),
    Column("redo_tries", Integer),  # NULL: none
    Column("redo_at", BigInteger),
    Column("expires_at", BigInteger),
    Column("expires_offset", Integer),
    UniqueConstraint("owner_id", "no"),
    Index("ix_page_thread", "owner_id", "thread", "no"),
    Index("ix_page_segment", "owner_id", "segment_id", "no"),
    Index("ix_page_chain", "owner_id", "chain_id", "no"),
    Index("ix_page_touched", "owner_id", "touched_no"),
    _partial("ix_page_expires", "owner_id", "expires_at", where="expires_at IS NOT NULL"),
    _partial("ix_page_retry", "owner_id", "retry_at", where="retry_at IS NOT NULL"),
    _partial("ix_page_unread", "owner_id", "no", where="annotated_seq < last_seq"),
    _partial("ix_page_unplaced", "owner_id", "no", where="segment_id IS NULL"),
    _partial("ix_page_unanalysed", "owner_id", "segment_id", "no", where="analysed_seq < last_seq"),
)

receipt = Table(
    "receipt",
    metadata,
    _owner(),
    Column("key", String(256), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
)

# Not "vector": that is the name of a type in pgvector, and a table is a type in PostgreSQL.
embedding = Table(
    "embedding",
    metadata,
    _owner(),
    Column("seq", Integer, primary_key=True),
    Column("embedder", Text, nullable=False),
    Column("change_no", Integer, nullable=False),
    Column("data", Vectors, nullable=False),
    Column("tokens", LargeBinary),  # NULL: the embedder gave none; empty: it found nothing in the text
    Index("ix_embedding_change", "owner_id", "change_no"),
)

# ---- the second log: what was decided

change = Table(
    "change",
    metadata,
    _owner(),
    Column("no", Integer, primary_key=True),
    Column("cause", String(32), nullable=False),
    Column("analyst", Text, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("decisions", Text, nullable=False),
    Index("ix_change_recorded", "owner_id", "recorded_at", "no"),
    Index("ix_change_cause", "owner_id", "cause", "no"),
)

# ---- the ledger of model calls: no text of requests, of answers or of errors

call = Table(
    "call",
    metadata,
    _owner(),
    Column("id", String(40), primary_key=True),
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
)

# ---- what was derived

note = Table(
    "note",
    metadata,
    _owner(),
    Column("page_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("chain_id", String(40), nullable=False),
    Column("continues", Boolean, nullable=False),
    Column("keywords", Text, nullable=False),
    Column("proposals", Text),
    Column("analyst", Text, nullable=False),
    *_derived(),
    _partial("ix_note_analyst", "owner_id", "analyst", "page_id", where="retired_no IS NULL"),
)

membership = Table(
    "membership",
    metadata,
    _owner(),
    Column("page_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("segment_id", String(40), nullable=False),
    Column("f_score", Float),
    *_derived(),
)

chain = Table(
    "chain",
    metadata,
    _owner(),
    Column("chain_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("thread", Text, nullable=False),
    Column("summary", Text, nullable=False),
    *_derived(),
)

# Counters of a segment; they are not versioned.
segment = Table(
    "segment",
    metadata,
    _owner(),
    Column("segment_id", String(40), primary_key=True),
    Column("opened_no", Integer, nullable=False),
    Column("evicted_no", Integer),
    Column("touched_no", Integer, nullable=False),
    Column("visits", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("newest_at", BigInteger, nullable=False),
    Column("visited_at", BigInteger),
    Column("embedder", Text),
    Column("vector_sum", LargeBinary),
    Index("ix_segment_touched", "owner_id", "touched_no"),
    _partial("ix_segment_live", "owner_id", where="evicted_no IS NULL"),
)

segment_text = Table(
    "segment_text",
    metadata,
    _owner(),
    Column("segment_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("parts", Text, nullable=False),
    Column("keywords", Text, nullable=False),
    Column("said_from", BigInteger, nullable=False),
    Column("said_from_offset", Integer, nullable=False),
    Column("said_to", BigInteger, nullable=False),
    Column("said_to_offset", Integer, nullable=False),
    *_derived(),
    _partial("ix_segment_text_current", "owner_id", "segment_id", where="retired_no IS NULL"),
)

fact = Table(
    "fact",
    metadata,
    _owner(),
    Column("fact_id", String(40), primary_key=True),
    Column("change_no", Integer, nullable=False),
    Column("about", String(16), nullable=False),
    Column("subject", Text, nullable=False),
    Column("attribute", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_from_offset", Integer),
    Column("valid_to", BigInteger),
    Column("valid_to_offset", Integer),
    Column("confirmed_no", Integer, nullable=False),
    Column("archived_no", Integer),
    Column("pinned", Boolean, nullable=False),
    Column("superseded_by", String(40)),
    Column("expires_at", BigInteger),
    Column("expires_offset", Integer),
    Column("visits", Integer),  # NULL: none
    Column("visited_at", BigInteger),
    *_derived(),
    _partial("ix_fact_current", "owner_id", "about", where="retired_no IS NULL AND archived_no IS NULL"),
    _partial("ix_fact_expires", "owner_id", "expires_at", where="expires_at IS NOT NULL AND retired_no IS NULL"),
)

# What of a fact changes, as each change left it: `fact` holds the last of it again. `ended_no` is the fact's own end;
# `retired_no` that of the version.
fact_state = Table(
    "fact_state",
    metadata,
    _owner(),
    Column("fact_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("confirmed_no", Integer, nullable=False),
    Column("archived_no", Integer),
    Column("pinned", Boolean, nullable=False),
    Column("superseded_by", String(40)),
    Column("ended_no", Integer),
    Column("ended_at", BigInteger),
    Column("valid_to", BigInteger),
    Column("valid_to_offset", Integer),
    Column("expires_at", BigInteger),
    Column("expires_offset", Integer),
    *_derived(),
)

# Facts that cannot both be so. It is open while both are held, and its row is not retired.
conflict = Table(
    "conflict",
    metadata,
    _owner(),
    Column("fact_id", String(40), primary_key=True),
    Column("other_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("reason", Text, nullable=False),
    *_derived(),
)

link = Table(
    "link",
    metadata,
    _owner(),
    Column("link_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("from_id", String(40), nullable=False),
    Column("to_id", String(40), nullable=False),
    Column("reason", Text, nullable=False),
    Column("analyst", Text, nullable=False),
    *_derived(),
)

# What newer memories taught of a segment.
evolution = Table(
    "evolution",
    metadata,
    _owner(),
    Column("segment_id", String(40), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("keywords", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("analyst", Text, nullable=False),
    *_derived(),
)

# Keyed hashes of what was forgotten: `kind` is message or text (changes.TextsBarred). A mark has a row for each change
# that bars it, so that undoing the one does not lift the other. Marks of an owner who was forgotten whole are of kind
# gone, under a keyed hash of the owner's id and the change 0 (store/erasing.py).
barred = Table(
    "barred",
    metadata,
    _owner(),
    Column("mark", String(64), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
)

trait = Table(
    "trait",
    metadata,
    _owner(),
    Column("dimension", String(64), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("level", Float, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_from_offset", Integer),
    *_derived(),
)

profile = Table(
    "profile",
    metadata,
    _owner(),
    Column("whose", String(16), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("value", Text),
    Column("set_by", Text, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_from_offset", Integer),
    *_derived(),
)

# Down to the utterance and its characters: what each derived item rests on. `item` is chain, segment, fact, trait,
# profile, link or evolution; `item_id` its id, dimension or name.
source = Table(
    "source",
    metadata,
    _owner(),
    Column("item", String(16), primary_key=True),
    Column("item_id", String(80), primary_key=True),
    Column("change_no", Integer, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("start", Integer),
    Column("end", Integer),
    Index("ix_source_seq", "owner_id", "seq", "item"),
)

# ---- records of the papers' other systems (baselines/records.py); MemoryOS has none

record_state = Table(
    "record_state",
    metadata,
    _owner(),
    Column("revision", Integer, nullable=False),
    Column("read_to", Integer, nullable=False),
)

record = Table(
    "record",
    metadata,
    _owner(),
    Column("record_id", String(40), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("no", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("gone", Boolean, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("at_offset", Integer, nullable=False),
    Column("vector", Vectors),
    UniqueConstraint("owner_id", "no"),
    Index("ix_record_kind", "owner_id", "kind", "revision"),
)

# One row for each value of a record's own fields, and for each utterance it rests on (`sources`, in `number`).
record_value = Table(
    "record_value",
    metadata,
    _owner(),
    Column("record_id", String(40), primary_key=True),
    Column("name", String(40), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("text", Text),
    Column("number", Float),
    Column("at", BigInteger),
    Column("at_offset", Integer),
    Column("data", LargeBinary),
)

DERIVED = (
    note,
    membership,
    chain,
    segment,
    segment_text,
    fact,
    fact_state,
    conflict,
    link,
    evolution,
    trait,
    profile,
    source,
)
"""Written by applying changes only. All else is kept when memory is rebuilt (of `page`, what is derived is reset)."""
KEYS: Mapping[Table, tuple[str, ...]] = {
    table: tuple(column.name for column in table.primary_key if column.name not in ("owner_id", "change_no"))
    for table in DERIVED
    if "change_no" in table.primary_key and "retired_no" in table.c
}
"""The tables that hold versions, and what they are versions of."""
OF_PAGES = tuple(table for table, key in KEYS.items() if key == ("page_id",))
"""The tables whose versions belong to pages."""

OWNED = tuple(table for table in metadata.sorted_tables if "owner_id" in table.c)
"""Tables that belong to owners."""
COMMON = tuple(table for table in metadata.sorted_tables if "owner_id" not in table.c)
"""Tables that belong to no owner."""
