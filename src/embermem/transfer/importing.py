"""Owners into a store, from JSON lines: each whole and in one transaction, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import IO, Any
from zoneinfo import ZoneInfo

from embermem.core import messages
from embermem.core.changes import Change, VisitCount, Visited
from embermem.core.errors import ForgottenKeyLost, InputError, StoreCorrupt, StoreError
from embermem.core.types import NO_USER, Owner, Role, thread_of
from embermem.core.vector_codes import vector_of
from embermem.protocols import Embedder, TokenEmbedder
from embermem.store.admin.transferring import (
    DocumentPart,
    OriginalPart,
    OwnerPart,
    Parts,
    ReceiptPart,
    UtterancePart,
    VectorPart,
)
from embermem.store.codec import passages_from
from embermem.store.sql import SqlStore
from embermem.transfer.lines import LISTS, VERSION, End, Finish, Header, Line, read

Clock = Callable[[], datetime]

_LONGEST_LINE = 256 * 2**20
"""Bytes of one line: a change that read a long conversation anew has some megabytes."""
_YEARS = 9000
"""Times of visits are before this year: how long a memory lasts is added to them."""
_TOLD_EVERY = 100
"""Lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """Who came in, who was here already with all that the file has of them, and who was left out because they have
    another memory here or were forgotten here; how much came.

    `without_vector`: utterances whose vectors are to be made. `other_key`: something was forgotten where the file comes
    from, under another key of forgotten values than the one here: it may be learnt again.
    """

    owners: tuple[Owner, ...]
    here_already: tuple[Owner, ...]
    left_out: tuple[Owner, ...]
    utterances: int
    changes: int
    without_vector: int
    other_key: bool


def import_owners(
    store: SqlStore,
    file: IO[bytes],
    embedder: Embedder,
    clock: Clock,
    *,
    leave_out: bool = False,
    told: Callable[[int, int], None] = lambda owners, read: None,
) -> Imported:
    """Keep the owners of an export. Vectors are taken where they are of this store's embedder.

    Each owner is one transaction: those before a bad line are there, the one it stands in is not at all. Owners who
    are here with all that the file has of them are passed by, so that a run that was interrupted goes on; with
    `leave_out`, so are those who have another memory here, or were forgotten here. `told` hears of owners done, and of
    bytes read.

    Raises InputError with the line for a file that is not whole or not ours, for an owner who has another memory here,
    and for one of whom a message was forgotten here.
    """
    done: list[Owner] = []
    here: list[Owner] = []
    left: list[Owner] = []
    lines = _lines(file, lambda read: told(len(done) + len(here) + len(left), read))
    header = _header(lines)
    with suppress(ForgottenKeyLost):  # then what comes in changes nothing of that
        store.secret()  # made before marks of another key come in: with those alone it would seem to be lost
    takes_vectors = header.vectors and (header.embedder, header.dim) == (embedder.name, embedder.dim)
    utterances = changes = bare = 0
    for first, last, parts in _owners(lines):
        owner = _owner(parts, first)
        if _has_anything(store, owner) and store.holds_all(owner.id, parts):
            here.append(owner)
        elif leave_out and (_has_anything(store, owner) or store.forgotten_of(owner.id, parts)):
            left.append(owner)
        else:
            kept = parts if takes_vectors else replace(parts, vectors=())
            _check_vectors(kept, embedder, first)
            _take_in(store, owner, kept, embedder.name, clock(), (first, last))
            done.append(owner)
            utterances += len(kept.utterances)
            changes += len(kept.changes)
            bare += len(kept.utterances) - len(kept.vectors)
    return Imported(
        owners=tuple(done),
        here_already=tuple(here),
        left_out=tuple(left),
        utterances=utterances,
        changes=changes,
        without_vector=bare,
        other_key=header.key is not None and header.key != store.key_mark(),
    )


