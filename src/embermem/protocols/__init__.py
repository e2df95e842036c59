"""The seams: what a store, an embedder, an analyst and a token counter must be able to do."""

from embermem.protocols import models, records, store
from embermem.protocols.models import *  # noqa: F403
from embermem.protocols.records import *  # noqa: F403
from embermem.protocols.store import *  # noqa: F403

__all__ = [*models.__all__, *records.__all__, *store.__all__]
