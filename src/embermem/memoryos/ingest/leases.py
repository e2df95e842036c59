"""The leases that this process holds, kept alive while their work goes on: a call of a model may outlast a lease."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from embermem.core.errors import StaleLease, StoreError
from embermem.protocols import Lease

logger = logging.getLogger(__name__)

_BEATS = 3
"""Signs of life within one lease: two may fail before another worker may take over."""
_LEAST_S = 0.1
"""Between two of them: shorter leases than three times that are not kept alive."""


class Held:
    """One lease while it is worked under. `lost`: another worker took over, and nothing more will be applied."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.lost = False
        self.ended = False
        self.renewing = threading.Lock()


class Leases:
    """Renews what is held every third of `lease_s` seconds, by one thread for all; it runs only while there are any."""

    def __init__(
        self, renew: Callable[[Lease, datetime, float], None], clock: Callable[[], datetime], lease_s: float
    ) -> None:
        self._renewed = renew
        self._clock = clock
        self._lease_s = lease_s
        self._beat_s = max(_LEAST_S, lease_s / _BEATS)
        self._held: set[Held] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, lease: Lease) -> Iterator[Held]:
        """Keeps a lease alive within the block. When it ends no renewal is under way, so that the lease may be given
        back, and the process may end."""
        one = Held(lease)
        with self._changed:
            self._held.add(one)
            self._changed.notify()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._beat, name="embermem-leases", daemon=True)
                self._thread.start()
        try:
            yield one
        finally:
            with self._changed:
                self._held.discard(one)
                self._changed.notify()
            with one.renewing:
                one.ended = True

    def _beat(self) -> None:
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: not self._held, self._beat_s):
                    due = tuple(self._held)
                elif self._changed.wait_for(lambda: bool(self._held), self._beat_s):
                    continue  # the next claim came soon: it needs no thread of its own
                else:
                    self._thread = None
                    return
            for one in due:
                self._renew(one)

    def _renew(self, one: Held) -> None:
        with one.renewing:
            if one.ended or one.lost:
                return
            try:
                self._renewed(one.lease, self._clock(), self._lease_s)
            except StaleLease:
                one.lost = True
            except StoreError as error:  # the next beat tries again
                logger.warning("a lease could not be renewed: %s", error)
