"""Dates that a text speaks of, in English and Chinese, resolved to days against the moment at which it was said."""

from __future__ import annotations

from embermem.dates.days import DateSpan
from embermem.dates.engine import date_spans

__all__ = ["DateSpan", "date_spans"]
