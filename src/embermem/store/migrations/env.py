"""Run by Alembic: it uses the connection that `upgrade` hands over."""

from alembic import context

from embermem.store import schema
from embermem.store.migrations import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=schema.metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
