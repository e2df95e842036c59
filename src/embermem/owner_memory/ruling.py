"""What a caller says of one owner's memory: profiles, corrections, undoing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from embermem import messages, telemetry
from embermem.errors import InputError
from embermem.owner_memory.reading import Reading
from embermem.types import About, Fact

if TYPE_CHECKING:
    from embermem.changes import Decision, ProfileSet

_LONGEST_FACT = 2000


class Ruling(Reading):
    """Profiles that callers set, facts that they correct, pin and retire, changes that they take back."""

    def set_profile(self, /, **fields: str | int | None) -> None:
        """Set fields of the user's profile, such as name or birth_year; None takes one away.

        What the caller sets is not overwritten by an analyst. Raises InputError.
        """
        self._set_profiles({About.USER: fields})

    def set_agent_profile(self, /, *description: str | None, **fields: str | int | None) -> None:
        """Set the agent's profile: a description of its role, or fields of any name; None takes one away."""
        if len(description) > 1:
            raise InputError("give one description of the agent, and the rest as fields")
        self._set_profiles({About.AGENT: {**dict(zip(("description",), description, strict=False)), **fields}})

    def set_profiles(
        self,
        *,
        user: Mapping[str, str | int | None] | None = None,
        agent: Mapping[str, str | int | None] | None = None,
    ) -> None:
        """Set fields of both profiles in one change: all of them or, where one is refused, none. Raises InputError."""
        self._set_profiles({About.USER: user or {}, About.AGENT: agent or {}})

    @telemetry.spanned(telemetry.UPDATE)
    def correct(self, fact_id: str, text: str, *, value: str | None = None) -> Fact:
        """A fact was wrong: the new one, which takes its place. `text` is the fact in words, `value` what it comes to
        ("Lyon"); the text, if not given.

        The old one stands in `past_facts`, as true for no time. What was said until now neither ends the new one nor
        teaches the old value again; what is said from now on may. Raises NotFound, and InputError for a fact that no
        longer holds or that says just this.
        """
        from embermem.changes import Cause
        from embermem.systems.memoryos.corrections import correcting

        says = messages.checked(text, "text", _LONGEST_FACT)
        means = says if value is None else messages.checked(value, "value", _LONGEST_FACT)
        if not says.strip() or not means.strip():
            raise InputError("a fact's text and value are not empty; `retire` says that it no longer holds")

        def decided(no: int, seq: int) -> Sequence[Decision]:
            fact, settings = self.fact(fact_id), self._memory.settings
            return correcting(fact, says, means, self.persona(), no=no, seq=seq, settings=settings)

        no = self._changing(Cause.CORRECTION, decided)
        return self.fact(f"f{no}-000")

    def pin(self, fact_id: str, pinned: bool = True) -> Fact:
        """Keep a fact from the cap of 100, or no longer; the fact as it is then. One that the cap has moved to the
        archive holds again. Raises NotFound, and InputError for a fact that no longer holds."""
        from embermem.changes import Cause
        from embermem.systems.memoryos.corrections import pinning

        self._changing(
            Cause.CORRECTION,
            lambda no, seq: pinning(self.fact(fact_id), bool(pinned), self.persona(), self._memory.settings),
        )
        return self.fact(fact_id)

    def retire(self, fact_id: str) -> Fact:
        """A fact is true no longer, from now on; it stands in `past_facts`. What was said until now does not teach it
        again. Raises NotFound, and InputError for one that holds no longer already."""
        from embermem.changes import Cause
        from embermem.systems.memoryos.corrections import retiring

        at = self._memory._clock()
        self._changing(Cause.CORRECTION, lambda no, seq: retiring(self.fact(fact_id), self.persona(), at=at, seq=seq))
        return self.fact(fact_id)

    def undo(self, change_no: int) -> int:
        """Take back what a change taught the persona; the number of the change that does so.

        Facts that it added are retired, those that it retired, superseded or moved to the archive hold again; traits
        and profile lines get what stood there before. What a later change built on is left alone: a fact said again or
        superseded since, a trait or line set since. Pages, chains and segments stay as they are. Undoing the change
        that this returns restores what was taken back.

        Raises NotFound for no such change, InputError where nothing can be taken back, as by a second undo.
        """
        from embermem.changes import Cause

        return self._changing(Cause.UNDO, lambda no, seq: self.undoing(change_no))

    def undoing(self, change_no: int) -> tuple[Decision, ...]:
        """What `undo` would decide now; changes nothing. Raises as `undo` does."""
        from embermem.systems.memoryos.undoing import TEACHING, undoing

        messages.whole(change_no, "change_no", 1)
        return tuple(undoing(self._store.decisions(self.owner.id, TEACHING), change_no, self._memory.settings))

    def _set_profiles(self, given: Mapping[About, Mapping[str, str | int | None]]) -> None:
        from embermem.changes import Cause

        decisions = [
            _profile_set(whose, name, value) for whose, fields in given.items() for name, value in fields.items()
        ]
        if not decisions:
            raise InputError("no field was named; give some, such as name='Alice'")
        self._changing(Cause.PROFILE, lambda no, seq: decisions)


def _profile_set(whose: About, name: str, value: str | int | None) -> ProfileSet:
    from embermem.changes import ProfileSet

    if not name.isidentifier() or len(name) > 64:
        raise InputError(f"{name!r} is not a field's name; give a word such as birth_year")
    if name == "birth_year" and value is not None and not (str(value).isdecimal() and 1800 <= int(value) <= 9999):
        raise InputError(f"birth_year = {value!r} is not a year")
    if value is not None and not isinstance(value, (str, int)):
        raise InputError(f"{name} is {type(value).__name__}; give a text or a whole number")
    text = None if value is None else messages.checked(str(value), name, 2000)
    return ProfileSet(whose=whose, name=name, value=text, sources=(), set_by="caller")
