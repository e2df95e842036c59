"""The store on SQLAlchemy Core. Every statement names its owner, but for the few that look over a whole store."""

from __future__ import annotations

from embermem.store.admin.checking import Checking
from embermem.store.admin.transferring import Transferring
from embermem.store.queries.changes import Changes
from embermem.store.queries.delta import Deltas
from embermem.store.queries.dependents import Trails
from embermem.store.queries.keys import Keys
from embermem.store.queries.links import Links
from embermem.store.queries.log import Log
from embermem.store.queries.pages import Pages
from embermem.store.queries.persona import Personas
from embermem.store.queries.records import Records
from embermem.store.queries.retaining import Retaining
from embermem.store.queries.segments import Segments
from embermem.store.queries.timeline import Timelines
from embermem.store.queries.usage_log import Ledger
from embermem.store.queries.worker_queries import Work
from embermem.store.transactions import each_again


@each_again
class SqlStore(
    Checking,
    Trails,
    Log,
    Work,
    Ledger,
    Keys,
    Changes,
    Deltas,
    Pages,
    Personas,
    Segments,
    Timelines,
    Links,
    Records,
    Retaining,
    Transferring,
):
    """protocols.Store and records.RecordStore on a database."""
