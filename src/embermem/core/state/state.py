"""The state of one owner, and what is read of it at a moment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from embermem.core import changes as c
from embermem.core.changes import Change, Decision, Item
from embermem.core.state.persona import PERSONA, Key, PersonaMoment, PersonaState
from embermem.core.state.versions import Versions
from embermem.core.types import PageId, SegmentId

__all__ = ["Moment", "State"]


class State:
    """The fold of an owner's changes, oldest first.

    An item's value is the decision that set it: it is resolved, and holds all that is known of it, but for a segment's
    text, of which a version may hold only what is new (`text`). Two states that
    folded the same changes are equal, however they were cut into calls of `fold`.
    """

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self.no = 0
        """The last change that was folded."""
        self.persona = PersonaState()
        self.embedded_seq = 0
        """Up to which utterance vectors were made."""
        self._begin_anew()
        self.fold(changes)

    def _begin_anew(self) -> None:
        self.items: dict[Item, Versions[Key, Decision]] = {
            item: Versions() for item in Item if item is not Item.FACT and item not in PERSONA
        }
        self.analysed: dict[PageId, int] = {}
        """Up to which utterance each page was analysed for the persona."""
        self.opened: dict[SegmentId, int] = {}
        """By which change each segment was opened."""
        self.evicted: dict[SegmentId, list[int]] = {}
        """The changes that moved a segment to the archive, or ended it."""
        self._newest: dict[SegmentId, tuple[int, c.SegmentWritten]] = {}
        """The newest texts of segments that were read, each with the change that began it."""
        self._ended: list[tuple[Item, Key]] = []

    def fold(self, changes: Iterable[Change]) -> None:
        """Take in the next changes. Raises ValueError for one that is not newer than the last."""
        for change in changes:
            if change.no <= self.no:
                raise ValueError(f"change {change.no} comes after {self.no}; a state folds changes in their order")
            self.no = change.no
            for decision in change.decisions:
                self._take(decision)
            self.persona.fold([change])
            ended, self._ended = self._ended, []
            for item, key in ended:  # what a change ends is ended once it is whole
                self.items[item].end(key, change.no)

    def at(self, no: int | None = None) -> Moment:
        """What was known after change `no`; by default the newest."""
        return Moment(self, self.no if no is None else no)

    def _take(self, d: Decision) -> None:
        match d:
            case c.Placed():
                self._set(d)
                self.opened.setdefault(d.segment_id, self.no)
            case c.SegmentWritten() | c.SegmentGrew():
                self._write(d)
                self.opened.setdefault(d.segment_id, self.no)
            case c.Noted() | c.ChainSummarised():
                self._set(d)
            case c.SegmentEnded():
                self._end(d)
                self._evict(d.segment_id)
            case c.Evicted():
                self._evict(d.segment_id)
            case c.Analysed():
                self.analysed[d.page_id] = d.upto_seq
            case c.Embedded():
                self.embedded_seq = d.last_seq
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
                pass  # folded by `persona`
            case c.BegunAnew():
                self._begin_anew()
            case (
                c.FactAffirmed()
                | c.FactDenied()
                | c.FactBarred()
                | c.TextsBarred()
                | c.ConflictSettled()
                | c.Undone()
                | c.Erased()
            ):
                pass  # rulings and marks of the log (core/user_overrides.py)
            case _:
                assert_never(d)

    def _set(self, d: Decision) -> None:
        which = c.set_by(d)
        assert which is not None  # as the table of decisions says
        self.items[which[0]].set(which[1], self.no, d)

    def _write(self, d: c.SegmentTold) -> None:
        stood = self.items[Item.SEGMENT_TEXT].of((d.segment_id,))[-1:]
        if isinstance(d, c.SegmentGrew):
            if not stood or stood[0].ended is not None:
                raise ValueError(f"change {self.no}: a growth of segment {d.segment_id} has no text before it")
            if stood[0].began == self.no:  # a version has one decision
                text = self.text(d.segment_id, self.no)
                assert text is not None  # it stands
                d = c.grown(text, d)
        if stood and stood[0].began == self.no:
            self._newest.pop(d.segment_id, None)
        self._set(d)

    def text(self, segment_id: SegmentId, no: int) -> c.SegmentWritten | None:
        """The whole text of a segment after change `no`; None where none stands. Versions hold growths as they were
        decided; the newest text is kept whole once it was read. Raises ValueError for a growth of another text."""
        versions = self.items[Item.SEGMENT_TEXT].of((segment_id,))
        place = bisect_right(versions, no, key=lambda one: one.began) - 1
        if place < 0 or not versions[place].stands(no):
            return None
        began, text = self._newest.get(segment_id, (0, None))
        growths: list[c.SegmentGrew] = []
        for version in reversed(versions[: place + 1]):
            if version.began == began:
                break
            if isinstance(version.value, c.SegmentWritten):
                text = version.value
                break
            assert isinstance(version.value, c.SegmentGrew)  # of this item
            growths.append(version.value)
        assert text is not None  # no growth comes first
        for growth in reversed(growths):
            text = c.grown(text, growth)
        if place == len(versions) - 1:
            self._newest[segment_id] = versions[place].began, text
        return text

    def _end(self, d: Decision) -> None:
        which = c.ended_by(d)
        assert which is not None
        self._ended.append(which)

    def _evict(self, segment_id: SegmentId) -> None:
        self.evicted.setdefault(segment_id, []).append(self.no)


@dataclass(frozen=True, slots=True)
class Moment:
    """A state as it was after change `no`: a view, of which nothing is copied."""

    state: State
    no: int

    @property
    def persona(self) -> PersonaMoment:
        """What was known of the persona."""
        return self.state.persona.at(self.no)

    def get(self, item: Item, *key: str) -> Decision | None:
        """The decision that set what holds of an item; of a segment's text the whole of it. None where nothing does."""
        if item is Item.SEGMENT_TEXT:
            return self.state.text(SegmentId(key[0]), self.no)
        return self.state.items[item].get(key, self.no)

    def all(self, item: Item) -> Iterator[Decision]:
        """The decisions that set what holds of each item of a kind, in no order."""
        keys = (key for key, _ in self.state.items[item].at(self.no))
        return (found for key in keys if (found := self.get(item, *key)) is not None)

    def in_mid_term(self, segment_id: SegmentId) -> bool:
        """Whether a segment was opened and neither evicted nor ended."""
        opened = self.state.opened.get(segment_id)
        gone = any(no <= self.no for no in self.state.evicted.get(segment_id, ()))
        return opened is not None and opened <= self.no and not gone
