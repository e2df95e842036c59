"""The store on SQLAlchemy Core. Every statement names its owner, but for the few that look over a whole store."""

from __future__ import annotations

from embermem.stores.keys import Keys
from embermem.stores.ledger import Ledger
from embermem.stores.log import Log
from embermem.stores.records import Records
from embermem.stores.transactions import each_again
from embermem.stores.transferring import Transferring
from embermem.stores.views import Views
from embermem.stores.whole import Whole
from embermem.stores.work import Work


@each_again
class SqlStore(Whole, Log, Work, Ledger, Keys, Views, Records, Transferring):
    """protocols.Store and records.RecordStore on one SQLite file: SqlStore(path, busy_timeout_s=…)."""
