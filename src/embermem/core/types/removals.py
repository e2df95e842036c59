"""What leaves memory: what was forgotten, with its receipt, and what faded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from embermem.core.types.ids import ChainId, FactId, ItemId, PageId, SegmentId, UtteranceId


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """What `forget` took away, or with `dry_run` would take: ids and names, no word of it.

    `facts` are current, archived and past ones; `traits` are dimensions, `profile` names such as "user.home".
    `rewritten` are the segments and chains that stay, whose text was made anew from what is left. `change_no` is None
    for a dry run, and where the whole memory went. `scrubbed`: whether the file holds no byte of it any more; False
    for a dry run, and while another reader keeps the old text in the WAL until a later checkpoint. `sha256` is over
    the sorted ids of all pages, utterances, facts, segments and chains that went, one a line. `marks` are keyed hashes
    of the texts that went and that nothing else says, and of the facts that were to go; `backups` are files, as far as
    the store knows them, that still hold what went. `key_mark` tells the key of the marks from another, and says
    nothing of it. It is also the receipt that `verify` checks later: as JSON it can be kept anywhere, since it says no
    word of what went.
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
        """Whether the disk may still hold bytes of what went, until a later scrub."""
        return not self.dry_run and not self.scrubbed

    def to_json(self) -> str:
        """The receipt as one line of JSON."""
        import msgspec

        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Forgotten:
        """The receipt of `to_json`. Raises ValueError for what is none."""
        import msgspec

        try:
            return msgspec.json.decode(text, type=cls, strict=False)
        except msgspec.MsgspecError as error:
            raise ValueError(f"this is no receipt of a forgetting: {error}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """Whether what a receipt says is gone is gone. `found` are ids and marks of it that stand in a table, in a log or
    in the bytes of a file; `scrubbed`, whether a scrub followed that left no byte of what was deleted; `backups` are
    files that hold what went. `unchecked` says why the marks could not be compared ("": they were). `ok`: all was
    checked, nothing was found, and the store is scrubbed. Backups are not the store: they are named, and not counted.
    """

    ok: bool
    found: tuple[str, ...]
    scrubbed: bool
    backups: tuple[str, ...]
    unchecked: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How much of a held fact or of a segment is retained (MemoryBank, arXiv 2305.10250, §2.3): R = exp(−t/S), in
    [0, 1]. `t` are days since it was last recalled or said again, `S` its strength, in days; it grows with each recall.

    `kind` is "fact" or "segment"; `archives`: whether it leaves for the archive now, and `reason` says why it does or
    stays.
    """

    item_id: ItemId
    kind: str
    text: str
    S: float
    t: float
    R: float
    archives: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Faded:
    """What left for the archive because it was not used, or with `dry_run` would. `change_no` is that of the change
    that says so, whose undo restores the facts; None where nothing left."""

    dry_run: bool
    facts: tuple[FactId, ...]
    segments: tuple[SegmentId, ...]
    change_no: int | None
    recorded_at: datetime
