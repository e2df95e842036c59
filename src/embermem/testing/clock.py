"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from embermem.core.errors import InputError

__all__ = ["FrozenClock"]


class FrozenClock:
    """The clock of a memory (`Memory(…, clock=FrozenClock())`) that stands still until it is told to go on.

    `now` is a datetime, a date or ISO 8601; without a zone it is UTC. Raises InputError for what is no time.
    """

    def __init__(self, now: datetime | date | str = "2026-01-01T12:00:00+00:00") -> None:
        self._now = _moment(now)

    def __call__(self) -> datetime:
        return self._now

    def __repr__(self) -> str:
        return f"FrozenClock({self._now.isoformat()!r})"

    @property
    def now(self) -> datetime:
        """The time that it says."""
        return self._now

    def advance(
        self, *, weeks: float = 0, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Let so much time go by; returns the time that it says then. Raises InputError for a span that is none, is
        negative, or ends outside the times that can be stored."""
        try:
            span = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
            moved = self._now + span
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"the clock cannot be advanced by this: {error}") from error
        if span < timedelta():
            raise InputError(f"the clock cannot be advanced by {span}: time does not go back; use `set`")
        self._now = moved
        return moved

    def set(self, now: datetime | date | str) -> datetime:
        """Let it say another time; returns it. Raises InputError for what is no time."""
        self._now = _moment(now)
        return self._now


def _moment(given: object) -> datetime:
    try:
        found = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError as error:
        raise InputError(f"now = {given!r} is not a time; give ISO 8601 such as 2026-05-02T10:00:00+02:00") from error
    if not isinstance(found, date):
        raise InputError(f"now is {type(given).__name__}; give a datetime, a date or an ISO 8601 text")
    if not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day)
    return found if found.utcoffset() is not None else found.replace(tzinfo=UTC)
