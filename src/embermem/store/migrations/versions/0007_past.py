"""Memory with a past: what facts were before, links, conflicts, evolutions, expiry, and keyed hashes of what is gone.

Facts that ended before this version have two states: held, and as they are now. What lay between (a pin, an undoing)
stands in the log: `embermem rebuild` derives it.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_DERIVED = (
    ("recorded_at", sa.BigInteger, False),
    ("retired_no", sa.Integer, True),
    ("retired_at", sa.BigInteger, True),
)


def upgrade() -> None:
    for table, name in (("page", "expires"), ("fact", "expires"), ("trait", "valid_from"), ("profile", "valid_from")):
        op.add_column(table, sa.Column(f"{name}_at" if name == "expires" else name, sa.BigInteger))
        op.add_column(table, sa.Column(f"{name}_offset", sa.Integer))
    op.add_column("fact", sa.Column("visits", sa.Integer))
    op.add_column("fact", sa.Column("visited_at", sa.BigInteger))
    _indexes()
    _tables()
    _states()


def _indexes() -> None:
    op.create_index("ix_utterance_recorded", "utterance", ["owner_id", "recorded_at", "seq"])
    op.create_index("ix_change_recorded", "change", ["owner_id", "recorded_at", "no"])
    op.create_index("ix_change_cause", "change", ["owner_id", "cause", "no"])
    for table, where in (
        ("page", "expires_at IS NOT NULL"),
        ("fact", "expires_at IS NOT NULL AND retired_no IS NULL"),
    ):
        condition = sa.text(where)
        op.create_index(
            f"ix_{table}_expires",
            table,
            ["owner_id", "expires_at"],
            sqlite_where=condition,
            postgresql_where=condition,
        )


def _tables() -> None:
    _table(
        "fact_state",
        (("fact_id", sa.String(40)), ("change_no", sa.Integer)),
        ("confirmed_no", sa.Integer, False),
        ("archived_no", sa.Integer, True),
        ("pinned", sa.Boolean, False),
        ("superseded_by", sa.String(40), True),
        ("ended_no", sa.Integer, True),
        ("ended_at", sa.BigInteger, True),
        ("valid_to", sa.BigInteger, True),
        ("valid_to_offset", sa.Integer, True),
        ("expires_at", sa.BigInteger, True),
        ("expires_offset", sa.Integer, True),
        *_DERIVED,
    )
    keys = (("fact_id", sa.String(40)), ("other_id", sa.String(40)), ("change_no", sa.Integer))
    _table("conflict", keys, ("reason", sa.Text, False), *_DERIVED)
    _table(
        "link",
        (("link_id", sa.String(40)), ("change_no", sa.Integer)),
        ("from_id", sa.String(40), False),
        ("to_id", sa.String(40), False),
        ("reason", sa.Text, False),
        ("analyst", sa.Text, False),
        *_DERIVED,
    )
    _table(
        "evolution",
        (("segment_id", sa.String(40)), ("change_no", sa.Integer)),
        ("keywords", sa.Text, False),
        ("tags", sa.Text, False),
        ("context", sa.Text, False),
        ("reason", sa.Text, False),
        ("analyst", sa.Text, False),
        *_DERIVED,
    )
    _table("barred", (("mark", sa.String(64)), ("change_no", sa.Integer)), ("kind", sa.String(16), False))


def _table(name: str, keys: tuple[tuple[str, Any], ...], *columns: tuple[str, Any, bool]) -> None:
    op.create_table(
        name,
        sa.Column("owner_id", sa.String(32), primary_key=True),
        *(sa.Column(key, kind, primary_key=True) for key, kind in keys),
        *(sa.Column(column, kind, nullable=empty) for column, kind, empty in columns),
    )


def _states() -> None:
    held = "owner_id, fact_id, {no}, confirmed_no, {archived}, pinned, {by}, {ended}, {ended_at}, {to}, {to_offset}"
    last = "CASE WHEN coalesce(f.archived_no, 0) > coalesce(f.retired_no, 0) THEN f.archived_no ELSE f.retired_no END"
    into = (
        "INSERT INTO fact_state (owner_id, fact_id, change_no, confirmed_no, archived_no, pinned, superseded_by,"
        " ended_no, ended_at, valid_to, valid_to_offset, recorded_at, retired_no, retired_at)"
    )
    since = "(SELECT recorded_at FROM change c WHERE c.owner_id = f.owner_id AND c.no = {no})"
    empty = dict.fromkeys(("archived", "by", "ended", "ended_at", "to", "to_offset"), "NULL")
    ended = f"coalesce({last}, f.change_no) <> f.change_no"
    op.execute(
        f"{into} SELECT {held.format(no='change_no', **empty)}, recorded_at, {last}, {since.format(no=last)}"
        f" FROM fact f WHERE {ended}"
    )
    now = {
        "archived": "archived_no",
        "by": "superseded_by",
        "ended": "retired_no",
        "ended_at": "retired_at",
        "to": "valid_to",
        "to_offset": "valid_to_offset",
    }
    no = f"coalesce({last}, f.change_no)"
    op.execute(
        f"{into} SELECT {held.format(no=no, **now)}, coalesce({since.format(no=no)}, recorded_at), NULL, NULL"
        " FROM fact f"
    )
