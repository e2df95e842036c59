from __future__ import annotations

from datetime import UTC, date, datetime

from embermem.languages.dates.days import DateSpan
from embermem.prompts.dated_text import dated_text, span_label

SAID = datetime(2026, 3, 9, 10, tzinfo=UTC)  # a Monday


def test_a_relative_time_has_its_date_beside_it() -> None:
    cases = [
        ("We met last Saturday.", "We met last Saturday [2026-03-07]."),
        ("I start next month, I think.", "I start next month [2026-04], I think."),
        ("Three years ago we moved.", "Three years ago [2023] we moved."),
        ("It rained last weekend.", "It rained last weekend [2026-03-07..08]."),
        ("I swam this morning.", "I swam this morning [2026-03-09]."),
        ("We leave in two weeks.", "We leave in two weeks [2026-03-20..26]."),
        ("It takes the past three years.", "It takes the past three years [2023-03..2026-03]."),
        ("This is next year's plan.", "This is next year's [2027] plan."),
        ("上周六我去了公园", "上周六[2026-03-07]我去了公园"),
        ("我去年搬家了", "我去年[2025]搬家了"),
    ]
    assert {said: got for said, shown in cases if (got := dated_text(said, SAID)) != shown} == {}


def test_a_text_without_a_relative_time_or_with_its_date_stays_as_it_is() -> None:
    cases = [
        "I was there on 5 May 2024.", "Last Friday, 6 March 2026, it rained.", "It was recently, the other day.",
        "We haven't talked in a few days.", "That is the best meal I had in two years.",
        "It was yesterday [2026-03-08].", "Nothing of the kind.",
    ]  # fmt: skip
    assert {said: got for said in cases if (got := dated_text(said, SAID)) != said} == {}


def test_a_span_is_told_as_exactly_as_it_is_long() -> None:
    cases: list[tuple[date, date, str]] = [
        (date(2026, 3, 7), date(2026, 3, 7), "2026-03-07"), (date(2026, 3, 30), date(2026, 4, 5), "2026-03-30..04-05"),
        (date(2025, 12, 29), date(2026, 1, 4), "2025-12-29..2026-01-04"),
        (date(2026, 2, 1), date(2026, 2, 28), "2026-02"), (date(2026, 6, 1), date(2026, 8, 31), "2026-06..08"),
        (date(2024, 1, 1), date(2026, 12, 31), "2024..2026"),
    ]  # fmt: skip
    assert [
        (first, last, label, got)
        for first, last, label in cases
        if (got := span_label(DateSpan(first, last, 0, 0))) != label
    ] == []


def test_weekdays_that_may_be_past_or_to_come_have_no_date() -> None:
    cases = [
        ("It fits your Monday, Wednesday, Friday schedule.", "It fits your Monday, Wednesday, Friday schedule."),
        ("next Tuesday and Thursday", "next Tuesday [2026-01-13] and Thursday"),
        ("First thing Saturday morning sounds fine.", "First thing Saturday morning sounds fine."),
        ("We will meet on Friday.", "We will meet on Friday [2026-01-09]."),
        ("周六那次很好", "周六那次很好"),
        ("last Friday and Saturday", "last Friday [2026-01-02] and Saturday [2026-01-03]"),
    ]
    assert {
        said: got for said, told in cases if (got := dated_text(said, datetime(2026, 1, 6, tzinfo=UTC))) != told
    } == {}
