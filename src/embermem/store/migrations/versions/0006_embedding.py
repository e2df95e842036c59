"""The table `vector` is `embedding` from now on: in PostgreSQL pgvector has a type of that name. No row is written."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.drop_index("ix_vector_change", table_name="vector")
    op.rename_table("vector", "embedding")
    op.create_index("ix_embedding_change", "embedding", ["owner_id", "change_no"])
