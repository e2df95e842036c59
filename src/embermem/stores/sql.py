"""The store on SQLAlchemy Core. Every statement names its owner, but for the few that look over a whole store."""

from __future__ import annotations

from embermem.stores.checking import Checking
from embermem.stores.conflicts import Conflicts
from embermem.stores.keys import Keys
from embermem.stores.ledger import Ledger
from embermem.stores.links import Links
from embermem.stores.log import Log
from embermem.stores.past import Past
from embermem.stores.records import Records
from embermem.stores.retaining import Retaining
from embermem.stores.timeline import Timelines
from embermem.stores.trails import Trails
from embermem.stores.transactions import each_again
from embermem.stores.transferring import Transferring
from embermem.stores.views import Views
from embermem.stores.work import Work


@each_again
class SqlStore(
    Checking,
    Trails,
    Log,
    Work,
    Ledger,
    Keys,
    Conflicts,
    Views,
    Past,
    Timelines,
    Links,
    Records,
    Retaining,
    Transferring,
):
    """protocols.Store and records.RecordStore on a database."""
