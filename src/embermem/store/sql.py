"""The store on SQLAlchemy Core. Every statement names its owner, but for the few that look over a whole store."""

from __future__ import annotations

from functools import cached_property

from embermem.protocols import Store
from embermem.store.admin.backup import Backups
from embermem.store.admin.census import Owners
from embermem.store.admin.checking import Checking
from embermem.store.admin.transferring import Transferring
from embermem.store.index_cache import IndexCache
from embermem.store.queries.changes import Changes
from embermem.store.queries.delta import Deltas
from embermem.store.queries.dependents import Trails
from embermem.store.queries.documents import Documents
from embermem.store.queries.keys import Keys
from embermem.store.queries.log import Log
from embermem.store.queries.originals import Originals
from embermem.store.queries.oversight import Oversight
from embermem.store.queries.pages import Pages
from embermem.store.queries.persona import Personas
from embermem.store.queries.retaining import Retaining
from embermem.store.queries.segments import Segments
from embermem.store.queries.shares import Shares
from embermem.store.queries.spans import Spans
from embermem.store.queries.timeline import Timelines
from embermem.store.queries.usage_log import Ledger
from embermem.store.queries.webhooks import Webhooks
from embermem.store.queries.worker_queries import Work
from embermem.store.receipts import Receipts
from embermem.store.transactions import each_again


class Administration(
    Owners,
    Checking,
    Ledger,
    Keys,
    Shares,
    Transferring,
    Receipts,
    Webhooks,
    Documents,
    Originals,
    Personas,
    Spans,
    Oversight,
    Backups,
):
    """What those ask of a store who run it: its owners and counts, its keys, its grants, its soundness, its copies and
    backups; receipts of calls, webhooks, documents, originals, lists of facts and spans of time; the work on it,
    and what leaves it."""


@each_again
class SqlStore(
    Administration,
    Trails,
    Log,
    Work,
    Changes,
    Deltas,
    IndexCache,
    Pages,
    Segments,
    Timelines,
    Retaining,
):
    """StoredSettings, UsageLog, KeyStore and all parts of Store of `protocols`, on a database."""

    @cached_property
    def protocols(self) -> Store:
        """It by what is asked of it."""
        return Store(
            log=self,
            change_log=self,
            reads=self,
            index=self,
            index_files=self.index_files,
            queue=self,
            work=self,
            marks=self,
            forgetting=self,
        )
