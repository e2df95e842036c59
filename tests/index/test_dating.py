from __future__ import annotations

from datetime import UTC, datetime

import pytest

from embermem.index.dating import DateTable, met
from embermem.languages.dates.engine import date_spans

ASKED_AT = datetime(2026, 8, 1, 12, tzinfo=UTC)


def table(*said: tuple[str, datetime]) -> DateTable:
    dates = DateTable()
    dates.add_all((text, at, True) for text, at in said)
    return dates


def day(month: int, number: int, year: int = 2026) -> datetime:
    return datetime(year, month, number, 12, tzinfo=UTC)


def near(dates: DateTable, query: str, n: int | None = None) -> list[float]:
    rows = dates.said.length if n is None else n
    return [round(float(value), 3) for value in dates.nearness(date_spans(query, ASKED_AT), rows)]


def test_what_speaks_of_the_day_asked_for_is_on_it() -> None:
    dates = table(("We walked to the lake last weekend.", day(6, 10)), ("We walked to the lake.", day(7, 20)))
    on, off = near(dates, "Where did we walk on 6 June 2026?")
    assert on == 1.0
    assert off < 0.01


def test_what_is_told_within_a_week_is_near() -> None:
    dates = table(("The heron came back.", day(6, 9)), ("The heron left.", day(6, 30)))
    soon, late = near(dates, "What came back on 6 June 2026?")
    assert soon == 1.0
    assert late < 0.05


def test_a_wide_span_says_little_of_a_day() -> None:
    dates = table(("Last year was hard.", day(3, 1)), ("On 5 March 2025 I moved.", day(3, 1)))
    wide, sharp = near(dates, "What was on 5 March 2025?")
    assert sharp == 1.0
    assert 0.0 < wide < 0.2


def test_a_month_without_a_year_is_looked_for_in_every_year() -> None:
    dates = table(("I planted beans.", day(5, 10, 2024)), ("I planted peas.", day(9, 10, 2025)))
    beans, peas = near(dates, "What did I plant in May?")
    assert beans == 1.0
    assert peas < 0.01


def test_a_query_without_a_date_is_near_nothing() -> None:
    assert near(table(("Hello", day(5, 1))), "Who was it?") == [0.0]
    assert near(table(), "in May 2026") == []


def test_chinese_dates_are_read() -> None:
    dates = table(("上周末去了湿地公园。", day(6, 10)), ("今天下雨。", day(7, 20)))
    on, off = near(dates, "2026年6月6日去了哪里？")
    assert on == 1.0
    assert off < 0.01


def test_the_first_rows_alone_are_looked_at() -> None:
    dates = table(("Hello", day(5, 1)), ("It was on 6 June 2026.", day(7, 1)))
    assert near(dates, "6 June 2026", n=1) == [pytest.approx(near(dates, "6 June 2026")[0])]
    assert dates.dated(2).tolist() == [False, True]
    assert dates.dated(1).tolist() == [False]


def test_what_ended_is_met_by_past_days_on_which_it_was_so() -> None:
    cases: list[tuple[str, str | None, str, bool]] = [
        ("in March 2026", "2026-01-10", "2026-06-03", True), ("in March", "2026-01-10", "2026-06-03", True),
        ("in March", "2026-04-10", "2026-06-03", False), ("in March", None, "2026-02-01", True),
        ("in March 2026", "2026-01-10", "2026-01-10", False), ("on 29 February", "2023-05-01", "2023-06-01", False),
        ("next week", "2026-01-10", "2026-12-01", False), ("today", "2026-01-10", "2026-11-02", False),
        ("yesterday", "2026-01-10", "2026-11-02", True),
    ]  # fmt: skip
    for asked, since, until, was in cases:
        now = datetime(2026, 11, 2, 10, tzinfo=UTC)
        begin, end = (
            None if day is None else datetime.fromisoformat(f"{day}T10:00:00+00:00") for day in (since, until)
        )
        assert end is not None
        assert met(date_spans(f"Where was I {asked}?", now), begin, end, now) == was
