"""Cases of one owner's memory: queries whose recall was wrong, kept to be asked again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import config as configuration
from embermem.core import messages
from embermem.core.config import Preset
from embermem.core.errors import InputError
from embermem.core.messages import At
from embermem.core.types import CaseId, RecallCase, Source, UtteranceId
from embermem.owner_memory.awaiting import awaited
from embermem.owner_memory.reading import AsyncReading, Reading

if TYPE_CHECKING:
    from embermem.core.changes import Decision

_LONGEST_NOTE = 2000
_MOST_MARKED = 200
"""Utterances that a case marks, at most."""


@checked
class Cases(Reading):
    """What callers say that a recall should have told, and should not."""

    def cases(self) -> tuple[RecallCase, ...]:
        """Return the cases, oldest first. `recall(**case.arguments)` asks the query of one again, and
        `case.passes(context)` says whether the context is as it should be."""
        return self._parts.admin.cases(self.owner.id)

    def case(self, case_id: str) -> RecallCase:
        """Return one case, also one that was dropped. Raises NotFound."""
        versions = self._parts.admin.cases(self.owner.id, ids=[CaseId(case_id)])
        if not versions:
            raise self._none_such("case", case_id)
        return versions[-1]

    @telemetry.spanned(telemetry.UPDATE, "add_case")
    def add_case(
        self,
        query: str,
        *,
        expected: Iterable[str] = (),
        unwanted: Iterable[str] = (),
        note: str = "",
        at: At = None,
        budget: int | None = None,
        preset: Preset | None = None,
        thread: str | None = None,
        as_of: At = None,
        valid_at: At = None,
        key: str | None = None,
    ) -> RecallCase:
        """Keep a query as a case: its context should rest on the utterances `expected`, and on none of those that are
        `unwanted` (their ids; of a fact, those of its sources). `at` is when it was asked, now if missing; with it and
        the other arguments, which mean what they mean to `recall`, the query is asked again.

        A forgotten utterance leaves the case; with the last of them, or where its query or note has words of what is
        forgotten, the case goes. `undo` takes the case back. Raises InputError for a case that marks no utterance, or
        one as both, and NotFound for an unknown utterance.
        """
        from embermem.core.changes import CaseAdded, Cause

        inbox, settings = self._inbox(), self._parts.settings
        asked = messages.checked(query, "query", settings.max_text_chars).strip()
        if not asked:
            raise InputError("query is empty; give the query whose recall was wrong")
        wanted, intruding = (tuple(dict.fromkeys(map(UtteranceId, some))) for some in (expected, unwanted))
        _check(wanted, intruding)
        if budget is not None:
            messages.whole(budget, "budget", 1)
        if preset is not None and preset not in configuration.PRESETS:
            raise InputError(f"preset = {preset!r} is not allowed; one of: {', '.join(configuration.PRESETS)}")
        told = messages.checked(note, "note", _LONGEST_NOTE).strip()
        asked, told = self._clean(query=asked, note=told)
        asked_at = inbox.moment(at, "at")
        current = None if thread is None else messages.thread_id(thread)
        known_by = None if as_of is None else inbox.moment(as_of, "as_of")
        true_at = None if valid_at is None else inbox.moment(valid_at, "valid_at")

        def decided(no: int, seq: int) -> list[Decision]:
            return [
                CaseAdded(
                    case_id=CaseId(f"q{no}-00"),
                    query=asked,
                    asked_at=asked_at,
                    budget=budget,
                    preset=preset,
                    thread=current,
                    as_of=known_by,
                    valid_at=true_at,
                    expected=self._marked(wanted),
                    unwanted=self._marked(intruding),
                    note=told,
                )
            ]

        given = (query, wanted, intruding, note, at, budget, preset, thread, as_of, valid_at)
        no = self._changing(Cause.CORRECTION, decided, once=self._once(key, "add_case", *given))
        return self.case(f"q{no}-00")

    @telemetry.spanned(telemetry.UPDATE, "drop_case")
    def drop_case(self, case_id: str, *, key: str | None = None) -> RecallCase:
        """Drop a case; returns it. Raises NotFound, and InputError if it was dropped before."""
        from embermem.core.changes import CaseDropped, Cause

        def decided(no: int, seq: int) -> list[Decision]:
            case = self.case(case_id)
            if case.retired_at is not None:
                raise InputError(f"case {case_id!r} was dropped before")
            return [CaseDropped(case_id=case.id)]

        self._changing(Cause.CORRECTION, decided, once=self._once(key, "drop_case", case_id))
        return self.case(case_id)

    def _marked(self, ids: Iterable[UtteranceId]) -> tuple[Source, ...]:
        """The utterances of these ids, in order of arrival. Raises NotFound."""
        found = [self.utterance(one) for one in ids]
        return tuple(Source(seq=one.seq, utterance_id=one.id) for one in sorted(found, key=lambda one: one.seq))


class AsyncCases(AsyncReading):
    """`Cases`, awaited."""

    cases = awaited("read", Cases.cases)
    case = awaited("read", Cases.case)
    add_case = awaited("write", Cases.add_case)
    drop_case = awaited("write", Cases.drop_case)


def _check(expected: tuple[UtteranceId, ...], unwanted: tuple[UtteranceId, ...]) -> None:
    """Raises InputError for a case that says nothing, too much, or two things."""
    if not expected and not unwanted:
        raise InputError("a case marks at least one utterance: give their ids as expected or as unwanted")
    if len(expected) + len(unwanted) > _MOST_MARKED:
        raise InputError(f"a case marks at most {_MOST_MARKED} utterances")
    if both := set(expected) & set(unwanted):
        raise InputError(f"utterance {min(both)} is both expected and unwanted; leave it out of one of the two")
