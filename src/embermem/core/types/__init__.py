"""The data types of Ember: frozen, keyword-only, independent of any database.

`seq` is an owner's arrival order of utterances, from 1, without gaps.
Two times stand everywhere: `said_at` (when it was said or true, given by the caller, with a zone) and
`recorded_at` (when Ember wrote it).
"""

from embermem.core.types.context import *  # noqa: F403
from embermem.core.types.documents import *  # noqa: F403
from embermem.core.types.history import *  # noqa: F403
from embermem.core.types.ids import *  # noqa: F403
from embermem.core.types.memories import *  # noqa: F403
from embermem.core.types.oversight import *  # noqa: F403
from embermem.core.types.people import *  # noqa: F403
from embermem.core.types.proposals import *  # noqa: F403
from embermem.core.types.removals import *  # noqa: F403
from embermem.core.types.scope import *  # noqa: F403
from embermem.core.types.shares import *  # noqa: F403
from embermem.core.types.utterances import *  # noqa: F403
from embermem.core.types.webhooks import *  # noqa: F403
