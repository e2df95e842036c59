"""Backups and copies of a store, as it remembers them: also those that were begun and never finished."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
from sqlalchemy.engine import Connection

from embermem.core.types import Backup
from embermem.store.codec import micros
from embermem.store.statements import remember, setting

__all__ = [
    "BACKUPS",
    "BEGUN",
    "COPIES",
    "LAST_BACKUP",
    "KnownBackup",
    "chained",
    "known_backups",
    "known_begun",
    "known_copies",
    "remember_backup",
    "remember_begun",
    "remember_copy",
]

BACKUPS = "backups"
"""The store's setting that lists its backups."""
LAST_BACKUP = "last_backup"
"""The store's setting that says when the newest backup was made: microseconds since 1970 in UTC, as digits."""
BEGUN = "begun"
"""The store's setting that lists files that something began to write, and may have left when it was killed."""
COPIES = "copies"
"""The store's setting that lists the files that it was copied to."""
_MOST = 1_000
"""Backups that are remembered: those that are there, and the newest of those that are gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownBackup:
    """Where it is, when the store was read for it, its size, what it holds, and the mark of the forgettings until then.
    `after`: the backup that it continues."""

    place: str
    at: datetime
    bytes: int
    utterances: int
    changes: int
    erased: str
    after: str | None = None


def known_backups(c: Connection) -> list[KnownBackup]:
    """The oldest first."""
    return msgspec.json.decode(setting(c, BACKUPS) or "[]", type=list[KnownBackup])


def known_copies(c: Connection) -> list[Path]:
    """Files that the store was copied to, and those that are begun and there still."""
    return list(dict.fromkeys((*_listed(c, COPIES), *known_begun(c))))


def known_begun(c: Connection) -> list[Path]:
    """Files that are begun and there still."""
    return [one for one in _listed(c, BEGUN) if one.exists()]


def remember_begun(c: Connection, place: Path) -> None:
    """Remember a file that is there, before it holds a word of the store: whoever writes it may be killed."""
    _list(c, BEGUN, [*known_begun(c), place])


def remember_copy(c: Connection, place: Path) -> None:
    """Remember a copy that is whole."""
    _list(c, COPIES, [*_listed(c, COPIES), place])
    if place in (begun := known_begun(c)):
        _list(c, BEGUN, [one for one in begun if one != place])


def _listed(c: Connection, key: str) -> list[Path]:
    return [Path(one) for one in msgspec.json.decode(setting(c, key) or "[]", type=list[str])]


def _list(c: Connection, key: str, files: Iterable[Path]) -> None:
    remember(c, {key: msgspec.json.encode(list(dict.fromkeys(map(str, files)))).decode()})


def chained(known: Iterable[KnownBackup]) -> Iterator[list[str]]:
    """The places of each backup that is there, and before it of those on which it rests."""
    chains: dict[str, list[str]] = {}
    for one in known:
        before = [] if one.after is None else chains.get(str(Path(one.place).with_name(one.after)), [])
        chains[one.place] = [*before, one.place]
    yield from (chain for chain in chains.values() if Path(chain[-1]).exists())


def remember_backup(c: Connection, made: Backup, dropped: Collection[str]) -> None:
    """Remember one, and forget those at the places that were dropped."""
    known = [one for one in known_backups(c) if one.place not in (*dropped, made.place)]
    known.append(
        KnownBackup(
            place=made.place,
            at=made.at,
            bytes=made.bytes,
            utterances=made.utterances,
            changes=made.changes,
            erased=made.erased,
            after=made.after,
        )
    )
    gone = [one for one in known if not Path(one.place).exists()]
    forgotten = {one.place for one in gone[: max(0, len(known) - _MOST)]}
    left = [one for one in known if one.place not in forgotten]
    remember(c, {BACKUPS: msgspec.json.encode(left).decode(), LAST_BACKUP: str(micros(made.at))})