def _take_in(store: SqlStore, owner: Owner, parts: Parts, embedder: str, now: datetime, lines: tuple[int, int]) -> None:
    where = f"lines {lines[0]}–{lines[1]}"
    try:
        store.take_in(owner, parts, embedder=embedder, now=now)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    except StoreError as error:
        if type(error) is not StoreError:  # busy, full, …: nothing is wrong with the file
            raise
        raise InputError(f"{where}: {owner.user} / {owner.agent} cannot be derived from its log ({error})") from error


def _has_anything(store: SqlStore, owner: Owner) -> bool:
    state = store.owner_state(owner.id)
    return state is not None and bool(state.seq or state.revision)


# ------------------------------------------------------------------------------------------------------------ reading


def _lines(file: IO[bytes], told: Callable[[int], None]) -> Iterator[tuple[int, Line]]:
    number = size = 0
    while text := file.readline(_LONGEST_LINE):
        number += 1
        size += len(text)
        if number % _TOLD_EVERY == 0:
            told(size)
        if len(text) == _LONGEST_LINE:
            raise InputError(f"line {number}: it is longer than {_LONGEST_LINE:,} bytes")
        try:
            yield number, read(text)
        except InputError as error:
            raise InputError(f"line {number}: {error}") from error
    told(size)
    yield number + 1, Finish(owners=-1)


def _header(lines: Iterator[tuple[int, Line]]) -> Header:
    _, header = next(lines)
    if not isinstance(header, Header):
        raise InputError("line 1: this is not an export of Ember; `embermem ingest` reads conversations")
    if header.version != VERSION:
        raise InputError(
            f"line 1: the file has format {header.version}; this version of Ember reads {VERSION}: upgrade embermem"
        )
    return header


@dataclass(slots=True)
class _Gathered:
    """An owner's parts on their way."""

    owner: OwnerPart
    line: int
    parts: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in LISTS.values()})
    pages: dict[str, tuple[int, str]] = field(default_factory=dict)
    newest: int = 0
    ids: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    with_original: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    seqs: set[int] = field(default_factory=set)

    def add(self, part: Line) -> None:
        """Take in the next part. Raises InputError where it does not fit those before it."""
        match part:
            case DocumentPart():
                _expect(not self.parts["utterances"], "documents come before utterances")
                self.documents.add(part.id)
            case UtterancePart():
                self._say(part)
            case OriginalPart():
                _expect(
                    part.id in self.ids or part.id in self.documents, f"the original is of nothing here: {part.id!r}"
                )
                _expect(part.id not in self.with_original, f"{part.id!r} has an original already")
                self.with_original.add(part.id)
            case Change():
                before = len(self.parts["changes"])
                _expect(part.no == before + 1, f"change {part.no} follows change {before}")
                _counted(one for d in part.decisions if isinstance(d, Visited) for one in d.items)
            case ReceiptPart():
                of_call = part.change_no is not None and part.first_seq == part.last_seq == 0
                said = 0 < part.first_seq <= part.last_seq <= self.owner.seq
                _expect(of_call or said, "the receipt is of no utterances")
            case VisitCount():
                _counted([part])
                _expect(part.item_id not in self.visited, f"visits of {part.item_id!r} are given twice")
                self.visited.add(part.item_id)
            case VectorPart():
                _expect(part.seq in self.seqs, f"there is no utterance {part.seq}, or it has a vector already")
                self.seqs.discard(part.seq)
            case _:
                raise InputError(f"the owner of line {self.line} has no end before it")
        self.parts[LISTS[type(part)]].append(part)

    def _say(self, part: UtterancePart) -> None:
        said = self.parts["utterances"]
        last = said[-1].seq if said else 0
        _expect(last < part.seq <= self.owner.seq, f"utterance {part.seq} follows utterance {last}")
        _expect(part.id not in self.ids, f"the id {part.id!r} was given before")
        known = self.pages.get(part.page)
        if part.passage is not None:
            fits = part.role is Role.DOCUMENT and part.thread == thread_of(part.passage.document)
            _expect(fits and part.passage.document in self.documents, f"the passage {part.seq} is of no document here")
            _expect(known is None and part.page_no == -part.seq, f"the passage {part.seq} is not a page by itself")
        elif known is None:
            _expect(part.role is not Role.DOCUMENT, f"utterance {part.seq} says of no document that it is of it")
            fits = self.newest < part.page_no <= self.owner.pages
            _expect(fits, f"page {part.page_no} follows page {self.newest}")
            self.newest = part.page_no
        else:
            _expect(known == (part.page_no, part.thread), f"the page {part.page!r} had another number or thread")
        self.pages[part.page] = (part.page_no, part.thread)
        self.ids.add(part.id)
        self.seqs.add(part.seq)

    def whole(self, end: End) -> Parts:
        """All of it. Raises InputError where a line is missing."""
        for name, parts in self.parts.items():
            told, found = getattr(end, name), len(parts)
            _expect(told == found, f"the owner has {told} {name}, and {found} are here")
        return Parts(owner=self.owner, **self.parts)


