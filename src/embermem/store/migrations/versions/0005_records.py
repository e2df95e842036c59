"""Records of the papers' other systems. No table is written again."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "record_state",
        sa.Column("owner_id", sa.String(length=32), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("read_to", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id"),
    )
    op.create_table(
        "record",
        sa.Column("owner_id", sa.String(length=32), nullable=False),
        sa.Column("record_id", sa.String(length=40), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("no", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("at_offset", sa.Integer(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("owner_id", "record_id"),
        sa.UniqueConstraint("owner_id", "no"),
    )
    op.create_index("ix_record_kind", "record", ["owner_id", "kind", "revision"])
    op.create_table(
        "record_value",
        sa.Column("owner_id", sa.String(length=32), nullable=False),
        sa.Column("record_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("number", sa.Float(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=True),
        sa.Column("at_offset", sa.Integer(), nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("owner_id", "record_id", "name", "ordinal"),
    )
