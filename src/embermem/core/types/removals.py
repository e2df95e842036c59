"""What leaves memory: what was forgotten, with its receipt, and what faded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from embermem.core.record import Record
from embermem.core.types.ids import ChainId, FactId, PageId, SegmentId, UtteranceId


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten(Record):
    """What `forget` removed, or with `dry_run` would remove: ids and names, without text.

    `facts` are current, archived and past ones; `traits` are dimensions, `profile` names such as "user.home".
    `rewritten` are the remaining segments and chains whose text was made again. `change_no` is None for a dry run, and
    if the whole memory was removed. `scrubbed`: whether no byte of it is left in the file; False for a dry run, and
    while another reader keeps the old text in the WAL until a later checkpoint. `sha256` is over the sorted ids of all
    removed pages, utterances, facts, segments and chains, one per line. `marks` are keyed hashes of the removed texts
    that occur nowhere else, and of the forgotten facts; `backups` are files known to the store that still contain the
    content. `key_mark` identifies the key of the marks without revealing it.

    It is also the receipt that `verify` checks later: its JSON can be kept anywhere, because it contains no removed
    text.
    """

    dry_run: bool
    pages: tuple[PageId, ...]
    utterances: tuple[UtteranceId, ...]
    facts: tuple[FactId, ...]
    segments: tuple[SegmentId, ...]
    chains: tuple[ChainId, ...]
    traits: tuple[str, ...]
    profile: tuple[str, ...]
    rewritten: tuple[SegmentId | ChainId, ...]
    change_no: int | None
    recorded_at: datetime
    scrubbed: bool
    sha256: str
    marks: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    key_mark: str = ""

    @property
    def scrub_pending(self) -> bool:
        """Whether the disk may still contain bytes of the removed content, until a later scrub."""
        return not self.dry_run and not self.scrubbed

    def to_json(self) -> str:
        """The receipt as one line of JSON."""
        import msgspec

        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Forgotten:
        """The receipt from the output of `to_json`. Raises ValueError if it is invalid."""
        import msgspec

        try:
            return msgspec.json.decode(text, type=cls, strict=False)
        except msgspec.MsgspecError as error:
            raise ValueError(f"this is not a receipt of forgetting: {error}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified(Record):
    """Whether the content named by a receipt is gone. `found` are ids and marks of it that are in a table, in a log
    or in the bytes of a file; `scrubbed`: whether a scrub has overwritten the deleted bytes; `backups` are files
    that contain the content. `unchecked` is the reason why the marks could not be compared ("": they were). `ok`:
    everything was checked, nothing was found, and the store is scrubbed. Backups are listed but do not affect `ok`."""

    ok: bool
    found: tuple[str, ...]
    scrubbed: bool
    backups: tuple[str, ...]
    unchecked: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention(Record):
    """How much of a current fact or of a segment is retained (MemoryBank, arXiv 2305.10250, §2.3): R = exp(−t/S), in
    [0, 1]. `t` is the number of days since it was last recalled or said again, `S` its strength in days, which grows
    with each recall. `kind` is "fact" or "segment"; `archives`: whether it would be archived now, with the `reason`."""

    item_id: FactId | SegmentId
    kind: str
    text: str
    S: float
    t: float
    R: float
    archives: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Faded(Record):
    """What was archived because it was not used, or with `dry_run` would be. `change_no` is the number of the
    change, whose undo restores the facts; None if nothing was archived."""

    dry_run: bool
    facts: tuple[FactId, ...]
    segments: tuple[SegmentId, ...]
    change_no: int | None
    recorded_at: datetime