def _owners(lines: Iterator[tuple[int, Line]]) -> Iterator[tuple[int, int, Parts]]:
    """Each owner with the numbers of its first and last line."""
    gathered: _Gathered | None = None
    count = 0
    for number, line in lines:
        try:
            if isinstance(line, Finish):
                _expect(gathered is None and line.owners >= 0, "the file is torn: it ends before its end")
                _expect(line.owners == count, f"the file has {line.owners} owners, and {count} are here")
                break
            if gathered is None:
                _expect(isinstance(line, OwnerPart), "an owner is to begin here")
                assert isinstance(line, OwnerPart)
                gathered = _Gathered(owner=line, line=number)
            elif isinstance(line, End):
                parts, first = gathered.whole(line), gathered.line
                gathered, count = None, count + 1
                yield first, number, parts
            else:
                gathered.add(line)
        except InputError as error:
            raise InputError(f"line {number}: {error}") from error


def _counted(some: Iterable[VisitCount]) -> None:
    for one in some:
        _expect(one.visits > 0, "visits are counted from 1")
        _expect(one.at.year < _YEARS, f"a visit is of the year {one.at.year}")


def _expect(true: bool, else_say: str) -> None:
    if not true:
        raise InputError(else_say)


# ----------------------------------------------------------------------------------------------------------- checking


def _owner(parts: Parts, line: int) -> Owner:
    """Whose they are: the id is made here, whatever a file says."""
    part = parts.owner
    try:
        whose = messages.space(part.agent) if part.user == NO_USER else messages.owner(part.user, part.agent)
        _expect(part.seq >= 0 and part.pages >= 0, "seq and pages are counted from 0")
        if part.timezone is not None:
            ZoneInfo(part.timezone)
    except InputError as error:
        raise InputError(f"line {line}: {error}") from error
    except (ValueError, OSError, KeyError) as error:  # KeyError: no such zone
        raise InputError(f"line {line}: unknown time zone {part.timezone!r}") from error
    return whose


def _check_vectors(parts: Parts, embedder: Embedder, line: int) -> None:
    """That each is a vector of this embedder: as long as its others, and of numbers."""
    width = embedder.token_dim // 2 if isinstance(embedder, TokenEmbedder) else 0
    for part in parts.vectors:
        vectors, tokens = _by_passage(part)
        sound = all(_is_vector(one, embedder.dim) for one in vectors)
        if not sound or any(len(one) % width if width else one for one in tokens):
            raise InputError(f"the owner of line {line}: the vector of utterance {part.seq} is none of {embedder.name}")


def _by_passage(part: VectorPart) -> tuple[list[bytes], list[bytes]]:
    """The vectors and the packed tokens of an utterance's passages; what cannot be read is no vector."""
    try:
        vectors, tokens = ([], []) if part.passages is None else passages_from(part.passages)
    except StoreCorrupt:
        return [b""], []
    return [part.data, *vectors], [part.tokens or b"", *tokens]


def _is_vector(data: bytes, dim: int) -> bool:
    try:
        return len(vector_of(data)) == dim
    except ValueError:
        return False
