"""The times of a fact whose words a caller corrects, read anew from the new words."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from embermem.core.attributes import Attributes, standing
from embermem.core.types import Fact
from embermem.languages.dates.engine import DateSpan, date_spans

_ARE_DATES = frozenset({"birthday", "birth_year", "born_in"})
"""Attributes whose value is a date, or goes with one."""


def reread(
    fact: Fact, text: str, said: datetime | None, now: datetime, known: Attributes
) -> tuple[datetime | None, datetime | None]:
    """Since when the fact holds with the new words, and when it ends by itself.

    Words that name the same days as the old ones leave both as they are. Where the new words name none any more, it
    holds since it was `said`.
    """
    field = known.field(fact.attribute)
    old, new = date_spans(fact.text, now), date_spans(text, now)
    if fact.attribute in _ARE_DATES or (field is not None and field.type == "date") or _days(old) == _days(new):
        return fact.valid_from, fact.expires_at
    since = fact.valid_from if said is None else said
    is_goal = standing(fact.attribute) == "goal" or fact.expires_at is not None
    if not new:
        return since, None
    span, today = new[0].on_side(1 if is_goal else -1, now.date()), now.date()
    if is_goal:
        ends = _midnight(span.last + timedelta(days=1), now) if span.last >= today else None
        return fact.valid_from, ends
    return (_midnight(span.first, now) if span.first <= today else since), None


def _days(spans: tuple[DateSpan, ...]) -> list[tuple[date, date]]:
    return [(span.first, span.last) for span in spans]


def _midnight(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time(), now.tzinfo)
