"""The topics of a state: which chain and which segment each page was in, and which changes wrote what is told of these.

The words themselves stay in the log: of a summary or a text, a state knows the number of the change that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar, assert_never

import numpy as np

from embermem.core import changes as c
from embermem.core.changes import Change, Decision
from embermem.core.packed_ids import IdTable, packed_ids
from embermem.core.types import ChainId, PageId, SegmentId

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32 | np.int64]
    Micros = NDArray[np.int64]
    Places = NDArray[np.intp]

_Number = TypeVar("_Number", bound=np.generic)

__all__ = ["NEVER", "TOPIC_KINDS", "Spans", "TopicMoment", "TopicRows", "TopicState", "alike_of_topics"]

NEVER = int(np.iinfo(np.int32).max)
"""The end of what stands; above all numbers of changes and of ids."""
_AT_ONCE = 4096
"""Ids that are packed at once."""
_NOTHING = -1
"""The value of a span in which a key has none."""
_WHOLE = 1
"""That of a text which a change wrote whole."""
TOPIC_KINDS: frozenset[type[Decision]] = frozenset(
    {
        c.Placed,
        c.Noted,
        c.Analysed,
        c.ChainSummarised,
        c.SegmentWritten,
        c.SegmentGrew,
        c.SegmentEnded,
        c.Evicted,
        c.Visited,
        c.BegunAnew,
    }
)
"""The kinds of decisions that topics are made of; a fold passes over all others."""


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Which value each key had, from which change to which: arrays of one length, in the order of the changes."""

    keys: Ints
    values: Ints
    began: Ints
    ended: Ints

    @classmethod
    def of(cls, rows: Ints) -> Spans:
        """The spans of (change, key, value) in the order of the changes, shape (n, 3). Of what a change says of one
        key, the last counts."""
        began, keys, values = (_narrow(rows[:, place]) for place in range(3))
        if began.dtype != np.int32:
            raise ValueError(f"{began.max()} is no number of a change: topics hold those below {NEVER}")
        order = np.lexsort((began, keys))
        again = np.zeros(len(order), dtype=bool)
        again[:-1] = (keys[order][1:] == keys[order][:-1]) & (began[order][1:] == began[order][:-1])
        order = order[~again]
        ended = np.full(len(order), NEVER, dtype=np.int32)
        follows = keys[order][1:] == keys[order][:-1]
        ended[:-1][follows] = began[order][1:][follows]
        place = np.argsort(order, kind="stable")
        order = order[place]
        return cls(keys[order], values[order], began[order], ended[place])

    def rows(self) -> Ints:
        """What they were made of."""
        return np.stack([self.began, self.keys, self.values], axis=1)

    def with_rows(self, rows: Ints) -> Spans:
        """The spans after later changes."""
        if not len(rows):
            return self
        if rows[0, 0] != rows[-1, 0]:
            return Spans.of(np.concatenate([self.rows(), rows]))
        new = Spans.of(rows)
        ended = self.ended.copy()
        ended[(ended == NEVER) & np.isin(self.keys, new.keys)] = rows[0, 0]
        both = zip((self.keys, self.values, self.began, ended), new._columns(), strict=True)
        return Spans(*(np.concatenate([one, other]) for one, other in both))

    def told_anew(self, before: Ints, after: Ints) -> Spans:
        """The spans of what they were made of, with rows in place of others: of a change and a key each."""
        if not len(before) and not len(after):
            return self
        mine = np.isin(self.keys, np.concatenate([before[:, 1], after[:, 1]]))
        own = self.rows()[mine]
        gone = np.isin(_pairs_of(own), _pairs_of(before))
        rows = np.concatenate([own[~gone], after])
        new = Spans.of(rows[np.argsort(rows[:, 0], kind="stable")])
        order = np.argsort(np.concatenate([self.began[~mine], new.began]), kind="stable")
        both = zip(self._columns(), new._columns(), strict=True)
        return Spans(*(np.concatenate([one[~mine], other])[order] for one, other in both))

    def _columns(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.keys, self.values, self.began, self.ended

    def stood(self, no: int) -> Places:
        """The places of the spans that held after change `no`."""
        return np.flatnonzero((self.began <= no) & (self.ended > no) & (self.values != _NOTHING))

    def of_key(self, key: int) -> Places:
        """The places of all spans of a key in which it had a value."""
        return np.flatnonzero((self.keys == key) & (self.values != _NOTHING))

    def value(self, key: int, no: int) -> tuple[int, int] | None:
        """What a key had after change `no`, and the change that began it."""
        for place in reversed(self.of_key(key).tolist()):
            if self.began[place] <= no:
                return (int(self.values[place]), int(self.began[place])) if self.ended[place] > no else None
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Times(Mapping[int, datetime]):
    """When changes were recorded, by their numbers, which rise."""

    numbers: Ints
    at: Micros
    """Microseconds since 1970."""

    @classmethod
    def of(cls, told: Mapping[int, datetime]) -> Times:
        """Those of some changes, in their order."""
        at = ((one - _EPOCH) // _MICROSECOND for one in told.values())
        return cls(np.array([*told], dtype=np.int32), np.fromiter(at, np.int64, len(told)))

    def with_new(self, told: Mapping[int, datetime]) -> Times:
        """These and others, of changes that may be among these."""
        new, stays = Times.of(told), ~np.isin(self.numbers, [*told])  # numpy.unique would load numpy.ma
        numbers, at = np.append(self.numbers[stays], new.numbers), np.append(self.at[stays], new.at)
        order = np.argsort(numbers)
        return Times(numbers[order], at[order]) if told else self

    def __getitem__(self, no: int) -> datetime:
        place = int(np.searchsorted(self.numbers, no))
        if place == len(self.numbers) or self.numbers[place] != no:
            raise KeyError(no)
        return _EPOCH + int(self.at[place]) * _MICROSECOND

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers.tolist())

    def __len__(self) -> int:
        return len(self.numbers)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NO_ROWS = np.zeros((0, 3), dtype=np.int32)
_OF = ("places", "notes", "analysed", "summaries", "texts", "left", "heirs", "visits", "visited")
"""The spans of a state, by their names there."""
_NAMING = ("places", "notes", "heirs")
"""Those whose values are ids."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicRows:
    """What some changes say of topics, to be kept. `names` are the ids that it is about; by the name of each of a
    state's spans, `spans` has the numbers of a change, a key and a value, one after the other, in the order of the
    changes. `recorded` has the number of each change and its time, in microseconds since 1970; `begun` is the one that
    last began memory anew."""

    begun: int = 0
    names: list[str] = field(default_factory=list)
    recorded: list[int] = field(default_factory=list)
    spans: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TopicState:
    """The fold of what an owner's changes say of topics, oldest first. It is never changed: `extended` and `redacted`
    make another.

    `places` say which segment a page was in, `notes` which chain; `analysed` which changes analysed a page for the
    persona, and up to which utterance; `summaries` and `texts` which wrote those of chains and of segments, some whole;
    `left` when a segment was evicted, or ended, and `heirs` which took the visits of one that ended; `visits` how often
    a segment or fact was visited before a change and after the one before, and `visited` when last (visits.py). Keys
    and values are numbers of ids.
    """

    no: int = 0
    """The last change that was folded."""
    begun: int = 0
    """The change that last began memory anew; 0: none."""
    recorded: Times = field(default_factory=lambda: Times.of({}))
    """When the changes that say something of topics were recorded."""
    names: IdTable = field(default_factory=IdTable)
    places: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    notes: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    analysed: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    summaries: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    texts: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    left: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    heirs: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    visits: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))
    visited: Spans = field(default_factory=lambda: Spans.of(_NO_ROWS))

    def extended(self, changes: Iterable[Change], upto: int = 0) -> TopicState:
        """The state after further changes, the last of which is `upto` if it says nothing of topics. Raises ValueError
        for a change that is not newer than the last."""
        made, told = self, _Told()
        for change in changes:
            if change.no <= max(made.no, told.no):
                raise ValueError(f"change {change.no} comes after {made.no}; a state folds changes in their order")
            if told.take(change):
                made = TopicState(begun=change.no)
        made = made._with(told)
        return made if upto <= made.no else replace(made, no=upto)

    def redacted(self, pairs: Iterable[tuple[Change, Change]]) -> TopicState:
        """The state of the log in which each first change reads as the second, of the same number. Both may leave out
        decisions that stay as they are, on items of which they say nothing else."""
        before, after = _Told(), _Told()
        for was, now in sorted(pairs, key=lambda pair: pair[0].no):
            if self.begun <= was.no <= self.no:
                before.take(was)
                after.take(now)
        names = self.names.with_new(after.ids())
        made = {
            of: spans.told_anew(before.numbered(of, names), after.numbered(of, names)) for of, spans in self._spans()
        }
        every = self.recorded.with_new(after.recorded)
        looked_at = np.array([*before.recorded.keys() | after.recorded.keys()], dtype=np.int32)
        there = looked_at == self.begun
        for spans in made.values():
            there |= np.isin(looked_at, spans.began)
        told = ~np.isin(every.numbers, looked_at[~there])
        recorded = Times(every.numbers[told], every.at[told])
        return TopicState(no=self.no, begun=self.begun, recorded=recorded, names=names, **made)

    def at(self, no: int | None = None) -> TopicMoment:
        """What was known after change `no`; by default the newest."""
        return TopicMoment(self, self.no if no is None else no)

    def rows(self, after: int = 0, upto: int = NEVER) -> TopicRows:
        """What the changes after one, up to another, say."""
        found = {of: _between(spans.rows(), after, upto) for of, spans in self._spans()}
        used = [found[of][:, 1] for of in found] + [found[of][:, 2] for of in _NAMING]
        known = np.array(sorted({*np.concatenate(used).tolist()}), dtype=np.int64)
        made: dict[str, list[int]] = {}
        for of, rows in found.items():
            keys = np.searchsorted(known, rows[:, 1])
            values = np.searchsorted(known, rows[:, 2]) if of in _NAMING else rows[:, 2]
            if len(rows):
                made[of] = np.stack([rows[:, 0], keys, values], axis=1).ravel().tolist()
        times = _between(np.stack([self.recorded.numbers, self.recorded.at], axis=1), after, upto)
        return TopicRows(
            begun=self.begun,
            names=self.names.some(known),
            recorded=times.ravel().tolist(),
            spans=made,
        )

    @classmethod
    def of_rows(cls, some: Iterable[TopicRows], no: int) -> TopicState:
        """The state after change `no` of what all changes up to it say, oldest first. Raises ValueError for what
        `rows` did not give."""
        packed, odd, waiting, count = [packed_ids(())], dict[int, str](), list[str](), 0
        rows: dict[str, list[Ints]] = {of: [_NO_ROWS] for of in _OF}
        times: list[Micros] = [np.zeros((0, 2), dtype=np.int64)]
        begun = 0
        for part in some:  # one at a time: lists of numbers are large
            begun = max(begun, part.begun)
            waiting += part.names
            if len(waiting) > _AT_ONCE:
                packed.append(_packed(waiting, count + len(part.names), odd))
                waiting = []
            for of, listed in part.spans.items():
                told = np.array(listed, dtype=np.int64).reshape(-1, 3)
                ids = told[:, 1:3] if of in _NAMING else told[:, 1:2]
                if of not in rows or ((ids < 0) | (ids >= len(part.names))).any():
                    raise ValueError("rows of topics are damaged")
                ids += count
                rows[of].append(_narrow(told))
            count += len(part.names)
            times.append(np.array(part.recorded, dtype=np.int64).reshape(-1, 2))
        names, numbers = IdTable.of(np.concatenate([*packed, _packed(waiting, count, odd)]), odd)
        since = begun - 1  # parts from before memory was begun anew may be there yet
        spans: dict[str, Spans] = {}
        for of, some_rows in rows.items():
            told = _between(np.concatenate(some_rows), since, NEVER)
            ids = told[:, 1:3] if of in _NAMING else told[:, 1:2]
            ids[:] = numbers[ids]
            spans[of] = Spans.of(told)
        every = _between(np.concatenate(times), since, NEVER)
        recorded = Times(_narrow(every[:, 0]), every[:, 1].copy())
        return cls(no=no, begun=begun, recorded=recorded, names=names, **spans)

    def told(self, upto: int = NEVER) -> list[tuple[str, int, str, str]]:
        """All that changes up to one say, in a form that can be compared: of what, the change, the key and its
        value."""
        found: list[tuple[str, int, str, str]] = []
        for of, spans in self._spans():
            values = self.names.some(spans.values) if of in _NAMING else map(str, spans.values.tolist())
            every = zip(spans.began.tolist(), self.names.some(spans.keys), values, strict=True)
            found += [(of, no, key, value) for no, key, value in every if no <= upto]
        return sorted(found)

    def number(self, name: str) -> int:
        """The number of an id; -1 for one that no change names."""
        return int(self.names.numbers([name])[0])

    def name(self, number: int) -> str:
        """The id of a number."""
        return self.names[number]

    def notes_of(self, page_id: str) -> list[tuple[ChainId, int]]:
        """The chains that a page was in, each with the change that noted it."""
        return [(ChainId(chain), no) for chain, no in self._values_of(self.notes, page_id)]

    def places_of(self, page_id: str) -> list[tuple[SegmentId, int]]:
        """The segments that a page was in, each with the change that placed it there."""
        return [(SegmentId(segment), no) for segment, no in self._values_of(self.places, page_id)]

    def _values_of(self, spans: Spans, key: str) -> Iterator[tuple[str, int]]:
        for place in spans.of_key(self.number(key)).tolist():
            yield self.name(int(spans.values[place])), int(spans.began[place])

    def ever_in(self, segment_id: str) -> dict[PageId, int]:
        """The pages that were ever in a segment, each with the change that placed it there first."""
        found: dict[PageId, int] = {}
        for no, name, _ in self._whole(self.places, np.flatnonzero(self.places.values == self.number(segment_id))):
            found.setdefault(PageId(name), no)
        return found

    def _whole(self, spans: Spans, places: Places) -> Iterator[tuple[int, str, int]]:
        """Of some spans the change that began each, the key, and the change that ended it."""
        keys = self.names.some(spans.keys[places])
        return zip(spans.began[places].tolist(), keys, spans.ended[places].tolist(), strict=True)

    def analysed_by(self, page_ids: Iterable[str]) -> set[int]:
        """The changes that analysed some pages."""
        return self._told_of(self.analysed, self.analysed.keys, page_ids)

    def ended_into(self, segment_ids: Iterable[str]) -> set[int]:
        """The changes by which others ended and gave their visits to some segments."""
        return self._told_of(self.heirs, self.heirs.values, segment_ids)

    def visited_by(self, item_ids: Iterable[str]) -> set[int]:
        """The changes that tell of visits of some segments and facts."""
        return self._told_of(self.visits, self.visits.keys, item_ids)

    def summaries_of(self, chain_ids: Iterable[str]) -> set[int]:
        """The changes that summarised some chains."""
        return self._told_of(self.summaries, self.summaries.keys, chain_ids)

    def _told_of(self, spans: Spans, numbers: Ints, ids: Iterable[str]) -> set[int]:
        wanted = np.isin(numbers, [one for one in self.names.numbers([*ids]).tolist() if one >= 0])
        return {*spans.began[wanted & (spans.values != _NOTHING)].tolist()}

    def texts_of(self, ids: Iterable[str] | None = None) -> Iterator[tuple[int, SegmentId, int | None]]:
        """The changes that wrote texts of segments, of all or of some, in order; each with the segment, and the change
        that ended what it wrote."""
        spans = self.texts
        told = spans.values != _NOTHING
        if ids is not None:
            told &= np.isin(spans.keys, self.names.numbers([*ids]))
        for no, name, until in self._whole(spans, np.flatnonzero(told)):
            yield no, SegmentId(name), None if until == NEVER else until

    def made_by(self, segment_id: str, before: int) -> tuple[list[int], int | None]:
        """The changes that make the text of a segment as it was last written before a change, from the one that wrote
        it whole on; and the change that ended it."""
        places = self.texts.of_key(self.number(segment_id))
        places = places[self.texts.began[places] < before]
        whole = np.flatnonzero(self.texts.values[places] == _WHOLE)
        places = places[whole[-1] :] if len(whole) else places
        until = int(self.texts.ended[places[-1]]) if len(places) else NEVER
        return self.texts.began[places].tolist(), None if until == NEVER else until

    def opened(self) -> dict[SegmentId, int]:
        """By segment in which a page ever was, or whose text was written, the change that opened it; in that order."""
        began = np.concatenate([self.places.began, self.texts.began])
        number = np.concatenate([self.places.values, self.texts.keys])
        order = np.argsort(began, kind="stable")
        first = np.sort(np.unique(number[order], return_index=True)[1])
        names = map(SegmentId, self.names.some(number[order][first]))
        return dict(zip(names, began[order][first].tolist(), strict=True))

    def _spans(self) -> Iterator[tuple[str, Spans]]:
        return ((of, getattr(self, of)) for of in _OF)

    def _with(self, told: _Told) -> TopicState:
        names = self.names.with_new(told.ids())
        spans: dict[str, Spans] = {of: one.with_rows(told.numbered(of, names)) for of, one in self._spans()}
        recorded = self.recorded.with_new(told.recorded)
        no = max(self.no, told.no)
        return TopicState(no=no, begun=self.begun, recorded=recorded, names=names, **spans)


@dataclass(frozen=True, slots=True)
class TopicMoment:
    """Topics as they were after change `no`: a view, of which nothing is copied."""

    state: TopicState
    no: int

    def places(self) -> dict[PageId, SegmentId]:
        """The segment of each page that was in one."""
        names, spans = self.state.names, self.state.places
        stood = spans.stood(self.no)
        told = zip(names.some(spans.keys[stood]), names.some(spans.values[stood]), strict=True)
        return {PageId(page): SegmentId(segment) for page, segment in told}

    def notes(self, chains: Iterable[str] | None = None) -> dict[PageId, tuple[ChainId, int]]:
        """The chain of each page that was in one, or in one of some, and the change that noted it."""
        names, spans = self.state.names, self.state.notes
        stood = spans.stood(self.no)
        if chains is not None:
            stood = stood[np.isin(spans.values[stood], names.numbers([*chains]))]
        pages, values = names.some(spans.keys[stood]), names.some(spans.values[stood])
        told = zip(pages, values, spans.began[stood].tolist(), strict=True)
        return {PageId(page): (ChainId(chain), no) for page, chain, no in told}

    def place(self, page_id: str) -> tuple[SegmentId, int] | None:
        """The segment of a page, and the change that placed it there."""
        found = self.state.places.value(self.state.number(page_id), self.no)
        return None if found is None else (SegmentId(self.state.name(found[0])), found[1])

    def summary(self, chain_id: str) -> int | None:
        """The change that wrote a chain's summary."""
        found = self.state.summaries.value(self.state.number(chain_id), self.no)
        return None if found is None else found[1]

    def left(self, segment_id: str) -> int | None:
        """The change that took a segment out of mid-term memory, last."""
        found = self.state.left.value(self.state.number(segment_id), self.no)
        return None if found is None else found[1]

    def all_left(self) -> dict[SegmentId, int]:
        """By segment that was out of mid-term memory, the change that took it out last."""
        return {SegmentId(name): no for name, no in self._written(self.state.left)}

    def summaries(self) -> dict[ChainId, int]:
        """By chain, the change that wrote its summary."""
        return {ChainId(name): no for name, no in self._written(self.state.summaries)}

    def texts(self) -> dict[SegmentId, int]:
        """By segment, the change that wrote its text."""
        return {SegmentId(name): no for name, no in self._written(self.state.texts)}

    def _written(self, spans: Spans) -> Iterator[tuple[str, int]]:
        return ((name, no) for no, name, _ in self.state._whole(spans, spans.stood(self.no)))


def alike_of_topics(one: Change, other: Change) -> bool:
    """Whether two tellings of a change say the same of topics."""
    told, again = _Told(), _Told()
    told.take(one)
    again.take(other)
    return told.of == again.of


def _packed(ids: Sequence[str], upto: int, odd: dict[int, str]) -> NDArray[np.uint8]:
    """Ids in the form of `packed_ids`, the last of which is the one before place `upto`; those that have none are added
    to `odd` by their places."""
    packed = packed_ids(ids)
    odd |= {upto - len(ids) + place: ids[place] for place in np.flatnonzero(~packed.any(axis=1)).tolist()}
    return packed


def _narrow(numbers: Ints) -> Ints:
    """The same in 32 bits where all of them fit."""
    fit = not numbers.size or -NEVER < numbers.min() <= numbers.max() < NEVER
    return numbers.astype(np.int32 if fit else np.int64)


def _pairs_of(rows: Ints) -> NDArray[np.int64]:
    """The change and the key of each row as one number."""
    return (rows[:, 0].astype(np.int64) << 32) + rows[:, 1]


def _between(rows: NDArray[_Number], after: int, upto: int) -> NDArray[_Number]:
    first, last = np.searchsorted(rows[:, 0], [after, upto], side="right")
    return rows[first:last]


class _Told:
    """What changes say of topics, as it is gathered: by the name of a state's spans, (change, key, value)."""

    def __init__(self) -> None:
        self.no = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.recorded: dict[int, datetime] = {}
        self.of: dict[str, list[tuple[int, str, str | int]]] = {of: [] for of in _OF}

    def take(self, change: Change) -> bool:
        """Take in a change; whether it began memory anew."""
        self.no, anew, ended, grew = change.no, False, list[SegmentId](), set[SegmentId]()
        for d in change.decisions:
            match d:
                case c.Placed():
                    self._add("places", d.page_id, d.segment_id)
                case c.Noted():
                    self._add("notes", d.page_id, d.chain_id)
                case c.Analysed():
                    self._add("analysed", d.page_id, d.upto_seq)
                case c.ChainSummarised():
                    self._add("summaries", d.chain_id)
                case c.SegmentGrew():
                    grew.add(d.segment_id)
                    self._add("texts", d.segment_id)
                case c.SegmentWritten():
                    self._add("texts", d.segment_id, 0 if d.segment_id in grew else _WHOLE)
                case c.SegmentEnded():
                    ended.append(d.segment_id)
                    self._add("left", d.segment_id)
                    if d.into is not None:
                        self._add("heirs", d.segment_id, d.into)
                case c.Evicted():
                    self._add("left", d.segment_id)
                case c.Visited():
                    for one in d.items:
                        self._add("visits", one.item_id, one.visits)
                        self._add("visited", one.item_id, (one.at - _EPOCH) // _MICROSECOND)
                case c.BegunAnew():
                    self._begin_anew()
                    anew, ended = True, []
                case (
                    c.FactAdded()
                    | c.FactStrengthened()
                    | c.FactRetired()
                    | c.FactArchived()
                    | c.FactRestored()
                    | c.FactPinned()
                    | c.FactExpires()
                    | c.TraitSet()
                    | c.TraitCleared()
                    | c.ProfileSet()
                    | c.PersonRelated()
                ):
                    continue  # of the persona (core/state/persona.py)
                case (
                    c.Embedded()
                    | c.FactAffirmed()
                    | c.FactDenied()
                    | c.FactBarred()
                    | c.TextsBarred()
                    | c.ConflictSettled()
                    | c.Undone()
                    | c.Erased()
                ):
                    continue  # where work stands, and rulings (core/user_overrides.py)
                case _:
                    assert_never(d)
            self.recorded[change.no] = change.recorded_at
        for segment_id in ended:  # what a change ends is ended once it is whole
            self._add("texts", segment_id, _NOTHING)
        return anew

    def _add(self, of: str, key: str, value: str | int = 0) -> None:
        self.of[of].append((self.no, key, value))

    def ids(self) -> Iterator[str]:
        """All ids that they are about."""
        for of, told in self.of.items():
            for _, key, value in told:
                yield key
                if of in _NAMING:
                    yield str(value)

    def numbered(self, of: str, names: IdTable) -> Ints:
        """The rows of a kind of spans."""
        told = self.of[of]
        rows = np.zeros((len(told), 3), dtype=np.int64)
        rows[:, 0] = [no for no, _, _ in told]
        rows[:, 1] = names.numbers([key for _, key, _ in told])
        rows[:, 2] = names.numbers([str(one) for *_, one in told]) if of in _NAMING else [one for *_, one in told]
        return rows
