"""What a caller says of facts that memory holds: corrected, pinned, retired, merged; conflicts, settled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import messages
from embermem.core.changes import Cause, ConflictSettled, Decision
from embermem.core.errors import InputError
from embermem.core.messages import At
from embermem.core.types import About, Conflict, Fact
from embermem.owner_memory.reading import Reading

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_FACT = 2000
"""Characters of a fact."""
_MOST_FACTS = 500
"""Facts that one call changes."""


@checked
class Correcting(Reading):
    """Correct, pin, retire and merge facts; conflicts."""

    @telemetry.spanned(telemetry.UPDATE, "correct")
    def correct(
        self,
        fact_id: str,
        text: str,
        *,
        value: str | None = None,
        valid_from: At = None,
        valid_to: At = None,
        key: str | None = None,
    ) -> Fact:
        """Replace a wrong fact; returns the new one. `text` is the fact in words, `value` its value ("Lyon"), by
        default the text. `valid_from` says since when it is true, `valid_to`, a time that has passed, until when it
        was; it is then among `past_facts`. By default the dates that the new words name count, else those of the old
        fact.

        The old fact is in `past_facts`, as never true. Earlier messages neither end the new fact nor teach the old
        value again; later ones may. Raises NotFound, and InputError if the fact has ended, if nothing changes, or for a
        time that is not one.
        """
        inbox = self._inbox()
        since = None if valid_from is None else inbox.moment(valid_from, "valid_from")
        until = None if valid_to is None else inbox.moment(valid_to, "valid_to")
        if until is not None and until > inbox.now:
            raise InputError(f"valid_to = {until.isoformat()} is still to come; set it with `expire`")

        def decided(no: int, seq: int) -> Sequence[Decision]:
            return self._corrected(self.fact(fact_id), text, value, no, seq, since, until)

        times = () if since is until is None else (since and since.isoformat(), until and until.isoformat())
        no = self._changing(Cause.CORRECTION, decided, once=self._once(key, "correct", fact_id, text, value, *times))
        self._parts.added()
        return self.fact(f"f{no}-000")

    def _corrected(
        self,
        fact: Fact,
        text: str,
        value: str | None,
        no: int,
        seq: int,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Decision]:
        """The decisions of change `no` that replace a fact by one with other words. Raises InputError."""
        from embermem.memoryos.correct import fact_dates
        from embermem.memoryos.correct.corrections import Times, correcting
        from embermem.memoryos.correct.fact_input import field_value

        says = messages.checked(text, "text", LONGEST_FACT)
        means = says if value is None else messages.checked(value, "value", LONGEST_FACT)
        if not says.strip() or not means.strip():
            raise InputError("the text and value of a fact must not be empty; use `retire` to end a fact")
        says, means = self._clean(text=says, value=means)
        settings = self._parts.settings
        if fact.about is About.USER:
            means = field_value(settings.attributes, fact.attribute, means, "value")
        told, ends = fact_dates.reread(
            fact, says, self._first_said(fact), self._inbox().moment(None, "now"), settings.attributes
        )
        return correcting(
            fact,
            says,
            means,
            self.persona(),
            no=no,
            seq=seq,
            settings=settings,
            times=Times(valid_from=told if since is None else since, valid_to=until, expires_at=ends),
        )

    def _first_said(self, fact: Fact) -> datetime | None:
        """When a fact was said first; None for one that nobody said."""
        return min((self.utterance(one.utterance_id).said_at for one in fact.sources), default=None)

    def pin(self, fact_id: str, pinned: bool = True, *, key: str | None = None) -> Fact:
        """Exempt a fact from the cap of 100, or no longer; returns the fact. An archived fact becomes current again.
        Raises NotFound, and InputError if the fact has ended."""
        from embermem.memoryos.correct.corrections import pinning

        self._changing(
            Cause.CORRECTION,
            lambda no, seq: pinning([self.fact(fact_id)], bool(pinned), self.persona(), self._parts.settings),
            once=self._once(key, "pin", fact_id, pinned),
        )
        return self.fact(fact_id)

    def pin_facts(self, fact_ids: Sequence[str], pinned: bool = True, *, key: str | None = None) -> int:
        """Pin several facts in one change, as `pin` does one. Returns the number of the change, which `undo` takes
        back; 0 if there was nothing to change."""
        from embermem.memoryos.correct.corrections import pinning

        ids = _several(fact_ids)
        return self._changing(
            Cause.CORRECTION,
            lambda no, seq: pinning(self._each(ids), bool(pinned), self.persona(), self._parts.settings),
            once=self._once(key, "pin_facts", ids, pinned),
        )

    def retire(self, fact_id: str, *, key: str | None = None) -> Fact:
        """End a fact now; it is then in `past_facts`. Earlier messages do not teach it again. Raises NotFound, and
        InputError if it has already ended."""
        from embermem.memoryos.correct.corrections import retiring

        at = self._parts.clock()
        self._changing(
            Cause.CORRECTION,
            lambda no, seq: retiring(self.fact(fact_id), self.persona(), at=at, seq=seq),
            once=self._once(key, "retire", fact_id),
        )
        return self.fact(fact_id)

    def retire_facts(self, fact_ids: Sequence[str], *, key: str | None = None) -> int:
        """End several facts in one change, as `retire` does one. Returns the number of the change, which `undo` takes
        back."""
        from embermem.memoryos.correct.corrections import retiring

        at, ids = self._parts.clock(), _several(fact_ids)

        def decided(no: int, seq: int) -> Sequence[Decision]:
            persona = self.persona()
            made = (d for fact in self._each(ids) for d in retiring(fact, persona, at=at, seq=seq))
            return list(dict.fromkeys(made))

        return self._changing(Cause.CORRECTION, decided, once=self._once(key, "retire_facts", ids))

    def merge_facts(self, keep: str, others: Sequence[str], *, key: str | None = None) -> Fact:
        """Make one fact of several that say the same, in one change; returns it. It has the words, the attribute and
        the own metadata of the fact `keep`, what all of them rest on, and is true since the first of them was; it is
        pinned if one of them is. It has a new id: they are in `past_facts`, superseded by it, until `undo` takes the
        change back.

        What the others said in other words is not learnt again from earlier messages. Raises NotFound, and InputError
        if a fact has ended or is about somebody else.
        """
        from embermem.memoryos.correct.corrections import merging

        ids = [one for one in _several(others) if one != keep]
        if not ids:
            raise InputError("others names no other fact; give at least one to merge with `keep`")

        def decided(no: int, seq: int) -> Sequence[Decision]:
            first, *rest = self._each([keep, *ids])
            persona, settings = self.persona(), self._parts.settings
            return merging(first, rest, persona, no=no, seq=seq, settings=settings)

        no = self._changing(Cause.CORRECTION, decided, once=self._once(key, "merge_facts", keep, ids))
        return self.fact(f"f{no}-000")

    def _each(self, ids: Sequence[str]) -> list[Fact]:
        """Facts as they are stored, with the names of their persons. Raises NotFound."""
        return [self.fact(one) for one in ids]

    def conflicts(self, as_of: At = None) -> tuple[Conflict, ...]:
        """Return pairs of current facts that give one person different values of an attribute with one value at a time,
        the last known last; also as of a time.

        A conflict ends when one of its facts is corrected, retired or superseded, or by `settle_conflict`.
        """
        return self._conflicts(as_of)

    def settle_conflict(self, fact_id: str, other_id: str, *, wrong: str | None = None, key: str | None = None) -> int:
        """Say that both facts of a conflict may stay: the pair is not reported again. Or say which of them is `wrong`:
        it is then in `past_facts`, as never true, and the other one holds. Returns the number of the change, which
        `undo` takes back. Raises NotFound for unknown facts, InputError if they are not in conflict."""
        from embermem.memoryos.correct.corrections import refuting

        def decided(no: int, seq: int) -> Sequence[Decision]:
            pair = self.fact(fact_id), self.fact(other_id)
            if pair[1].id not in pair[0].conflicts:
                raise InputError(
                    f"facts {fact_id} and {other_id} are not in conflict; `conflicts()` lists the open conflicts"
                )
            if wrong is None:
                return [ConflictSettled(fact_id=pair[0].id, other_id=pair[1].id)]
            right = next(one for one in pair if one.id != wrong)
            return refuting(self.fact(wrong), right, self.persona(), seq=seq)

        if wrong not in (None, fact_id, other_id):
            raise InputError(f"wrong = {wrong!r} is none of the two facts; give {fact_id!r} or {other_id!r}")
        told = (fact_id, other_id) if wrong is None else (fact_id, other_id, wrong)
        return self._changing(Cause.CORRECTION, decided, once=self._once(key, "settle_conflict", *told))


def _several(fact_ids: Sequence[str]) -> list[str]:
    """Ids, each once, in the order given. Raises InputError for none and for too many."""
    ids = list(dict.fromkeys(fact_ids))
    if not 1 <= len(ids) <= _MOST_FACTS:
        raise InputError(f"{len(ids)} facts given; give 1 to {_MOST_FACTS}")
    return ids
