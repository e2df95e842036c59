"""Which owners' working sets are in memory: loaded once, brought up to date on each use, the least recently used
leaving when they grow above a limit."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from embermem.core.recent import Recent
from embermem.core.types import OwnerId, Utterance
from embermem.index import mapped
from embermem.index.blocks import DamagedBlock
from embermem.index.past import SegmentHistory, with_persona
from embermem.index.snapshot import Snapshot
from embermem.index.vectors import TextVectors
from embermem.protocols import NOW, Delta, IndexFiles, Moment, Standing, VectorBatch, WorkingSetSource

logger = logging.getLogger(__name__)

_WORN = 8
"""A file is written anew when so many rows were read beside it as one for so many of its own."""

_MOMENTS_KEPT = 4
"""Of each owner, the snapshots of the moments asked for last: what is asked of one is mostly asked again."""


class Residents:
    """The snapshots of some owners, with vectors of one embedder. The source is asked what is newer, and for what was
    when a moment is asked for that its last answer does not reach; one writer an owner, readers never wait."""

    def __init__(
        self,
        source: WorkingSetSource,
        embedder: str,
        dim: int,
        limit_bytes: int,
        token_dim: int = 0,
        summaries: TextVectors | None = None,
        files: IndexFiles | None = None,
        files_from: int = 1,
        due: Callable[[], None] = lambda: None,
    ) -> None:
        """`files` keep the owners with at least `files_from` rows; `due` is called when one should be written (`keep`).
        `summaries` makes the vectors of segments' summaries, where segments have these; else their vectors are sums
        of their pages'."""
        self._source = source
        self._summaries = summaries
        self._embedder = embedder
        self._dim = dim
        self._token_dim = token_dim
        self._limit = limit_bytes
        self._files, self._files_from, self._due = files, files_from, due
        self._keeping = threading.Lock()
        self._lock = threading.Lock()
        self._owners: OrderedDict[OwnerId, _Resident] = OrderedDict()
        self._bytes = 0

    @property
    def nbytes(self) -> int:
        """What they hold, as it was last weighed, `mapped_bytes` among it."""
        return self._bytes

    @property
    def mapped_bytes(self) -> int:
        """What of it are files that are mapped: other processes share it, and the system may take it back."""
        with self._lock:
            residents = [*self._owners.values()]
        return sum(one.snapshot.mapped_bytes for one in residents)

    def __contains__(self, owner_id: OwnerId) -> bool:
        with self._lock:
            return owner_id in self._owners

    def snapshot(self, owner_id: OwnerId, moment: Moment = NOW) -> Snapshot:
        """The owner's snapshot, as new as the store is now; at another moment, what it was then, or of what was true
        then."""
        resident = self._resident(owner_id)
        with resident.lock:
            before, held = resident.snapshot, self._newest(owner_id, resident)
            found = self._found(owner_id, resident, moment)
            if held is not before or found is not held:
                self._weigh(resident)
            due = held is not before and self._is_due(resident)
        self._leave(owner_id)
        if due:
            self._due()
        return found

    def keep(self, owner_id: OwnerId | None = None) -> None:
        """Write the files of owners, or of one, who are held and whose files are missing or worn; a file that fails is
        left until the owner has grown again. Raises StoreError."""
        if self._files is None or not self._keeping.acquire(blocking=False):
            return
        try:
            with self._lock:
                some = [one for of, one in self._owners.items() if owner_id in (None, of)]
            for resident in some:
                self._keep(self._files, resident)
        finally:
            self._keeping.release()

    def _keep(self, files: IndexFiles, resident: _Resident) -> None:
        with resident.lock:
            snapshot = resident.snapshot
            if not self._is_due(resident) or files.file(snapshot.owner) is None:
                return
            resident.unkept = 0
            try:
                held = snapshot.held(self._embedder)
            except DamagedBlock:
                self._read_anew(resident)
                return
        standing = Standing(seq=snapshot.seq, revision=snapshot.revision, born=snapshot.born, mark=snapshot.mark)
        if held is None or not files.keep(snapshot.owner, standing, partial(mapped.write, held)):
            return
        with resident.lock:  # from here on the file's pages are used, which others share
            if resident.snapshot is snapshot:
                self._take_file(resident)
                self._weigh(resident)

    def _take_file(self, resident: _Resident) -> None:
        """Hold what the owner's file has, in place of nothing or of what it was made of."""
        empty = resident.snapshot
        file = None if self._files is None else self._files.file(empty.owner)
        if file is None:
            return
        held = mapped.read(file, empty.owner, self._embedder, empty.dim, empty.token_dim)
        if held is None:
            return
        try:
            resident.snapshot = Snapshot.of_held(held)
        except (DamagedBlock, KeyError, ValueError) as error:
            logger.warning("the file %s is damaged, and is not used (%s)", file, type(error).__name__)
            return
        resident.unkept = 0
        resident.forget_moments()

    def _is_due(self, resident: _Resident) -> bool:
        n = resident.snapshot.n
        return self._files is not None and n >= self._files_from and resident.unkept > n // _WORN

    def _found(self, owner_id: OwnerId, resident: _Resident, moment: Moment) -> Snapshot:
        held = resident.snapshot
        seq, revision = (
            _least(asked, now) for asked, now in ((moment.seq, held.seq), (moment.revision, held.revision))
        )
        if (seq, revision, moment.valid_at) == (held.seq, held.revision, None):
            return held
        asked = replace(moment, seq=seq, revision=revision)

        def narrow() -> Snapshot:
            found = held.narrowed(seq, revision)
            if revision < held.revision:
                found = self._segments(owner_id, resident, revision).at(found, held.segments)
            if revision < held.revision or moment.valid_at is not None:
                found = with_persona(found, self._source.persona_then(owner_id, asked))
            return found

        return resident.moments.of((asked, held.vectors_held), narrow)

    def _segments(self, owner_id: OwnerId, resident: _Resident, revision: int) -> SegmentHistory:
        if resident.segments is None or resident.segments.revision < revision:
            timeline, texts = self._source.segment_timeline(owner_id), partial(self._source.segment_texts, owner_id)
            resident.segments = SegmentHistory(timeline, resident.snapshot, texts, self._summaries)
        return resident.segments

    def renew(self, owner_id: OwnerId) -> None:
        """Take in what is newer of an owner who is held, so that the next query finds it there. It is no use of it."""
        with self._lock:
            resident = self._owners.get(owner_id)
        if resident is None:
            return
        with resident.lock:
            before = resident.snapshot
            try:
                newest = self._newest(owner_id, resident)
            except DamagedBlock:
                self._read_anew(resident)
                return
            if newest is not before:
                self._weigh(resident)

    def read_anew(self, owner_id: OwnerId) -> None:
        """Hold nothing of an owner whose file is damaged, so that the next query reads the store; without the file."""
        resident = self._resident(owner_id)
        with resident.lock:
            self._read_anew(resident)

    def _read_anew(self, resident: _Resident) -> None:
        owner_id = resident.snapshot.owner
        logger.warning("the file of the index of owner %s is damaged; it is made again from the store", owner_id)
        if resident.snapshot.mapped_bytes and self._files is not None:
            self._files.drop(owner_id)
        resident.begin_anew()

    def weigh(self, owner_id: OwnerId) -> None:
        """Count anew what is held of an owner: more was worked out of its snapshot."""
        with self._lock:
            resident = self._owners.get(owner_id)
        if resident is not None:
            with resident.lock:
                self._weigh(resident)
            self._leave(owner_id)

    def with_vectors(
        self,
        owner_id: OwnerId,
        missing: Sequence[Utterance],
        embed: Callable[[Sequence[Utterance]], VectorBatch],
    ) -> Snapshot:
        """The owner's snapshot with vectors and packed tokens for the utterances named, made now."""
        made = embed(missing)
        resident = self._resident(owner_id)
        with resident.lock:  # asked anew: the owner may have left meanwhile, or been reindexed
            newest = self._newest(owner_id, resident)
            with _whole_or_not(resident):
                resident.snapshot = newest.with_vectors(made.seqs, made.vectors, made.tokens)
            self._weigh(resident)
            return resident.snapshot

    def _newest(self, owner_id: OwnerId, resident: _Resident) -> Snapshot:
        if not resident.read:
            resident.read = True
            self._take_file(resident)
        held = resident.snapshot
        delta = self._newer(owner_id, held.seq, held.revision, held.mark)
        if held.born not in (0, delta.born) and not delta.reset:
            delta = replace(self._newer(owner_id, 0, 0, ""), reset=True)
        if delta.reset:
            if resident.snapshot.mapped_bytes and self._files is not None:
                self._files.drop(owner_id)
            resident.begin_anew()
            held = resident.snapshot
        if delta.reset or (delta.seq, delta.revision) != (held.seq, held.revision):
            with _whole_or_not(resident):
                held = resident.snapshot = held.extended(delta)
            resident.unkept += len(delta.utterances) + len(delta.vector_seqs) + len(delta.pages) + len(delta.segments)
        return held

    def _newer(self, owner_id: OwnerId, seq: int, revision: int, mark: str) -> Delta:
        return self._source.delta(owner_id, seq, revision, self._embedder, self._dim, mark)

    def _resident(self, owner_id: OwnerId) -> _Resident:
        with self._lock:
            resident = self._owners.get(owner_id)
            if resident is None:
                empty = Snapshot.empty(owner_id, self._dim, self._token_dim)
                resident = self._owners[owner_id] = _Resident(empty)
            self._owners.move_to_end(owner_id)
            return resident

    def _weigh(self, resident: _Resident) -> None:
        now = resident.nbytes_held
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
    def __init__(self, empty: Snapshot) -> None:
        self.lock = threading.Lock()
        self.snapshot = empty
        self.segments: SegmentHistory | None = None
        self.moments: Recent[tuple[Moment, int], Snapshot] = Recent(_MOMENTS_KEPT)
        self.nbytes = 0
        self.resides = True
        self.read = False
        """Whether a file of it was looked for."""
        self.unkept = 0
        """How many rows of the store were read that its file does not have."""

    def begin_anew(self) -> None:
        """Hold nothing: the next who asks reads all of it."""
        held = self.snapshot
        empty = Snapshot.empty(held.owner, held.dim, held.token_dim)
        self.snapshot, self.unkept = empty, 0
        self.forget_moments()

    def forget_moments(self) -> None:
        """Hold nothing that was made of another snapshot."""
        self.segments = None
        self.moments.clear()

    @property
    def nbytes_held(self) -> int:
        """Estimated bytes held."""
        past = 0 if self.segments is None else self.segments.nbytes
        moments = sum(one.bytes_beside(self.snapshot) for one in self.moments.values())
        return self.snapshot.nbytes + self.snapshot.mapped_bytes + past + moments


@contextmanager
def _whole_or_not(resident: _Resident) -> Iterator[None]:
    """Whoever is interrupted while rows are appended leaves them half done: then all is read again."""
    try:
        yield
    except BaseException:
        resident.begin_anew()
        raise


def _least(asked: int | None, now: int) -> int:
    return now if asked is None else min(asked, now)
