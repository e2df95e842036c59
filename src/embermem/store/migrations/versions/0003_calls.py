"""The ledger of model calls, and what is read again once there is a model. No table is written again."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "call",
        sa.Column("owner_id", sa.String(length=32), nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "id"),
    )
    op.create_index("ix_call_owner_at", "call", ["owner_id", "at"], unique=False)
    op.create_index("ix_call_at", "call", ["at"], unique=False)
    op.add_column("page", sa.Column("redo_tries", sa.Integer(), nullable=True))
    op.add_column("page", sa.Column("redo_at", sa.BigInteger(), nullable=True))
    op.create_index(
        "ix_note_analyst",
        "note",
        ["owner_id", "analyst", "page_id"],
        unique=False,
        sqlite_where=sa.text("retired_no IS NULL"),
    )
