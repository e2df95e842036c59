"""Which owners' working sets are in memory: loaded once, brought up to date on each use, the least recently used
leaving when they grow above a limit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from embermem.index.snapshot import Snapshot
from embermem.protocols import Delta
from embermem.types import OwnerId, Utterance

if TYPE_CHECKING:
    from embermem.types import Vectors

Fetch = Callable[[OwnerId, int, int], Delta]
"""What is newer than (seq, revision)."""


class Residents:
    """The snapshots of some owners. `fetch` asks the store what is newer; one writer an owner, readers never wait."""

    def __init__(self, fetch: Fetch, dim: int, limit_bytes: int, token_dim: int = 0) -> None:
        self._fetch = fetch
        self._dim = dim
        self._token_dim = token_dim
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._owners: OrderedDict[OwnerId, _Resident] = OrderedDict()
        self._bytes = 0

    @property
    def nbytes(self) -> int:
        """What they hold, as it was last weighed."""
        return self._bytes

    def snapshot(self, owner_id: OwnerId) -> Snapshot:
        """The owner's snapshot, as new as the store is now."""
        held = self._renewed(owner_id, self._resident(owner_id))
        self._leave(owner_id)
        return held

    def renew(self, owner_id: OwnerId) -> None:
        """Take in what is newer of an owner who is held, so that the next query finds it there. It is no use of it."""
        with self._lock:
            resident = self._owners.get(owner_id)
        if resident is not None:
            self._renewed(owner_id, resident)

    def with_vectors(
        self,
        owner_id: OwnerId,
        missing: Sequence[Utterance],
        embed: Callable[[Sequence[Utterance]], tuple[Vectors, Sequence[bytes]]],
    ) -> Snapshot:
        """The owner's snapshot with vectors and packed tokens for the utterances named, made now."""
        vectors, tokens = embed(missing)
        resident = self._resident(owner_id)
        with resident.lock:  # asked anew: the owner may have left meanwhile, or been reindexed
            newest = self._newest(owner_id, resident)
            resident.snapshot = newest.with_vectors([one.seq for one in missing], vectors, tokens)
            self._weigh(resident)
            return resident.snapshot

    def _renewed(self, owner_id: OwnerId, resident: _Resident) -> Snapshot:
        with resident.lock:
            before, held = resident.snapshot, self._newest(owner_id, resident)
            if held is not before:
                self._weigh(resident)
        return held

    def _newest(self, owner_id: OwnerId, resident: _Resident) -> Snapshot:
        held = resident.snapshot
        delta = self._fetch(owner_id, held.seq, held.revision)
        if held.born not in (0, delta.born) and not delta.reset:
            delta = replace(self._fetch(owner_id, 0, 0), reset=True)
        if delta.reset:
            held = self._empty(owner_id)
        if delta.reset or (delta.seq, delta.revision) != (held.seq, held.revision):
            held = resident.snapshot = held.extended(delta)
        return held

    def _empty(self, owner_id: OwnerId) -> Snapshot:
        return Snapshot.empty(owner_id, self._dim, self._token_dim)

    def _resident(self, owner_id: OwnerId) -> _Resident:
        with self._lock:
            resident = self._owners.get(owner_id)
            if resident is None:
                resident = self._owners[owner_id] = _Resident(self._empty(owner_id))
            self._owners.move_to_end(owner_id)
            return resident

    def _weigh(self, resident: _Resident) -> None:
        now = resident.snapshot.nbytes
        with self._lock:
            if resident.resides:
                self._bytes += now - resident.nbytes
            resident.nbytes = now

    def _leave(self, but: OwnerId) -> None:
        with self._lock:
            while self._bytes > self._limit and len(self._owners) > 1:
                oldest = next(iter(self._owners))
                if oldest == but:
                    break
                gone = self._owners.pop(oldest)
                gone.resides = False
                self._bytes -= gone.nbytes


class _Resident:
    def __init__(self, snapshot: Snapshot) -> None:
        self.lock = threading.Lock()
        self.snapshot = snapshot
        self.nbytes = 0
        self.resides = True
