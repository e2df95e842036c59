"""Packed token vectors beside each vector. SQLite adds a column that may be NULL without rewriting the table."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("vector", sa.Column("tokens", sa.LargeBinary(), nullable=True))
