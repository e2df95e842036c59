"""The second log: numbered changes, each made of decisions; and the table that says all about each kind of decision."""

from embermem.core.changes.decisions import *  # noqa: F403
from embermem.core.changes.growth import *  # noqa: F403
from embermem.core.changes.kinds import *  # noqa: F403
from embermem.core.changes.table import *  # noqa: F403
